//! Exports: one document a session, whose messages have parts. Sub-agents are sessions of their own that name their
//! parent.

use std::rc::Rc;

use super::{Gathered, Reader, json_bytes, key, number, text, whole};
use crate::measure::event::{Agent, AgentKey, Call, Compaction, Kind, Outcome, Place, Raw, Request, ToolName};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;

const IDLE: &[&str] =
    &["text", "reasoning", "step-start", "step-finish", "patch", "snapshot", "file", "agent", "subtask", "retry"];

/// Reads an export.
#[derive(Debug, Default)]
pub struct Export {
    agent: Option<Rc<AgentKey>>,
}

impl Export {
    fn head(&mut self, info: &Json<'_>, out: &mut Out<'_>) {
        let own = text(info, "id").unwrap_or("unknown");
        let parent = text(info, "parentID");
        let agent = match parent {
            Some(parent) => key(Format::Export, parent, own),
            None => key(Format::Export, own, ""),
        };
        let known = Agent {
            place: Some(if parent.is_some() { Place::Sub } else { Place::Main }),
            role: text(info, "agent").filter(|_| parent.is_some()).map(str::to_owned),
            version: text(info, "version").map(str::to_owned),
            folder: text(info, "directory").map(str::to_owned),
            ..Agent::default()
        };
        out.put(&agent, None, Kind::Agent(known));
        self.agent = Some(agent);
    }

    fn part(&self, agent: &Rc<AgentKey>, part: &Json<'_>, out: &mut Out<'_>) {
        let at = number(part, "/state/time/start").map(|ms| ms.to_string());
        let at = at.as_deref();
        match text(part, "type").unwrap_or_default() {
            "tool" => tool(agent, at, part, out),
            "compaction" => {
                let automatic = part.get("auto").and_then(Json::as_bool);
                out.put(agent, at, Kind::Compaction(Compaction { automatic, ..Compaction::default() }));
            }
            kind if IDLE.contains(&kind) => {}
            kind => out.put(agent, at, Kind::Unknown(format!("part/{kind}"))),
        }
    }
}

impl Reader for Export {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let info = record.get("info").unwrap_or(&Json::Null);
        if self.agent.is_none() {
            return self.head(info, out);
        }
        let agent = self.agent();
        if text(info, "id").is_some_and(|id| out.first("message", id) != Before::New) {
            return out.put(&agent, None, Kind::Copied);
        }
        if text(info, "role") == Some("assistant")
            && let Some(tokens) = info.get("tokens")
        {
            let at = number(info, "/time/created").map(|ms| ms.to_string());
            out.put(&agent, at.as_deref(), Kind::Request(request(tokens)));
        }
        for part in record.get("parts").and_then(Json::as_array).into_iter().flatten() {
            self.part(&agent, part, out);
        }
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.agent.clone().unwrap_or_else(|| key(Format::Export, "unknown", ""))
    }
}

fn request(tokens: &Json<'_>) -> Request {
    let fresh = number(tokens, "input");
    let parts = ["/cache/read", "/cache/write"].map(|k| number(tokens, k));
    let cached = parts.iter().flatten().copied().reduce(|a, b| a + b);
    Request {
        fresh,
        cached,
        context: fresh.map(|f| f + cached.unwrap_or(0)),
        output: number(tokens, "output"),
        bytes: None,
    }
}

fn tool(agent: &Rc<AgentKey>, at: Option<&str>, part: &Json<'_>, out: &mut Out<'_>) {
    let id = text(part, "callID").unwrap_or_default();
    let state = part.get("state").unwrap_or(&Json::Null);
    let input = state.get("input");
    let call = Call {
        id: id.to_owned(),
        tool: ToolName { name: text(part, "tool").unwrap_or_default().to_owned(), server: None },
        arguments: input.filter(|v| whole(v)).map(Json::value),
        arguments_bytes: input.map(json_bytes),
        nested: false,
    };
    out.put(agent, at, Kind::Call(call));
    let status = text(state, "status");
    if !matches!(status, Some("completed" | "error")) {
        return;
    }
    let mut gathered = Gathered::default();
    gathered.text(text(state, "output").or_else(|| text(state, "error")).unwrap_or_default());
    for attachment in state.get("attachments").and_then(Json::as_array).into_iter().flatten() {
        gathered.address(text(attachment, "url").unwrap_or_default(), Some(true));
    }
    let truncated = state.pointer("/metadata/truncated").and_then(Json::as_bool);
    let raw = truncated.map(|at_least| Raw { bytes: gathered.bytes, at_least });
    let outcome = Outcome {
        id: id.to_owned(),
        failed: Some(status == Some("error")),
        visible: Some(gathered.bytes),
        raw,
        media: gathered.media,
        head: gathered.head,
        ..Outcome::default()
    };
    out.put(agent, at, Kind::Result(outcome));
}
