//! Why a server gave no answer.

use std::time::Duration;

/// What went wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A reference of its environment or headers leads nowhere.
    #[error("the environment variable `{0}` is not set")]
    MissingVariable(String),
    /// Neither a program nor an address, or an address that is none.
    #[error("{0}")]
    Declaration(String),
    /// The program cannot be started.
    #[error("`{program}` cannot be started: {why}")]
    Start {
        /// What was to be started.
        program: String,
        /// What the system says.
        why: String,
    },
    /// The program ended.
    #[error("it ended {0}")]
    Ended(String),
    /// Nothing came in time.
    #[error("no answer to `{method}` within {}", seconds(*.time))]
    Time {
        /// What was asked.
        method: String,
        /// How long was waited.
        time: Duration,
    },
    /// Whoever asked does not want the answer any more.
    #[error("the call was stopped")]
    Stopped,
    /// It answered with an error.
    #[error("it refuses `{method}`: {message} ({code})")]
    Refused {
        /// What was asked.
        method: String,
        /// Code of JSON-RPC.
        code: i64,
        /// Its words, bounded.
        message: String,
    },
    /// A message over the bound.
    #[error("it sent a message of more than {0} bytes")]
    TooLarge(usize),
    /// Something that is no answer of the protocol.
    #[error("{0}")]
    Malformed(String),
    /// It speaks only versions that are not understood here.
    #[error("it speaks version `{0}` of the protocol, which is not understood here: 2025-11-25 and older are")]
    Version(String),
    /// It is reached by the old transport: a stream of events that names the address for messages.
    #[error(
        "it speaks the transport of events alone (HTTP+SSE, of 2024-11-05), which is not understood here: streamable HTTP is"
    )]
    EventsAlone,
    /// Its list never ends.
    #[error("its list of tools does not end: {0}")]
    Endless(String),
    /// An HTTP status that is no success.
    #[error("it answers HTTP {status}{}", if *.status == 401 || *.status == 403 { ": not authorised" } else { "" })]
    Http {
        /// The status.
        status: u16,
    },
    /// A remote server that knows nothing of the session that it began.
    #[error("it has lost the session")]
    Session,
    /// No connection.
    #[error("no connection: {0}")]
    Connection(String),
}

/// A problem with what the server said on its standard error before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// What went wrong.
    pub problem: Problem,
    /// The end of its standard error, without secrets; empty when it said nothing.
    pub stderr: String,
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self { problem, stderr: String::new() }
    }
}

fn seconds(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}
