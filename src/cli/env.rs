//! What the program asks of its surroundings: the working folder and the way to the repository.

use std::io;
use std::path::{Path, PathBuf};

use crate::load::DEFAULT_DIR;

/// The working folder.
///
/// # Errors
/// It was removed, or may not be read.
pub fn working_folder() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// The nearest folder from `start` upwards that has a policy folder.
pub fn with_policy(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|dir| dir.join(DEFAULT_DIR).is_dir()).map(Path::to_owned)
}

/// The nearest folder from `start` upwards that is the top of a git work tree.
pub fn with_git(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned)
}

/// This program.
///
/// # Errors
/// The system does not tell.
pub fn program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The value of a variable that names a folder.
pub fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}
