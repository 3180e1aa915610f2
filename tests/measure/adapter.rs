//! What is known of a host where its logs do not say it: the window, and who is given the history.

use serde_json::{Value, json};

use crate::support::Repo;
use crate::{POLICY, agent, expect_figures, logs, measured};

/// A transcript of requests: model and tokens of the input.
fn requests(all: &[(&str, u64)]) -> String {
    let line = |(number, (model, tokens)): (usize, &(&str, u64))| {
        let usage = json!({ "input_tokens": tokens, "output_tokens": 1 });
        let message = json!({ "id": format!("m{number}"), "model": model, "usage": usage, "content": [] });
        json!({ "type": "assistant", "sessionId": "s", "uuid": format!("u{number}"), "message": message }).to_string()
    };
    all.iter().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn crossed(agent: &Value) -> Vec<(u64, String)> {
    let all = agent["context"]["crossed"].as_array().unwrap().iter();
    let line = |c: &Value| c["at"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    all.map(|c| (c["percent"].as_u64().unwrap(), line(c))).collect()
}

#[test]
fn the_window_of_a_model_that_the_adapter_knows_is_judged_and_said_to_be_so() {
    // 1,000,000 for the first model; of the other nothing is known, and nothing is crossed in its requests.
    let log = requests(&[
        ("claude-opus-5-5", 499_999),
        ("claude-opus-5-5", 500_000),
        ("some-proxy", 900_000),
        ("claude-opus-5-5", 660_000),
    ]);
    let repo = Repo::with(POLICY).file("a.jsonl", &log);
    let report = repo.json(&["measure", "a.jsonl"]);
    let main = agent(&report, "");
    expect_figures!(main, "/context/window" => 1_000_000, "/context/window-from" => "adapter", "/model" => "claude-opus-5-5",
        "/models" => { "claude-opus-5-5": 3, "some-proxy": 1 });
    // The last came down from 900,000, so it crosses nothing.
    assert_eq!(crossed(main), [(50, "2".to_owned())]);
    let page = repo.page(&["measure", "a.jsonl"]);
    assert!(page.contains("claude-opus-5-5 3, some-proxy 1") && page.contains("not from the log"), "{page}");
}

#[test]
fn a_model_that_nobody_knows_has_the_window_that_the_user_says() {
    let repo = Repo::with(POLICY).file("a.jsonl", &requests(&[("some-proxy", 600), ("some-proxy", 700)]));
    let report = repo.json(&["measure", "a.jsonl"]);
    expect_figures!(agent(&report, ""), "/context/window" => null, "/context/window-from" => null);
    let report = repo.json(&["measure", "a.jsonl", "--window", "1000"]);
    expect_figures!(agent(&report, ""), "/context/window" => 1_000, "/context/window-from" => "option");
    assert_eq!(crossed(agent(&report, "")), [(50, "1".to_owned()), (65, "2".to_owned())]);
    assert_eq!(repo.run(&["measure", "a.jsonl", "--window", "0"]).code, 2);
}

#[test]
fn what_a_log_says_of_the_window_counts_first() {
    let report = Repo::with(POLICY).json(&["measure", &logs("events"), "--window", "77"]);
    expect_figures!(agent(&report, ""), "/context/window" => 10_000, "/context/window-from" => "log");
}

#[test]
fn rows_name_the_model_and_who_says_how_large_its_window_is() {
    let log = requests(&[("claude-opus-5-5", 1), ("some-proxy", 2), ("claude-opus-5-5", 3)]);
    let repo = Repo::with(POLICY).file("a.jsonl", &log);
    let rows = repo.page(&["measure", "a.jsonl", "--export", "jsonl"]);
    let rows =
        rows.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).filter(|r| r["rolecast.event"] == "request");
    let said: Vec<_> = rows
        .map(|r| {
            (
                r["gen_ai.request.model"].clone(),
                r["rolecast.context.window"].clone(),
                r["rolecast.context.window_from"].clone(),
            )
        })
        .collect();
    let opus = (json!("claude-opus-5-5"), json!(1_000_000), json!("adapter"));
    assert_eq!(said, [opus.clone(), (json!("some-proxy"), json!(null), json!(null)), opus]);
}

#[test]
fn a_host_that_hands_no_history_over_has_none_of_such_agents_also_where_the_log_is_silent() {
    let repo = Repo::with(POLICY);
    for (folder, title, evidence) in [("chat", "Gemini CLI", "source"), ("export", "opencode", "source")] {
        let report = measured(folder);
        let session = &report["sessions"][0];
        expect_figures!(session, "/full-history-agents" => 0);
        let by = session["full-history-agents"]["by"].as_str().unwrap();
        assert!(by.contains(title) && by.contains(evidence), "{by}");
        let report = repo.run(&["measure", &logs(folder), "--expect", "all", "--format", "json"]).out;
        let report: Value = serde_json::from_str(&report).unwrap();
        let keys = report["expectation"]["sessions"][0]["keys"].as_array().unwrap().clone();
        let key = keys.into_iter().find(|k| k["key"] == "full-history-agents").unwrap();
        assert_eq!((key["verdict"].as_str(), key["by"].as_str()), (Some("held"), Some(by)));
    }
}

#[test]
fn an_agent_under_a_name_that_copies_was_given_the_history() {
    let line = |agent: &str, name: &str| json!({ "type": "assistant", "uuid": agent, "sessionId": "s", "agentId": agent, "agentName": name, "message": { "parts": [] } });
    let log = format!("{}\n{}\n", line("a1", "fork"), line("a2", "general-purpose"));
    let report = Repo::with(POLICY).file("a.jsonl", &log).json(&["measure", "a.jsonl"]);
    expect_figures!(&report["sessions"][0], "/host" => "qwen-code", "/full-history-agents" => 1);
    expect_figures!(agent(&report, "a1"), "/full-history" => true, "/full-history-from" => "adapter");
    expect_figures!(agent(&report, "a2"), "/full-history" => false, "/full-history-from" => "adapter");
}

#[test]
fn of_a_host_s_own_agents_nothing_is_said_where_only_roles_are_known() {
    let head = json!({ "id": "1", "type": "session.start", "data": { "sessionId": "s" } });
    let start = |id: &str, name: &str| json!({ "id": format!("e-{id}"), "type": "subagent.started", "agentId": id, "data": { "agentName": name } });
    let log = |name: &str| format!("{head}\n{}\n", start("a1", name));
    let of = |name: &str| Repo::with(POLICY).file("a.jsonl", &log(name)).json(&["measure", "a.jsonl"]);
    let report = of("docs_writer");
    expect_figures!(&report["sessions"][0], "/host" => "copilot", "/full-history-agents" => 0);
    let report = of("general-purpose");
    expect_figures!(&report["sessions"][0], "/full-history-agents" => null);
    expect_figures!(agent(&report, "a1"), "/full-history" => null, "/full-history-from" => null);
}
