//! The end of a stream that nobody reads in full.

use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::text::redact;

/// Bytes kept.
const KEPT: usize = 8 << 10;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Vec<u8>>);

impl Tail {
    /// Reads to the end; only the last bytes stay.
    pub(super) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 8 << 10];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..count]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
    }

    /// The text without `secrets`.
    pub(super) fn text(&self, secrets: &[String]) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        redact::body(String::from_utf8_lossy(&kept).trim_end(), secrets)
    }
}
