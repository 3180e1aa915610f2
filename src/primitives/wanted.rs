//! Whether the answer to a call is still wanted. Whoever works on it looks here again and again, and gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an answer is wanted; wanted until somebody says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// Whether it is.
    pub fn holds(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    /// It is wanted as long as what is returned lives.
    pub fn while_held(&self) -> Holder {
        Holder(self.clone())
    }
}

/// Whoever waits for an answer; dropped when nobody does any more.
#[derive(Debug)]
pub struct Holder(Wanted);

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
