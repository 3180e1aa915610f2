//! The only way to the outside: files below the root. Everything else works on values.

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
    ///
    /// # Errors
    /// A link out of the root, a loop, or an I/O error.
    fn resolve(&self, path: &str) -> io::Result<String>;

    /// Reads a regular file of at most `max` bytes.
    ///
    /// # Errors
    /// Not a regular file, too large ([`io::ErrorKind::FileTooLarge`]), a link out, or an I/O error.
    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>>;

    /// Names in a directory, sorted bytewise, with what they are.
    ///
    /// # Errors
    /// Not a directory, or an I/O error.
    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>>;
}
