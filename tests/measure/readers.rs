//! Each kind of log.

use crate::{agent, expect_figures, measured};

#[test]
fn a_rollout_with_scripts_children_and_a_reviewer() {
    let report = measured("rollout");
    let session = &report["sessions"][0];
    // One child has `forked_from_id`, the other has not.
    expect_figures!(session, "/host" => "codex", "/session" => "thread-main", "/full-history-agents" => 1);
    let main = agent(&report, "");
    // Requests r1 to r6. Calls: three of the model (list_tags, two spawn_agent), exec, and two within its script.
    expect_figures!(main,
        "/requests" => 6, "/calls" => 6, "/tools/exec_command/within-scripts" => 1, "/tools/kb~1search/within-scripts" => 1,
        "/context/window" => 100_000, "/context/first-request/tokens" => 40_000, "/context/most" => 76_500, "/context/least" => 30_000,
        "/context/last" => 30_000);
    // 52,000, 66,000 and 76,000 of 100,000: lines 9, 16 and 19.
    let crossed: Vec<String> = main["context"]["crossed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| format!("{} {}", c["percent"], c["at"].as_str().unwrap().rsplit(':').next().unwrap()))
        .collect();
    assert_eq!(crossed, ["50 9", "65 16", "75 19"]);
    // Seen: 3 (tags), 300 (exec), 2 and 2 (spawns). Raw: 65,536, where the log is cut, and 5.
    expect_figures!(main,
        "/results/visible" => 4, "/results/visible/bytes" => 307, "/results/over-target" => 1, "/results/over-limit" => 1,
        "/results/raw/bytes" => 65_541, "/results/raw/results" => 2, "/results/raw/at-least" => 1,
        "/media/inline" => 1, "/media/inline-base64-bytes" => 600);
    // list_tags is before the first command, search after it.
    expect_figures!(main, "/knowledge/docs" => 2, "/knowledge/taxonomy" => 1, "/knowledge/before-first-work" => 1,
        "/unknown-records/hologram" => 1, "/reviews" => {}, "/approvals" => null);
    // Between 52,000 and 66,000: 13,990 tokens without the answer, of 900 bytes 100 over the limit and 600 media.
    expect_figures!(main, "/context/compactions/0/before" => 76_500, "/context/compactions/0/after" => 30_000,
        "/context/compactions/0/waste" => 10_881);
    // 76,500 - 10,881 is not more than 66,000, which led to none.
    expect_figures!(session, "/avoidable-compactions" => 1);

    let docs = agent(&report, "thread-docs");
    // src/a.rs is not in the granted paths, kb/search not granted; web_search was not there for its script.
    expect_figures!(docs, "/place" => "sub", "/role-in-policy" => "docs_writer", "/full-history" => false, "/requests" => 4,
        "/calls" => 6, "/out-of-grant/done" => 2, "/out-of-grant/refused" => 1, "/tools/web_search/refused" => 1, "/tools/exec/refused" => 0);
    let review = agent(&report, "thread-review");
    expect_figures!(review, "/place" => "reviewer", "/requests" => 2, "/reviews/playwright~1browser_click" => 1, "/reviews/tool not recorded" => 1);
}

#[test]
fn a_transcript_with_sub_agents_a_fork_and_a_compaction() {
    let report = measured("transcript");
    let session = &report["sessions"][0];
    expect_figures!(session, "/host" => "claude-code", "/full-history-agents" => 1, "/avoidable-compactions" => 1);
    let main = agent(&report, "");
    // Messages m1 to m6; m1 has three lines with the same usage.
    expect_figures!(main, "/requests" => 6, "/calls" => 7, "/context/window" => null, "/context/first-request/tokens" => 5_000,
        "/context/most" => 12_600, "/context/last" => 2_300);
    // 6 + 3 + 250 + 4 + 14 + 7 + 7 bytes; of t3 the host kept 168,894.
    expect_figures!(main, "/results/visible" => 7, "/results/visible/bytes" => 291, "/results/over-limit" => 1,
        "/results/raw/bytes" => 168_894, "/results/raw/at-least" => 0, "/media/inline" => 1, "/media/inline-base64-bytes" => 800);
    // 1,480 x 50/250 and 3,480 x 800/804.
    expect_figures!(main, "/context/compactions/0/before" => 12_700, "/context/compactions/0/after" => 2_000,
        "/context/compactions/0/automatic" => true, "/context/compactions/0/waste" => 3_758);
    expect_figures!(main, "/knowledge/memory" => 1, "/knowledge/taxonomy" => 1, "/knowledge/before-first-work" => 1,
        "/unrecorded-escalations" => 1, "/reviews" => null);
    let approvals: Vec<String> = main["approvals"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|a| a["person"] == true)
        .map(|a| format!("{} {} {}", a["tool"], a["granted"], a["count"]))
        .collect();
    assert_eq!(approvals, ["\"Edit\" false 1", "\"Read\" true 1"]);

    let docs = agent(&report, "a1");
    // Write to docs/ is granted, Edit of src/ is not, and Bash is not there.
    expect_figures!(docs, "/role" => "docs_writer", "/requests" => 3, "/calls" => 3, "/out-of-grant/done" => 1, "/out-of-grant/refused" => 1);
    let fork = agent(&report, "a2");
    // Its first message is its parent's.
    expect_figures!(fork, "/full-history" => true, "/requests" => 1, "/calls" => 0, "/copied-records" => 1);
}

#[test]
fn a_chat_whose_messages_grow() {
    let report = measured("chat");
    let main = agent(&report, "");
    expect_figures!(main, "/requests" => 3, "/calls" => 3, "/context/most" => 7_000, "/results/visible" => 3, "/results/visible/bytes" => 228,
        "/results/over-limit" => 1, "/media/inline" => 1, "/media/inline-base64-bytes" => 600, "/approvals" => null);
    let sub = agent(&report, "chat-sub");
    // Refused calls of a sub-agent are not in such logs, so none of them is none that is known.
    let tools = sub["tools"].as_object().unwrap();
    assert!(!tools.is_empty() && tools.values().all(|t| t["refused"].is_null()), "{sub:#}");
    expect_figures!(sub, "/role" => "docs_writer", "/requests" => 2, "/calls" => 1, "/full-history" => false, "/out-of-grant/refused" => null);
    expect_figures!(&report["sessions"][0], "/host" => "gemini-cli", "/full-history-agents" => 0, "/avoidable-compactions" => null);
}

#[test]
fn a_chat_that_is_one_document() {
    let report = measured("old-chat");
    expect_figures!(agent(&report, ""), "/requests" => 2, "/calls" => 1, "/results/visible/bytes" => 3);
}

#[test]
fn an_export_of_a_session_and_its_child() {
    let report = measured("export");
    expect_figures!(&report["sessions"][0], "/host" => "opencode", "/session" => "ses_main");
    let main = agent(&report, "");
    // Cached input is beside the fresh one: 1,000 + 3,000. Results: 210, 1 and 1; the first was cut.
    expect_figures!(main, "/requests" => 3, "/calls" => 3, "/context/first-request/tokens" => 4_000, "/context/most" => 5_300,
        "/results/visible/bytes" => 212, "/results/raw/bytes" => 212, "/results/raw/at-least" => 1, "/media/inline-base64-bytes" => 400,
        "/knowledge/docs" => 1, "/knowledge/before-first-work" => 1, "/unknown-records/part~1novelty" => 1);
    let sub = agent(&report, "ses_sub");
    expect_figures!(sub, "/role" => "docs_writer", "/out-of-grant/done" => 0, "/out-of-grant/refused" => 1);
}

#[test]
fn a_chain_with_telemetry() {
    let report = measured("chain");
    let main = agent(&report, "");
    // Telemetry repeats usage, and alone says that a person let the edit through.
    expect_figures!(main, "/requests" => 2, "/calls" => 2, "/context/most" => 2_100, "/results/visible/bytes" => 234,
        "/approvals/0/person" => true, "/approvals/0" => 1, "/media/inline" => 0, "/media/sending-not-recorded" => 1,
        "/media/sending-not-recorded/base64-bytes" => 400);
    let sub = agent(&report, "docs_writer-n3");
    // One line a turn has only the usage.
    expect_figures!(sub, "/requests" => 2, "/calls" => 1, "/out-of-grant/refused" => 1, "/out-of-grant/done" => 0);
}

#[test]
fn events_of_all_agents_in_one_file() {
    let report = measured("events");
    let main = agent(&report, "");
    expect_figures!(main, "/host-version" => "9.9", "/requests" => 3, "/calls" => 3, "/context/window" => 10_000,
        "/context/first-request/bytes" => 12_000, "/results/visible/bytes" => 246, "/results/raw/bytes" => 168_898,
        "/media/inline" => 0, "/media/sending-not-recorded" => 1, "/unknown-records/session.invention" => 1);
    // 5,200 crosses 50 %, 7,600 both others.
    assert_eq!(main["context"]["crossed"].as_array().unwrap().len(), 3);
    let sub = agent(&report, "ag-1");
    expect_figures!(sub, "/role" => "docs_writer", "/requests" => 1, "/calls" => 1, "/out-of-grant/refused" => 1, "/context/window" => 10_000);
}

#[test]
fn the_log_of_the_gateway() {
    let report = measured("gateway");
    let role = agent(&report, "docs_writer");
    expect_figures!(role, "/calls" => 2, "/results/visible/bytes" => 270, "/results/raw/bytes" => 900, "/results/over-limit" => 1,
        "/out-of-grant/done" => 1, "/out-of-grant/refused" => 1, "/unrecorded-escalations" => 1);
}
