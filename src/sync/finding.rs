//! What a comparison can find, each with the one line said of it.

use std::fmt;

/// Why a path is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Nothing stands there.
    Missing,
    /// It is what we wrote last; the policy moved.
    Stale,
    /// It is neither what we wrote nor what the plan says.
    Edited,
    /// It is ours by no record and differs from the plan.
    Unowned,
    /// We wrote it, and no plan wants it any more.
    Orphaned,
    /// No plan wants it any more, but it was edited since we wrote it: it stays.
    OrphanEdited,
    /// Only line ends or a byte order mark differ.
    LineEndings,
    /// The file is there without our block.
    BlockMissing,
    /// The markers of our block are damaged.
    BlockDamaged,
    /// The file cannot be read as what its ending says.
    Unreadable,
    /// An entry is not there.
    EntryMissing(Vec<String>),
    /// An entry is what we wrote last; the policy moved.
    EntryStale(Vec<String>),
    /// An entry is neither what we wrote nor what the plan says.
    EntryEdited(Vec<String>),
    /// An entry that is owned with all that is in it, because the order in it decides, has what we never wrote.
    EntryUnowned(Vec<String>),
    /// The user's value is wider than the policy allows.
    EntryLoose(Vec<String>),
    /// We wrote an entry, and no plan wants it any more.
    EntryOrphaned(Vec<String>),
    /// No plan wants an entry any more, but it was edited since we wrote it: it stays.
    EntryOrphanEdited(Vec<String>),
    /// There is no lock.
    LockMissing,
    /// The lock does not say what is owned now.
    LockStale,
    /// The lock cannot be read; the reason.
    LockDamaged(String),
    /// A render was interrupted.
    Interrupted,
}

impl Cause {
    /// A stable name for machines.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::Edited => "edited",
            Self::Unowned => "unowned",
            Self::Orphaned => "orphaned",
            Self::OrphanEdited => "orphan-edited",
            Self::LineEndings => "line-endings",
            Self::BlockMissing => "block-missing",
            Self::BlockDamaged => "block-damaged",
            Self::Unreadable => "unreadable",
            Self::EntryMissing(_) => "entry-missing",
            Self::EntryStale(_) => "entry-stale",
            Self::EntryEdited(_) => "entry-edited",
            Self::EntryUnowned(_) => "entry-unowned",
            Self::EntryLoose(_) => "entry-loose",
            Self::EntryOrphaned(_) => "entry-orphaned",
            Self::EntryOrphanEdited(_) => "entry-orphan-edited",
            Self::LockMissing => "lock-missing",
            Self::LockStale => "lock-stale",
            Self::LockDamaged(_) => "lock-damaged",
            Self::Interrupted => "interrupted",
        }
    }

    /// The keys of the entry concerned, where it is about one.
    pub fn pointer(&self) -> Option<&[String]> {
        match self {
            Self::EntryMissing(path)
            | Self::EntryStale(path)
            | Self::EntryEdited(path)
            | Self::EntryUnowned(path)
            | Self::EntryLoose(path)
            | Self::EntryOrphaned(path)
            | Self::EntryOrphanEdited(path) => Some(path),
            _ => None,
        }
    }

    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Edited | Self::Unowned | Self::EntryEdited(_) => {
                "move the change into the policy, or run `rolecast render --force` to overwrite it"
            }
            Self::EntryUnowned(_) => {
                "a later rule decides over an earlier one, so all of it is the policy's: move yours into the policy, or into the settings of your own account, or run `rolecast render --force` to overwrite them"
            }
            Self::OrphanEdited | Self::EntryOrphanEdited(_) => {
                "delete it, or run `rolecast render --force` to keep it as yours"
            }
            Self::BlockDamaged => {
                "repair or delete the `rolecast:begin` and `rolecast:end` lines, then run `rolecast render`"
            }
            Self::Unreadable => "repair the file, then run `rolecast render`",
            _ => "run `rolecast render`",
        }
    }
}

/// Keys as they are printed.
pub(super) fn pointer(path: &[String]) -> String {
    path.iter()
        .map(|key| if key.contains('.') { format!("{key:?}") } else { key.clone() })
        .collect::<Vec<_>>()
        .join(".")
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Stale => f.write_str("stale: the policy changed since it was rendered"),
            Self::Edited => f.write_str("edited by hand since it was rendered"),
            Self::Unowned => f.write_str("exists already and was not written by rolecast"),
            Self::Orphaned => f.write_str("orphaned: nothing in the policy asks for it any more"),
            Self::OrphanEdited => f.write_str("orphaned, but edited by hand: it is kept"),
            Self::LineEndings => f.write_str("line endings differ"),
            Self::BlockMissing => f.write_str("the rolecast block is missing"),
            Self::BlockDamaged => f.write_str("the markers of the rolecast block are damaged"),
            Self::Unreadable => f.write_str("cannot be read as what it should be"),
            Self::EntryMissing(path) => write!(f, "`{}` is missing", pointer(path)),
            Self::EntryStale(path) => {
                write!(f, "`{}` is stale: the policy changed since it was rendered", pointer(path))
            }
            Self::EntryEdited(path) => write!(f, "`{}` differs and is not what rolecast wrote", pointer(path)),
            Self::EntryUnowned(path) => write!(f, "`{}` has rules that are not ours", pointer(path)),
            Self::EntryLoose(path) => write!(f, "`{}` is set wider than the policy allows", pointer(path)),
            Self::EntryOrphaned(path) => {
                write!(f, "`{}` is orphaned: nothing in the policy asks for it any more", pointer(path))
            }
            Self::EntryOrphanEdited(path) => {
                write!(f, "`{}` is orphaned, but edited by hand: it is kept", pointer(path))
            }
            Self::LockMissing => f.write_str("the lock is missing"),
            Self::LockStale => f.write_str("the lock does not say what is owned now"),
            Self::LockDamaged(why) => write!(f, "the lock cannot be read: {why}"),
            Self::Interrupted => f.write_str("an interrupted render"),
        }
    }
}

/// Why a render refuses to write a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Conflict {
    /// What is in the way.
    pub message: String,
    /// Whether `--force` would overwrite it.
    pub forceable: bool,
    /// Where in the file, in bytes, and what stands there.
    pub spots: Vec<(std::ops::Range<usize>, String)>,
    /// What hosts do with the file as it is.
    pub notes: Vec<String>,
}

impl Conflict {
    pub(super) fn forceable(message: impl Into<String>) -> Self {
        Self { message: message.into(), forceable: true, spots: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn firm(message: impl Into<String>) -> Self {
        Self { message: message.into(), forceable: false, spots: Vec::new(), notes: Vec::new() }
    }
}

/// Something about a path that no render can settle: nothing is written and the exit code is 4.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {message}")]
pub struct Problem {
    /// The path, relative to the root.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}
