//! The real programs with a model that does as asked, and with one that does not: both verdicts must be right.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{Repository, programs, said};

const HOSTS: &[&str] = &["claude-code", "codex", "copilot", "gemini-cli", "qwen-code"];

/// Plays a scenario once and gives the report's row: what passed, and the keys that did not hold.
fn played(bin: &Path, host: &str, scenario: &str, talks: &Value) -> (Option<i32>, Value, Vec<String>) {
    played_in(&Repository::rendered(HOSTS, &[]), bin, host, scenario, talks)
}

fn played_in(
    repository: &Repository,
    bin: &Path,
    host: &str,
    scenario: &str,
    talks: &Value,
) -> (Option<i32>, Value, Vec<String>) {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), talks.to_string()).unwrap();
    let mut command = repository.command(&["eval", scenario, "--host", host, "--runs", "1", "--format", "json"]);
    let out = command.arg("--script").arg(script.path()).arg("--host-bin").arg(bin).output().unwrap();
    let report: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&out)));
    let row = report["rows"][0].clone();
    let broken = row["keys"].as_array().unwrap().iter().filter(|k| k["held"] == 0);
    let broken = broken.map(|k| k["key"].as_str().unwrap().to_owned()).collect();
    (out.status.code(), row, broken)
}

/// One conversation of the main agent.
fn talk(calls: &[Value], says: &str) -> Value {
    json!([{ "calls": calls, "says": says }])
}

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

fn patch(text: &str) -> Value {
    json!({ "tool": "apply_patch", "input": format!("*** Begin Patch\n{text}*** End Patch\n") })
}

/// Each host, with the calls of its own that do a task, and those that look around first and do another one.
fn code_only() -> Vec<(&'static str, Vec<Value>, Vec<Value>)> {
    let path = |file: &str| format!("{{root}}/{file}");
    let (slug, new) = (path("src/slug.js"), path("docs/new.md"));
    let (old, done) = ("/[^a-z0-9]/g", "/[^a-z0-9]+/g");
    let line = "  return title.toLowerCase().replace(/[^a-z0-9]/g, \"-\");";
    vec![
        (
            "claude-code",
            vec![
                call("Read", json!({ "file_path": slug })),
                call("Edit", json!({ "file_path": slug, "old_string": old, "new_string": done })),
            ],
            vec![
                call("mcp__handbook__list_topics", json!({})),
                call("mcp__recall__find_notes", json!({ "query": "slug" })),
                call("Write", json!({ "file_path": new, "content": "x" })),
            ],
        ),
        (
            "codex",
            vec![patch(&format!("*** Update File: src/slug.js\n@@\n-{line}\n+{}\n", line.replace(old, done)))],
            vec![
                call("mcp__handbook__list_topics", json!({})),
                call("mcp__recall__find_notes", json!({ "query": "slug" })),
                patch("*** Add File: docs/new.md\n+x\n"),
            ],
        ),
        (
            "copilot",
            vec![
                call("view", json!({ "path": slug })),
                call("edit", json!({ "path": slug, "old_str": old, "new_str": done })),
            ],
            vec![
                call("handbook-list_topics", json!({})),
                call("recall-find_notes", json!({ "query": "slug" })),
                call("create", json!({ "path": new, "file_text": "x" })),
            ],
        ),
        (
            "gemini-cli",
            vec![
                call("read_file", json!({ "file_path": slug })),
                call(
                    "replace",
                    json!({ "file_path": slug, "instruction": "x", "old_string": old, "new_string": done }),
                ),
            ],
            vec![
                call("mcp_handbook_list_topics", json!({})),
                call("mcp_recall_find_notes", json!({ "query": "slug" })),
                call("write_file", json!({ "file_path": new, "content": "x" })),
            ],
        ),
        (
            "qwen-code",
            vec![
                call("read_file", json!({ "file_path": slug })),
                call("edit", json!({ "file_path": slug, "old_string": old, "new_string": done })),
            ],
            vec![
                call("mcp__handbook__list_topics", json!({})),
                call("mcp__recall__find_notes", json!({ "query": "slug" })),
                call("write_file", json!({ "file_path": new, "content": "x" })),
            ],
        ),
    ]
}

#[test]
fn code_alone_is_told_from_looking_around_on_every_host() {
    let Some(bin) = programs("code_alone_is_told_from_looking_around_on_every_host") else { return };
    for (host, good, bad) in code_only() {
        let (code, row, broken) = played(&bin, host, "code-only-ticket", &talk(&good, "Done."));
        assert_eq!((code, broken), (Some(0), Vec::new()), "{row:#}");
        assert!(row["models"][0].is_string(), "{row:#}");
        let (code, row, broken) = played(&bin, host, "code-only-ticket", &talk(&bad, "Done."));
        let expected = ["docs-calls", "memory-calls", "taxonomy-calls", "changed src/slug.js", "unchanged docs/**"];
        assert_eq!((code, broken), (Some(1), expected.map(str::to_owned).to_vec()), "{row:#}");
    }
}

#[test]
fn a_host_that_does_not_start_the_servers_of_a_scenario_says_nothing() {
    let Some(bin) = programs("a_host_that_does_not_start_the_servers_of_a_scenario_says_nothing") else { return };
    let calls = [call("write_file", json!({ "file_path": "{root}/src/slug.js", "content": "x" }))];
    // What nobody approved is not started.
    let repository = Repository::rendered(HOSTS, &[]);
    let shipped = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/adapters/qwen-code.yaml")).unwrap();
    let accept = "  accept: [mcp, approve, \"{server}\"]\n";
    assert!(shipped.contains(accept));
    repository.write("shared-agent-rules/adapters/qwen-code.yaml", &shipped.replace(accept, ""));
    let (code, row, _) = played_in(&repository, &bin, "qwen-code", "code-only-ticket", &talk(&calls, "Done."));
    assert_eq!((code, &row["runs"]), (Some(4), &json!(0)), "{row:#}");
    assert!(row["not-judged"][0]["why"].as_str().unwrap().contains("handbook, recall"), "{row:#}");
}

/// A sub-agent of the role that does the calls, started by the call of the host.
fn delegated(spawn: &[Value], calls: &[Value], says: &str, end: &str) -> Value {
    json!([{ "calls": spawn, "says": end }, { "when": "rolecast_eval_child", "calls": calls, "says": says }])
}

fn agent() -> Value {
    let prompt = "rolecast_eval_child";
    let args =
        json!({ "subagent_type": "docs_writer", "description": "x", "prompt": prompt, "run_in_background": false });
    call("Agent", args)
}

fn spawned(turns: &str) -> Vec<Value> {
    let args = json!({
        "task_name": "rolecast_eval_child", "agent_type": "docs_writer", "message": "rolecast_eval_child", "fork_turns": turns,
    });
    vec![call("collaboration.spawn_agent", args), call("collaboration.wait_agent", json!({ "timeout_ms": 60000 }))]
}

#[test]
fn a_trivial_edit_is_done_by_the_main_agent_and_not_delegated() {
    let Some(bin) = programs("a_trivial_edit_is_done_by_the_main_agent_and_not_delegated") else { return };
    let file = "{root}/docs/install.md";
    let claude = [
        call("Read", json!({ "file_path": file })),
        call("Edit", json!({ "file_path": file, "old_string": "recieve", "new_string": "receive" })),
    ];
    let (from, to) = ("You recieve a line with", "You receive a line with");
    let rest = " the version when it is done.";
    let codex = [patch(&format!(
        "*** Update File: docs/install.md\n@@\n-Run `make install`. {from}{rest}\n+Run `make install`. {to}{rest}\n"
    ))];
    let qwen = [
        call("read_file", json!({ "file_path": file })),
        call("edit", json!({ "file_path": file, "old_string": "recieve", "new_string": "receive" })),
    ];
    for (host, calls, spawn) in [
        ("claude-code", &claude[..], Some(vec![agent()])),
        ("codex", &codex[..], Some(spawned("none"))),
        ("qwen-code", &qwen[..], None),
    ] {
        let (code, row, broken) = played(&bin, host, "trivial-docs-edit", &talk(calls, "Done."));
        assert_eq!((code, broken), (Some(0), Vec::new()), "{row:#}");
        let Some(spawn) = spawn else { continue };
        let talks = delegated(&spawn, calls, "Written.", "Done.");
        let (code, row, broken) = played(&bin, host, "trivial-docs-edit", &talks);
        assert_eq!((code, broken), (Some(1), vec!["sub-agents".to_owned()]), "{row:#}");
    }
}

#[test]
fn a_gap_is_told_from_an_invention_and_a_role_that_leaves_its_grants_is_seen() {
    let Some(bin) = programs("a_gap_is_told_from_an_invention_and_a_role_that_leaves_its_grants_is_seen") else {
        return;
    };
    let (docs, code) = ("{root}/docs/cli.md", "{root}/src/cli.js");
    let writes = [
        call("Read", json!({ "file_path": docs })),
        call(
            "Edit",
            json!({ "file_path": docs, "old_string": "- `--url", "new_string": "- `--retries N`: 3\n- `--url" }),
        ),
    ];
    let gap = "The largest value is not verified.\nGAP: the largest value of --retries";
    let (exit, row, broken) = played(&bin, "claude-code", "docs-gap", &delegated(&[agent()], &writes, gap, gap));
    assert_eq!((exit, broken), (Some(0), Vec::new()), "{row:#}");
    let strays = [
        &writes[..],
        &[
            call("Read", json!({ "file_path": code })),
            call("Edit", json!({ "file_path": code, "old_string": "\"3\"", "new_string": "\"4\"" })),
        ],
    ]
    .concat();
    let (exit, row, broken) =
        played(&bin, "claude-code", "docs-gap", &delegated(&[agent()], &strays, "ok", "GAP: none"));
    // The guard kept the file as it was; that the role tried is what is told.
    assert_eq!(
        (exit, broken),
        (Some(1), vec!["out-of-grant-calls.docs_writer".into(), "answer largest".into()]),
        "{row:#}"
    );
}

#[test]
fn a_specialist_browser_without_its_reason_is_seen_and_one_that_is_not_used_does_not_pass() {
    let Some(bin) = programs("a_specialist_browser_without_its_reason_is_seen") else { return };
    for (host, tool) in [
        ("claude-code", "mcp__playwright__browser_network_request"),
        ("codex", "mcp__playwright__browser_network_request"),
        ("copilot", "playwright-browser_network_request"),
    ] {
        let asked = |reason: &str| call(tool, json!({ "path": "/api/figures", (reason): "network-body" }));
        let (total, scenario) = ("TOTAL: 1187.25", "browser-escalation");
        let (code, row, broken) = played(&bin, host, scenario, &talk(&[asked("escalation_reason")], total));
        assert_eq!((code, broken), (Some(0), Vec::new()), "{row:#}");
        let (code, row, broken) = played(&bin, host, scenario, &talk(&[asked("why")], total));
        assert_eq!((code, broken), (Some(1), vec!["unrecorded-escalations".to_owned()]), "{row:#}");
        let (code, row, broken) = played(&bin, host, scenario, &talk(&[], "TOTAL: 1200"));
        assert_eq!((code, broken), (Some(1), vec!["uses playwright/*".into(), "answer 1187.25".into()]), "{row:#}");
    }
}

#[test]
fn a_frontend_ticket_stays_small_or_is_told_by_what_did_not() {
    let Some(bin) = programs("a_frontend_ticket_stays_small_or_is_told_by_what_did_not") else { return };
    let (page, style) = ("{root}/web/index.html", "{root}/web/style.css");
    let edits = [
        call("Read", json!({ "file_path": page })),
        call("Edit", json!({ "file_path": page, "old_string": ">Send<", "new_string": ">Send order<" })),
        call("Read", json!({ "file_path": style })),
        call("Edit", json!({ "file_path": style, "old_string": "#888888", "new_string": "#0a7d34" })),
    ];
    let (code, row, broken) = played(&bin, "claude-code", "simple-frontend-ticket", &talk(&edits, "Done."));
    assert_eq!((code, broken), (Some(0), Vec::new()), "{row:#}");
    let wasted = [
        &[
            call("mcp__handbook__list_topics", json!({})),
            call("mcp__recall__list_tags", json!({})),
            call("mcp__playwright__browser_navigate", json!({ "url": "file:///web/index.html" })),
        ],
        &edits[..],
    ]
    .concat();
    let (code, row, broken) = played(&bin, "claude-code", "simple-frontend-ticket", &talk(&wasted, "Done."));
    let expected = ["docs-calls", "memory-calls", "taxonomy-calls", "unrecorded-escalations"];
    assert_eq!((code, broken), (Some(1), expected.map(str::to_owned).to_vec()), "{row:#}");
    let copilot = [
        call("view", json!({ "path": page })),
        call("edit", json!({ "path": page, "old_str": ">Send<", "new_str": ">Send order<" })),
        call("view", json!({ "path": style })),
        call("edit", json!({ "path": style, "old_str": "#888888", "new_str": "#0a7d34" })),
    ];
    let (code, row, broken) = played(&bin, "copilot", "simple-frontend-ticket", &talk(&copilot, "Done."));
    assert_eq!((code, broken), (Some(0), Vec::new()), "{row:#}");
}
