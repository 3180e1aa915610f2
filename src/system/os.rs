//! The real file system below one root.

use super::{Guard, Kind, System, Writer, parent, path};
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Links followed in one path before it counts as a loop.
const MAX_LINKS: usize = 40;

/// The directory tree below a root. Every part of a path is looked at before it is used; that holds against
/// what is in the repository, not against a process that swaps directories for links at the same moment.
#[derive(Debug)]
pub struct Os {
    /// The root as given.
    given: PathBuf,
    /// The root with all links followed.
    root: PathBuf,
    /// Directories seen to be real, so that a thousand outputs in one folder cost one look.
    plain: Mutex<BTreeSet<String>>,
}

/// Reads a file that is named on the command line, or standard input for `-`: at most `max` bytes and one more, so
/// that too much can be told.
///
/// # Errors
/// It cannot be read.
pub fn named(path: &str, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    if path == "-" {
        io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl Os {
    /// The tree below `root`.
    ///
    /// # Errors
    /// `root` does not exist or is no directory.
    pub fn new(root: impl Into<PathBuf>) -> io::Result<Self> {
        let given = root.into();
        let root = given.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("`{}` is not a directory", given.display()),
            ));
        }
        Ok(Self { given, root, plain: Mutex::new(BTreeSet::new()) })
    }

    /// The root with all links followed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn known_plain(&self, dir: &str) -> bool {
        dir.is_empty() || self.plain.lock().is_ok_and(|set| set.contains(dir))
    }

    fn remember_plain(&self, dir: &str) {
        if let Ok(mut set) = self.plain.lock() {
            set.insert(dir.to_owned());
        }
    }

    fn forget_plain(&self) {
        if let Ok(mut set) = self.plain.lock() {
            set.clear();
        }
    }

    /// Follows every link of a path; with what stands at its end, if anything does.
    fn walk(&self, path: &str) -> io::Result<(String, Option<fs::Metadata>)> {
        if path.is_empty() {
            return Ok((String::new(), look(&self.root)?));
        }
        path::require(path)?;
        let mut todo: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        let mut end = None;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop().ok_or_else(|| leads_out(path))?;
                end = None;
                continue;
            }
            done.push(part);
            let here = done.join("/");
            if !todo.is_empty() && self.known_plain(&here) {
                continue;
            }
            let full = self.root.join(&here);
            let Some(meta) = look(&full)? else {
                end = None;
                continue;
            };
            match kind_of(&meta) {
                Kind::Dir => self.remember_plain(&here),
                Kind::Link => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::new(
                            io::ErrorKind::InvalidInput,
                            format!("`{path}` is a loop of links"),
                        ));
                    }
                    done.pop();
                    let target = fs::read_link(&full)?;
                    let mut ahead = if target.is_absolute() || target.has_root() {
                        done.clear();
                        let inside = target.strip_prefix(&self.root).or_else(|_| target.strip_prefix(&self.given));
                        parts_of(inside.map_err(|_| leads_out(path))?)?
                    } else {
                        parts_of(&target)?
                    };
                    ahead.extend(todo);
                    todo = ahead;
                    end = None;
                    continue;
                }
                Kind::File(_) | Kind::Other if !todo.is_empty() => {
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("`{here}` is not a directory")));
                }
                Kind::File(_) | Kind::Other => {}
            }
            end = Some(meta);
        }
        if end.is_none() && !done.is_empty() {
            end = look(&self.root.join(done.join("/")))?;
        }
        Ok((done.join("/"), end))
    }

    /// The real place of `path` itself: its folder resolved, its last part left as it is.
    fn place(&self, path: &str) -> io::Result<(String, PathBuf)> {
        if path.is_empty() {
            return Ok((String::new(), self.root.clone()));
        }
        path::require(path)?;
        let dir = parent(path);
        let real = if self.known_plain(dir) { dir.to_owned() } else { self.resolve(dir)? };
        let name = super::file_name(path);
        let rel = if real.is_empty() { name.to_owned() } else { format!("{real}/{name}") };
        let full = self.root.join(&rel);
        Ok((rel, full))
    }
}

fn leads_out(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("`{path}` leads out of the root through a link"))
}

fn kind_of(meta: &fs::Metadata) -> Kind {
    let file_type = meta.file_type();
    if file_type.is_symlink() {
        Kind::Link
    } else if file_type.is_dir() {
        Kind::Dir
    } else if file_type.is_file() {
        Kind::File(meta.len())
    } else {
        Kind::Other
    }
}

/// `None` for "nothing there"; a file where a folder was expected also means that nothing is there.
fn look(full: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(full) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parts_of(path: &Path) -> io::Result<VecDeque<String>> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_str().map(str::to_owned)),
            Component::ParentDir => Some(Some("..".to_owned())),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect::<Option<_>>()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("`{}` is not UTF-8", path.display())))
}

impl System for Os {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        let (_, full) = self.place(path)?;
        Ok(look(&full)?.as_ref().map(kind_of))
    }

    fn resolve(&self, path: &str) -> io::Result<String> {
        Ok(self.walk(path)?.0)
    }

    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>> {
        let not_found = || io::Error::new(io::ErrorKind::NotFound, format!("`{path}` does not exist"));
        self.find(path, max)?.1.ok_or_else(not_found)
    }

    fn find(&self, path: &str, max: u64) -> io::Result<(String, Option<Vec<u8>>)> {
        let (real, meta) = self.walk(path)?;
        let Some(meta) = meta else { return Ok((real, None)) };
        // Opening a pipe would wait for a writer, so its kind is known before.
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{path}` is not a regular file")));
        }
        let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("`{path}` is larger than {max} bytes"));
        if meta.len() > max {
            return Err(too_large());
        }
        let file = File::open(self.root.join(&real))?;
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max {
            return Err(too_large());
        }
        Ok((real, Some(bytes)))
    }

    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>> {
        let real = self.resolve(path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join(real))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(meta) = look(&entry.path())? {
                names.push((name, kind_of(&meta)));
            }
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    fn recorded_as_link(&self, path: &str) -> bool {
        let mut git = Command::new("git");
        // A hook is run with these set for the top of the work tree, which the root need not be.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
            git.env_remove(name);
        }
        let output = git
            .arg("-C")
            .arg(&self.root)
            .args(["--literal-pathspecs", "ls-files", "-s", "-z", "--", path])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        output.is_ok_and(|out| out.status.success() && out.stdout.starts_with(b"120000 "))
    }
}

struct Held {
    _file: Option<File>,
}

impl Guard for Held {}

impl Writer for Os {
    /// An advisory lock: on the root directory itself on Unix, elsewhere (where a directory cannot be locked)
    /// on a file in the temporary folder named after the root.
    fn exclusive(&self) -> io::Result<Box<dyn Guard>> {
        #[cfg(unix)]
        let file = File::open(&self.root)?;
        #[cfg(not(unix))]
        let file = {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let mut hasher = DefaultHasher::new();
            self.root.hash(&mut hasher);
            let name = format!("rolecast-{:016x}.lock", hasher.finish());
            File::options().create(true).truncate(false).write(true).open(std::env::temp_dir().join(name))?
        };
        match file.lock() {
            Ok(()) => Ok(Box::new(Held { _file: Some(file) })),
            // A file system without locks (some network mounts): renders there are not held apart.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Box::new(Held { _file: None })),
            Err(error) => Err(error),
        }
    }

    fn create(&self, path: &str, bytes: &[u8], like: Option<&str>) -> io::Result<()> {
        let model = match like {
            Some(like) => look(&self.place(like)?.1)?.filter(fs::Metadata::is_file),
            None => None,
        };
        // A rename would replace a file that its owner made read-only.
        if model.as_ref().is_some_and(|meta| meta.permissions().readonly()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        let mut file = File::options().write(true).create_new(true).open(self.place(path)?.1)?;
        file.write_all(bytes)?;
        if let Some(meta) = model {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.place(from)?.1, self.place(to)?.1)
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.place(path)?.1)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        fs::create_dir(self.place(path)?.1)
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        self.forget_plain();
        fs::remove_dir(self.place(path)?.1)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        #[cfg(unix)]
        {
            let (_, full) = self.place(path)?;
            File::open(full)?.sync_all()
        }
        // A directory cannot be opened for that elsewhere; the journal still names what was under way.
        #[cfg(not(unix))]
        Ok(())
    }
}
