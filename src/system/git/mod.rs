//! What git holds in place of the working tree: the index, or the tree of `HEAD`.

mod blobs;
mod command;
mod listing;

pub use command::git;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::{Kind, System, file_name, parent, path};
use blobs::Blobs;

/// Links followed in one path before it counts as a loop.
const MAX_LINKS: usize = 40;
/// Longest target of a link, in bytes.
const MAX_TARGET: u64 = 4096;

/// Which of git's trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// What is staged.
    Index,
    /// What is committed.
    Head,
    /// What a revision committed.
    Revision(&'a str),
}

/// What git records at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// A regular file with this object id.
    File(String),
    /// A symbolic link whose target is the text of this object.
    Link(String),
    /// A directory.
    Dir,
    /// Another repository.
    Other,
    /// Something whose name is not UTF-8; the key is how it is shown.
    Unnamed,
}

/// Files below the root as git holds them. The working tree is neither read nor changed, and no lock of
/// git's is taken.
#[derive(Debug)]
pub struct Tree {
    /// The root as given, and with all links followed: both may stand in absolute links.
    roots: [PathBuf; 2],
    /// Directory → name → what it is.
    dirs: BTreeMap<String, BTreeMap<String, Node>>,
    blobs: Mutex<Blobs>,
}

impl Tree {
    /// The tree at `root`, which may be a sub-folder of the working tree.
    ///
    /// # Errors
    /// No git program, no repository, no commit yet ([`Which::Head`]), or a file with an unresolved merge,
    /// which is named.
    pub fn open(root: &Path, which: Which<'_>) -> io::Result<Self> {
        let real = root.canonicalize()?;
        let entries = match which {
            Which::Index => listing::index(&real)?,
            Which::Head => listing::revision(&real, "HEAD")?,
            Which::Revision(revision) => listing::revision(&real, revision)?,
        };
        let mut dirs: BTreeMap<String, BTreeMap<String, Node>> = BTreeMap::new();
        dirs.insert(String::new(), BTreeMap::new());
        for (path, node) in entries {
            add(&mut dirs, &path, node);
        }
        let blobs = Mutex::new(Blobs::new(real.clone()));
        Ok(Self { roots: [root.to_owned(), real], dirs, blobs })
    }

    fn node(&self, path: &str) -> Option<&Node> {
        if path.is_empty() { Some(&Node::Dir) } else { self.dirs.get(parent(path))?.get(file_name(path)) }
    }

    fn blobs(&self) -> MutexGuard<'_, Blobs> {
        self.blobs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn kind_of(&self, path: &str, node: &Node) -> io::Result<Kind> {
        Ok(match node {
            Node::File(id) => Kind::File(self.blobs().size(id)?),
            Node::Link(_) => Kind::Link,
            Node::Dir => Kind::Dir,
            Node::Other => Kind::Other,
            Node::Unnamed => return Err(unnamed(path)),
        })
    }

    /// The parts of a link's target, relative to the link's folder, or to the root when the flag is set.
    fn target(&self, path: &str, id: &str) -> io::Result<(bool, VecDeque<String>)> {
        let bytes = self.blobs().read(id, MAX_TARGET)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidData, format!("the target of the link `{path}` is not UTF-8"))
        })?;
        let from_root = text.starts_with('/') || Path::new(&text).is_absolute();
        let inside = if from_root {
            let found = self.roots.iter().find_map(|root| Path::new(&text).strip_prefix(root).ok());
            found.and_then(Path::to_str).ok_or_else(|| leads_out(path))?
        } else {
            text.as_str()
        };
        let parts = inside.split('/').filter(|p| !p.is_empty() && *p != ".").map(str::to_owned).collect();
        Ok((from_root, parts))
    }
}

/// Puts a node there, with its folders. What cannot be named stays, so that it is reported.
fn add(dirs: &mut BTreeMap<String, BTreeMap<String, Node>>, path: &str, node: Node) {
    let names = dirs.entry(parent(path).to_owned()).or_default();
    if names.get(file_name(path)) != Some(&Node::Unnamed) {
        names.insert(file_name(path).to_owned(), node);
    }
    let mut dir = parent(path);
    while !dir.is_empty() {
        let names = dirs.entry(parent(dir).to_owned()).or_default();
        if names.contains_key(file_name(dir)) {
            break;
        }
        names.insert(file_name(dir).to_owned(), Node::Dir);
        dir = parent(dir);
    }
}

fn leads_out(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("`{path}` leads out of the root through a link"))
}

fn unnamed(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the name of `{path}` is not UTF-8"))
}

impl System for Tree {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        if path.is_empty() {
            return Ok(Some(Kind::Dir));
        }
        path::require(path)?;
        let dir = self.resolve(parent(path))?;
        let real = if dir.is_empty() { file_name(path).to_owned() } else { format!("{dir}/{}", file_name(path)) };
        self.node(&real).map(|node| self.kind_of(&real, node)).transpose()
    }

    fn resolve(&self, path: &str) -> io::Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        path::require(path)?;
        let mut todo: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop().ok_or_else(|| leads_out(path))?;
                continue;
            }
            done.push(part);
            let here = done.join("/");
            match self.node(&here) {
                Some(Node::Link(id)) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::new(
                            io::ErrorKind::InvalidInput,
                            format!("`{path}` is a loop of links"),
                        ));
                    }
                    let (from_root, mut ahead) = self.target(&here, id)?;
                    if from_root {
                        done.clear();
                    } else {
                        done.pop();
                    }
                    ahead.extend(todo);
                    todo = ahead;
                }
                Some(Node::Unnamed) => return Err(unnamed(&here)),
                Some(Node::File(_) | Node::Other) if !todo.is_empty() => {
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("`{here}` is not a directory")));
                }
                _ => {}
            }
        }
        Ok(done.join("/"))
    }

    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>> {
        let real = self.resolve(path)?;
        match self.node(&real) {
            Some(Node::File(id)) => self.blobs().read(id, max).map_err(|error| {
                if error.kind() == io::ErrorKind::FileTooLarge {
                    io::Error::new(error.kind(), format!("`{path}` is larger than {max} bytes"))
                } else {
                    error
                }
            }),
            Some(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{path}` is not a regular file"))),
            None => Err(io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is not in git"))),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>> {
        let real = self.resolve(path)?;
        let names = match self.node(&real) {
            Some(Node::Dir) => self.dirs.get(&real),
            Some(_) => {
                return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("`{path}` is not a directory")));
            }
            None => return Err(io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is not in git"))),
        };
        let full = |name: &str| if real.is_empty() { name.to_owned() } else { format!("{real}/{name}") };
        let shown = |name: &str, node: &Node| match node {
            // One bad name does not hide its neighbours; whoever uses it is told.
            Node::Unnamed => Ok(Kind::Other),
            node => self.kind_of(&full(name), node),
        };
        names.into_iter().flatten().map(|(name, node)| Ok((name.clone(), shown(name, node)?))).collect()
    }
}
