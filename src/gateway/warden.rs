//! Ends what servers leave behind when this process is killed and cannot do so itself: a shell that waits for the end of
//! its input, and then ends the process groups it was told of.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Mutex;

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
#[derive(Default)]
pub struct Warden(Mutex<Option<(Child, ChildStdin)>>);

impl Warden {
    /// Watches a group.
    pub async fn watch(&self, group: i32) {
        let mut held = self.0.lock().await;
        if held.is_none() {
            *held = start();
        }
        tell(&mut held, &format!("+{group}\n")).await;
    }

    /// A group that ended by itself is not watched any more: its number may be given to others.
    pub async fn leave(&self, group: i32) {
        tell(&mut *self.0.lock().await, &format!("-{group}\n")).await;
    }
}

async fn tell(held: &mut Option<(Child, ChildStdin)>, line: &str) {
    if let Some((_, input)) = held
        && input.write_all(line.as_bytes()).await.is_err()
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
    command.process_group(0);
    let mut child = command.spawn().ok()?;
    let input = child.stdin.take()?;
    Some((child, input))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_watched_ends_with_us_and_what_was_left_does_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sleeper = || Command::new("sleep").arg("60").process_group(0).kill_on_drop(true).spawn().unwrap();
            let (mut watched, mut left, mut second) = (sleeper(), sleeper(), sleeper());
            let id = |child: &Child| i32::try_from(child.id().unwrap()).unwrap();
            let warden = Warden::default();
            for child in [&watched, &left, &second] {
                warden.watch(id(child)).await;
            }
            warden.leave(id(&left)).await;
            drop(warden);
            for child in [&mut watched, &mut second] {
                tokio::time::timeout(Duration::from_secs(5), child.wait()).await.unwrap().unwrap();
            }
            assert!(left.try_wait().unwrap().is_none());
        });
    }
}
