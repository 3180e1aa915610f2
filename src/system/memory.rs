//! The same rules in memory, for tests.

use super::{Guard, Kind, System, Writer, parent, path};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// What stands at a path of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File(Vec<u8>),
    /// A directory.
    Dir,
    /// A symbolic link to this target, as written.
    Link(String),
    /// A device, pipe or socket.
    Other,
}

/// A tree in memory; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    nodes: Arc<Mutex<BTreeMap<String, Node>>>,
}

impl Memory {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file there, with its folders.
    #[must_use]
    pub fn with(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.put(path, Node::File(text.as_ref().to_vec()));
        self
    }

    /// Puts anything there, with its folders.
    pub fn put(&self, path: &str, node: Node) {
        let mut nodes = self.nodes();
        let mut dir = parent(path);
        while !dir.is_empty() {
            nodes.entry(dir.to_owned()).or_insert(Node::Dir);
            dir = parent(dir);
        }
        nodes.insert(path.to_owned(), node);
    }

    /// The whole tree, to compare.
    pub fn snapshot(&self) -> BTreeMap<String, Node> {
        self.nodes().clone()
    }

    /// A file's text; `None` when there is none or it is not UTF-8.
    pub fn text(&self, path: &str) -> Option<String> {
        match self.nodes().get(path) {
            Some(Node::File(bytes)) => String::from_utf8(bytes.clone()).ok(),
            _ => None,
        }
    }

    /// A tree of its own with the same nodes.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { nodes: Arc::new(Mutex::new(self.snapshot())) }
    }

    fn nodes(&self) -> MutexGuard<'_, BTreeMap<String, Node>> {
        self.nodes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn node(&self, path: &str) -> Option<Node> {
        if path.is_empty() { Some(Node::Dir) } else { self.nodes().get(path).cloned() }
    }

    fn place(&self, path: &str) -> io::Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        path::require(path)?;
        let dir = self.resolve(parent(path))?;
        let name = super::file_name(path);
        Ok(if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") })
    }

    fn need_dir(&self, path: &str) -> io::Result<()> {
        match self.node(parent(path)) {
            Some(Node::Dir) => Ok(()),
            Some(_) => Err(error(io::ErrorKind::NotADirectory, path, "lies in no directory")),
            None => Err(error(io::ErrorKind::NotFound, path, "lies in no directory")),
        }
    }
}

fn error(kind: io::ErrorKind, path: &str, what: &str) -> io::Error {
    io::Error::new(kind, format!("`{path}` {what}"))
}

fn kind_of(node: &Node) -> Kind {
    match node {
        Node::File(bytes) => Kind::File(bytes.len() as u64),
        Node::Dir => Kind::Dir,
        Node::Link(_) => Kind::Link,
        Node::Other => Kind::Other,
    }
}

impl System for Memory {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        Ok(self.node(&self.place(path)?).as_ref().map(kind_of))
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
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    done.pop().ok_or_else(|| {
                        error(io::ErrorKind::PermissionDenied, path, "leads out of the root through a link")
                    })?;
                    continue;
                }
                _ => done.push(part),
            }
            match self.node(&done.join("/")) {
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Err(error(io::ErrorKind::InvalidInput, path, "is a loop of links"));
                    }
                    if target.starts_with('/') {
                        return Err(error(
                            io::ErrorKind::PermissionDenied,
                            path,
                            "leads out of the root through a link",
                        ));
                    }
                    done.pop();
                    let mut ahead: VecDeque<String> = target.split('/').map(str::to_owned).collect();
                    ahead.extend(todo);
                    todo = ahead;
                }
                Some(Node::File(_) | Node::Other) if !todo.is_empty() => {
                    return Err(error(io::ErrorKind::NotADirectory, &done.join("/"), "is not a directory"));
                }
                _ => {}
            }
        }
        Ok(done.join("/"))
    }

    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>> {
        match self.node(&self.resolve(path)?) {
            Some(Node::File(bytes)) if bytes.len() as u64 > max => {
                Err(error(io::ErrorKind::FileTooLarge, path, "is too large"))
            }
            Some(Node::File(bytes)) => Ok(bytes),
            Some(_) => Err(error(io::ErrorKind::InvalidInput, path, "is not a regular file")),
            None => Err(error(io::ErrorKind::NotFound, path, "does not exist")),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>> {
        let real = self.resolve(path)?;
        if self.node(&real) != Some(Node::Dir) {
            return Err(error(io::ErrorKind::NotADirectory, path, "is not a directory"));
        }
        let nodes = self.nodes();
        Ok(nodes
            .iter()
            .filter(|(at, _)| parent(at) == real)
            .map(|(at, node)| (super::file_name(at).to_owned(), kind_of(node)))
            .collect())
    }
}

struct Unlocked;

impl Guard for Unlocked {}

impl Writer for Memory {
    fn exclusive(&self) -> io::Result<Box<dyn Guard>> {
        Ok(Box::new(Unlocked))
    }

    fn create(&self, path: &str, bytes: &[u8], _like: Option<&str>) -> io::Result<()> {
        let real = self.place(path)?;
        self.need_dir(&real)?;
        if self.node(&real).is_some() {
            return Err(error(io::ErrorKind::AlreadyExists, path, "exists"));
        }
        self.nodes().insert(real, Node::File(bytes.to_vec()));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        self.need_dir(&to)?;
        if self.node(&to) == Some(Node::Dir) {
            return Err(error(io::ErrorKind::IsADirectory, &to, "is a directory"));
        }
        let mut nodes = self.nodes();
        let node = nodes.remove(&from).ok_or_else(|| error(io::ErrorKind::NotFound, &from, "does not exist"))?;
        nodes.insert(to, node);
        Ok(())
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        let real = self.place(path)?;
        match self.node(&real) {
            Some(Node::Dir) => Err(error(io::ErrorKind::IsADirectory, path, "is a directory")),
            Some(_) => {
                self.nodes().remove(&real);
                Ok(())
            }
            None => Err(error(io::ErrorKind::NotFound, path, "does not exist")),
        }
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        let real = self.place(path)?;
        self.need_dir(&real)?;
        if self.node(&real).is_some() {
            return Err(error(io::ErrorKind::AlreadyExists, path, "exists"));
        }
        self.nodes().insert(real, Node::Dir);
        Ok(())
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(error(io::ErrorKind::DirectoryNotEmpty, path, "is not empty"));
        }
        let real = self.place(path)?;
        self.nodes().remove(&real);
        Ok(())
    }

    fn sync_dir(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }
}
