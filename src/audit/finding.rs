//! One thing that an audit found.

use crate::diag::{Code, Diagnostic, Severity, Span};

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub code: Code,
    /// How much it weighs; an error ends the audit with exit code 1.
    pub severity: Severity,
    /// The server.
    pub server: String,
    /// The tool, where it is about one.
    pub tool: Option<String>,
    /// What is wrong, without the names.
    pub message: String,
    /// What to do; can be pasted where that is possible.
    pub fix: Option<String>,
    /// Where the policy says something about it.
    pub span: Option<Span>,
}

impl Finding {
    /// A finding about a server.
    pub fn new(code: Code, server: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            server: server.to_owned(),
            tool: None,
            message: message.into(),
            fix: None,
            span: None,
        }
    }

    /// Of a tool.
    #[must_use]
    pub fn tool(mut self, tool: &str) -> Self {
        self.tool = Some(tool.to_owned());
        self
    }

    /// Weighs otherwise than its code does.
    #[must_use]
    pub const fn weighs(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// What to do.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Where in the policy.
    #[must_use]
    pub const fn at(mut self, span: Option<Span>) -> Self {
        self.span = span;
        self
    }

    /// The names.
    pub fn subject(&self) -> String {
        match &self.tool {
            Some(tool) => format!("`{}/{tool}`", self.server),
            None => format!("server `{}`", self.server),
        }
    }

    /// As every other diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::new(self.code, format!("{}: {}", self.subject(), self.message)).at_opt(self.span, "");
        diagnostic.severity = self.severity;
        match &self.fix {
            Some(fix) => diagnostic.help(fix.clone()),
            None => diagnostic,
        }
    }
}
