//! A tree with a few files laid over it that are not there yet.

use std::collections::BTreeMap;
use std::io;

use super::{Kind, System, parent};

/// Reads `files` first, then the tree below.
pub struct Overlay<'a> {
    below: &'a dyn System,
    files: BTreeMap<String, Vec<u8>>,
}

impl<'a> Overlay<'a> {
    /// Lays files over a tree.
    pub fn new(below: &'a dyn System, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { below, files: files.into_iter().collect() }
    }
}

impl System for Overlay<'_> {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(Some(Kind::File(bytes.len() as u64)));
        }
        match self.below.kind(path)? {
            None if self.files.keys().any(|f| f.starts_with(&format!("{path}/"))) => Ok(Some(Kind::Dir)),
            kind => Ok(kind),
        }
    }

    fn resolve(&self, path: &str) -> io::Result<String> {
        if self.files.contains_key(path) { Ok(path.to_owned()) } else { self.below.resolve(path) }
    }

    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>> {
        self.files.get(path).map_or_else(|| self.below.read(path, max), |bytes| Ok(bytes.clone()))
    }

    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>> {
        let mut names: BTreeMap<String, Kind> = match self.below.kind(path)? {
            Some(_) => self.below.list(path)?.into_iter().collect(),
            None => BTreeMap::new(),
        };
        for (file, bytes) in self.files.iter().filter(|(file, _)| parent(file) == path) {
            let name = file.rsplit('/').next().unwrap_or(file);
            names.insert(name.to_owned(), Kind::File(bytes.len() as u64));
        }
        Ok(names.into_iter().collect())
    }

    fn recorded_as_link(&self, path: &str) -> bool {
        !self.files.contains_key(path) && self.below.recorded_as_link(path)
    }
}
