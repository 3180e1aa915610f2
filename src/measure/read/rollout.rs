//! Rollouts: one file a thread, in which what the model saw (`response_item`) and what happened (`event_msg`) stand
//! beside each other.
//!
//! - A file is either `paginated` (records have an `ordinal`) or older. A forked thread repeats its parent's records
//!   at the start: up to `subagent_history_start_ordinal`, or, in older files, after a second `session_meta` and up to
//!   the first turn that began after the thread itself.
//! - In code mode the model calls one tool with a script; the calls of that are `item_completed` records with ids of
//!   their own. They are calls too, but only what the script returns is seen by the model.
//! - Requests are `token_usage_record`s; where there are none, `token_count`s, which are written again without news.
//! - Raw results are cut at 64 KiB.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Number, Value, json};

use super::{Gathered, Reader, json_bytes, key, model, number, text, whole};
use crate::measure::event::{Agent, AgentKey, Call, Compaction, Kind, Outcome, Place, Raw, Request, Review, ToolName};
use crate::measure::format::{Before, Format, Out};
use crate::measure::json::Json;
use crate::measure::{skim, time};

/// Where the host cuts what it logs of a result.
const LOGGED: u64 = 65_536;
/// The prefix of a namespace that is an MCP server's.
const SERVER: &str = "mcp__";

/// Records without meaning here.
const IDLE: &[&str] = &["world_state", "inter_agent_communication_metadata", "ghost_snapshot"];
const IDLE_ITEMS: &[&str] = &[
    "additional_tools",
    "reasoning",
    "agent_message",
    "tool_search_output",
    "compaction",
    "compaction_summary",
    "ghost_snapshot",
    "other",
];
const IDLE_EVENTS: &[&str] = &[
    "task_complete",
    "turn_aborted",
    "thread_settings_applied",
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "context_compacted",
    "entered_review_mode",
    "exited_review_mode",
    "thread_rolled_back",
    "item_started",
    "error",
    "warning",
    "patch_apply_end",
    "mcp_tool_call_end",
    "exec_command_end",
    "web_search_end",
    "view_image_tool_call",
    "thread_name_updated",
    "turn_started",
    "turn_complete",
    "sub_agent_activity",
];
const IDLE_DONE: &[&str] = &[
    "UserMessage",
    "AgentMessage",
    "SubAgentActivity",
    "CollabAgentToolCall",
    "ContextCompaction",
    "Reasoning",
    "Plan",
];

/// Reads a rollout.
#[derive(Debug, Default)]
pub struct Rollout {
    agent: Option<Rc<AgentKey>>,
    reviewer: bool,
    copied: Copied,
    /// Calls of the model that have no result yet, and what is known of it: raw size, failed.
    open: BTreeMap<String, (Option<Raw>, Option<bool>)>,
    recorded: bool,
    total: Option<String>,
    window: Option<u64>,
    review: Option<Review>,
    planned: bool,
}

/// Which records repeat another thread's.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Copied {
    #[default]
    None,
    /// Those before this ordinal.
    Before(u64),
    /// None yet: a second head may follow that says so. The moment is that of the thread's own start.
    Perhaps(i64),
    /// All, until a turn that began at this moment or later.
    Until(i64),
}

impl Reader for Rollout {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let kind = text(record, "type").unwrap_or_default();
        let payload = record.get("payload").unwrap_or(&Json::Null);
        let at = text(record, "timestamp");
        if kind == "session_meta" {
            if self.agent.is_none() {
                self.head(payload, at, out);
            } else if let Copied::Perhaps(start) = self.copied {
                self.copied = Copied::Until(start);
            }
            return;
        }
        let agent = self.agent();
        if self.repeats(kind, payload, number(record, "ordinal")) {
            out.put(&agent, at, Kind::Copied);
            return;
        }
        match kind {
            "response_item" => self.item(&agent, at, payload, out),
            "event_msg" => self.event(&agent, at, payload, out),
            "token_usage_record" => {
                self.recorded = true;
                let usage = payload.get("usage").unwrap_or(&Json::Null);
                let known = text(payload, "response_id").is_some_and(|id| out.first("response", id) != Before::New);
                if !known {
                    out.put(&agent, at, Kind::Request(request(usage)));
                }
            }
            "compacted" => {
                out.put(&agent, at, Kind::Compaction(Compaction { own_request: true, ..Compaction::default() }))
            }
            "turn_context" => model(&agent, at, text(payload, "model"), out),
            kind if IDLE.contains(&kind) => {}
            kind => out.put(&agent, at, Kind::Unknown(kind.to_owned())),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let agent = self.agent();
        self.judged(&agent, None, out);
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.agent.clone().unwrap_or_else(|| key(Format::Rollout, "unknown", ""))
    }
}

impl Rollout {
    fn head(&mut self, meta: &Json<'_>, at: Option<&str>, out: &mut Out<'_>) {
        let own = text(meta, "id").unwrap_or("unknown");
        let spawn = meta.pointer("/source/subagent/thread_spawn");
        let parent = text(meta, "parent_thread_id").or_else(|| spawn.and_then(|s| text(s, "parent_thread_id")));
        let other = text(meta, "/source/subagent/other");
        let thread = text(meta, "thread_source");
        self.reviewer = thread == Some("guardian_review") || other == Some("guardian");
        let sub = self.reviewer || parent.is_some() || thread == Some("subagent") || spawn.is_some();
        let session = text(meta, "session_id").or(parent).unwrap_or(own);
        let agent = key(Format::Rollout, if sub { session } else { own }, if sub { own } else { "" });
        let forked = text(meta, "forked_from_id").is_some();
        self.copied = match number(meta, "subagent_history_start_ordinal") {
            Some(first) => Copied::Before(first),
            None if forked => {
                let start = text(meta, "timestamp").or(at).and_then(time::seconds);
                Copied::Perhaps(start.unwrap_or(i64::MAX))
            }
            None => Copied::None,
        };
        let role = text(meta, "agent_role").or_else(|| spawn.and_then(|s| text(s, "agent_role")));
        let place = if self.reviewer {
            Place::Reviewer
        } else if sub {
            Place::Sub
        } else {
            Place::Main
        };
        let known = Agent {
            place: Some(place),
            parent: parent.filter(|p| *p != session).map(str::to_owned),
            role: role.map(str::to_owned),
            history: (place == Place::Sub).then_some(forked),
            version: text(meta, "cli_version").map(str::to_owned),
            folder: text(meta, "cwd").map(str::to_owned),
            model: None,
        };
        out.put(&agent, at, Kind::Agent(known));
        self.agent = Some(agent);
    }

    fn repeats(&mut self, kind: &str, payload: &Json<'_>, ordinal: Option<u64>) -> bool {
        match self.copied {
            Copied::None | Copied::Perhaps(_) => false,
            Copied::Before(first) => ordinal.is_some_and(|o| o < first),
            Copied::Until(start) => {
                let began = payload.get("started_at").and_then(Json::as_number).and_then(Number::as_i64);
                let turn = kind == "event_msg" && text(payload, "type") == Some("task_started");
                if turn && began.is_some_and(|began| began >= start) {
                    self.copied = Copied::None;
                }
                self.copied != Copied::None
            }
        }
    }

    fn item(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, item: &Json<'_>, out: &mut Out<'_>) {
        let kind = text(item, "type").unwrap_or_default();
        match kind {
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" | "web_search_call" => {
                self.call(agent, at, kind, item, out);
            }
            "function_call_output" | "custom_tool_call_output" => self.output(agent, at, item, out),
            "message" => self.message(item),
            kind if IDLE_ITEMS.contains(&kind) => {}
            kind => out.put(agent, at, Kind::Unknown(format!("response_item/{kind}"))),
        }
    }

    fn call(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, kind: &str, item: &Json<'_>, out: &mut Out<'_>) {
        let id = text(item, "call_id").or_else(|| text(item, "id")).unwrap_or_default();
        if !id.is_empty() && out.first("call", &format!("{}/{id}", agent.agent)) != Before::New {
            return;
        }
        let fallback = kind.strip_suffix("_call").unwrap_or(kind);
        let (arguments, bytes) = arguments(item);
        let tool = tool(text(item, "namespace"), text(item, "name").unwrap_or(fallback));
        self.open.insert(id.to_owned(), (None, None));
        let call = Call { id: id.to_owned(), tool, arguments, arguments_bytes: bytes, nested: false };
        out.put(agent, at, Kind::Call(call));
    }

    fn output(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, item: &Json<'_>, out: &mut Out<'_>) {
        let id = text(item, "call_id").unwrap_or_default();
        let Some((raw, failed)) = self.open.remove(id) else { return };
        let mut gathered = Gathered::default();
        match item.get("output") {
            Some(Json::String(text)) => gathered.text(text),
            Some(Json::Array(parts)) => parts.iter().for_each(|part| part_of(part, &mut gathered)),
            // An older spelling.
            Some(output) => gathered.text(text(output, "content").unwrap_or_default()),
            None => {}
        }
        let missing = missing(&gathered.head);
        // It is the call within that was refused.
        let failed = if missing.is_empty() { failed } else { Some(false) };
        for name in missing {
            let (id, nested) = (format!("{id}/{name}"), true);
            let tool = ToolName { name, server: None };
            out.put(agent, at, Kind::Call(Call { id: id.clone(), tool, nested, ..Call::default() }));
            out.put(
                agent,
                at,
                Kind::Result(Outcome { id, failed: Some(true), refused: true, nested, ..Outcome::default() }),
            );
        }
        let outcome = Outcome {
            id: id.to_owned(),
            failed,
            visible: Some(gathered.bytes),
            raw,
            media: gathered.media,
            head: gathered.head,
            ..Outcome::default()
        };
        out.put(agent, at, Kind::Result(outcome));
    }

    /// In the reviewer's thread a message of the user has the plan, and one of the model the verdict.
    fn message(&mut self, item: &Json<'_>) {
        if !self.reviewer {
            return;
        }
        let parts = item.get("content").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        for part in parts.iter().filter_map(|p| text(p, "text")) {
            let part = part.trim();
            if let Some(rest) = part.strip_prefix("Planned action JSON:") {
                self.planned = rest.trim().is_empty();
                if !self.planned {
                    self.plan(rest);
                }
            } else if std::mem::take(&mut self.planned) {
                self.plan(part);
            } else if text(item, "role") == Some("assistant") {
                let verdict = serde_json::from_str::<Json<'_>>(part).ok();
                if let (Some(review), Some(verdict)) = (&mut self.review, verdict) {
                    review.verdict = text(&verdict, "outcome").map(str::to_owned);
                }
            }
        }
    }

    fn plan(&mut self, plan: &str) {
        let (Some(review), Ok(plan)) = (&mut self.review, serde_json::from_str::<Json<'_>>(plan.trim())) else {
            return;
        };
        let name = text(&plan, "tool_name").or_else(|| text(&plan, "tool"));
        let server = text(&plan, "server").zip(text(&plan, "tool_name"));
        review.tool = name
            .map(|name| ToolName { name: name.to_owned(), server: server.map(|(s, t)| (s.to_owned(), t.to_owned())) });
    }

    fn judged(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, out: &mut Out<'_>) {
        if let Some(review) = self.review.take() {
            out.put(agent, at, Kind::Review(review));
        }
    }

    fn event(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, event: &Json<'_>, out: &mut Out<'_>) {
        let kind = text(event, "type").unwrap_or_default();
        match kind {
            "task_started" => {
                self.window(agent, at, number(event, "model_context_window"), out);
                self.judged(agent, at, out);
                let trigger = text(event, "/turn_attribution/turn_trigger");
                if self.reviewer && trigger.is_none_or(|t| t == "guardian_review") {
                    self.review = Some(Review::default());
                }
            }
            "token_count" => self.count(agent, at, event, out),
            "item_completed" => self.completed(agent, at, event.get("item").unwrap_or(&Json::Null), out),
            "guardian_assessment" => assessment(agent, at, event, out),
            kind if IDLE_EVENTS.contains(&kind) || kind.ends_with("_delta") || kind.ends_with("_begin") => {}
            kind => out.put(agent, at, Kind::Unknown(format!("event_msg/{kind}"))),
        }
    }

    fn window(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, window: Option<u64>, out: &mut Out<'_>) {
        if let Some(window) = window.filter(|w| *w > 0 && self.window != Some(*w)) {
            self.window = Some(window);
            out.put(agent, at, Kind::Window(window));
        }
    }

    fn count(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, event: &Json<'_>, out: &mut Out<'_>) {
        self.window(agent, at, number(event, "/info/model_context_window"), out);
        let last = event.pointer("/info/last_token_usage");
        let total = event.pointer("/info/total_token_usage").filter(|_| !self.recorded).map(ToString::to_string);
        // Written again without news, for example when only rate limits changed.
        if total.is_none() || total == self.total {
            return;
        }
        self.total = total;
        let request = last.map_or_else(Request::default, request);
        out.put(agent, at, Kind::Request(request));
    }

    fn completed(&mut self, agent: &Rc<AgentKey>, at: Option<&str>, item: &Json<'_>, out: &mut Out<'_>) {
        let id = text(item, "id").unwrap_or_default();
        let failed = text(item, "status").map(|s| s != "completed");
        let (tool, arguments, raw) = match text(item, "type").unwrap_or_default() {
            "CommandExecution" => {
                let raw = text(item, "aggregated_output").map(|t| cut(skim::bytes(t)));
                let line = item.get("command").and_then(Json::as_array).and_then(|c| c.last()).cloned();
                (tool(None, "exec_command"), line.map(|line| Json::of("cmd", line)), raw)
            }
            "McpToolCall" => {
                let (server, own) = (text(item, "server").unwrap_or_default(), text(item, "tool").unwrap_or_default());
                let name = ToolName { name: own.to_owned(), server: Some((server.to_owned(), own.to_owned())) };
                let parts = item.pointer("/result/content").and_then(Json::as_array);
                let raw = parts.map(|parts| parts.iter().map(content).sum());
                (name, item.get("arguments").cloned(), raw.map(cut))
            }
            "FileChange" => {
                (tool(None, "apply_patch"), Some(Json::of("input", Json::String(patch(item).into()))), None)
            }
            "WebSearch" => (tool(None, "web_search"), None, None),
            "ImageView" => (tool(None, "view_image"), None, None),
            kind if IDLE_DONE.contains(&kind) => return,
            kind => return out.put(agent, at, Kind::Unknown(format!("item_completed/{kind}"))),
        };
        if let Some(known) = self.open.get_mut(id) {
            *known = (raw, failed);
            return;
        }
        if out.first("call", &format!("{}/{id}", agent.agent)) != Before::New {
            return;
        }
        let bytes = arguments.as_ref().map(json_bytes);
        let arguments = arguments.filter(whole).map(|a| a.value());
        let call = Call { id: id.to_owned(), tool, arguments, arguments_bytes: bytes, nested: true };
        out.put(agent, at, Kind::Call(call));
        let outcome = Outcome { id: id.to_owned(), failed, raw, nested: true, ..Outcome::default() };
        out.put(agent, at, Kind::Result(outcome));
    }
}

/// The same judgement as in the reviewer's thread, as older versions wrote it beside the call.
fn assessment(agent: &Rc<AgentKey>, at: Option<&str>, event: &Json<'_>, out: &mut Out<'_>) {
    let status = text(event, "status").unwrap_or_default();
    let id = text(event, "id").unwrap_or_default();
    if status != "in_progress" && out.first("assessment", id) == Before::New {
        let action = event.get("action").unwrap_or(&Json::Null);
        let name = text(action, "tool_name").or_else(|| text(action, "tool"));
        let server = text(action, "server").zip(name).map(|(s, t)| (s.to_owned(), t.to_owned()));
        let tool = name.map(|name| ToolName { name: name.to_owned(), server });
        out.put(agent, at, Kind::Review(Review { tool, verdict: Some(status.to_owned()) }));
    }
}

fn cut(bytes: u64) -> Raw {
    Raw { bytes, at_least: bytes >= LOGGED }
}

fn request(usage: &Json<'_>) -> Request {
    let (input, cached) = (number(usage, "input_tokens"), number(usage, "cached_input_tokens"));
    Request {
        // What came from the cache is part of the input.
        fresh: input.zip(cached).map(|(input, cached)| input.saturating_sub(cached)),
        cached,
        context: input,
        output: number(usage, "output_tokens"),
        bytes: None,
    }
}

/// A server's tool has the server in its namespace, as the host spells it.
fn tool(namespace: Option<&str>, name: &str) -> ToolName {
    let name = match namespace {
        Some(space) if space.starts_with(SERVER) => format!("{space}__{name}"),
        Some(space) if space != "functions" => format!("{space}.{name}"),
        _ => name.to_owned(),
    };
    ToolName { name, server: None }
}

fn arguments(item: &Json<'_>) -> (Option<Value>, Option<u64>) {
    if let Some(written) = text(item, "arguments") {
        return (serde_json::from_str(written).ok(), Some(skim::bytes(written)));
    }
    if let Some(input) = text(item, "input") {
        let whole = skim::kept(input).1;
        return (whole.then(|| json!({ "input": input })), Some(skim::bytes(input)));
    }
    let value = item.get("arguments").or_else(|| item.get("action"));
    (value.filter(|v| whole(v)).map(Json::value), value.map(json_bytes))
}

fn part_of(part: &Json<'_>, gathered: &mut Gathered) {
    if let Some(text) = text(part, "text") {
        gathered.text(text);
    }
    let url = text(part, "image_url").or_else(|| text(part, "/image_url/url"));
    if let Some(url) = url {
        gathered.address(url, Some(true));
    }
}

/// Bytes of one part of a server's answer.
fn content(part: &Json<'_>) -> u64 {
    let known = ["text", "data", "blob"].iter().filter_map(|k| text(part, k)).map(skim::bytes).sum::<u64>();
    if known > 0 { known } else { json_bytes(part) }
}

/// The files of a change as the head lines of a patch.
fn patch(item: &Json<'_>) -> String {
    let changes = item.get("changes").and_then(Json::as_object);
    let line = |(path, change): (&str, &Json<'_>)| {
        let does = match text(change, "type") {
            Some("add") => "Add",
            Some("delete") => "Delete",
            _ => "Update",
        };
        let moved = text(change, "move_path").map(|to| format!("*** Move to: {to}\n")).unwrap_or_default();
        format!("*** {does} File: {path}\n{moved}")
    };
    let files: String = changes.into_iter().flat_map(|c| c.iter()).map(line).collect();
    format!("*** Begin Patch\n{files}*** End Patch\n")
}

/// Tools that a script asked for and did not have: it was stopped there, so there is no record of the call.
fn missing(head: &str) -> Vec<String> {
    let Some(before) = head.split(" is not a function").next().filter(|b| b.len() < head.len()) else {
        return Vec::new();
    };
    let name = before.rsplit("tools.").next().filter(|n| n.len() < before.len());
    let word = |n: &&str| !n.is_empty() && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.filter(word).map(str::to_owned).into_iter().collect()
}
