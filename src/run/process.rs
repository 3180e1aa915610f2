//! The process of a host: started in the user's own environment, waited for, and its private files removed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use indexmap::IndexMap;

/// A folder that only this user can open; it is removed when this is dropped.
#[derive(Debug)]
pub struct Private(tempfile::TempDir);

impl Private {
    /// Makes one below the system's folder for temporary files.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("rolecast-run-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder.tempdir().map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes files into it.
    ///
    /// # Errors
    /// A name that is a path, or a file that cannot be written.
    pub fn write(&self, files: &IndexMap<String, String>) -> io::Result<()> {
        for (name, text) in files {
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(io::Error::other(format!("`{name}` is no name of a file")));
            }
            std::fs::write(self.path().join(name), text)?;
        }
        Ok(())
    }
}

/// What is started.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [String],
    /// Variables besides those of this process.
    pub env: &'a IndexMap<String, String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Whether a person talks to it; else it reads nothing.
    pub person: bool,
    /// Whether this process, too, is told by the terminal when a person interrupts.
    pub terminal: bool,
}

/// Starts it and waits for its end; signals that reach only this process are passed on. The answer is the code
/// to end with: the program's own, or 128 and the number of the signal that ended it.
///
/// # Errors
/// It cannot be started.
pub fn start(what: &Start<'_>) -> io::Result<u8> {
    let mut command = Command::new(what.program);
    let env = what.env.iter().map(|(k, v)| (OsString::from(k), OsString::from(v)));
    command.args(what.args).envs(env).current_dir(&what.folder);
    if !what.person {
        command.stdin(Stdio::null());
    }
    #[cfg(unix)]
    let status = relayed(&mut command, what.terminal)?;
    #[cfg(not(unix))]
    let status = command.status()?;
    Ok(code(status))
}

/// Waits with a thread beside that passes signals on. Without it an interrupt would end this process before the
/// private files are removed.
#[cfg(unix)]
fn relayed(command: &mut Command, terminal: bool) -> io::Result<ExitStatus> {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    // Listening begins before the start: no signal between the two is lost.
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in signals.forever() {
                // The terminal tells every process of the group by itself; twice would mean something else.
                let told = terminal && (number == SIGINT || number == SIGQUIT);
                if let Some(signal) = Signal::try_from(number).ok().filter(|_| !told) {
                    // An error means that it has ended.
                    let _ = kill(pid, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        status
    })
}

fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}
