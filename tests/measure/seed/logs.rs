//! A script as the logs of two hosts: rollouts, and transcripts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::story::{Agent, Call, Step, Tool};

const WINDOW: u64 = 258_400;

/// Lines of a log, with moments one second apart.
#[derive(Default)]
struct Lines {
    text: String,
    count: u64,
}

impl Lines {
    fn time(&self) -> String {
        let n = self.count;
        format!("2026-11-02T{:02}:{:02}:{:02}.000Z", 9 + n / 3600, n / 60 % 60, n % 60)
    }

    fn put(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.count += 1;
    }

    fn record(&mut self, kind: &str, payload: Value) {
        let line = json!({ "timestamp": self.time(), "ordinal": self.count, "type": kind, "payload": payload });
        self.put(&line);
    }
}

/// One file a thread, and one of the reviewer for each thread with reviews.
pub fn rollouts(agents: &[Agent], folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (number, agent) in agents.iter().enumerate() {
        let thread = thread(agent);
        let mut lines = Lines::default();
        head(agent, thread, &mut lines);
        lines.record("event_msg", json!({ "type": "task_started", "turn_attribution": { "turn_trigger": "exec" }, "model_context_window": WINDOW }));
        for step in &agent.steps {
            rollout_step(thread, step, &mut lines);
        }
        fs::write(folder.join(format!("rollout-{}-{thread}.jsonl", number * 2 + 1)), lines.text).unwrap();
        let reviewed: Vec<&Call> = agent.steps.iter().filter_map(Step::call).filter(|c| c.reviewed).collect();
        if !reviewed.is_empty() {
            let name = format!("rollout-{}-review-of-{thread}.jsonl", number * 2 + 2);
            fs::write(folder.join(name), reviewer(agent.session, thread, &reviewed)).unwrap();
        }
    }
}

fn thread(agent: &Agent) -> &str {
    if agent.id.is_empty() { agent.session } else { agent.id }
}

fn head(agent: &Agent, thread: &str, lines: &mut Lines) {
    let mut meta = json!({ "id": thread, "session_id": agent.session, "cwd": "/w/shop", "cli_version": "0.171.0", "thread_source": "user", "history_mode": "paginated" });
    if agent.id.is_empty() {
        return lines.record("session_meta", meta);
    }
    meta["thread_source"] = json!("subagent");
    meta["parent_thread_id"] = json!(agent.session);
    meta["agent_role"] = json!(agent.role);
    if !agent.history {
        return lines.record("session_meta", meta);
    }
    // The parent's records, twenty calls with their requests: nobody may count them again.
    meta["forked_from_id"] = json!(agent.session);
    meta["subagent_history_start_ordinal"] = json!(41);
    lines.record("session_meta", meta);
    while lines.count < 41 {
        let n = lines.count;
        lines.record("response_item", json!({ "type": "function_call", "name": "browser_click", "namespace": "mcp__playwright", "arguments": "{}", "call_id": format!("copied-{n}") }));
        lines.record(
            "token_usage_record",
            json!({ "response_id": format!("copied-{n}"), "usage": { "input_tokens": 150_000 } }),
        );
    }
}

fn rollout_step(thread: &str, step: &Step, lines: &mut Lines) {
    let usage = |tokens: u64| json!({ "input_tokens": tokens, "cached_input_tokens": tokens / 2, "output_tokens": 90, "total_tokens": tokens + 90 });
    let id = format!("{thread}-{}", lines.count);
    match step {
        Step::Compact(tokens) => {
            // The request for the summary is recorded too.
            lines.record("token_usage_record", json!({ "response_id": id, "usage": usage(*tokens) }));
            lines.record("compacted", json!({ "message": "", "replacement_history": [] }));
        }
        Step::Ask(tokens, call) => {
            if let Some(call) = call {
                lines.record("response_item", called(&call.tool, &id));
            }
            lines.record("token_usage_record", json!({ "response_id": id, "usage": usage(*tokens) }));
            if let Some(call) = call {
                lines.record(
                    "response_item",
                    json!({ "type": answer_kind(&call.tool), "call_id": id, "output": output(call) }),
                );
            }
        }
    }
}

fn called(tool: &Tool, id: &str) -> Value {
    let function = |name: &str, arguments: String| json!({ "type": "function_call", "name": name, "arguments": arguments, "call_id": id });
    match tool {
        Tool::Server(server, name, arguments) => {
            let mut call = function(name, (*arguments).to_owned());
            call["namespace"] = json!(format!("mcp__{server}"));
            call
        }
        Tool::Shell(line) => function("exec_command", json!({ "cmd": line }).to_string()),
        Tool::Read(path) => function("exec_command", json!({ "cmd": format!("sed -n 1,200p {path}") }).to_string()),
        Tool::Patch(path) => {
            let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n*** End Patch\n");
            json!({ "type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch })
        }
        Tool::Spawn(role) => {
            let arguments = json!({ "task_name": "docs", "agent_type": role, "message": "Write it down" });
            let mut call = function("spawn_agent", arguments.to_string());
            call["namespace"] = json!("collaboration");
            call
        }
    }
}

const fn answer_kind(tool: &Tool) -> &'static str {
    if matches!(tool, Tool::Patch(_)) { "custom_tool_call_output" } else { "function_call_output" }
}

fn output(call: &Call) -> Value {
    let mut parts = vec![json!({ "type": "input_text", "text": words(call.text) })];
    if call.picture > 0 {
        let url = format!("data:image/png;base64,{}", base64(call.picture));
        parts.push(json!({ "type": "input_image", "image_url": url }));
    }
    Value::Array(parts)
}

/// Text of so many bytes that is no base64.
fn words(bytes: usize) -> String {
    let mut text = "a page, in words. ".repeat(bytes / 18 + 1);
    text.truncate(bytes);
    text
}

fn base64(characters: usize) -> String {
    let mut text = "iVBORw0K".repeat(characters / 8 + 1);
    text.truncate(characters);
    text
}

fn reviewer(session: &str, thread: &str, calls: &[&Call]) -> String {
    let mut lines = Lines::default();
    lines.record("session_meta", json!({ "id": format!("review-of-{thread}"), "session_id": session, "parent_thread_id": thread, "thread_source": "guardian_review", "source": { "subagent": { "other": "guardian" } } }));
    for call in calls {
        let plan = match &call.tool {
            Tool::Server(server, tool, _) => json!({ "tool": "mcp_tool_call", "server": server, "tool_name": tool }),
            _ => json!({ "tool": "exec_command" }),
        };
        let id = format!("{thread}-r{}", lines.count);
        lines.record("event_msg", json!({ "type": "task_started", "turn_attribution": { "turn_trigger": "guardian_review" }, "model_context_window": WINDOW }));
        lines.record("response_item", json!({ "type": "message", "role": "user", "content": [
            { "type": "input_text", "text": "Planned action JSON:\n" }, { "type": "input_text", "text": plan.to_string() },
        ] }));
        lines.record("token_usage_record", json!({ "response_id": id, "usage": { "input_tokens": 12_000, "cached_input_tokens": 9_000, "output_tokens": 40 } }));
        lines.record("response_item", json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "{\"outcome\":\"allow\"}" }] }));
    }
    lines.text
}

/// A file of the main agent, and one for each other with what is known of it beside.
pub fn transcripts(agents: &[Agent], folder: &Path) {
    let session = errand(&agents[0]);
    let below = folder.join(&session).join("subagents");
    fs::create_dir_all(&below).unwrap();
    for agent in agents {
        let mut log = Transcript { agent, lines: Lines::default(), last: Value::Null };
        log.run();
        let file = if agent.id.is_empty() {
            folder.join(format!("{session}.jsonl"))
        } else {
            below.join(format!("agent-{}.jsonl", agent.id))
        };
        fs::write(file, log.lines.text).unwrap();
        if !agent.id.is_empty() {
            // This host knows a fork by that name only.
            let role = if agent.history { Some("fork") } else { agent.role };
            let meta = json!({ "agentType": role, "isFork": agent.history, "toolUseId": spawned(agent) });
            fs::write(below.join(format!("agent-{}.meta.json", agent.id)), meta.to_string()).unwrap();
        }
    }
}

/// The session, which is another one than the other host's.
fn errand(agent: &Agent) -> String {
    agent.session.replace("ticket", "errand")
}

/// The call that starts the other agent.
fn spawned(agent: &Agent) -> String {
    format!("{}-spawn", agent.session)
}

struct Transcript<'a> {
    agent: &'a Agent,
    lines: Lines,
    last: Value,
}

impl Transcript<'_> {
    fn run(&mut self) {
        if self.agent.history {
            self.lines.put(&json!({ "type": "fork-context-ref", "agentId": self.agent.id, "parentSessionId": errand(self.agent), "contextLength": 240 }));
            // The call that made it, repeated from the parent.
            self.answer(203_000, &spawned(self.agent), "Agent", json!({}));
        }
        self.line("user", json!({ "message": { "role": "user", "content": "The ticket" } }));
        for step in &self.agent.steps {
            match step {
                Step::Compact(tokens) => self.line("system", json!({ "subtype": "compact_boundary", "compactMetadata": { "trigger": "auto", "preTokens": tokens } })),
                Step::Ask(tokens, None) => self.said(*tokens, json!({ "type": "text", "text": "Done." })),
                Step::Ask(tokens, Some(call)) => self.call(*tokens, call),
            }
        }
    }

    fn call(&mut self, tokens: u64, call: &Call) {
        let id = if matches!(call.tool, Tool::Spawn(_)) {
            spawned(self.agent)
        } else {
            format!("{}-t{}", thread(self.agent), self.lines.count)
        };
        let (name, input) = match &call.tool {
            Tool::Server(server, tool, arguments) => {
                (format!("mcp__{server}__{tool}"), serde_json::from_str(arguments).unwrap())
            }
            Tool::Shell(line) => ("Bash".to_owned(), json!({ "command": line })),
            Tool::Read(path) => ("Read".to_owned(), json!({ "file_path": format!("/w/shop/{path}") })),
            Tool::Patch(path) => (
                "Edit".to_owned(),
                json!({ "file_path": format!("/w/shop/{path}"), "old_string": "old", "new_string": "new" }),
            ),
            Tool::Spawn(role) => ("Agent".to_owned(), json!({ "subagent_type": role, "prompt": "Write it down" })),
        };
        self.answer(tokens, &id, &name, input);
        let mut parts = vec![json!({ "type": "text", "text": words(call.text) })];
        if call.picture > 0 {
            parts.push(json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": base64(call.picture) } }));
        }
        self.line("user", json!({ "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": parts }] } }));
    }

    fn answer(&mut self, tokens: u64, id: &str, name: &str, input: Value) {
        self.said(tokens, json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
    }

    fn said(&mut self, tokens: u64, block: Value) {
        let usage = json!({ "input_tokens": 2, "cache_creation_input_tokens": 998, "cache_read_input_tokens": tokens - 1_000, "output_tokens": 90 });
        let id = format!("{}-m{}", thread(self.agent), self.lines.count);
        self.line(
            "assistant",
            json!({ "message": { "id": id, "role": "assistant", "model": "m", "content": [block], "usage": usage } }),
        );
    }

    fn line(&mut self, kind: &str, rest: Value) {
        let uuid = format!("{}-u{}", thread(self.agent), self.lines.count);
        let mut line = json!({ "parentUuid": self.last, "isSidechain": !self.agent.id.is_empty(), "type": kind, "uuid": uuid, "timestamp": self.lines.time(), "cwd": "/w/shop", "sessionId": errand(self.agent), "version": "2.1.332" });
        if !self.agent.id.is_empty() {
            line["agentId"] = json!(self.agent.id);
        }
        for (key, value) in rest.as_object().unwrap() {
            line[key] = value.clone();
        }
        self.last = json!(uuid);
        self.lines.put(&line);
    }
}

impl Step {
    fn call(&self) -> Option<&Call> {
        match self {
            Self::Ask(_, call) => call.as_ref(),
            Self::Compact(_) => None,
        }
    }
}
