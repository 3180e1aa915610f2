//! Between the artifacts of a render and the disk: what differs, whose it is, and how it gets there.
//!
//! [`check`] reads and decides; [`render`] takes the lock of the root, does the same, and writes all or
//! nothing. Ownership is by digest in the [lock](lock::Lock): a file, block or
//! entry that is neither what the plan says nor what we wrote last is the user's, and stays.

mod claims;
mod compare;
pub mod diff;
mod entries;
mod finding;
mod group;
pub mod journal;
mod locate;
pub mod lock;
pub mod pins;
mod repin;
mod state;
mod whole;
mod write;

pub use compare::{Change, Comparison, Note, check, compare};
pub use finding::{Cause, Conflict, Problem};
pub use repin::{RepinError, repin};
pub use state::{LockState, LockStatus};
pub use write::{Applied, ApplyError, apply, render};

/// The file in the policy directory that says what we own.
pub const LOCK_NAME: &str = "rolecast.lock";
/// The file in the policy directory that says what a render was about to do.
pub const JOURNAL_NAME: &str = "rolecast.journal";
/// The greatest file of a user that is read to be edited, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The directory of the policy, relative to the root; lock and journal are in it.
    pub policy_dir: &'a str,
    /// Take over files, blocks and entries that are not ours or were edited. Never applies to a file that
    /// cannot be parsed or whose markers are damaged.
    pub force: bool,
    /// Line ends and byte order marks of whole files count.
    pub strict_eol: bool,
    /// Only artifacts of these hosts are compared and written; what the others own stays owned.
    pub hosts: Option<&'a [String]>,
}

impl<'a> Options<'a> {
    /// The usual way to compare.
    pub const fn new(policy_dir: &'a str) -> Self {
        Self { policy_dir, force: false, strict_eol: false, hosts: None }
    }

    fn in_policy(&self, name: &str) -> String {
        if self.policy_dir.is_empty() { name.to_owned() } else { format!("{}/{name}", self.policy_dir) }
    }

    /// The path of the lock.
    pub fn lock_path(&self) -> String {
        self.in_policy(LOCK_NAME)
    }

    /// The path of the journal.
    pub fn journal_path(&self) -> String {
        self.in_policy(JOURNAL_NAME)
    }
}
