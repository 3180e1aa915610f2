//! `guard`: hosts ask before a tool runs. A refusal is what the host takes for one; everything else that is
//! not a pass ends with code 2, which hosts take for a refusal too.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::guard::{self, Refusal};
use crate::model::guard::{Answer, decision};

use super::env;
use super::exit::Exit;

/// Far below the time that hosts give a hook, after which some let the call through.
const DEADLINE: Duration = Duration::from_secs(4);

/// So that the model, and who reads over its shoulder, knows who refuses.
const NAME: &str = "rolecast: ";

/// Whether the main agent is known to ask: it has no limits that could be lost when the time is over.
static MAIN: AtomicBool = AtomicBool::new(false);

/// Answers a command line that is that of a hook; `None` = it is another one.
pub fn asked() -> Option<std::process::ExitCode> {
    let words = env::arguments();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["guard", "--host", host] => Some(run(host, None).into()),
        ["guard", "--host", host, "--root", root] => Some(run(host, Some(root)).into()),
        _ => None,
    }
}

/// Runs the command.
pub fn run(host: &str, root: Option<&str>) -> Exit {
    #[expect(clippy::disallowed_methods, reason = "the thread that decides is stuck, and cannot return an exit code")]
    std::thread::spawn(|| {
        std::thread::sleep(DEADLINE);
        let main = MAIN.load(Ordering::Relaxed);
        if !main {
            tell("the policy's guard could not decide in time; try the call again, or return the task to the parent");
        }
        std::process::exit(if main { 0 } else { 2 });
    });
    match decide(host, root) {
        Ok(()) => Exit::Clean,
        Err(Refusal { answer: Answer::Decision, reason }) => {
            let answer = decision(&format!("{NAME}{reason}"));
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
    let here = || env::working_folder().unwrap_or_else(|_| PathBuf::from("."));
    match root.filter(|r| !r.is_empty()) {
        Some(root) => question.answer(host, Path::new(root)),
        None => question.answer(host, &here()),
    }
}

/// Nobody is left to be told when this fails.
fn tell(reason: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{NAME}{reason}");
}
