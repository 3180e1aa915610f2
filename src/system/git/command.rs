//! Starting git so that only the repository and the person's configuration decide what it does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The index git hands to a hook (`git commit -a` and partial commits use one of their own).
pub const INDEX_FILE: &str = "GIT_INDEX_FILE";

/// A git command in `root`. Variables of a calling git are taken away: they would point it at another
/// repository. Configuration from variables stays, as `safe.directory` may come that way.
pub fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    let inherited = std::env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| foreign(name)) {
        command.env_remove(name);
    }
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        // A monitor is a program that the repository's configuration names.
        .args(["--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C"])
        .arg(root)
        .stdin(Stdio::null());
    command
}

fn foreign(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("GIT_") && !name.starts_with("GIT_CONFIG_")
}

/// Runs a command to its end and returns its output.
///
/// # Errors
/// Git is missing, or says no; its first line of complaint is the message.
pub fn output(mut command: Command) -> io::Result<Vec<u8>> {
    let done = command.output().map_err(no_git)?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let line = said.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("git failed without a word");
    let line = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
    Err(io::Error::other(format!("git: {line}")))
}

/// The error for a git that cannot be started.
pub fn no_git(error: io::Error) -> io::Error {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        io::Error::new(kind, "`git` is not on the PATH")
    } else {
        io::Error::new(kind, format!("cannot start `git`: {error}"))
    }
}

/// The index of a calling git, when it is one of the repository at `root`.
pub fn handed_index(root: &Path) -> Option<PathBuf> {
    let named: OsString = std::env::var_os(INDEX_FILE).filter(|v| !v.is_empty())?;
    let index = std::path::absolute(PathBuf::from(named)).ok()?;
    let mut ask = git(root);
    ask.args(["rev-parse", "--absolute-git-dir"]);
    let dir = String::from_utf8(output(ask).ok()?).ok()?;
    let dir = Path::new(dir.trim_end_matches(['\n', '\r'])).canonicalize().ok()?;
    let folder = index.parent()?.canonicalize().ok()?;
    folder.starts_with(dir).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configuration_is_inherited() {
        for (name, gone) in [("GIT_DIR", true), ("GIT_WORK_TREE", true), ("GIT_CONFIG_COUNT", false), ("PATH", false)] {
            assert_eq!(foreign(OsStr::new(name)), gone, "{name}");
        }
    }
}
