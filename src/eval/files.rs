//! Folders of runs: copied, and compared afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::text::digest::digest;

/// What git keeps for itself changes with every command.
const GIT: &str = ".git";
/// Larger files are compared by their size.
const MAX_READ: u64 = 16 << 20;

/// Every file below a folder: its path, and what tells one content from another.
pub type Snapshot = BTreeMap<String, String>;

/// Copies all that is below `from`; links stay links.
///
/// # Errors
/// An I/O error.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy(&path, &target)?;
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(&path)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// The files below a folder, without git's own.
///
/// # Errors
/// An I/O error.
pub fn snapshot(root: &Path) -> io::Result<Snapshot> {
    let mut all = Snapshot::new();
    walk(root, "", &mut all)?;
    Ok(all)
}

fn walk(folder: &Path, before: &str, all: &mut Snapshot) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if name == GIT {
            continue;
        }
        if kind.is_dir() {
            walk(&path, &format!("{name}/"), all)?;
        } else if kind.is_symlink() {
            all.insert(name, format!("link {}", fs::read_link(&path)?.display()));
        } else {
            let size = entry.metadata()?.len();
            let content = if size > MAX_READ { format!("{size} bytes") } else { digest(&fs::read(&path)?) };
            all.insert(name, content);
        }
    }
    Ok(())
}

/// Paths that were made, changed or removed, sorted.
pub fn changed(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let new = after.iter().filter(|(path, content)| before.get(*path) != Some(content)).map(|(path, _)| path);
    let mut all: Vec<String> = gone.chain(new).cloned().collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_changed_and_removed_files_are_seen_and_git_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        for (path, text) in [("same", "1"), ("sub/changed", "1"), ("gone", "1"), (".git/HEAD", "1")] {
            fs::create_dir_all(a.join(path).parent().unwrap()).unwrap();
            fs::write(a.join(path), text).unwrap();
        }
        copy(&a, &b).unwrap();
        assert_eq!(changed(&snapshot(&a).unwrap(), &snapshot(&b).unwrap()), Vec::<String>::new());
        fs::write(b.join("sub/changed"), "2").unwrap();
        fs::write(b.join(".git/HEAD"), "2").unwrap();
        fs::write(b.join("new"), "").unwrap();
        fs::remove_file(b.join("gone")).unwrap();
        assert_eq!(changed(&snapshot(&a).unwrap(), &snapshot(&b).unwrap()), ["gone", "new", "sub/changed"]);
    }
}
