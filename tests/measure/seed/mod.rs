//! The same ticket before and after, held against the policy. Every number is counted from the script in `story.rs`.

mod logs;
mod story;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Repo, Run};
use crate::{agent, expect_figures};

/// The budgets and the expectation are those of the shipped policy.
pub const POLICY: &str = "\
version: 1
hosts: { claude-code: {}, codex: {} }
extends: [builtin]
servers:
  kb:
    command: kb
    tools:
      list_tags: { confers: [docs.taxonomy] }
      list_topics: { confers: [memory.taxonomy] }
  playwright:
    command: pw
    tools:
      browser_navigate: { confers: [browser.inspect] }
      browser_snapshot: { confers: [browser.inspect] }
      browser_take_screenshot: { confers: [browser.capture] }
      browser_click: { confers: [browser.interact] }
";

/// Both tickets as both hosts log them.
pub fn write(folder: &Path) {
    for (name, agents) in [("before", story::before()), ("after", story::after())] {
        logs::rollouts(&agents, &folder.join(name).join("codex"));
        logs::transcripts(&agents, &folder.join(name).join("claude"));
    }
}

fn repo() -> Repo {
    let repo = Repo::with(POLICY);
    write(repo.path());
    repo
}

fn judged(repo: &Repo, logs: &str) -> (i32, Value) {
    let Run { code, out, err } = repo.run(&["measure", logs, "--expect", "simple-frontend-ticket", "--format", "json"]);
    assert_eq!(err, "");
    (code, serde_json::from_str(&out).unwrap())
}

fn verdicts(report: &Value) -> Vec<(String, String, Value)> {
    let keys = report["expectation"]["sessions"][0]["keys"].as_array().unwrap();
    let word = |k: &Value, key: &str| k[key].as_str().unwrap().to_owned();
    keys.iter().map(|k| (word(k, "key"), word(k, "verdict"), k["count"].clone())).collect()
}

fn records(report: &Value, key: &str) -> Vec<String> {
    let keys = report["expectation"]["sessions"][0]["keys"].as_array().unwrap();
    let one = keys.iter().find(|k| k["key"] == key).unwrap();
    let line = |r: &Value| {
        let (at, what) = (r["at"].as_str().unwrap(), r["what"].as_str().unwrap());
        format!("{} {what}", at.rsplit('/').next().unwrap())
    };
    one["records"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn what_the_ticket_cost_without_a_policy() {
    let repo = repo();
    let (code, report) = judged(&repo, "before/codex");
    assert_eq!(code, 1);
    let main = agent(&report, "");
    // 3 lookups, 3 commands, 119 browser calls, 1 agent; a request for each and one more, 1,420 tokens apart.
    expect_figures!(main, "/calls" => 126, "/requests" => 127, "/context/window" => 258_400,
        "/context/first-request/tokens" => 24_000, "/context/most" => 202_920, "/context/last" => 202_920,
        "/knowledge/docs" => 2, "/knowledge/memory" => 1, "/knowledge/taxonomy" => 3, "/knowledge/before-first-work" => 3,
        "/tools/kb~1list_tags/calls" => 2, "/tools/kb~1list_topics/calls" => 1,
        "/capabilities/agent.spawn" => 1, "/capabilities/browser.inspect" => 55, "/capabilities/browser.interact" => 60, "/capabilities/browser.capture" => 4,
        // Of 36 pages 4 are long; those have 40,111 bytes, the others 20,000, all over the target of 12 KiB.
        "/results/over-target" => 36, "/results/over-limit" => 4, "/media/inline" => 4, "/media/inline-base64-bytes" => 5_765_296,
        // 3 · 900 + 3 · 400 + 79 · 700 + 4 · 40,111 + 32 · 20,000 + 4 · 100 + 60
        "/results/visible/bytes" => 860_104,
        "/full-history" => null, "/copied-records" => 0, "/unrecorded-escalations" => 1);
    // 50 % of the window are 129,200 tokens, 65 % 167,960, 75 % 193,800: the 76th, 103rd and 121st request.
    let crossed: Vec<&Value> = main["context"]["crossed"].as_array().unwrap().iter().map(|c| &c["tokens"]).collect();
    assert_eq!(crossed, [130_500, 168_840, 194_400]);
    let docs = agent(&report, "docs-before");
    // 67 browser calls and a patch; a request for each, one before the summary, the summary's, and the last.
    expect_figures!(docs, "/role" => "docs_writer", "/full-history" => true, "/copied-records" => 40, "/calls" => 68, "/requests" => 71,
        "/context/first-request/tokens" => 204_000, "/context/most" => 258_000, "/context/least" => 41_000, "/context/last" => 41_900,
        "/context/compactions/0/before" => 258_000, "/context/compactions/0/after" => 41_000,
        "/capabilities/browser.inspect" => 29, "/capabilities/browser.interact" => 30, "/capabilities/browser.capture" => 8,
        "/out-of-grant/done" => 67, "/out-of-grant/refused" => 0, "/results/over-limit" => 5, "/results/over-target" => 18,
        // 41 · 700 + 5 · 40,111 + 13 · 20,000 + 8 · 100 + 80
        "/results/visible/bytes" => 490_135, "/media/inline" => 8, "/media/inline-base64-bytes" => 11_530_592,
        "/knowledge/before-first-work" => 0);
    assert_eq!(docs["context"]["compactions"].as_array().unwrap().len(), 1);
    // 119 + 3, and 67: 189, of which 186 for browser tools.
    let all = |name: &str| agent(&report, name)["reviews"].as_object().unwrap().clone();
    let reviews = [all("review-of-ticket-before"), all("review-of-docs-before")];
    let count = |of: &dyn Fn(&str) -> bool| {
        reviews.iter().flatten().filter(|(tool, _)| of(tool)).map(|(_, n)| n.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((count(&|_| true), count(&|tool| tool.starts_with("playwright/"))), (189, 186));
    assert_eq!(reviews[1]["playwright/browser_click"], json!(30));
    let megabytes: u64 = 12 * story::PICTURE as u64;
    assert_eq!(megabytes, 5_765_296 + 11_530_592);
}

#[test]
fn the_expectation_fails_without_a_policy_and_names_the_records() {
    let repo = repo();
    let (code, report) = judged(&repo, "before/codex");
    let count = |key: &str, n: u64| (key.to_owned(), "broken".to_owned(), json!(n));
    assert_eq!(code, 1);
    assert_eq!(
        verdicts(&report),
        [
            count("docs-calls", 2),
            count("memory-calls", 1),
            count("taxonomy-calls", 3),
            count("full-history-agents", 1),
            count("inline-base64", 12),
            count("results-over-limit", 9),
            count("unrecorded-escalations", 2),
            count("avoidable-compactions", 1),
            count("out-of-grant-calls.docs_writer", 67),
        ]
    );
    // The head and the first turn are two lines; a step has three.
    let lookups =
        ["3 kb/list_tags", "6 kb/list_topics", "9 kb/list_tags"].map(|l| format!("rollout-1-ticket-before.jsonl:{l}"));
    assert_eq!(records(&report, "taxonomy-calls"), lookups);
    // The head, 40 copied records, and the first turn are 42 lines.
    let outside = records(&report, "out-of-grant-calls.docs_writer");
    assert!(
        outside[0]
            .starts_with("rollout-3-docs-before.jsonl:43 playwright/browser_navigate: not granted: browser.inspect"),
        "{}",
        outside[0]
    );
    // 67 steps of three lines, a last request, the summary's.
    let compaction = records(&report, "avoidable-compactions");
    assert!(
        compaction[0].starts_with("rollout-3-docs-before.jsonl:246 compaction at 258000 tokens"),
        "{}",
        compaction[0]
    );
    assert_eq!(
        records(&report, "full-history-agents"),
        ["rollout-3-docs-before.jsonl:1 docs_writer was given the history"]
    );
}

#[test]
fn the_same_ticket_under_the_policy_holds_the_expectation() {
    let repo = repo();
    let (code, report) = judged(&repo, "after/codex");
    let held = verdicts(&report).iter().all(|(_, verdict, count)| verdict == "held" && *count == 0);
    assert!(held && code == 0, "{:#?}", verdicts(&report));
    expect_figures!(agent(&report, ""), "/calls" => 10, "/requests" => 11, "/context/first-request/tokens" => 21_000,
        "/context/most" => 32_000, "/results/over-target" => 0, "/results/visible/bytes" => 22_160, "/media/inline" => 0,
        "/knowledge/before-first-work" => 0, "/capabilities/browser.interact" => 2);
    expect_figures!(agent(&report, "docs-after"), "/calls" => 2, "/requests" => 3, "/context/most" => 19_800, "/full-history" => false,
        "/out-of-grant/done" => 0, "/out-of-grant/refused" => 0);
    // Only what changes a page is reviewed.
    assert_eq!(agent(&report, "review-of-ticket-after")["reviews"], json!({ "playwright/browser_click": 2 }));
    let sessions = report["sessions"].as_array().unwrap();
    assert_eq!(sessions[0]["agents"].as_array().unwrap().len(), 3);
}

#[test]
fn the_other_host_tells_the_same_but_what_it_does_not_record() {
    let repo = repo();
    let (code, report) = judged(&repo, "before/claude");
    assert_eq!(code, 1);
    expect_figures!(agent(&report, ""), "/calls" => 126, "/requests" => 127, "/context/window" => null, "/context/most" => 202_920,
        "/knowledge/taxonomy" => 3, "/results/visible/bytes" => 860_104, "/media/inline-base64-bytes" => 5_765_296, "/reviews" => null);
    // It knows a fork as such and not its role, and has no request for the summary.
    expect_figures!(agent(&report, "docs-before"), "/role" => "fork", "/full-history" => true, "/copied-records" => 1, "/calls" => 68, "/requests" => 70,
        "/context/first-request/tokens" => 204_000, "/context/most" => 257_600, "/context/compactions/0/before" => 258_000,
        "/results/visible/bytes" => 490_135, "/media/inline-base64-bytes" => 11_530_592);
    let broken: Vec<String> = verdicts(&report).into_iter().filter(|v| v.1 == "broken").map(|v| v.0).collect();
    assert_eq!(broken.len(), 8, "{broken:?}");
    let (code, report) = judged(&repo, "after/claude");
    assert_eq!((code, verdicts(&report).len()), (0, 9), "{:#?}", verdicts(&report));
}

/// For looking at by hand: `ROLECAST_TICKET=/tmp/ticket cargo test --test measure -- --ignored ticket`.
#[test]
#[ignore = "writes the logs of the ticket to the folder ROLECAST_TICKET"]
fn the_ticket_is_written_to_be_looked_at() {
    let folder = std::env::var_os("ROLECAST_TICKET").expect("ROLECAST_TICKET names a folder");
    write(Path::new(&folder));
    let policy = Path::new(&folder).join("shared-agent-rules");
    std::fs::create_dir_all(&policy).unwrap();
    std::fs::write(policy.join("policy.yaml"), POLICY).unwrap();
}
