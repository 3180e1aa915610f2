//! `guard`: hosts ask before a tool runs. A refusal is what the host takes for one; everything else that is
//! not a pass ends with code 2, which hosts take for a refusal too.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::guard::context::Made;
use crate::guard::{self, Refusal};
use crate::model::guard::words::REFUSED;
use crate::model::guard::{Answer, decision};

use super::env;
use super::exit::Exit;

/// Far below the time that hosts give a hook, after which some let the call through.
const DEADLINE: Duration = Duration::from_secs(4);

/// Whether the main agent is known to ask: it has no limits that could be lost when the time is over.
static MAIN: AtomicBool = AtomicBool::new(false);

/// Answers a command line that is that of a hook; `None` = it is another one.
pub fn asked() -> Option<std::process::ExitCode> {
    let words = env::arguments();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["guard", "--host", host] => Some(run(host, None).into()),
        ["guard", "--host", host, "--root", root] => Some(run(host, Some(root)).into()),
        ["guard", "--context", "--host", host] => Some(tell_context(host, None).into()),
        ["guard", "--context", "--host", host, "--root", root] => Some(tell_context(host, Some(root)).into()),
        _ => None,
    }
}

/// Tells an agent how full its context is, when that is new. Whatever goes wrong, nothing is said and nothing is
/// held up.
pub fn tell_context(host: &str, root: Option<&str>) -> Exit {
    after(DEADLINE, || 0);
    if let Some(made) = Made::read(std::io::stdin().lock())
        && let Some(answer) = made.answer(host, &start(root))
    {
        let mut out = std::io::stdout().lock();
        // Nobody is left to be told when this fails.
        let _ = writeln!(out, "{answer}").and_then(|()| out.flush());
    }
    Exit::Clean
}

/// Runs the command.
pub fn run(host: &str, root: Option<&str>) -> Exit {
    after(DEADLINE, || {
        let main = MAIN.load(Ordering::Relaxed);
        if !main {
            tell("the policy's guard could not decide in time; try the call again, or return the task to the parent");
        }
        if main { 0 } else { 2 }
    });
    match decide(host, root) {
        Ok(()) => Exit::Clean,
        Err(Refusal { answer: Answer::Decision, reason }) => {
            let answer = decision(&format!("{REFUSED}{reason}"));
            let mut out = std::io::stdout().lock();
            let written = writeln!(out, "{answer}").and_then(|()| out.flush());
            if written.is_ok() { Exit::Clean } else { Exit::Usage }
        }
        Err(Refusal { answer: Answer::Stderr, reason }) => {
            tell(&reason);
            Exit::Usage
        }
    }
}

fn decide(host: &str, root: Option<&str>) -> Result<(), Refusal> {
    let question = guard::question(std::io::stdin().lock())?;
    MAIN.store(question.main(), Ordering::Relaxed);
    question.answer(host, &start(root))
}

/// The folder that the search for the repository begins in.
fn start(root: Option<&str>) -> PathBuf {
    match root.filter(|r| !r.is_empty()) {
        Some(root) => PathBuf::from(root),
        None => env::working_folder().unwrap_or_else(|_| PathBuf::from(".")),
    }
}

/// Ends the process with a code after a time.
fn after(time: Duration, code: fn() -> i32) {
    #[expect(clippy::disallowed_methods, reason = "the main thread is stuck, and cannot return an exit code")]
    std::thread::spawn(move || {
        std::thread::sleep(time);
        std::process::exit(code());
    });
}

/// Nobody is left to be told when this fails.
fn tell(reason: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{REFUSED}{reason}");
}
