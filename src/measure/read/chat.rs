//! Chats: a header, patches of it, and messages that are written again under the same id as they grow; the last one
//! counts. Older versions wrote one document with the same messages.
//!
//! A sub-agent's file stands in a folder with the name of its parent's session. Its calls that the host refused are
//! not recorded at all, nor is who let a call through, nor a compaction.

use std::path::Path;
use std::rc::Rc;

use super::{Gathered, Reader, json_bytes, key, model, number, text, whole};
use crate::measure::event::{Agent, AgentKey, At, Call, Kind, Outcome, Place, Request, ToolName};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;
use crate::measure::skim;

const IDLE: &[&str] = &["user", "info", "error", "warning"];

/// Reads a chat.
#[derive(Debug)]
pub struct Chat {
    /// Name of the folder.
    folder: String,
    agent: Option<Rc<AgentKey>>,
    /// The message that may still grow.
    pending: Option<(At, Json<'static>)>,
}

impl Chat {
    /// For a file.
    pub fn new(path: &Path) -> Self {
        let folder = path.parent().and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or_default();
        Self { folder: folder.to_owned(), agent: None, pending: None }
    }

    fn head(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let own = text(record, "sessionId").unwrap_or("unknown");
        let sub = text(record, "kind") == Some("subagent");
        let agent = if sub { key(Format::Chat, &self.folder, own) } else { key(Format::Chat, own, "") };
        let known = Agent {
            place: Some(if sub { Place::Sub } else { Place::Main }),
            folder: text(record, "/directories/0").map(str::to_owned),
            ..Agent::default()
        };
        out.put(&agent, text(record, "startTime"), Kind::Agent(known));
        self.agent = Some(agent);
    }

    fn message(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let id = text(record, "id");
        if self.pending.as_ref().is_some_and(|(_, p)| text(p, "id") != id) {
            self.flush(out);
        }
        self.pending = Some((out.at, record.clone().owned()));
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        let Some((at, message)) = self.pending.take() else { return };
        let here = std::mem::replace(&mut out.at, at);
        let agent = self.agent();
        let when = text(&message, "timestamp");
        let id = format!("{}/{}", agent.session, text(&message, "id").unwrap_or_default());
        if let Some(tokens) = message.get("tokens").filter(|t| t.is_object())
            && out.first("message", &id) == Before::New
        {
            model(&agent, when, text(&message, "model"), out);
            out.put(&agent, when, Kind::Request(request(tokens)));
        }
        for call in message.get("toolCalls").and_then(Json::as_array).into_iter().flatten() {
            self.call(&agent, when, call, out);
        }
        out.at = here;
    }

    fn call(&self, agent: &Rc<AgentKey>, at: Option<&str>, call: &Json<'_>, out: &mut Out<'_>) {
        let id = text(call, "id").unwrap_or_default();
        let named = format!("{}/{}/{id}", agent.session, agent.agent);
        let (name, arguments) = (text(call, "name").unwrap_or_default(), call.get("args"));
        if out.first("call", &named) == Before::New {
            let new = Call {
                id: id.to_owned(),
                tool: ToolName { name: name.to_owned(), server: None },
                arguments: arguments.filter(|v| whole(v)).map(Json::value),
                arguments_bytes: arguments.map(json_bytes),
                nested: false,
            };
            out.put(agent, at, Kind::Call(new));
        }
        // The call that starts an agent names it, and the role.
        if let (Some(child), Some(role)) = (text(call, "agentId"), arguments.and_then(|a| text(a, "agent_name"))) {
            let child = key(Format::Chat, &agent.session, child);
            let known = Agent { place: Some(Place::Sub), role: Some(role.to_owned()), ..Agent::default() };
            out.put(&child, at, Kind::Agent(known));
        }
        let ended = text(call, "status").is_some_and(|s| matches!(s, "success" | "error" | "cancelled"));
        if !ended || out.first("result", &named) != Before::New {
            return;
        }
        let mut gathered = Gathered::default();
        let parts = call.get("result").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        parts.iter().for_each(|part| part_of(part, Some(true), &mut gathered));
        let outcome = Outcome {
            id: id.to_owned(),
            failed: text(call, "status").map(|s| s != "success"),
            visible: Some(gathered.bytes),
            media: gathered.media,
            head: gathered.head,
            ..Outcome::default()
        };
        out.put(agent, at, Kind::Result(outcome));
    }
}

impl Reader for Chat {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        if self.agent.is_none() && record.get("sessionId").is_some() {
            return self.head(record, out);
        }
        if let Some(patch) = record.get("$set") {
            // The first one may bring messages.
            for message in patch.get("messages").and_then(Json::as_array).into_iter().flatten() {
                self.record(message, out);
            }
            return;
        }
        let at = text(record, "timestamp");
        match text(record, "type") {
            Some("gemini") => self.message(record, out),
            Some(kind) if IDLE.contains(&kind) => {}
            kind => {
                let agent = self.agent();
                out.put(&agent, at, Kind::Unknown(kind.unwrap_or("untyped").to_owned()));
            }
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.agent.clone().unwrap_or_else(|| key(Format::Chat, "unknown", ""))
    }
}

fn request(tokens: &Json<'_>) -> Request {
    let (input, cached) = (number(tokens, "input"), number(tokens, "cached"));
    Request {
        fresh: input.zip(cached).map(|(input, cached)| input.saturating_sub(cached)),
        cached,
        context: input,
        output: number(tokens, "output"),
        bytes: None,
    }
}

/// A part of a result: `functionResponse`, with media within or beside it.
pub(super) fn part_of(part: &Json<'_>, inline: Option<bool>, gathered: &mut Gathered) {
    if let Some(response) = part.pointer("/functionResponse/response") {
        let said = text(response, "output").or_else(|| text(response, "error"));
        match said {
            Some(said) => gathered.text(said),
            None => gathered.text(&response.to_string()),
        }
    }
    let within = part.pointer("/functionResponse/parts").and_then(Json::as_array);
    for media in within.into_iter().flatten().chain([part]) {
        if let Some(data) = text(media, "/inlineData/data") {
            gathered.media(skim::bytes(data), inline);
        }
    }
}
