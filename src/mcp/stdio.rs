//! A server as a program: one message a line on its standard streams.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio as Pipe};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};

use super::limits::Limits;
use super::lines::{self, Line};
use super::peer::Peer;
use super::problem::Problem;
use super::tail::Tail;
use crate::process::Group;

/// How long the last words of a program that ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A program that runs; dropping it ends the program and all that it started.
pub(super) struct Stdio {
    out: Option<mpsc::Sender<String>>,
    ended: watch::Receiver<bool>,
    tail: Arc<Tail>,
    group: Group,
    grace: Duration,
}

impl Stdio {
    /// Starts a program.
    pub(super) fn start(
        program: &str,
        args: &[String],
        env: &[(String, String)],
        folder: &Path,
        peer: &Arc<Peer>,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        let mut command = Command::new(located(program, folder));
        command.args(args).env_clear().envs(env.iter().map(|(k, v)| (k, v))).current_dir(folder);
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let failed = |why: String| Problem::Start { program: program.to_owned(), why };
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let group = Group::of(child.id());
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no standard streams".to_owned()));
        };
        let tail = Arc::new(Tail::default());
        let (out, lines) = mpsc::channel(64);
        let (tell, ended) = watch::channel(false);
        tokio::spawn(write(stdin, lines));
        let following = tokio::spawn({
            let tail = Arc::clone(&tail);
            async move { tail.follow(stderr).await }
        });
        let reading = tokio::spawn(read(stdout, Arc::clone(peer), out.downgrade(), limits.message));
        tokio::spawn(supervise(child, Arc::clone(peer), [reading, following], tell));
        Ok(Self { out: Some(out), ended, tail, group, grace: limits.grace })
    }

    /// Sends one message.
    pub(super) async fn send(&self, message: &Value) -> Result<(), Problem> {
        let gone = || Problem::Ended("before it took a message".to_owned());
        // Whether the program is there is known by its answers: a failure to write is told by its end.
        self.out.as_ref().ok_or_else(gone)?.send(format!("{message}\n")).await.map_err(|_| gone())
    }

    /// The process group that it leads.
    pub(super) const fn group(&self) -> Option<i32> {
        self.group.id()
    }

    /// The end of its standard error.
    pub(super) fn stderr(&self, secrets: &[String]) -> String {
        self.tail.text(secrets)
    }

    /// Waits a little until its last words are read.
    pub(super) async fn settle(&mut self) {
        let _ = tokio::time::timeout(LAST_WORDS, self.ended.wait_for(|ended| *ended)).await;
    }

    /// Ends it: its input is closed, then it is asked, then it is ended with all that it started.
    pub(super) async fn close(mut self) {
        self.out = None;
        for ask in [false, true] {
            if ask {
                self.group.ask();
            }
            if tokio::time::timeout(self.grace, self.ended.wait_for(|ended| *ended)).await.is_ok() {
                break;
            }
        }
    }
}

/// A relative path with a folder in it is meant from the root, wherever we were started.
fn located(program: &str, folder: &Path) -> PathBuf {
    let path = Path::new(program);
    if path.is_relative() && path.components().count() > 1 { folder.join(path) } else { path.to_owned() }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
}

async fn read(stdout: ChildStdout, peer: Arc<Peer>, out: mpsc::WeakSender<String>, max: usize) {
    let mut reader = BufReader::with_capacity(64 << 10, stdout);
    loop {
        match lines::next(&mut reader, max).await {
            Ok(Line::Bytes(line)) if line.trim_ascii().is_empty() => {}
            Ok(Line::Bytes(line)) => match serde_json::from_slice(&line) {
                Ok(message) => {
                    for reply in peer.take(message) {
                        let Some(out) = out.upgrade() else { return };
                        // The program may have closed its input; then it does not wait for a reply.
                        let _ = out.send(format!("{reply}\n")).await;
                    }
                }
                Err(_) => peer.noise(&String::from_utf8_lossy(&line)),
            },
            Ok(Line::TooLong) => peer.fail(&Problem::TooLarge(max)),
            Ok(Line::End) | Err(_) => return,
        }
    }
}

async fn supervise(
    mut child: Child,
    peer: Arc<Peer>,
    streams: [tokio::task::JoinHandle<()>; 2],
    tell: watch::Sender<bool>,
) {
    let how = child.wait().await.map_or_else(|error| error.to_string(), |status| told(&status));
    for mut stream in streams {
        // A grandchild may hold a stream open.
        if tokio::time::timeout(LAST_WORDS, &mut stream).await.is_err() {
            stream.abort();
        }
    }
    peer.close(Problem::Ended(how));
    let _ = tell.send(true);
}

fn told(status: &ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(status) {
        return format!("by signal {signal}");
    }
    status.code().map_or_else(|| "without an exit code".to_owned(), |code| format!("with exit code {code}"))
}
