//! One process for one role: what is shown, and what a call does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::bound::{self, Bounded, Sizes, Wanted};
use super::built_in::BuiltIn;
use super::compose::{Call, Exposed, Origin};
use super::folder::Folder;
use super::own;
use super::program::Programs;
use super::record::{End, Record, Start};
use super::runtime::Values;
use super::told::Level;
use super::upstream::{Listener, Lost, Upstream};

/// What a session is made of.
pub struct Parts {
    /// The role; none for the main agent.
    pub role: Option<String>,
    /// Whether the role may read files of the repository.
    pub reads_files: bool,
    /// What is shown, in order.
    pub tools: Vec<Exposed>,
    /// Servers by name.
    pub upstreams: BTreeMap<String, Upstream>,
    /// Primitives of this program itself by name.
    pub primitives: BTreeMap<String, BuiltIn>,
    /// Where programs are started.
    pub programs: Programs,
    /// Values of the run time.
    pub values: Values,
    /// Where results go that are too large.
    pub folder: Folder,
    /// Where calls are written down.
    pub record: Record,
    /// Sizes of results.
    pub sizes: Sizes,
    /// The root of the repository.
    pub root: PathBuf,
}

/// One process for one role.
pub struct Session {
    parts: Parts,
    tools: IndexMap<String, usize>,
    calls: AtomicU64,
    /// Whether a reason for the specialist browser was given.
    reasoned: AtomicBool,
}

/// What a call is answered with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Content blocks as the protocol has them.
    pub content: Vec<Value>,
    /// Whether it failed.
    pub is_error: bool,
    /// Our own notes.
    pub meta: Map<String, Value>,
}

impl Answer {
    fn error(words: &str) -> Self {
        Self { content: vec![json!({ "type": "text", "text": words })], is_error: true, meta: Map::new() }
    }
}

/// A call that went no further, for the record.
struct Ended {
    answer: Answer,
    outcome: &'static str,
    why: String,
}

impl Ended {
    fn new(outcome: &'static str, why: String) -> Self {
        Self { answer: Answer::error(&why), outcome, why }
    }
}

impl Session {
    /// Puts a session together.
    pub fn new(parts: Parts) -> Self {
        let tools = parts.tools.iter().enumerate().map(|(at, tool)| (tool.name.clone(), at)).collect();
        for tool in &parts.tools {
            if let (Origin::Upstream { server, tool: name }, Some(raw)) = (&tool.origin, tool.raw.as_ref())
                && let Some(upstream) = parts.upstreams.get(server)
            {
                upstream.expect(name, raw);
            }
        }
        Self { parts, tools, calls: AtomicU64::new(0), reasoned: AtomicBool::new(false) }
    }

    /// What is shown, in order.
    pub fn tools(&self) -> &[Exposed] {
        &self.parts.tools
    }

    /// From now on the host wants messages for a log from this level on.
    pub async fn log_from(&self, level: Level) {
        for upstream in self.parts.upstreams.values() {
            upstream.log_from(level).await;
        }
    }

    /// Calls a tool; `news` hears what is said meanwhile. `None` when there is none of this name.
    pub async fn call(
        &self,
        name: &str,
        given: Map<String, Value>,
        stop: impl Future<Output = ()>,
        news: Option<&Listener>,
    ) -> Option<Answer> {
        let tool = &self.parts.tools[*self.tools.get(name)?];
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let began = Instant::now();
        let upstream = match &tool.origin {
            Origin::Upstream { server, tool } => Some(format!("{server}/{tool}")),
            Origin::Program(_) => Some(format!("program/{name}")),
            Origin::Own(_) => None,
        };
        let planned = self.plan(tool, given.clone()).await;
        let reason = planned.as_ref().ok().and_then(|call| call.reason.clone());
        let start =
            Start { call: number, tool: name, upstream: upstream.clone(), arguments: &given, reason: reason.as_ref() };
        if let Err(error) = self.parts.record.start(&start)
            && self.parts.role.is_some()
        {
            // What a restricted role does and nobody can see afterwards is not done.
            let why = format!("calls cannot be recorded ({}), and so none is made for this role", error.kind());
            return Some(Answer::error(&why));
        }
        // A reason counts from when it is in the record.
        if reason.is_some() {
            self.reasoned.store(true, Ordering::Relaxed);
        }
        let mut end = End { outcome: "ok", ..End::default() };
        let answer = match self.made(tool, planned, stop, news).await {
            Ok(bounded) => finished(bounded, &mut end),
            Err(ended) => {
                (end.outcome, end.why) = (ended.outcome, Some(ended.why));
                ended.answer
            }
        };
        end.took = began.elapsed();
        let written = self.parts.record.end(number, name, upstream.as_deref(), &end);
        if let (Err(error), true) = (written, self.parts.role.is_some()) {
            return Some(Answer::error(&format!("the call was made, and could not be recorded: {}", error.kind())));
        }
        Some(answer)
    }

    /// From what the model sends to what is sent on.
    async fn plan(&self, tool: &Exposed, given: Map<String, Value>) -> Result<Call, Ended> {
        let names = tool.plan.runtime();
        if !names.is_empty() {
            self.parts.values.prepare(&names).await;
        }
        let call = tool.plan.apply(given, &|name| self.parts.values.get(name));
        let call = call.map_err(|refusal| Ended::new("refused", refusal.to_string()))?;
        let reasons = tool.plan.reasons();
        if reasons.is_empty() || call.reason.is_some() || self.reasoned.load(Ordering::Relaxed) {
            return Ok(call);
        }
        Err(Ended::new(
            "refused",
            format!(
                "this is the specialist browser: its first call in a session says why the host's own does not do, with \
                 `escalation_reason` (one of {}) and `escalation_note` (one sentence)",
                reasons.join(", ")
            ),
        ))
    }

    async fn made(
        &self,
        tool: &Exposed,
        planned: Result<Call, Ended>,
        stop: impl Future<Output = ()>,
        news: Option<&Listener>,
    ) -> Result<Bounded, Ended> {
        let call = planned?;
        let Call { delivery, path_given, entries, .. } = call;
        let wanted = Wanted { delivery, path_given, entries, reads_files: self.parts.reads_files };
        let raw = match &tool.origin {
            Origin::Own(own) => {
                let answering = own::call(*own, &call.arguments, &self.parts.root, &self.parts.folder);
                tokio::select! {
                    raw = answering => raw,
                    () = stop => return Err(Ended::new("stopped", "the call was stopped".to_owned())),
                }
            }
            Origin::Program(program) => self.parts.programs.call(program, &call.arguments, stop).await.map_err(lost)?,
            Origin::Upstream { server, tool } if self.parts.primitives.contains_key(server) => {
                self.parts.primitives[server].call(tool, call.arguments, stop).await.map_err(lost)?
            }
            Origin::Upstream { server, tool } => {
                let Some(upstream) = self.parts.upstreams.get(server) else {
                    return Err(Ended::new("failed", format!("there is no server `{server}`")));
                };
                self.parts.folder.prepare();
                upstream.call(tool, call.arguments, stop, news).await.map_err(lost)?
            }
        };
        if raw.get("resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
            let why = "the server wants to ask something first, which this gateway does not pass on";
            return Err(Ended::new("failed", why.to_owned()));
        }
        Ok(bound::bound(&raw, self.parts.sizes, &tool.bounds, wanted, &self.parts.folder))
    }

    /// Ends every server.
    pub async fn close(&self) {
        for upstream in self.parts.upstreams.values() {
            upstream.close().await;
        }
    }
}

fn lost(lost: Lost) -> Ended {
    match lost {
        Lost::Stopped => Ended::new("stopped", "the call was stopped".to_owned()),
        Lost::Failed(why) => Ended::new("failed", why),
    }
}

fn finished(bounded: Bounded, end: &mut End) -> Answer {
    end.bytes_in = bounded.bytes_in;
    end.bytes_out = bounded.bytes_out;
    end.truncated = bounded.truncated;
    end.inline = bounded.inline;
    end.artifacts = bounded.artifacts.into_iter().map(|artifact| artifact.id).collect();
    end.outcome = if bounded.is_error { "error" } else { "ok" };
    Answer { content: bounded.content, is_error: bounded.is_error, meta: bounded.meta }
}
