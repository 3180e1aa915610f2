//! Transcripts: lines linked by `parentUuid`, with blocks of content.
//!
//! - One answer of the model is a line for each block, and each repeats the usage: it is counted once for a message.
//! - Sub-agents have files of their own (`agent-ID.jsonl`, with `agent-ID.meta.json`), or, in older versions, lines
//!   with `isSidechain` among those of the main agent.
//! - A fork begins with `fork-context-ref` and the parent's own call; what it inherits is not copied.
//! - A session that continues another repeats its lines, in a file of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::{Gathered, Reader, beside, json_bytes, key, model, number, stem, text, whole};
use crate::measure::event::{
    Agent, AgentKey, Approval, Call, Compaction, Kind, Outcome, Place, Raw, Request, ToolName,
};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;
use crate::measure::skim;

/// Records without meaning here.
const IDLE: &[&str] = &[
    "attachment",
    "queue-operation",
    "last-prompt",
    "atis-latch",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "tools-used",
    "cost-state",
    "mode",
    "summary",
    "file-history-snapshot",
    "custom-title",
    "ai-title",
    "agent-name",
    "progress",
    "pr-link",
    "tag",
    "permission-mode",
    "content-replacement",
];

/// Reads a transcript.
#[derive(Debug)]
pub struct Transcript {
    meta: Option<Json<'static>>,
    agents: BTreeMap<(String, String), Rc<AgentKey>>,
    /// Which side chain a line belongs to, by its id; only where lines do not name their agent.
    sides: BTreeMap<String, String>,
    last: Option<Rc<AgentKey>>,
    fork: bool,
    /// The fork's own first call, made by its parent.
    inherited: Option<String>,
}

impl Transcript {
    /// For a file; what is known of a sub-agent stands beside it.
    pub fn new(path: &Path) -> Self {
        let meta = stem(path).starts_with("agent-").then(|| beside(path, ".meta.json")).flatten();
        let inherited = meta.as_ref().and_then(|m| text(m, "toolUseId")).map(str::to_owned);
        Self { meta, agents: BTreeMap::new(), sides: BTreeMap::new(), last: None, fork: false, inherited }
    }

    fn whose(&mut self, record: &Json<'_>, out: &mut Out<'_>) -> Rc<AgentKey> {
        let session = text(record, "sessionId").or_else(|| text(record, "parentSessionId"));
        let agent = match text(record, "agentId") {
            Some(agent) => agent.to_owned(),
            None if record.get("isSidechain") == Some(&Json::Bool(true)) => self.side(record),
            None => String::new(),
        };
        let session = session.map(str::to_owned).or_else(|| self.last.as_ref().map(|l| l.session.to_string()));
        let id = (session.unwrap_or_else(|| "unknown".to_owned()), agent);
        let known = self.agents.get(&id).cloned();
        let found = known.unwrap_or_else(|| {
            let new = key(Format::Transcript, &id.0, &id.1);
            let agent = self.described(record, id.1.is_empty());
            out.put(&new, text(record, "timestamp"), Kind::Agent(agent));
            self.agents.insert(id, Rc::clone(&new));
            new
        });
        self.last = Some(Rc::clone(&found));
        found
    }

    fn described(&self, record: &Json<'_>, main: bool) -> Agent {
        let version = text(record, "version").map(str::to_owned);
        let folder = text(record, "cwd").map(str::to_owned);
        if main {
            return Agent { place: Some(Place::Main), version, folder, ..Agent::default() };
        }
        let meta = self.meta.as_ref();
        let fork = meta.and_then(|m| m.get("isFork")).and_then(Json::as_bool).unwrap_or(false);
        let begins = text(record, "type") == Some("fork-context-ref");
        Agent {
            place: Some(Place::Sub),
            role: meta.and_then(|m| text(m, "agentType")).map(str::to_owned),
            history: Some(fork || begins),
            version,
            folder,
            ..Agent::default()
        }
    }

    /// A side chain begins with a line without parent.
    fn side(&mut self, record: &Json<'_>) -> String {
        let own = text(record, "uuid").unwrap_or_default().to_owned();
        let parent = text(record, "parentUuid").and_then(|p| self.sides.get(p)).cloned();
        let side = parent.unwrap_or_else(|| format!("side-{own}"));
        self.sides.insert(own, side.clone());
        side
    }

    fn assistant(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, out: &mut Out<'_>) {
        if let Some(role) = text(record, "attributionAgent").filter(|_| self.meta.is_none() && !agent.agent.is_empty())
        {
            out.put(agent, at, Kind::Agent(Agent { role: Some(role.to_owned()), ..Agent::default() }));
        }
        let message = record.get("message").unwrap_or(&Json::Null);
        let blocks = message.get("content").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let called = |b: &Json<'_>| text(b, "type") == Some("tool_use") && text(b, "id") == self.inherited.as_deref();
        if self.fork && self.inherited.is_some() && blocks.iter().any(called) {
            return out.put(agent, at, Kind::Copied);
        }
        // What the host says in the model's place was no request.
        let synthetic = text(message, "model") == Some("<synthetic>");
        let id = text(message, "id").unwrap_or_default();
        let before = if id.is_empty() { Before::New } else { out.first("message", id) };
        match before {
            Before::New if !synthetic => {
                model(agent, at, text(message, "model"), out);
                if let Some(usage) = message.get("usage") {
                    out.put(agent, at, Kind::Request(request(usage)));
                }
            }
            Before::Elsewhere => return out.put(agent, at, Kind::Copied),
            Before::New | Before::Here => {}
        }
        for block in blocks {
            match text(block, "type").unwrap_or_default() {
                "tool_use" | "server_tool_use" | "mcp_tool_use" => call(agent, at, block, out),
                "text" | "thinking" | "redacted_thinking" | "fallback" => {}
                kind if kind.ends_with("_tool_result") => {}
                kind => out.put(agent, at, Kind::Unknown(format!("assistant/{kind}"))),
            }
        }
    }

    fn user(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, out: &mut Out<'_>) {
        let blocks = record.pointer("/message/content").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        for block in blocks.iter().filter(|b| text(b, "type") == Some("tool_result")) {
            let id = text(block, "tool_use_id").unwrap_or_default();
            if self.fork && self.inherited.as_deref() == Some(id) {
                continue;
            }
            if out.first("result", id) == Before::New {
                result(agent, at, record, block, id, out);
            }
        }
    }
}

impl Reader for Transcript {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let kind = text(record, "type").unwrap_or_default();
        self.fork |= kind == "fork-context-ref";
        let agent = self.whose(record, out);
        let at = text(record, "timestamp");
        if record.get("forkedFrom").is_some_and(|f| !f.is_null()) {
            return out.put(&agent, at, Kind::Copied);
        }
        match kind {
            "assistant" => self.assistant(&agent, at, record, out),
            "user" => self.user(&agent, at, record, out),
            "system" => {
                if text(record, "subtype") == Some("compact_boundary") && new(record, out) {
                    out.put(&agent, at, Kind::Compaction(compaction(record)));
                }
            }
            "agent-setting" => {
                let role = text(record, "agentSetting").map(str::to_owned);
                out.put(&agent, at, Kind::Agent(Agent { role, ..Agent::default() }));
            }
            "fork-context-ref" => {}
            kind if IDLE.contains(&kind) => {}
            kind => out.put(&agent, at, Kind::Unknown(kind.to_owned())),
        }
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.last.clone().unwrap_or_else(|| key(Format::Transcript, "unknown", ""))
    }
}

fn new(record: &Json<'_>, out: &mut Out<'_>) -> bool {
    text(record, "uuid").is_none_or(|id| out.first("line", id) == Before::New)
}

fn request(usage: &Json<'_>) -> Request {
    let fresh = number(usage, "input_tokens");
    let parts = ["cache_creation_input_tokens", "cache_read_input_tokens"].map(|k| number(usage, k));
    let cached = parts.iter().flatten().copied().reduce(|a, b| a + b);
    Request {
        fresh,
        cached,
        context: fresh.map(|f| f + cached.unwrap_or(0)),
        output: number(usage, "output_tokens"),
        bytes: None,
    }
}

fn compaction(record: &Json<'_>) -> Compaction {
    Compaction {
        before: number(record, "/compactMetadata/preTokens"),
        after: number(record, "/compactMetadata/postTokens"),
        automatic: text(record, "/compactMetadata/trigger").map(|t| t == "auto"),
        own_request: false,
    }
}

fn call(agent: &Rc<AgentKey>, at: Option<&str>, block: &Json<'_>, out: &mut Out<'_>) {
    let id = text(block, "id").unwrap_or_default();
    if !id.is_empty() && out.first("call", id) != Before::New {
        return;
    }
    let input = block.get("input");
    let call = Call {
        id: id.to_owned(),
        tool: ToolName { name: text(block, "name").unwrap_or_default().to_owned(), server: None },
        arguments: input.filter(|v| whole(v)).map(Json::value),
        arguments_bytes: input.map(json_bytes),
        nested: false,
    };
    out.put(agent, at, Kind::Call(call));
}

fn result(agent: &Rc<AgentKey>, at: Option<&str>, record: &Json<'_>, block: &Json<'_>, id: &str, out: &mut Out<'_>) {
    let mut gathered = Gathered::default();
    match block.get("content") {
        Some(Json::String(text)) => gathered.text(text),
        Some(Json::Array(parts)) => {
            for part in parts {
                match part.get("source") {
                    Some(source) => gathered.media(text(source, "data").map_or(0, skim::bytes), Some(true)),
                    None => gathered.text(text(part, "text").unwrap_or_default()),
                }
            }
        }
        _ => {}
    }
    let decision = record.get("permissionDecision").filter(|d| d.is_object());
    let granted = decision.and_then(|d| text(d, "decision")).map(|d| d == "accept");
    if let (Some(decision), Some(granted)) = (decision, granted) {
        let by = text(decision, "source");
        let person = by.map(|by| by.starts_with("user"));
        let approval = Approval { call: id.to_owned(), granted, by: by.map(str::to_owned), person };
        out.put(agent, at, Kind::Approval(approval));
    }
    let failed = block.get("is_error").and_then(Json::as_bool).unwrap_or(false);
    let outcome = Outcome {
        id: id.to_owned(),
        failed: Some(failed),
        refused: failed && (granted == Some(false) || record.get("toolDenialKind").is_some()),
        visible: Some(gathered.bytes),
        raw: raw(record.get("toolUseResult")),
        media: gathered.media,
        head: gathered.head,
        nested: false,
    };
    out.put(agent, at, Kind::Result(outcome));
}

/// What the tool gave, where the host's own record of it says so.
fn raw(result: Option<&Json<'_>>) -> Option<Raw> {
    let result = result?;
    if let Some(bytes) = number(result, "persistedOutputSize") {
        return Some(Raw { bytes, at_least: false });
    }
    let streams = ["stdout", "stderr"].map(|k| text(result, k).map(skim::bytes));
    let bytes = streams.iter().flatten().copied().reduce(|a, b| a + b)?;
    Some(Raw { bytes, at_least: false })
}
