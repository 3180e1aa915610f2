//! All or nothing: the journal first, every new byte prepared beside its file, then one rename each.

use super::compare::{Change, Comparison, check};
use super::finding::Problem;
use super::journal::{Journal, Step, temp_for};
use super::{MAX_FILE, Options};
use crate::render::artifact::Artifact;
use crate::system::{Kind, Writer, parent};
use crate::text::digest::digest;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

/// What a render did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Files written, by path.
    pub written: Vec<String>,
    /// Files deleted, by path.
    pub deleted: Vec<String>,
    /// An interrupted render was completed.
    pub resumed: bool,
}

/// Why a render wrote nothing, or not all.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Something of the user is in the way: nothing was written.
    #[error("{0} conflicts")]
    Conflicts(usize),
    /// Something that no render can settle: nothing was written.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Problems(Vec<Problem>),
    /// A file changed between comparison and writing: nothing was written.
    #[error("`{0}` was changed by somebody else at the same moment; run it again")]
    Raced(String),
    /// The disk failed before anything was changed: nothing was written.
    #[error("`{path}`: {error}")]
    Unwritable {
        /// The file concerned.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// The disk failed in the middle: the journal stays, and the next render completes.
    #[error("`{path}`: {error}; the next `rolecast render` completes what was begun")]
    Interrupted {
        /// The file concerned.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

/// Compares and writes, alone below this root.
///
/// # Errors
/// See [`ApplyError`]; the comparison is there in any case.
pub fn render(
    artifacts: &[Artifact],
    system: &dyn Writer,
    options: &Options<'_>,
) -> (Comparison, Result<Applied, ApplyError>) {
    let unwritable = |error| ApplyError::Unwritable { path: ".".to_owned(), error };
    let guard = match system.exclusive() {
        Ok(guard) => guard,
        Err(error) => return (Comparison::default(), Err(unwritable(error))),
    };
    let comparison = check(artifacts, system, options);
    let result = perform(&comparison, system);
    drop(guard);
    (comparison, result)
}

/// Writes what a comparison asks for, alone below this root.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(comparison: &Comparison, system: &dyn Writer) -> Result<Applied, ApplyError> {
    let guard = system.exclusive().map_err(|error| ApplyError::Unwritable { path: ".".to_owned(), error })?;
    let result = perform(comparison, system);
    drop(guard);
    result
}

/// An operation that failed, and on which file.
struct Failed {
    path: String,
    error: io::Error,
}

trait Naming<T> {
    fn on(self, path: &str) -> Result<T, Failed>;
}

impl<T> Naming<T> for io::Result<T> {
    fn on(self, path: &str) -> Result<T, Failed> {
        self.map_err(|error| Failed { path: path.to_owned(), error })
    }
}

pub(super) fn perform(comparison: &Comparison, system: &dyn Writer) -> Result<Applied, ApplyError> {
    if !comparison.problems.is_empty() {
        return Err(ApplyError::Problems(comparison.problems.clone()));
    }
    match comparison.conflicts().count() {
        0 => {}
        count => return Err(ApplyError::Conflicts(count)),
    }
    let unwritable = |failed: Failed| ApplyError::Unwritable { path: failed.path, error: failed.error };
    let changes: Vec<&Change> = comparison.changes.iter().filter(|change| change.writes()).collect();
    still_as_compared(&changes, system)?;
    let mut work = Work { comparison, system, changes, dirs: Vec::new(), temps: Vec::new() };
    work.sweep().map_err(unwritable)?;
    if work.changes.is_empty() {
        if comparison.interrupted {
            work.remove_left().and_then(|()| work.close()).map_err(unwritable)?;
        }
        return Ok(Applied { resumed: comparison.interrupted, ..Applied::default() });
    }
    if let Err(failed) = work.prepare() {
        work.undo();
        return Err(unwritable(failed));
    }
    work.commit().map_err(|failed| ApplyError::Interrupted { path: failed.path, error: failed.error })
}

fn still_as_compared(changes: &[&Change], system: &dyn Writer) -> Result<(), ApplyError> {
    for change in changes {
        let now = match system.read(&change.real, MAX_FILE) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(ApplyError::Unwritable { path: change.path.clone(), error }),
        };
        if now != change.before {
            return Err(ApplyError::Raced(change.path.clone()));
        }
    }
    Ok(())
}

struct Work<'a> {
    comparison: &'a Comparison,
    system: &'a dyn Writer,
    /// The lock is the last of them.
    changes: Vec<&'a Change>,
    /// Directories made, outermost first.
    dirs: Vec<String>,
    /// Temporary files made.
    temps: Vec<String>,
}

impl Work<'_> {
    /// Removes what a killed render prepared and never used.
    fn sweep(&self) -> Result<(), Failed> {
        let steps = self.comparison.journal.iter().flat_map(|journal| &journal.files);
        let own = [temp_for(&self.comparison.journal_path)];
        for temp in steps.filter_map(|step| step.temp.as_ref()).chain(&own) {
            if matches!(self.system.kind(temp), Ok(Some(Kind::File(_)))) {
                self.system.remove_file(temp).on(temp)?;
            }
        }
        Ok(())
    }

    /// Journal, directories and new bytes; no file of the user is touched yet.
    fn prepare(&mut self) -> Result<(), Failed> {
        let (comparison, system) = (self.comparison, self.system);
        self.make_dirs(parent(&comparison.journal_path))?;
        let text = self.journal().to_text();
        let temp = temp_for(&comparison.journal_path);
        self.temps.push(temp.clone());
        system.create(&temp, text.as_bytes(), None).on(&comparison.journal_path)?;
        system.rename(&temp, &comparison.journal_path).on(&comparison.journal_path)?;
        system.sync_dir(parent(&comparison.journal_path)).on(&comparison.journal_path)?;
        for change in self.changes.clone() {
            let Some(bytes) = &change.after else { continue };
            self.make_dirs(parent(&change.real))?;
            let temp = temp_for(&change.real);
            self.temps.push(temp.clone());
            system.create(&temp, bytes, Some(&change.real)).on(&change.path)?;
        }
        Ok(())
    }

    fn journal(&self) -> Journal {
        let step = |change: &&Change| Step {
            path: change.real.clone(),
            old: change.before.as_deref().map(digest),
            new: change.after.as_deref().map(digest),
            temp: change.after.as_ref().map(|_| temp_for(&change.real)),
            forced: change.forced,
        };
        let mut locks = vec![self.comparison.lock_text.clone()];
        for text in self.comparison.journal.iter().flat_map(|journal| &journal.locks) {
            if !locks.contains(text) {
                locks.push(text.clone());
            }
        }
        let mut files: Vec<Step> = self.changes.iter().map(step).collect();
        // Directories made for files that are not wanted any more are still to be removed.
        for old in self.comparison.journal.iter().flat_map(|journal| &journal.files) {
            if !files.iter().any(|step| step.path == old.path) {
                files.push(Step { forced: false, ..old.clone() });
            }
        }
        Journal { version: 1, locks, files }
    }

    fn make_dirs(&mut self, dir: &str) -> Result<(), Failed> {
        if dir.is_empty() || matches!(self.system.kind(dir).on(dir)?, Some(Kind::Dir | Kind::Link)) {
            return Ok(());
        }
        self.make_dirs(parent(dir))?;
        self.system.create_dir(dir).on(dir)?;
        self.dirs.push(dir.to_owned());
        self.system.sync_dir(parent(dir)).on(dir)
    }

    /// Takes back a preparation that failed. A journal of an interrupted render stays: its work is not done.
    fn undo(&self) {
        // The first failure is what is reported; what cannot be taken back is swept by the next render.
        for temp in &self.temps {
            let _ = self.system.remove_file(temp);
        }
        if !self.comparison.interrupted {
            let _ = self.system.remove_file(&self.comparison.journal_path);
        }
        for dir in self.dirs.iter().rev() {
            let _ = self.system.remove_dir(dir);
        }
    }

    /// The renames, the deletions, the lock, and the end of the journal.
    fn commit(&self) -> Result<Applied, Failed> {
        let mut applied = Applied { resumed: self.comparison.interrupted, ..Applied::default() };
        let (own, files): (Vec<&Change>, Vec<&Change>) = self.changes.iter().partition(|change| change.own);
        self.put(&files)?;
        for change in files.iter().filter(|change| change.after.is_none()) {
            self.system.remove_file(&change.real).on(&change.path)?;
            self.system.sync_dir(parent(&change.real)).on(&change.path)?;
            self.remove_empty(parent(&change.real))?;
        }
        self.remove_left()?;
        self.put(&own)?;
        self.close()?;
        for change in files {
            let list = if change.after.is_some() { &mut applied.written } else { &mut applied.deleted };
            list.push(change.path.clone());
        }
        Ok(applied)
    }

    fn put(&self, changes: &[&Change]) -> Result<(), Failed> {
        let mut dirs = BTreeSet::new();
        for change in changes.iter().filter(|change| change.after.is_some()) {
            self.system.rename(&temp_for(&change.real), &change.real).on(&change.path)?;
            dirs.insert(parent(&change.real));
        }
        dirs.into_iter().try_for_each(|dir| self.system.sync_dir(dir).on(dir))
    }

    /// Removes directories that interrupted renders made or emptied and nothing uses now.
    fn remove_left(&self) -> Result<(), Failed> {
        let steps = self.comparison.journal.iter().flat_map(|journal| &journal.files);
        steps.map(|step| step.path.as_str()).try_for_each(|path| self.remove_empty(parent(path)))
    }

    /// Removes a directory that is empty, and then those around it; version control does not know empty ones.
    fn remove_empty(&self, dir: &str) -> Result<(), Failed> {
        let keep = parent(&self.comparison.lock_path);
        let mut dir = dir;
        let mut removed = false;
        while !dir.is_empty() && dir != keep {
            match self.system.kind(dir) {
                Ok(None) => {}
                Ok(Some(Kind::Dir)) if self.system.list(dir).on(dir)?.is_empty() => {
                    self.system.remove_dir(dir).on(dir)?;
                    removed = true;
                }
                _ => break,
            }
            dir = parent(dir);
        }
        if removed { self.system.sync_dir(dir).on(dir) } else { Ok(()) }
    }

    fn close(&self) -> Result<(), Failed> {
        let path = &self.comparison.journal_path;
        self.system.remove_file(path).on(path)?;
        self.system.sync_dir(parent(path)).on(path)
    }
}
