//! Calls that stand in a host's log and in the gateway's own.

use rolecast::text::digest::value_digest;
use serde_json::{Value, json};

use crate::support::Repo;
use crate::{agent, expect_figures};

const POLICY: &str = "\
version: 1
hosts: { claude-code: {} }
extends: [builtin]
servers:
  kb:
    command: kb
    via: gateway
    tools:
      search: { confers: [docs.search] }
";

/// A call of the gateway's `search` in the host's log, from and to a second of the same minute.
fn host(id: &str, query: &str, (from, to): (u32, u32)) -> String {
    let moment = |second: u32| format!("2026-11-01T10:00:{second:02}.000Z");
    let line = |kind: &str, at: u32, block: Value| {
        let message = json!({ "id": format!("m-{id}"), "content": [block] });
        json!({ "type": kind, "sessionId": "host-1", "uuid": format!("{kind}-{id}"), "timestamp": moment(at), "message": message })
    };
    let call = json!({ "type": "tool_use", "id": id, "name": "mcp__rolecast__search", "input": { "q": query } });
    let result = json!({ "type": "tool_result", "tool_use_id": id, "content": "short" });
    format!("{}\n{}\n", line("assistant", from, call), line("user", to, result))
}

/// The same in the gateway's own: 5,000 bytes came, 900 went.
fn own(call: u64, query: &str, second: u32) -> String {
    let line = |event: &str| json!({ "time": format!("2026-11-01T10:00:{second:02}.200Z"), "event": event, "call": call, "role": null, "tool": "search", "upstream": "kb/search" });
    let (mut start, mut end) = (line("call"), line("end"));
    start["digest"] = json!(value_digest(&json!({ "q": query })));
    (end["outcome"], end["bytes_in"], end["bytes_out"]) = (json!("ok"), json!(5_000), json!(900));
    format!("{start}\n{end}\n")
}

#[test]
fn a_call_in_both_logs_is_one_and_what_cannot_be_told_apart_is_left_apart() {
    let calls = [
        // In both.
        host("1", "a", (1, 2)),
        // The gateway's has other arguments.
        host("2", "b", (5, 6)),
        // The gateway's is later.
        host("3", "c", (10, 11)),
        // Equal calls at the same time.
        host("4", "d", (20, 24)),
        host("5", "d", (20, 24)),
        // Equal calls one after the other.
        host("6", "e", (30, 31)),
        host("7", "e", (40, 41)),
    ];
    let owns = [
        own(1, "a", 1),
        own(2, "B", 5),
        own(3, "c", 14),
        own(4, "d", 21),
        own(5, "d", 22),
        own(6, "e", 30),
        own(7, "e", 40),
    ];
    let repo =
        Repo::with(POLICY).file("logs/host.jsonl", &calls.concat()).file("logs/20261101-7.jsonl", &owns.concat());
    let report = repo.json(&["measure", "logs"]);
    let sessions = report["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "both are shown");
    for session in sessions {
        let agent = &session["agents"][0];
        expect_figures!(agent, "/calls" => 7, "/gateway/calls" => 7, "/gateway/joined" => 3, "/gateway/bytes-in" => 15_000, "/gateway/bytes-out" => 2_700);
        let with = if session["host"] == "gateway" { "host-1" } else { "20261101-7" };
        assert_eq!(agent["gateway"]["with"], json!([with]));
    }
    let page = repo.page(&["measure", "logs"]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains(
            "7 calls through it, 3 of them found in the gateway's own log: servers gave 14.6 KiB, 2.6 KiB were"
        ),
        "{page}"
    );
    // Each log alone says that the other is not there, and rows can be joined by others.
    let alone = repo.json(&["measure", "logs/host.jsonl"]);
    expect_figures!(agent(&alone, ""), "/gateway/calls" => 7, "/gateway/joined" => 0);
    let rows = repo.page(&["measure", "logs", "--export", "jsonl"]);
    let digest = value_digest(&json!({ "q": "a" }));
    let rows = rows.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    assert_eq!(rows.filter(|r| r["rolecast.call.arguments_digest"] == digest.as_str()).count(), 2);
}
