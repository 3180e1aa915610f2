//! What an agent was told already, so that it is told once: an empty file for each agent and threshold. Hooks run at
//! the same time; whoever makes the file is the one that speaks.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::text::digest::digest;

/// Where it is kept, below the root.
const FOLDER: &str = ".rolecast/context";
/// What nobody has asked for so long is of a session that is over.
const KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Most files that are looked at to find those.
const LOOKED_AT: usize = 2000;

/// The thresholds that an agent was told of.
#[derive(Debug)]
pub struct Told {
    folder: PathBuf,
    agent: String,
}

impl Told {
    /// Those of one agent of one session in the repository at `root`; nothing when that has no folder for it.
    pub fn of(root: &Path, session: &str, agent: &str) -> Option<Self> {
        let real = |path: &Path| path.symlink_metadata().is_ok_and(|m| m.is_dir());
        let folder = root.join(FOLDER);
        // A link would lead to somebody else's files.
        if !real(folder.parent()?) || (folder.symlink_metadata().is_ok() && !real(&folder)) {
            return None;
        }
        let key = digest(format!("{session}\0{agent}").as_bytes());
        Some(Self { folder, agent: key.get(7..31)?.to_owned() })
    }

    /// Notes that the agent is above the first `count` of `all` thresholds. `true` when the last of them is new: the
    /// one that notes it is to speak. Those above are forgotten, so that they are told again after a compaction.
    pub fn note(&self, count: usize, all: usize) -> bool {
        for above in count + 1..=all {
            // Most often there is none.
            let _ = fs::remove_file(self.file(above));
        }
        if count == 0 || self.file(count).exists() || self.prepare().is_none() {
            return false;
        }
        // Whoever passes several at once is told of the last.
        let made = |at: usize| OpenOptions::new().write(true).create_new(true).open(self.file(at)).is_ok();
        (1..=count).fold(false, |_, at| made(at))
    }

    fn file(&self, at: usize) -> PathBuf {
        self.folder.join(format!("{}-{at}", self.agent))
    }

    /// Makes the folder, which no repository takes in, and takes old sessions out of it.
    fn prepare(&self) -> Option<()> {
        fs::create_dir_all(&self.folder).ok()?;
        let ignore = self.folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").ok()?;
        }
        for entry in fs::read_dir(&self.folder).ok()?.take(LOOKED_AT).flatten() {
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
            if entry.file_name() != ".gitignore" && age.is_some_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_told_once_and_again_after_the_context_was_emptied() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".rolecast")).unwrap();
        let told = Told::of(dir.path(), "s", "").unwrap();
        let told: Vec<bool> = [0, 1, 1, 3, 2, 3, 0, 3, 3].map(|count| told.note(count, 3)).to_vec();
        assert_eq!(told, [false, true, false, true, false, true, false, true, false]);
        let other = Told::of(dir.path(), "s", "agent").unwrap();
        assert!(other.note(1, 3), "each agent has its own");
        assert_eq!(fs::read_to_string(dir.path().join(".rolecast/context/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn of_many_at_the_same_time_one_speaks() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".rolecast")).unwrap();
        let spoke: usize = std::thread::scope(|scope| {
            let one = || usize::from(Told::of(dir.path(), "s", "").unwrap().note(2, 3));
            let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(spoke, 1);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_and_nobody_speaks_where_nothing_can_be_noted() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Told::of(dir.path(), "s", "").is_none(), "nothing is rendered there");
        fs::create_dir(dir.path().join(".rolecast")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join(FOLDER)).unwrap();
        assert!(Told::of(dir.path(), "s", "").is_none());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
