//! Budgets beside that of a result's bytes. What is expected stands beside each call.

use serde_json::{Value, json};

use crate::support::Repo;
use crate::{agent, expect_figures};

const POLICY: &str = "\
version: 1
hosts: { claude-code: {}, codex: {}, gemini-cli: {} }
extends: [builtin]
budgets:
  search: { target: 2, limit: 4 }
  file-read: { target: 3 }
  knowledge-search: { target: 1, limit: 3 }
  browser-log: { target: 2 }
  delegation-packet: { target: 64B }
  inline-media: { limit: 300B }
servers:
  kb:
    command: kb
    tools:
      search: { confers: [docs.search] }
      find: { confers: [memory.read], bounds: { limit-argument: n } }
      read: { confers: [docs.taxonomy] }
  playwright:
    command: pw
    tools:
      browser_console_messages: { confers: [browser.inspect], bounds: { budget: browser-log } }
      browser_snapshot: { confers: [browser.inspect] }
";

/// A transcript with calls and their results.
fn transcript(calls: &[(&str, Value, Value, bool)]) -> String {
    let mut lines = Vec::new();
    for (number, (name, input, content, failed)) in calls.iter().enumerate() {
        let (call, head) = (format!("t{number}"), json!({ "sessionId": "s", "uuid": format!("u{number}") }));
        let line = |kind: &str, uuid: String, message: Value| {
            let mut line = head.clone();
            (line["type"], line["uuid"], line["message"]) = (json!(kind), json!(uuid), message);
            line.to_string()
        };
        let block = json!({ "type": "tool_use", "id": call, "name": name, "input": input });
        lines.push(line("assistant", format!("a{number}"), json!({ "id": format!("m{number}"), "content": [block] })));
        let block = json!({ "type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed });
        lines.push(line("user", format!("r{number}"), json!({ "content": [block] })));
    }
    lines.join("\n") + "\n"
}

fn calls() -> Vec<(&'static str, Value, Value, bool)> {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let spawn = |prompt: String| json!({ "subagent_type": "docs_writer", "prompt": prompt });
    vec![
        // Line 2: four lines, over three; 4: three; 6: none, for it failed.
        ("Read", json!({}), json!("1\ta\n2\tb\n3\tc\n4\td"), false),
        ("Read", json!({}), json!("1\ta\n2\tb\n3\tc\n"), false),
        ("Read", json!({}), json!("no\nsuch\nfile\nhere\n"), true),
        // Line 8: 400 lines of 100 bytes, of which 32,768 are kept: 327 and a part of another, and over three all the same.
        ("Read", json!({}), json!(format!("{}\n", "x".repeat(99)).repeat(400)), false),
        // Line 10: one line of 40,000 bytes; whether more follow is not known, so over the target is not known either.
        ("Read", json!({}), json!("x y ".repeat(10_000)), false),
        // Line 12: five, over both; 14: two.
        ("Grep", json!({}), json!("a:1\nb:2\nc:3\nd:4\ne:5"), false),
        ("Glob", json!({}), json!("a\nb\n"), false),
        // Line 16: a shell that searches.
        ("Bash", json!({ "command": "grep -rn x ." }), json!("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), false),
        // Line 18: a list of two, over one; 20: two texts; 22: the only list within; 24: a text whose results nobody knows.
        ("mcp__kb__search", json!({}), text("[{\"a\": 1}, {\"a\": 2}]"), false),
        (
            "mcp__kb__search",
            json!({}),
            json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]),
            false,
        ),
        ("mcp__kb__search", json!({}), text("{\"total\": 9, \"results\": [1, 2, 3, 4]}"), false),
        ("mcp__kb__search", json!({}), text("first\nsecond\nthird\nfourth"), false),
        // Line 26: a parameter says how many, so the gateway counts its results, and so does this; 28: neither does.
        ("mcp__kb__find", json!({}), text("[1]"), false),
        ("mcp__kb__read", json!({}), text("[1, 2, 3, 4, 5]"), false),
        // Line 30: three entries of a log, over two; 32: a page is none.
        ("mcp__playwright__browser_console_messages", json!({}), text("[log] a\n[log] b\n[err] c"), false),
        ("mcp__playwright__browser_snapshot", json!({}), text("- a\n- b\n- c\n- d"), false),
        // Lines 33, 35, 37, 39: 20 bytes; 70 without a reason; 70 + 34 with one; 40,000, of which the end is not kept.
        ("Agent", spawn("p".repeat(20)), json!("done"), false),
        ("Agent", spawn("p".repeat(70)), json!("done"), false),
        ("Agent", spawn(format!("{}\nover-target: it names all the files", "p".repeat(69))), json!("done"), false),
        ("Agent", spawn("p".repeat(40_000)), json!("done"), false),
        // Line 42: 600 bytes decoded, over 300; and 150.
        (
            "mcp__playwright__browser_snapshot",
            json!({}),
            json!([
                { "type": "image", "source": { "type": "base64", "data": "A".repeat(800) } },
                { "type": "image", "source": { "type": "base64", "data": "A".repeat(200) } }
            ]),
            false,
        ),
    ]
}

fn at(found: &Value) -> Vec<String> {
    let records = found["records"].as_array().unwrap().iter();
    let line = |r: &Value| r["at"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    records.map(|r| format!("{} {}", line(r), r["what"].as_str().unwrap())).collect()
}

#[test]
fn each_budget_is_counted_in_its_own_unit_and_what_cannot_be_is_said() {
    let repo = Repo::with(POLICY).file("a.jsonl", &transcript(&calls()));
    let report = repo.json(&["measure", "a.jsonl"]);
    let budgets = &agent(&report, "")["budgets"];
    expect_figures!(&budgets["file-read"], "/unit" => "lines", "/count" => 4, "/total" => 336, "/at-least" => 2, "/not-recorded" => 0,
        "/target" => 3, "/limit" => null, "/over-limit" => null);
    assert_eq!(at(&budgets["file-read"]["over-target"]), ["2 Read: 4 lines", "8 Read: at least 328 lines"]);
    expect_figures!(&budgets["search"], "/unit" => "results", "/count" => 2, "/total" => 7, "/most" => 5, "/not-recorded" => 0);
    assert_eq!(at(&budgets["search"]["over-target"]), ["12 Grep: 5 results"]);
    assert_eq!(at(&budgets["search"]["over-limit"]), ["12 Grep: 5 results"]);
    // 2, 2, 4 and 1.
    expect_figures!(&budgets["knowledge-search"], "/count" => 4, "/total" => 9, "/not-recorded" => 1, "/over-target" => 3, "/over-limit" => 1);
    assert_eq!(at(&budgets["knowledge-search"]["over-limit"]), ["22 kb/search: 4 results"]);
    expect_figures!(&budgets["browser-log"], "/count" => 1, "/total" => 3, "/over-target" => 1, "/over-limit" => null);
    // 20, 70, 69 + 1 + 35, and 40,000.
    expect_figures!(&budgets["delegation-packet"], "/unit" => "bytes", "/count" => 4, "/total" => 40_195, "/most" => 40_000, "/with-reason" => 1);
    assert_eq!(
        at(&budgets["delegation-packet"]["over-target"]),
        ["35 Agent: 70 bytes, without a reason", "37 Agent: 105 bytes, and says why", "39 Agent: 40000 bytes"]
    );
    expect_figures!(&budgets["inline-media"], "/count" => 2, "/total" => 750, "/over-limit" => 1);
    assert_eq!(at(&budgets["inline-media"]["over-limit"]), ["42 playwright/browser_snapshot: 600 bytes"]);
    assert_eq!(agent(&report, "")["program-calls"], 1);

    let page = repo.page(&["measure", "a.jsonl"]);
    for said in [
        "4 counted, the largest 328 lines; of 2 only the beginning",
        "over the target of 3 lines: 2",
        "4 counted, the largest 4 results; 1 more not recorded",
        "run by 1 of the calls: what these search and read is not seen",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[test]
fn rows_say_of_each_event_what_it_cost() {
    let repo = Repo::with(POLICY).file("a.jsonl", &transcript(&calls()));
    let rows = repo.page(&["measure", "a.jsonl", "--export", "jsonl"]);
    let of = |line: u64, event: &str| -> Value {
        let rows = rows.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
        let mut rows = rows.filter(|r| r["rolecast.log.record"] == line && r["rolecast.event"] == event);
        rows.next().unwrap_or_else(|| panic!("no {event} of line {line}"))
    };
    let budget = |row: &Value| {
        let get = |key: &str| row[format!("rolecast.budget{key}")].clone();
        [get(""), get(".amount"), get(".at_least"), get(".over_target"), get(".over_limit")]
    };
    assert_eq!(budget(&of(2, "result")), [json!("file-read"), json!(4), json!(false), json!(true), json!(null)]);
    assert_eq!(budget(&of(6, "result")), [json!(null), json!(null), json!(null), json!(null), json!(null)]);
    assert_eq!(budget(&of(10, "result")), [json!("file-read"), json!(1), json!(true), json!(null), json!(null)]);
    assert_eq!(budget(&of(14, "result")), [json!("search"), json!(2), json!(false), json!(false), json!(false)]);
    assert_eq!(budget(&of(24, "result"))[..2], [json!("knowledge-search"), json!(null)]);
    assert_eq!(budget(&of(35, "call"))[..2], [json!("delegation-packet"), json!(70)]);
    let reasons = [33, 35, 37, 39].map(|line| of(line, "call")["rolecast.packet.reason"].clone());
    assert_eq!(reasons, [json!(false), json!(false), json!(true), json!(null)]);
    assert_eq!(of(42, "result")["rolecast.media.over_limit"], 1);
}

#[test]
fn what_a_script_was_given_is_not_what_the_model_was() {
    let head = json!({ "timestamp": "", "type": "session_meta", "payload": { "id": "t" } });
    let item = json!({ "type": "McpToolCall", "id": "1", "server": "kb", "tool": "search", "status": "completed",
        "result": { "content": [{ "type": "text", "text": "[1,2,3,4,5]" }] } });
    let done = json!({ "timestamp": "", "type": "event_msg", "payload": { "type": "item_completed", "item": item } });
    let repo = Repo::with(POLICY).file("a.jsonl", &format!("{head}\n{done}\n"));
    let report = repo.json(&["measure", "a.jsonl"]);
    expect_figures!(&agent(&report, "")["budgets"]["knowledge-search"], "/count" => 0, "/not-recorded" => 1, "/over-target" => 0);
}

#[test]
fn proposals_are_made_for_each_budget_that_was_spent_often_enough() {
    let mut calls = Vec::new();
    // Reads of 1 to 20 lines: nine of ten have at most 18.
    for lines in 1..=20 {
        calls.push(("Read", json!({}), json!("a\n".repeat(lines)), false));
    }
    calls.push(("Grep", json!({}), json!("a\nb"), false));
    let repo = Repo::with(POLICY).file("a.jsonl", &transcript(&calls));
    let text = repo.page(&["measure", "a.jsonl", "--calibrate"]);
    assert!(text.contains("\n  file-read: { target: 18 }\n"), "{text}");
    assert!(text.contains("# file-read: 20 amounts in lines; the policy has: target 3, limit none"), "{text}");
    assert!(
        text.contains("# search: 1 amounts in results; the policy has: target 2, limit 4; at least 20 are needed"),
        "{text}"
    );
    // What is printed is a part of a policy.
    let policy = format!("version: 1\nhosts: {{ claude-code: {{}} }}\nextends: [builtin]\n{text}");
    assert_eq!(Repo::with(&policy).run(&["packet", "new", "x"]).code, 2, "the policy is sound, the role is not there");
}
