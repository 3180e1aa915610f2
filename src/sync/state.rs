//! What earlier renders left in the policy directory.

use super::finding::Problem;
use super::journal::Journal;
use super::lock::{Lock, LockError};
use super::{MAX_FILE, Options};
use crate::system::System;
use std::io::ErrorKind;

/// How the lock on disk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockStatus {
    /// There is none.
    Absent,
    /// It was read.
    Good,
    /// It claims nothing that can be used; the reason.
    Damaged(String),
}

/// Lock and journal as they are on disk.
#[derive(Debug, Clone)]
pub struct LockState {
    /// The bytes of the lock.
    pub bytes: Option<Vec<u8>>,
    /// What it claims; empty when absent or damaged.
    pub lock: Lock,
    /// How it is.
    pub status: LockStatus,
    /// An interrupted render left a journal; its content where that can be read.
    pub interrupted: bool,
    /// The journal.
    pub journal: Option<Journal>,
    /// The locks that interrupted renders wanted.
    pub(super) wanted: Vec<Lock>,
}

impl LockState {
    /// Reads both.
    ///
    /// # Errors
    /// A lock of a newer program, with paths that lead out, or one that cannot be read from disk.
    pub fn load(system: &dyn System, options: &Options<'_>) -> Result<Self, Problem> {
        let path = options.lock_path();
        let bytes = read(system, &path)?;
        let (lock, status) = match bytes.as_deref().map(Lock::parse) {
            None => (Lock::default(), LockStatus::Absent),
            Some(Ok(lock)) => (lock, LockStatus::Good),
            Some(Err(LockError::Damaged(why))) => (Lock::default(), LockStatus::Damaged(why)),
            Some(Err(LockError::Refused(why))) => return Err(Problem::new(path, why)),
        };
        let journal = read(system, &options.journal_path())?;
        let interrupted = journal.is_some();
        let journal = journal.as_deref().and_then(Journal::parse);
        let wanted = journal
            .iter()
            .flat_map(|journal| &journal.locks)
            .filter_map(|text| Lock::parse(text.as_bytes()).ok())
            .collect();
        Ok(Self { bytes, lock, status, interrupted, journal, wanted })
    }
}

fn read(system: &dyn System, path: &str) -> Result<Option<Vec<u8>>, Problem> {
    match system.read(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::new(path, error.to_string())),
    }
}
