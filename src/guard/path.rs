//! Where a path really leads. A path is inside only when it is so by its words and on the disk: hosts differ
//! in whether they take out `..` before or after they follow a link.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Most links that are followed for one path.
const MAX_LINKS: usize = 40;

/// A path as the repository has it: relative to the root, `/` between parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// By its words.
    pub said: String,
    /// On the disk, with every link followed.
    pub real: String,
    /// Whether something is there.
    pub exists: bool,
}

/// Why a path has no place in the repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nowhere {
    /// Another folder.
    #[error("lies outside of the repository")]
    Outside,
    /// Text that no path has.
    #[error("is no path that can be decided")]
    Strange,
    /// The disk did not answer.
    #[error("cannot be looked up")]
    Unreadable,
}

/// Finds the place of `path`, which is meant from `cwd`, in the repository at `root` (absolute, without links).
///
/// # Errors
/// It leads out, or cannot be decided.
pub fn place(root: &Path, cwd: &Path, path: &str) -> Result<Place, Nowhere> {
    if path.is_empty() || path.chars().any(char::is_control) || path.starts_with('~') || path.contains(STRANGE) {
        return Err(Nowhere::Strange);
    }
    let full = cwd.join(path);
    let said = said(&full);
    let real = real(&full).map_err(|_| Nowhere::Unreadable)?;
    // The words may go through a link above the root, as temporary folders do.
    let said = below(root, &said)
        .or_else(|| {
            let cwd = real_of(cwd)?;
            below(root, &self::said(&cwd.join(path)))
        })
        .or_else(|| said_through(root, &said))
        .ok_or(Nowhere::Outside)?;
    let relative = below(root, &real).ok_or(Nowhere::Outside)?;
    if said.is_empty() || relative.is_empty() {
        return Err(Nowhere::Strange);
    }
    let exists = real.symlink_metadata().is_ok();
    Ok(Place { said, real: relative, exists })
}

/// Characters with a meaning of their own there.
#[cfg(windows)]
const STRANGE: [char; 3] = ['*', '?', '|'];
#[cfg(not(windows))]
const STRANGE: [char; 0] = [];

fn real_of(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// An absolute path whose first parts go through a link to the root.
fn said_through(root: &Path, said: &Path) -> Option<String> {
    let above = said.ancestors().skip(1).find(|a| real_of(a).is_some_and(|real| real == root))?;
    below(above, said)
}

/// Without `.` and `..`, by the words alone.
fn said(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// With every link followed, also one that leads to nothing yet: a write would make what it leads to.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut out = PathBuf::new();
    let mut open: VecDeque<OsString> = path.components().map(|c| c.as_os_str().to_owned()).collect();
    let mut links = 0;
    while let Some(part) = open.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::CurDir) | None => continue,
            Some(Component::ParentDir) => {
                out.pop();
                continue;
            }
            Some(_) => out.push(&part),
        }
        let meta = match out.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(error),
        };
        if meta.file_type().is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many links"));
            }
            let target = out.read_link()?;
            out.pop();
            for part in target.components().rev() {
                open.push_front(part.as_os_str().to_owned());
            }
        }
    }
    // Letters as the disk has them, where it takes both; and short names at full length.
    let known = out.ancestors().find_map(|a| Some((a, real_of(a)?)));
    Ok(match known {
        Some((above, real)) => match out.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => out,
    })
}

fn below(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components().map(|c| c.as_os_str().to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["docs", "src"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("docs/a.md"), "").unwrap();
        (dir, root)
    }

    #[test]
    fn dots_are_taken_out_and_what_leads_out_is_nowhere() {
        let (_dir, root) = root();
        for (path, expected) in [
            ("docs/a.md", Ok(("docs/a.md", true))),
            ("./docs/./new.md", Ok(("docs/new.md", false))),
            ("docs/../src/no.md", Ok(("src/no.md", false))),
            ("docs/gone/../../src/x", Ok(("src/x", false))),
            ("../x", Err(Nowhere::Outside)),
            ("/etc/passwd", Err(Nowhere::Outside)),
            ("docs/..", Err(Nowhere::Strange)),
            ("", Err(Nowhere::Strange)),
            ("~/x", Err(Nowhere::Strange)),
            ("docs/a\n.md", Err(Nowhere::Strange)),
        ] {
            let found = place(&root, &root, path).map(|p| (p.real, p.exists));
            assert_eq!(found.as_ref().map(|(p, e)| (p.as_str(), *e)), expected.as_ref().map(|e| *e), "{path}");
        }
        let absolute = root.join("docs/../docs/a.md");
        assert_eq!(place(&root, &root, absolute.to_str().unwrap()).unwrap().said, "docs/a.md");
        assert_eq!(place(&root, &root.join("docs"), "a.md").unwrap().real, "docs/a.md");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_also_to_what_is_not_there_yet() {
        use std::os::unix::fs::symlink;
        let (dir, root) = root();
        symlink("../src", root.join("docs/folder")).unwrap();
        symlink("../src/new.md", root.join("docs/dangling.md")).unwrap();
        symlink("loop", root.join("docs/loop")).unwrap();
        symlink("/etc", root.join("docs/etc")).unwrap();
        assert_eq!(place(&root, &root, "docs/folder/x.md").unwrap().real, "src/x.md");
        assert_eq!(place(&root, &root, "docs/dangling.md").unwrap().real, "src/new.md");
        // By its words this is `docs/x.md`, on the disk `x.md`: both count.
        let both = place(&root, &root, "docs/folder/../x.md").unwrap();
        assert_eq!((both.said.as_str(), both.real.as_str()), ("docs/x.md", "x.md"));
        assert_eq!(place(&root, &root, "docs/loop/x"), Err(Nowhere::Unreadable));
        assert_eq!(place(&root, &root, "docs/etc/passwd"), Err(Nowhere::Outside));
        let other = tempfile::tempdir().unwrap();
        let link = other.path().canonicalize().unwrap().join("repo");
        symlink(&root, &link).unwrap();
        assert_eq!(place(&root, &link, "docs/a.md").unwrap().said, "docs/a.md");
        assert_eq!(place(&root, &root, link.join("docs/a.md").to_str().unwrap()).unwrap().said, "docs/a.md");
        drop(dir);
    }
}
