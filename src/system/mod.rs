//! The only way to the outside: files below the root. Everything else works on values.

pub mod fault;
pub mod git;
pub mod memory;
pub mod os;
pub mod overlay;
pub mod path;

use std::io;

/// What stands at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file of this many bytes.
    File(u64),
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A device, pipe or socket.
    Other,
}

/// Files below one root. Paths are relative to it, with `/`, without `..`.
///
/// Implementations follow links only as far as they stay below the root and report one that leads out
/// as [`io::ErrorKind::PermissionDenied`]-like error naming the path.
pub trait System {
    /// What stands at `path` itself (no link is followed for the last part); `None` = nothing.
    ///
    /// # Errors
    /// Any error but "not found".
    fn kind(&self, path: &str) -> io::Result<Option<Kind>>;

    /// Where a path leads when all links are followed, relative to the root; error when it leads out.
    /// Parts that do not exist stay as they are.
    ///
    /// # Errors
    /// A link out of the root, a loop, a file where a directory must be, or an I/O error.
    fn resolve(&self, path: &str) -> io::Result<String>;

    /// Reads a regular file of at most `max` bytes.
    ///
    /// # Errors
    /// Not a regular file, too large ([`io::ErrorKind::FileTooLarge`]), a link out, or an I/O error.
    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>>;

    /// [`Self::resolve`] and [`Self::read`] in one look; `None` when nothing stands there.
    ///
    /// # Errors
    /// As both.
    fn find(&self, path: &str, max: u64) -> io::Result<(String, Option<Vec<u8>>)> {
        let real = self.resolve(path)?;
        match self.read(&real, max) {
            Ok(bytes) => Ok((real, Some(bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((real, None)),
            Err(error) => Err(error),
        }
    }

    /// Names in a directory, sorted bytewise, with what they are.
    ///
    /// # Errors
    /// Not a directory, or an I/O error.
    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>>;

    /// Whether version control records `path` as a symbolic link although a regular file stands there, as
    /// checkouts without links make it. Asked only for small files of one line without an end.
    fn recorded_as_link(&self, _path: &str) -> bool {
        false
    }
}

/// Held as long as no other render may change files below the same root.
pub trait Guard: Send {}

/// Changes below the root, each one step that either happened or did not, except where a doc says more.
pub trait Writer: System {
    /// Waits until nobody else renders below this root.
    ///
    /// # Errors
    /// The lock cannot be taken.
    fn exclusive(&self) -> io::Result<Box<dyn Guard>>;

    /// Creates `path`, which must not exist, with `bytes` on stable storage; with the permissions of `like`
    /// where that exists, which must not be read-only. A failure may leave a part of the file.
    ///
    /// # Errors
    /// Something stands there, `like` may not be written, its folder is missing or leads out, or an I/O error.
    fn create(&self, path: &str, bytes: &[u8], like: Option<&str>) -> io::Result<()>;

    /// Puts `from` in the place of `to` in one step.
    ///
    /// # Errors
    /// An I/O error, or a path that leads out.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file (or a link itself).
    ///
    /// # Errors
    /// An I/O error, or a path that leads out.
    fn remove_file(&self, path: &str) -> io::Result<()>;

    /// Creates one directory whose parent exists.
    ///
    /// # Errors
    /// An I/O error, or a path that leads out.
    fn create_dir(&self, path: &str) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// Not empty, an I/O error, or a path that leads out.
    fn remove_dir(&self, path: &str) -> io::Result<()>;

    /// Makes renames and removals in a directory durable.
    ///
    /// # Errors
    /// An I/O error.
    fn sync_dir(&self, path: &str) -> io::Result<()>;
}

/// The folder of a path; empty for the root.
pub fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rfind('/').map_or(path, |at| &path[at + 1..])
}
