//! What the program asks of its surroundings: the working folder and the way to the repository.

use std::io::{self, Read};
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

/// The words of the command line behind the program's name, as far as they are text.
pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map_while(|a| a.into_string().ok()).collect()
}

/// The user's environment, as far as it is text.
#[cfg(feature = "gateway")]
pub fn variables() -> std::collections::BTreeMap<String, String> {
    let text = |value: std::ffi::OsString| value.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

/// This program.
///
/// # Errors
/// The system does not tell.
#[cfg(feature = "gateway")]
pub fn program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The value of a variable that names a folder.
pub fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// The kind of system: `linux`, `macos`, `windows`.
pub const fn system() -> &'static str {
    std::env::consts::OS
}

/// A variable of the user, where it is set to text.
#[cfg(feature = "gateway")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The text of a file that the command line names, of at most `max` bytes.
///
/// # Errors
/// No such file, too large, not UTF-8, or an I/O error.
pub fn read_text(path: &str, max: u64) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {max} bytes")));
    }
    Ok(text)
}
