//! Events: one file a session, in which the events of sub-agents name them. The best record of sizes of all hosts.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Gathered, Reader, json_bytes, key, model, number, text, whole};
use crate::measure::event::{Agent, AgentKey, Call, Compaction, Kind, Media, Outcome, Place, Raw, Request, ToolName};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;
use crate::measure::skim;

const IDLE: &[&str] = &[
    "session.resume",
    "session.shutdown",
    "session.model_change",
    "session.info",
    "session.error",
    "session.warning",
    "session.context_changed",
    "session.mode_changed",
    "session.compaction_start",
    "session.truncation",
    "session.task_complete",
    "session.title_changed",
    "user.message",
    "system.message",
    "system.notification",
    "assistant.turn_start",
    "assistant.turn_end",
    "assistant.message",
    "assistant.reasoning",
    "assistant.intent",
    "subagent.selected",
    "subagent.configured",
    "subagent.completed",
    "subagent.failed",
    "subagent.deselected",
    "hook.start",
    "hook.end",
    "skill.invoked",
    "abort",
    "tool.user_requested",
];

/// Reads events.
#[derive(Debug, Default)]
pub struct Events {
    session: Option<Rc<AgentKey>>,
    agents: BTreeMap<String, Rc<AgentKey>>,
    /// Event that started a call → the call; and the pictures that came since.
    started: BTreeMap<String, String>,
    assets: BTreeMap<String, Vec<Media>>,
}

impl Events {
    fn whose(&mut self, record: &Json<'_>, out: &mut Out<'_>) -> Rc<AgentKey> {
        let main = self.agent();
        let Some(id) = text(record, "agentId") else { return main };
        if let Some(known) = self.agents.get(id) {
            return Rc::clone(known);
        }
        let new = key(Format::Events, &main.session, id);
        let role = text(record, "/data/agentName").map(str::to_owned);
        let known = Agent { place: Some(Place::Sub), role, ..Agent::default() };
        out.put(&new, text(record, "timestamp"), Kind::Agent(known));
        self.agents.insert(id.to_owned(), Rc::clone(&new));
        new
    }

    fn head(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let agent = key(Format::Events, text(record, "/data/sessionId").unwrap_or("unknown"), "");
        let known = Agent {
            place: Some(Place::Main),
            version: version(record),
            folder: text(record, "/data/context/cwd").map(str::to_owned),
            ..Agent::default()
        };
        out.put(&agent, text(record, "timestamp"), Kind::Agent(known));
        self.session = Some(agent);
    }

    fn usage(&self, agent: &Rc<AgentKey>, at: Option<&str>, data: &Json<'_>, out: &mut Out<'_>) {
        let usage = data.get("usage").unwrap_or(&Json::Null);
        let window = number(usage, "maxPromptTokens").filter(|w| *w > 0);
        window.into_iter().for_each(|w| out.put(agent, at, Kind::Window(w)));
        let (input, cached) = (number(usage, "inputTokens"), number(usage, "cacheReadTokens"));
        let request = Request {
            fresh: input.zip(cached).map(|(input, cached)| input.saturating_sub(cached)),
            cached,
            context: input,
            output: number(usage, "outputTokens"),
            bytes: number(usage, "requestBodyBytes"),
        };
        out.put(agent, at, Kind::Request(request));
    }

    fn start(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, data: &Json<'_>, out: &mut Out<'_>) {
        let id = text(data, "toolCallId").unwrap_or_default();
        if let Some(event) = text(record, "id") {
            self.started.insert(event.to_owned(), id.to_owned());
        }
        let arguments = data.get("arguments");
        let server = text(data, "mcpConfigServerName").or_else(|| text(data, "mcpServerName"));
        let server = server.zip(text(data, "mcpToolName")).map(|(s, t)| (s.to_owned(), t.to_owned()));
        let call = Call {
            id: id.to_owned(),
            tool: ToolName { name: text(data, "toolName").unwrap_or_default().to_owned(), server },
            arguments: arguments.filter(|v| whole(v)).map(Json::value),
            arguments_bytes: arguments.map(json_bytes),
            nested: false,
        };
        out.put(agent, at, Kind::Call(call));
    }

    fn complete(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, data: &Json<'_>, out: &mut Out<'_>) {
        let id = text(data, "toolCallId").unwrap_or_default();
        let mut gathered = Gathered::default();
        gathered.text(text(data, "/result/content").or_else(|| text(data, "/error/message")).unwrap_or_default());
        gathered.media.extend(self.assets.remove(id).unwrap_or_default());
        self.started.retain(|_, call| call != id);
        // Written as a text.
        let large = text(data, "/toolTelemetry/properties/largeOutputOriginalSizeBytes").and_then(|t| t.parse().ok());
        let raw = large
            .or_else(|| number(data, "/toolTelemetry/metrics/mcp_result_content_bytes"))
            .or_else(|| number(data, "/toolTelemetry/metrics/resultLength"));
        let outcome = Outcome {
            id: id.to_owned(),
            failed: data.get("success").and_then(Json::as_bool).map(|ok| !ok),
            visible: Some(gathered.bytes),
            raw: raw.map(|bytes| Raw { bytes, at_least: false }),
            media: gathered.media,
            head: gathered.head,
            ..Outcome::default()
        };
        out.put(agent, at, Kind::Result(outcome));
    }

    /// A picture names the event that started its call.
    fn asset(&mut self, record: &Json<'_>, data: &Json<'_>) {
        let call = text(record, "parentId").and_then(|p| self.started.get(p));
        if let (Some(call), Some(asset)) = (call, text(data, "data")) {
            let media = Media { base64: skim::bytes(asset), inline: None };
            self.assets.entry(call.clone()).or_default().push(media);
        }
    }
}

/// The version stands under the name of the program.
fn version(record: &Json<'_>) -> Option<String> {
    let data = record.get("data")?.as_object()?;
    data.iter().find_map(|(key, value)| value.as_str().filter(|_| key.ends_with("Version"))).map(str::to_owned)
}

impl Reader for Events {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let kind = text(record, "type").unwrap_or_default();
        if kind == "session.start" && self.session.is_none() {
            return self.head(record, out);
        }
        let agent = self.whose(record, out);
        let at = text(record, "timestamp");
        if text(record, "id").is_some_and(|id| out.first("event", id) != Before::New) {
            return out.put(&agent, at, Kind::Copied);
        }
        let data = record.get("data").unwrap_or(&Json::Null);
        model(&agent, at, text(data, "model"), out);
        match kind {
            "session.usage_record" => self.usage(&agent, at, data, out),
            "tool.execution_start" => self.start(&agent, at, record, data, out),
            "tool.execution_complete" => self.complete(&agent, at, data, out),
            "session.binary_asset" => self.asset(record, data),
            "session.compaction_complete" if data.get("success") == Some(&Json::Bool(false)) => {}
            "session.compaction_complete" => {
                let compaction = Compaction {
                    before: number(data, "preCompactionTokens"),
                    after: number(data, "postCompactionTokens"),
                    automatic: None,
                    own_request: false,
                };
                out.put(&agent, at, Kind::Compaction(compaction));
            }
            "subagent.started" => {}
            kind if IDLE.contains(&kind) => {}
            kind => out.put(&agent, at, Kind::Unknown(kind.to_owned())),
        }
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.session.clone().unwrap_or_else(|| key(Format::Events, "unknown", ""))
    }
}
