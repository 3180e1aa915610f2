//! Ends what servers leave behind when this process is killed and cannot do so itself: a shell that waits for the end of
//! its input, and then ends the process groups it was told of.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Reads `+ID` and `-ID`; at the end of its input ends the groups that are left.
const SCRIPT: &str = r#"trap '' TERM INT HUP
ids=' '
while read -r line; do
  id=${line#?}
  case $line in
    +*) ids="$ids$id " ;;
    -*) case $ids in *" $id "*) ids="${ids%% $id *} ${ids#* $id }" ;; esac ;;
  esac
done
for id in $ids; do kill -s KILL -- "-$id" 2>/dev/null; done
"#;

/// The watch over process groups. Where there is no shell nothing is watched; servers then end when their input does.
///
/// It is told at once and not when the runtime finds the time: what was started and not told yet would be left behind.
/// A few bytes for a shell that does nothing but read do not wait. What is left is the moment between the start of a server
/// and this: one that is killed then leaves a server behind that does not end with its input.
#[derive(Default)]
pub struct Warden(Mutex<Option<(Child, ChildStdin)>>);

impl Warden {
    /// Watches a group.
    pub fn watch(&self, group: i32) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = start();
        }
        tell(&mut held, &format!("+{group}\n"));
    }

    /// A group that ended by itself is not watched any more: its number may be given to others.
    pub fn leave(&self, group: i32) {
        tell(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), &format!("-{group}\n"));
    }
}

fn tell(held: &mut Option<(Child, ChildStdin)>, line: &str) {
    if let Some((_, input)) = held
        && input.write_all(line.as_bytes()).is_err()
    {
        *held = None;
    }
}

fn start() -> Option<(Child, ChildStdin)> {
    if !cfg!(unix) {
        return None;
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a group of its own: whoever ends ours does not end it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().ok()?;
    let input = child.stdin.take()?;
    Some((child, input))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_watched_ends_with_us_and_what_was_left_does_not() {
        let sleeper = || Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let (mut watched, mut left, mut second) = (sleeper(), sleeper(), sleeper());
        let id = |child: &Child| i32::try_from(child.id()).unwrap();
        let warden = Warden::default();
        for child in [&watched, &left, &second] {
            warden.watch(id(child));
        }
        warden.leave(id(&left));
        drop(warden);
        for child in [&mut watched, &mut second] {
            let ended = (0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                child.try_wait().unwrap().is_some()
            });
            assert!(ended);
        }
        assert!(left.try_wait().unwrap().is_none());
        left.kill().unwrap();
        left.wait().unwrap();
    }
}
