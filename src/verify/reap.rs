//! Ending everything that a run started.

use std::path::Path;

/// Ends processes that left the group: those whose environment names the home folder of the run, which is
/// nobody else's. Where there is no `/proc` the group has to do.
pub fn stragglers(home: &Path) {
    marked("HOME", home);
}

/// The same for those whose variable `name` is that folder.
pub fn marked(name: &str, home: &Path) {
    #[cfg(target_os = "linux")]
    {
        let mark = format!("{name}={}", home.display());
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            if environment.split(|b| *b == 0).any(|pair| pair == mark.as_bytes()) {
                use nix::sys::signal::{Signal, kill};
                let _ = kill(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (name, home);
}
