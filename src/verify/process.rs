//! Running a foreign program: nothing of the user's environment, bounded in time and output, and gone with
//! all that it started, whatever happens.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::process::Group;
pub use crate::process::Interrupt;

/// Most bytes kept of each stream; the rest is read and thrown away.
const MAX_OUTPUT: usize = 8 << 20;

/// How long the streams may stay open after everything was ended.
const DRAIN: Duration = Duration::from_secs(2);

/// Most characters of a program's complaint that are shown.
const MAX_TROUBLE: usize = 300;

/// What a program says, in one line of bounded length.
pub fn said(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(MAX_TROUBLE).collect()
}

/// What to run.
#[derive(Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [String],
    /// All of its environment.
    pub env: &'a [(String, String)],
    /// Its working folder.
    pub folder: &'a Path,
    /// After this it is ended.
    pub time: Duration,
}

/// How it went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// Exit code; none when it was ended.
    pub code: Option<i32>,
    /// Why it was ended by us.
    pub ended: Option<Ended>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    Time,
    /// A person interrupted us.
    Interrupt,
}

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started.
pub async fn run(task: Task<'_>, interrupt: &mut Interrupt) -> io::Result<Ran> {
    let mut command = Command::new(task.program);
    command
        .args(task.args)
        .env_clear()
        .envs(task.env.iter().map(|(k, v)| (k, v)))
        .current_dir(task.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let group = Group::of(child.id());
    let out = tokio::spawn(bounded(child.stdout.take()));
    let err = tokio::spawn(bounded(child.stderr.take()));
    let (code, ended) = tokio::select! {
        status = child.wait() => (status?.code(), None),
        () = tokio::time::sleep(task.time) => (None, Some(Ended::Time)),
        () = interrupt.wait() => (None, Some(Ended::Interrupt)),
    };
    drop(group);
    if ended.is_some() {
        end(&mut child).await;
    }
    Ok(Ran { code, ended, stdout: text(out).await, stderr: text(err).await })
}

async fn end(child: &mut Child) {
    // An error means that it has ended already.
    let _ = child.start_kill();
    let _ = child.wait().await;
}

async fn text(reader: tokio::task::JoinHandle<Vec<u8>>) -> String {
    let abort = reader.abort_handle();
    let bytes = tokio::time::timeout(DRAIN, reader).await;
    abort.abort();
    bytes.ok().and_then(Result::ok).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

async fn bounded(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut stream) = stream else { return kept };
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let room = MAX_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
    kept
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str, env: &[(String, String)], time: u64) -> Ran {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dir = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            let args = ["-c".to_owned(), script.to_owned()];
            let time = Duration::from_millis(time);
            let task = Task { program: Path::new("/bin/sh"), args: &args, env, folder: dir.path(), time };
            run(task, &mut Interrupt::listen()).await.unwrap()
        })
    }

    #[test]
    fn a_program_sees_only_the_environment_it_is_given() {
        let ran = shell("/usr/bin/env; echo word >&2; exit 3", &[("ONLY".into(), "this".into())], 5000);
        assert!(ran.stdout.contains("ONLY=this") && !ran.stdout.contains("HOME="), "{}", ran.stdout);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), "word\n"));
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_and_time_ends_it_too() {
        let started = Instant::now();
        let ran = shell("/bin/sleep 60 & echo $!", &[], 5000);
        let left: i32 = ran.stdout.trim().parse().unwrap();
        assert_eq!(ran.code, Some(0));
        let gone = || match std::fs::read_to_string(format!("/proc/{left}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        assert!((0..50).any(|_| gone() || {
            std::thread::sleep(Duration::from_millis(20));
            false
        }));
        let ran = shell("echo begun; /bin/sleep 60; echo never", &[], 300);
        assert_eq!((ran.ended, ran.stdout.as_str()), (Some(Ended::Time), "begun\n"));
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}
