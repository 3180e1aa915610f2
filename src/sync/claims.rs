//! What is ours at one path by any record: the lock, and the locks that interrupted renders wanted.

use super::journal::Step;
use super::lock::{Owned, OwnedEntries, OwnedEntry};
use super::state::LockState;
use crate::text::digest::{content_digest, digest};

/// The claims on one path.
#[derive(Debug, Default)]
pub(super) struct Claims<'a> {
    records: Vec<&'a Owned>,
    steps: Vec<&'a Step>,
}

impl<'a> Claims<'a> {
    pub(super) fn of(state: &'a LockState, path: &str, real: &str) -> Self {
        let locks = std::iter::once(&state.lock).chain(&state.wanted);
        let steps = state.journal.iter().flat_map(|journal| &journal.files).filter(|step| step.path == real);
        Self { records: locks.filter_map(|lock| lock.files.get(path)).collect(), steps: steps.collect() }
    }

    /// Whether anything is claimed at all.
    pub(super) fn any(&self) -> bool {
        !self.records.is_empty()
    }

    pub(super) fn has_block(&self) -> bool {
        self.records.iter().any(|owned| matches!(owned, Owned::Block(_)))
    }

    pub(super) fn has_whole(&self) -> bool {
        self.records.iter().any(|owned| matches!(owned, Owned::Whole(_)))
    }

    pub(super) fn has_entries(&self) -> bool {
        self.records.iter().any(|owned| matches!(owned, Owned::Entries(_)))
    }

    /// The bytes are a whole file as we wrote it.
    pub(super) fn owns_whole(&self, bytes: &[u8]) -> bool {
        self.has_whole() && {
            let now = content_digest(bytes);
            self.records.iter().any(|owned| matches!(owned, Owned::Whole(digest) if *digest == now))
        }
    }

    /// The text is a block as we wrote it.
    pub(super) fn owns_block(&self, body: &str) -> bool {
        self.has_block() && {
            let now = digest(body.as_bytes());
            self.records.iter().any(|owned| matches!(owned, Owned::Block(digest) if *digest == now))
        }
    }

    /// The bytes were given up with `--force` in a render that was interrupted before it wrote them.
    pub(super) fn given_up(&self, bytes: &[u8]) -> bool {
        self.steps.iter().any(|step| step.forced) && {
            let now = digest(bytes);
            self.steps.iter().any(|step| step.forced && step.old.as_deref() == Some(&now))
        }
    }

    /// All entries of all records together.
    pub(super) fn entries(&self) -> OwnedEntries {
        let mut all = OwnedEntries::default();
        for owned in &self.records {
            if let Owned::Entries(entries) = owned {
                all.made.extend(entries.made.iter().cloned());
                all.items.extend(entries.items.iter().cloned());
            }
        }
        all
    }
}

/// Whether the value at a path is claimed, and as this very value.
pub(super) fn claim(entries: &OwnedEntries, path: &[String], digest: &str) -> (bool, bool) {
    let here = |entry: &&OwnedEntry| !entry.element && entry.path == path;
    (
        entries.items.iter().any(|entry| here(&entry)),
        entries.items.iter().any(|entry| here(&entry) && entry.digest == digest),
    )
}
