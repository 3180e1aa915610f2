//! Chains: lines linked by `parentUuid` whose messages have parts. Sub-agents have files of their own, with lines that
//! name the agent; one line a turn there has nothing but the usage. Lines of telemetry repeat usage and results, and
//! say who let a call through.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use super::chat::part_of;
use super::{Gathered, Reader, json_bytes, key, model, number, text, whole};
use crate::measure::event::{Agent, AgentKey, Approval, Call, Compaction, Kind, Outcome, Place, Request, ToolName};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;

const IDLE: &[&str] = &["user", "mode", "summary"];

/// Reads a chain.
#[derive(Debug)]
pub struct Chain {
    agent: Option<Rc<AgentKey>>,
    /// Calls of this file: telemetry also tells of other agents' calls.
    calls: BTreeSet<String>,
}

impl Chain {
    /// For a file.
    pub fn new(_path: &Path) -> Self {
        Self { agent: None, calls: BTreeSet::new() }
    }

    fn whose(&mut self, record: &Json<'_>, out: &mut Out<'_>) -> Rc<AgentKey> {
        let (session, agent) = (text(record, "sessionId").unwrap_or("unknown"), text(record, "agentId").unwrap_or(""));
        let same = |k: &&Rc<AgentKey>| *k.session == *session && *k.agent == *agent;
        if let Some(known) = self.agent.as_ref().filter(same) {
            return Rc::clone(known);
        }
        let new = key(Format::Chain, session, agent);
        let known = Agent {
            place: Some(if agent.is_empty() { Place::Main } else { Place::Sub }),
            role: text(record, "agentName").map(str::to_owned),
            version: text(record, "version").map(str::to_owned),
            folder: text(record, "cwd").map(str::to_owned),
            ..Agent::default()
        };
        out.put(&new, text(record, "timestamp"), Kind::Agent(known));
        self.agent = Some(Rc::clone(&new));
        new
    }

    fn assistant(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, out: &mut Out<'_>) {
        if let Some(usage) = record.get("usageMetadata").filter(|u| u.is_object()) {
            model(agent, at, text(record, "model"), out);
            out.put(agent, at, Kind::Request(request(usage)));
        }
        let parts = record.pointer("/message/parts").and_then(Json::as_array);
        for call in parts.into_iter().flatten().filter_map(|p| p.get("functionCall")) {
            let id = text(call, "id").unwrap_or_default();
            self.calls.insert(id.to_owned());
            let arguments = call.get("args");
            let call = Call {
                id: id.to_owned(),
                tool: ToolName { name: text(call, "name").unwrap_or_default().to_owned(), server: None },
                arguments: arguments.filter(|v| whole(v)).map(Json::value),
                arguments_bytes: arguments.map(json_bytes),
                nested: false,
            };
            out.put(agent, at, Kind::Call(call));
        }
    }

    fn system(&self, agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, out: &mut Out<'_>) {
        if text(record, "subtype") == Some("chat_compression") {
            let compaction = Compaction {
                before: number(record, "/systemPayload/info/originalTokenCount"),
                after: number(record, "/systemPayload/info/newTokenCount"),
                automatic: None,
                own_request: false,
            };
            return out.put(agent, at, Kind::Compaction(compaction));
        }
        let Some(event) = record.pointer("/systemPayload/uiEvent") else { return };
        let call = text(event, "call_id").unwrap_or_default();
        let told = text(event, "event.name").is_some_and(|n| n.ends_with(".tool_call"));
        if let Some(by) = text(event, "decision").filter(|_| told && self.calls.contains(call)) {
            let granted = by != "reject";
            let person = Some(by != "auto_accept");
            let approval = Approval { call: call.to_owned(), granted, by: Some(by.to_owned()), person };
            out.put(agent, at, Kind::Approval(approval));
        }
    }
}

impl Reader for Chain {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let agent = self.whose(record, out);
        let at = text(record, "timestamp");
        if text(record, "uuid").is_some_and(|id| out.first("line", id) != Before::New) {
            return out.put(&agent, at, Kind::Copied);
        }
        match text(record, "type").unwrap_or_default() {
            "assistant" => self.assistant(&agent, at, record, out),
            "tool_result" => result(&agent, at, record, out),
            "system" => self.system(&agent, at, record, out),
            kind if IDLE.contains(&kind) => {}
            kind => out.put(&agent, at, Kind::Unknown(kind.to_owned())),
        }
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.agent.clone().unwrap_or_else(|| key(Format::Chain, "unknown", ""))
    }
}

fn request(usage: &Json<'_>) -> Request {
    let (input, cached) = (number(usage, "promptTokenCount"), number(usage, "cachedContentTokenCount"));
    Request {
        fresh: input.zip(cached).map(|(input, cached)| input.saturating_sub(cached)),
        cached,
        context: input,
        output: number(usage, "candidatesTokenCount"),
        bytes: None,
    }
}

fn result(agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, out: &mut Out<'_>) {
    let mut gathered = Gathered::default();
    let parts = record.pointer("/message/parts").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    // The log keeps pictures that a model without sight is not sent, and does not say which it was.
    parts.iter().for_each(|part| part_of(part, None, &mut gathered));
    let error = parts.iter().any(|p| p.pointer("/functionResponse/response/error").is_some());
    let status = text(record, "/toolCallResult/status").map(|s| s != "success");
    let id = text(record, "/toolCallResult/callId")
        .or_else(|| parts.iter().find_map(|p| text(p, "/functionResponse/id")))
        .unwrap_or_default();
    let outcome = Outcome {
        id: id.to_owned(),
        failed: Some(error || status == Some(true)),
        visible: Some(gathered.bytes),
        media: gathered.media,
        head: gathered.head,
        ..Outcome::default()
    };
    out.put(agent, at, Kind::Result(outcome));
}
