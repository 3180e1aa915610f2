//! What makes other meters count wrongly.

use std::fs;

use serde_json::json;

use crate::support::Repo;
use crate::{POLICY, agent, expect_figures, logs, measured};

#[test]
fn an_older_fork_that_repeats_its_parent_with_new_moments_is_counted_once() {
    let report = measured("old-rollout");
    let sessions = report["sessions"].as_array().unwrap();
    // 1,000 and 2,000; then only 2,500, which is not the 5,500 of the running total.
    let requests: Vec<_> = sessions.iter().map(|s| s["agents"][0]["requests"].clone()).collect();
    assert_eq!(requests, [json!(2), json!(1)]);
    let most: Vec<_> = sessions.iter().map(|s| s["agents"][0]["context"]["most"].clone()).collect();
    assert_eq!(most, [json!(2_000), json!(2_500)]);
    assert_eq!(sessions[1]["agents"][0]["copied-records"], json!(4));
    assert_eq!(sessions[1]["agents"][0]["calls"], json!(0));
}

#[test]
fn an_older_fork_without_a_second_head_repeats_nothing() {
    let head =
        r#"{"timestamp":"2026-06-08T11:39:04.000Z","type":"session_meta","payload":{"id":"f","forked_from_id":"p"}}"#;
    let count = |total: u64| {
        format!(
            r#"{{"timestamp":"2026-06-08T11:39:04.100Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":10}}}}}}}}"#
        )
    };
    let log = [head, &count(10), &count(20)].join("\n");
    let report = Repo::with(POLICY).file("a.jsonl", &log).json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/requests" => 2, "/copied-records" => 0);
}

#[test]
fn a_session_that_continues_another_counts_only_what_is_new() {
    let report = measured("resumed");
    let requests: Vec<_> = report["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["session"].clone(), s["agents"][0]["requests"].clone(), s["agents"][0]["calls"].clone()))
        .collect();
    assert_eq!(requests, [(json!("11111111-aaaa"), json!(2), json!(3)), (json!("22222222-bbbb"), json!(1), json!(0))]);
}

#[test]
fn side_chains_of_older_versions_are_agents_of_their_own() {
    let report = measured("side-chains");
    expect_figures!(agent(&report, ""), "/requests" => 2, "/calls" => 1);
    expect_figures!(agent(&report, "side-s1"), "/place" => "sub", "/requests" => 1, "/calls" => 1, "/role" => null);
}

#[test]
fn a_compressed_twin_is_read_alone_and_not_beside_the_plain_file() {
    let plain = fs::read(logs("rollout/rollout-3-all.jsonl")).unwrap();
    let packed = ruzstd::encoding::compress_to_vec(plain.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let repo = Repo::with(POLICY).file("x/readme.md", "");
    fs::write(repo.path().join("x/rollout-3-all.jsonl.zst"), packed).unwrap();
    let alone = repo.json(&["measure", "x"]);
    expect_figures!(agent(&alone, "thread-all"), "/requests" => 1, "/calls" => 1);
    fs::write(repo.path().join("x/rollout-3-all.jsonl"), plain).unwrap();
    let beside = repo.json(&["measure", "x"]);
    assert_eq!(beside["files"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_read_or_is_not_known_is_shown() {
    let report = measured("transcript");
    let main = agent(&report, "");
    expect_figures!(main, "/damaged-records" => 1, "/unknown-records/brand-new-thing" => 1, "/ends-within-a-record" => false);
    // Line 20 is the one without JSON; what follows is counted.
    let at = main["damaged-records"]["records"][0]["at"].as_str().unwrap();
    assert!(at.ends_with("11111111-aaaa.jsonl:20"), "{at}");
}

#[test]
fn a_last_line_that_is_still_written_is_no_damage() {
    let whole = fs::read_to_string(logs("chain/chats/chain-1.jsonl")).unwrap();
    let cut = &whole[..whole.len() - 40];
    let report = Repo::with(POLICY).file("a.jsonl", cut).json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/damaged-records" => 0, "/ends-within-a-record" => true, "/requests" => 2);
}

#[test]
fn a_line_of_megabytes_is_measured() {
    let picture = "iVBO".repeat(1 << 20);
    let head = json!({"type": "session_meta", "timestamp": "2026-11-01T10:00:00Z", "payload": {"id": "t", "base_instructions": "b".repeat(90_000)}});
    let call = json!({"type": "response_item", "timestamp": "", "payload": {"type": "function_call", "name": "view_image", "call_id": "1", "arguments": "{}"}});
    let parts = [
        json!({"type": "input_text", "text": format!("é{}", "\n".repeat(50_000))}),
        json!({"type": "input_image", "image_url": format!("data:image/png;base64,{picture}")}),
    ];
    let result = json!({"type": "response_item", "timestamp": "", "payload": {"type": "function_call_output", "call_id": "1", "output": parts}});
    let log = format!("{head}\n{call}\n{result}\n");
    let report = Repo::with(POLICY).file("a.jsonl", &log).json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/results/visible/bytes" => 50_002, "/media/inline-base64-bytes" => 4_194_304);
}

#[test]
fn base64_within_a_text_is_media_too() {
    let call = json!({"type": "response_item", "timestamp": "", "payload": {"type": "function_call", "name": "exec_command", "call_id": "1", "arguments": "{}"}});
    let output = format!("picture: {} end", "iVBO".repeat(300));
    let result = json!({"type": "response_item", "timestamp": "", "payload": {"type": "function_call_output", "call_id": "1", "output": output}});
    let report = Repo::with(POLICY).file("a.jsonl", &format!("{call}\n{result}\n")).json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/media/inline-base64-bytes" => 1_200);
}

#[test]
fn a_server_whose_name_has_separators_is_told_by_the_policy() {
    let policy = POLICY.replace(
        "  kb:\n",
        "  kb_search:\n    command: other\n    tools: { x: { confers: [memory.search] } }\n  kb:\n",
    );
    let part = |call: &str, tool: &str| json!({"type": "tool", "tool": tool, "callID": call, "state": {"status": "completed", "input": {}, "output": ""}});
    let message = json!({"info": {"id": "1", "role": "assistant"}, "parts": [part("1", "kb_search_x"), part("2", "kb_search"), part("3", "kb_search_new"), part("4", "kx_y")]});
    let log = json!({"info": {"id": "s"}, "messages": [message]}).to_string();
    let report = Repo::with(&policy).file("a.json", &log).json(&["measure", "a.json"]);
    let tools: Vec<&String> = agent(&report, "")["tools"].as_object().unwrap().keys().collect();
    assert_eq!(tools, ["kb/search", "kb_search/new", "kb_search/x", "kx_y"]);
}

#[test]
fn nothing_is_told_apart_by_the_name_of_a_folder() {
    let text = fs::read_to_string(logs("events/ev-1/events.jsonl")).unwrap();
    let report = Repo::with(POLICY)
        .file("other/name.jsonl", &text)
        .file("other/x.jsonl", "{\"a\":1}\n")
        .json(&["measure", "other"]);
    let formats: Vec<_> = report["files"].as_array().unwrap().iter().map(|f| f["format"].clone()).collect();
    assert_eq!(formats, [json!("events"), json!(null)]);
}

#[test]
fn numbers_beyond_reason_are_no_fault() {
    let line = |n: usize, tokens: &str| {
        let usage =
            format!(r#"{{"input_tokens":{tokens},"cache_read_input_tokens":{tokens},"output_tokens":{tokens}}}"#);
        format!(r#"{{"type":"assistant","uuid":"u{n}","sessionId":"s","message":{{"id":"m{n}","usage":{usage}}}}}"#)
    };
    let log: Vec<String> = ["1e30", "18446744073709551615", "4.0"].iter().zip(0..).map(|(t, n)| line(n, t)).collect();
    let report = Repo::with(POLICY).file("a.jsonl", &log.join("\n")).json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/requests" => 3, "/context/last" => 8, "/context/most" => 18_014_398_509_481_984_u64);
}
