//! Exit codes, and failures that end a command.

use std::process::ExitCode;

/// How the program ends. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is as it should be: 0.
    Clean,
    /// Drift or findings: 1.
    Drift,
    /// The command line names something that does not exist: 2.
    Usage,
    /// The policy is invalid, or a host cannot hold it: 3.
    Policy,
    /// The environment (files, permissions, git): 4.
    Environment,
    /// A fault of this program: 70.
    Internal,
    /// The code with which a host's program ended that was run.
    Host(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Drift => 1,
            Exit::Usage => 2,
            Exit::Policy => 3,
            Exit::Environment => 4,
            Exit::Internal => 70,
            Exit::Host(code) => code,
        })
    }
}

/// Why a command ended early.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// One line; empty when everything has been said.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Failure {
    /// A failure with a message.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), help: None }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The environment is in the way.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(Exit::Environment, message)
    }

    /// A command that this program was built without.
    #[cfg(not(feature = "gateway"))]
    pub fn absent(what: &str) -> Self {
        Self::environment(format!("`{what}` is not in this program: it was built without the feature `gateway`"))
            .help("build it with its default features")
    }

    /// A failure that has been reported already.
    pub fn said(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
