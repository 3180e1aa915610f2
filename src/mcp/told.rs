//! What a server says beside its answers, and who listens.

use serde_json::{Map, Value};

/// Something that a server says beside its answers; with the fields as they were sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// How far a call is.
    Progress(Map<String, Value>),
    /// A message for a log.
    Message(Map<String, Value>),
}

/// Who listens while a call is made.
pub struct Listening {
    /// Whether the server is asked to say how far the call is. What it says of other calls is nobody's.
    pub progress: bool,
    /// Takes what is said. It is called wherever messages are read, and must not wait.
    pub hear: Box<dyn Fn(Told) + Send + Sync>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("progress", &self.progress).finish_non_exhaustive()
    }
}
