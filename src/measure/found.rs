//! Counts that keep the first records they were counted from.

use super::event::At;

/// Records that are kept of one count.
const KEPT: usize = 20;

/// A record with what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where.
    pub at: At,
    /// What.
    pub what: String,
}

/// A count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub records: Vec<Record>,
}

impl Found {
    /// Counts one.
    pub fn add(&mut self, at: At, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.records.len() < KEPT {
            self.records.push(Record { at, what: what() });
        }
    }

    /// Adds another count.
    pub fn join(&mut self, other: &Self) {
        self.count += other.count;
        let room = KEPT.saturating_sub(self.records.len());
        self.records.extend(other.records.iter().take(room).cloned());
    }
}
