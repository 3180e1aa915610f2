//! The hook program: hosts ask it before a tool runs. It reads one small compiled file, and whatever is
//! wrong with that or with the question is a refusal for every agent that is not the session's own.

pub mod command;
pub mod context;
pub mod decide;
mod forbidden;
mod lines;
mod once;
pub mod packet;
pub mod patch;
pub mod path;
pub mod payload;
mod usage;

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::model::guard::words::EDITED;
use crate::model::guard::{Answer, Compiled, FILE, VERSION};
use crate::sync::lock::{Lock, Owned};
use crate::text::digest::content_digest;

use payload::{Agent, Call, Unread};

/// Most bytes of a question.
pub const MAX_QUESTION: u64 = 8 << 20;
/// Most bytes of the compiled file and of the lock.
const MAX_FILE: u64 = 4 << 20;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// How the host is told.
    pub answer: Answer,
    /// What the model is told, and what it can do.
    pub reason: String,
}

/// What a host asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Who calls what.
    asked: Result<Call, Agent>,
    /// How the host is told when everything failed.
    answer: Answer,
}

/// Reads the question.
///
/// # Errors
/// It is too long, or not that of a host; nobody can then tell who asks.
pub fn question(mut input: impl Read) -> Result<Question, Refusal> {
    let failed = |reason: &str| Err(Refusal { answer: Answer::Stderr, reason: reason.to_owned() });
    let mut bytes = Vec::new();
    let read = input.by_ref().take(MAX_QUESTION + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() as u64 > MAX_QUESTION {
        return failed("the call is too large for the policy's guard to decide; do it in smaller parts");
    }
    match payload::read(&bytes) {
        Ok(call) => Ok(Question { answer: call.answer, asked: Ok(call) }),
        Err(Unread::Strange(agent)) => Ok(Question { asked: Err(agent), answer: Answer::Stderr }),
        Err(Unread::Garbage) => failed("the policy's guard was not told what is called, so nothing can be decided"),
    }
}

impl Question {
    fn agent(&self) -> &Agent {
        match &self.asked {
            Ok(call) => &call.agent,
            Err(agent) => agent,
        }
    }

    /// Whether the session's own agent asks.
    pub fn main(&self) -> bool {
        *self.agent() == Agent::Main
    }

    /// Decides the call; `start` is the folder that the search for the repository begins in.
    ///
    /// # Errors
    /// The call is refused.
    pub fn answer(&self, host: &str, start: &Path) -> Result<(), Refusal> {
        let failed = |reason: String| Err(Refusal { answer: self.answer, reason });
        let (root, compiled) = match find(start) {
            Ok(found) => found,
            // The main agent has no limits that could be lost.
            Err(_) if self.main() => return Ok(()),
            Err(why) => {
                return failed(format!(
                    "the limits of this agent cannot be known: {why}; return the task to the parent"
                ));
            }
        };
        match &self.asked {
            Ok(call) => decide::decide(&compiled, host, &root, call),
            Err(Agent::Main) => Ok(()),
            Err(_) => failed(
                "this call has a form that the policy's guard cannot decide; return the task to the parent".to_owned(),
            ),
        }
    }
}

/// The repository above `start`, and what was compiled for it.
fn find(start: &Path) -> Result<(PathBuf, Compiled), String> {
    let start = start.canonicalize().map_err(|_| "the working folder is gone".to_owned())?;
    let root = start.ancestors().find(|folder| folder.join(FILE).is_file());
    let root = root.ok_or_else(|| format!("there is no `{FILE}`, run `rolecast render`"))?;
    let bytes = bytes(&root.join(FILE)).ok_or_else(|| format!("`{FILE}` cannot be read"))?;
    let repair = "run `rolecast render --force`";
    let compiled: Compiled = serde_json::from_slice(&bytes).map_err(|_| format!("`{FILE}` is damaged, {repair}"))?;
    if compiled.version != VERSION {
        return Err(format!("`{FILE}` is of another version of rolecast, run `rolecast render`"));
    }
    let lock = self::bytes(&root.join(&compiled.lock)).and_then(|b| Lock::parse(&b).ok());
    let lock =
        lock.ok_or_else(|| format!("the lock `{}` is missing or damaged, run `rolecast render`", compiled.lock))?;
    match lock.files.get(FILE) {
        Some(Owned::Whole(digest)) if *digest == content_digest(&bytes) => Ok((root.to_owned(), compiled)),
        _ => Err(format!("`{FILE}` {EDITED}, {repair}")),
    }
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_FILE).then_some(bytes)
}
