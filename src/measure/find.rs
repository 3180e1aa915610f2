//! Which files are read.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::event::Kind;
use super::format::{Format, Seen};
use crate::model::adapter::{SessionFolder, Sessions};
use crate::text::glob;

/// Endings of files that may be logs.
const ENDINGS: &[&str] = &[".jsonl", ".jsonl.zst", ".json"];
/// Files beside logs that are none.
const NONE: &[&str] = &[".meta.json", "package.json", "package-lock.json"];
/// Folders within folders that are looked into.
const DEPTH: usize = 12;

/// All files below a path that may be logs, sorted, so that a session comes before what was made from it; a file that
/// is named is taken whatever it is called. Links to folders are not followed.
///
/// # Errors
/// The path itself is not there, or a folder cannot be read.
pub fn below(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    walk(path, DEPTH, &mut files)?;
    files.sort();
    let plain: Vec<PathBuf> = files.iter().filter(|f| !compressed(f)).cloned().collect();
    // A compressed twin says the same.
    files.retain(|file| !compressed(file) || plain.binary_search(&file.with_extension("")).is_err());
    Ok(files)
}

fn compressed(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "zst")
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if kind.is_dir() && depth > 0 && name != "node_modules" {
            // What may not be read is no log of the user's.
            walk(&path, depth - 1, files).or_else(|e| match e.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => Ok(()),
                _ => Err(e),
            })?;
        } else if kind.is_file() && ENDINGS.iter().any(|e| name.ends_with(e)) && !NONE.iter().any(|n| name.ends_with(n))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The folders of a host's sessions on this machine, with the glob of their files. `variable` reads the environment.
pub fn folders<'s>(
    sessions: &'s Sessions,
    home: Option<&Path>,
    os: &str,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<(PathBuf, Option<&'s str>)> {
    let place = |folder: &'s SessionFolder| {
        let set = folder.env.as_ref().and_then(|name| variable(name)).filter(|p| !p.as_os_str().is_empty());
        let usual = || Some(home?.join(folder.home.as_ref()?));
        Some((set.or_else(usual)?.join(&folder.below), folder.files.as_deref()))
    };
    let here = sessions.folders.iter().filter(|f| f.os.as_ref().is_none_or(|own| own == os));
    here.filter_map(place).collect()
}

/// Those of the files that match a glob relative to their folder.
pub fn matching(folder: &Path, pattern: Option<&str>, files: Vec<PathBuf>) -> Vec<PathBuf> {
    let Some(pattern) = pattern else { return files };
    let fits = |file: &PathBuf| {
        let below = file.strip_prefix(folder).ok().and_then(Path::to_str).map(|p| p.replace('\\', "/"));
        below.is_some_and(|p| glob::matches(pattern, &p))
    };
    files.into_iter().filter(fits).collect()
}

/// Which sessions are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// The last so many.
    pub last: Option<usize>,
    /// Those that were written to since.
    pub since: Option<SystemTime>,
}

/// The files of the wanted sessions; their order stays. A session is as old as its newest file.
pub fn wanted(files: Vec<PathBuf>, wanted: Wanted) -> Vec<PathBuf> {
    if wanted.last.is_none() && wanted.since.is_none() {
        return files;
    }
    let mut newest: BTreeMap<(Format, String), SystemTime> = BTreeMap::new();
    let mut named = Vec::new();
    for file in files {
        let written = fs::metadata(&file).and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let Some(session) = session(&file) else { continue };
        let entry = newest.entry(session.clone()).or_insert(written);
        *entry = written.max(*entry);
        named.push((file, session));
    }
    let mut order: Vec<(SystemTime, (Format, String))> =
        newest.into_iter().map(|(session, at)| (at, session)).collect();
    order.retain(|(at, _)| wanted.since.is_none_or(|since| *at >= since));
    order.sort_by(|a, b| b.cmp(a));
    order.truncate(wanted.last.unwrap_or(usize::MAX));
    named.retain(|(_, session)| order.iter().any(|(_, kept)| kept == session));
    named.into_iter().map(|(file, _)| file).collect()
}

/// The session of a file, from its beginning.
fn session(file: &Path) -> Option<(Format, String)> {
    let mut found = None;
    let mut sink = |event: super::event::Event| {
        if matches!(event.kind, Kind::Agent(_)) && found.is_none() {
            found = Some((event.agent.format, event.agent.session.to_string()));
        }
    };
    super::format::begin(file, &mut Seen::default(), &mut sink).ok()?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_wins_over_the_home_and_systems_are_told_apart() {
        let sessions: Sessions = serde_json::from_value(serde_json::json!({
            "format": "rollout",
            "folders": [
                { "env": "X_HOME", "home": ".x", "below": "sessions", "files": "*/a.jsonl" },
                { "home": "Library/x", "below": "s", "os": "macos" },
            ]
        }))
        .unwrap();
        let home = Path::new("/home/u");
        let none = folders(&sessions, Some(home), "linux", &|_| None);
        assert_eq!(none, [(PathBuf::from("/home/u/.x/sessions"), Some("*/a.jsonl"))]);
        let set = folders(&sessions, Some(home), "macos", &|_| Some(PathBuf::from("/x")));
        assert_eq!(
            set.iter().map(|(p, _)| p.clone()).collect::<Vec<_>>(),
            [PathBuf::from("/x/sessions"), "/home/u/Library/x/s".into()]
        );
        assert_eq!(folders(&sessions, None, "linux", &|_| None), []);
    }

    #[test]
    fn a_compressed_twin_is_left_out_and_one_alone_is_read() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.jsonl.zst", "b.jsonl.zst", "x.meta.json", "readme.md"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<PathBuf> = below(dir.path()).unwrap();
        let names: Vec<&str> = names.iter().filter_map(|p| p.file_name()?.to_str()).collect();
        assert_eq!(names, ["a.jsonl", "b.jsonl.zst"]);
    }
}
