//! How long and how much.

use std::time::Duration;

/// Bounds of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the start to the end of the handshake.
    pub start: Duration,
    /// One page of a list.
    pub list: Duration,
    /// One call of a tool.
    pub call: Duration,
    /// Greatest message in bytes; a greater one fails what waits for it.
    pub message: usize,
    /// Most pages of a list.
    pub pages: usize,
    /// Most entries of a list.
    pub entries: usize,
    /// How long a server may take to end by itself, and again after it was asked to.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(60),
            call: Duration::from_secs(60),
            message: 8 << 20,
            pages: 200,
            entries: 5000,
            grace: Duration::from_millis(1500),
        }
    }
}
