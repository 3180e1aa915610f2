//! The logs that a run left behind in the host's own folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::measure::find;
use crate::measure::format::{self, Seen};
use crate::measure::report::File;
use crate::measure::sessions::Session;
use crate::measure::tally::Tally;
use crate::model::adapter::Sessions;

/// Where a host keeps its logs.
pub struct Folders<'a> {
    all: Vec<(PathBuf, Option<&'a str>)>,
}

impl<'a> Folders<'a> {
    /// For a home and the environment that the host is started with.
    pub fn of(sessions: &'a Sessions, home: Option<&Path>, os: &str, env: &[(String, String)]) -> Self {
        let variable = |name: &str| env.iter().rev().find(|(n, _)| n == name).map(|(_, value)| PathBuf::from(value));
        Self { all: find::folders(sessions, home, os, &variable) }
    }

    /// All files of logs that are there now.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn files(&self) -> io::Result<BTreeSet<PathBuf>> {
        let mut all = BTreeSet::new();
        for (folder, pattern) in self.all.iter().filter(|(folder, _)| folder.is_dir()) {
            all.extend(find::matching(folder, *pattern, find::below(folder)?));
        }
        Ok(all)
    }
}

/// Reads logs into a tally, and tells what was read.
///
/// # Errors
/// A file cannot be read.
pub fn read(paths: impl IntoIterator<Item = PathBuf>, tally: &mut Tally<'_>) -> io::Result<Vec<File>> {
    let mut seen = Seen::default();
    let mut all = Vec::new();
    for (number, path) in paths.into_iter().enumerate() {
        let at = u32::try_from(number).unwrap_or(u32::MAX);
        let found = format::read(&path, at, &mut seen, &mut |event| tally.event(event), &mut |_| {})?;
        let path = path.to_string_lossy().into_owned();
        all.push(File { path, format: found.format, records: found.records, bytes: found.bytes });
    }
    Ok(all)
}

/// The session of a run in `root`: other sessions of the user's may be going on.
pub fn of<'s, 't, 'p>(all: &'s [Session<'t, 'p>], root: &Path) -> Option<&'s Session<'t, 'p>> {
    let here = |folder: &str| Path::new(folder) == root;
    let main = |session: &&Session<'_, '_>| {
        session.agents.first().is_some_and(|(_, main)| main.known.folder.as_deref().is_none_or(here))
    };
    let mut found = all.iter().filter(|s| !s.agents.is_empty()).filter(main);
    let first = found.next()?;
    // Of two that do not tell their folders nobody knows which it is.
    found.next().is_none().then_some(first)
}
