//! Expectations, proposals, and pages for people.

use serde_json::{Value, json};

use crate::support::Repo;
use crate::{POLICY, logs};

fn verdicts(name: &str) -> (i32, Vec<String>) {
    let run = Repo::with(POLICY).run(&["measure", &logs(name), "--expect", "all", "--format", "json"]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let keys = report["expectation"]["sessions"][0]["keys"].as_array().unwrap();
    let line = |k: &Value| format!("{} {} {}", k["key"].as_str().unwrap(), k["verdict"].as_str().unwrap(), k["count"]);
    (run.code, keys.iter().map(line).collect())
}

#[test]
fn every_key_is_held_against_what_was_counted() {
    let (code, all) = verdicts("rollout");
    assert_eq!(code, 1);
    assert_eq!(
        all,
        [
            // list_tags and search in the main agent, search in the child.
            "docs-calls broken 3",
            "memory-calls held 0",
            "taxonomy-calls held 1",
            "full-history-agents broken 1",
            "inline-base64 broken 1",
            "results-over-limit broken 1",
            "unrecorded-escalations held 0",
            "avoidable-compactions broken 1",
            // Two that ran and one that was refused.
            "out-of-grant-calls.docs_writer broken 3",
        ]
    );
}

#[test]
fn what_is_not_recorded_is_no_pass() {
    let (code, all) = verdicts("chat");
    assert_eq!(code, 1);
    for key in ["avoidable-compactions", "out-of-grant-calls.docs_writer"] {
        assert!(all.contains(&format!("{key} not-recorded null")), "{all:?}");
    }
    // Not recorded either, but this host hands no history to anybody, and the adapter says so.
    assert!(all.contains(&"full-history-agents held 0".to_owned()), "{all:?}");
    let (_, all) = verdicts("chain");
    assert!(all.contains(&"inline-base64 not-recorded null".to_owned()), "{all:?}");
    let (_, all) = verdicts("gateway");
    assert!(all.contains(&"docs-calls not-recorded null".to_owned()), "{all:?}");
    let run = Repo::with(POLICY).run(&["measure", &logs("chat"), "--expect", "all"]);
    assert!(run.out.contains("not recorded: compactions; that is no pass"), "{}", run.out);
}

#[test]
fn a_session_without_the_logs_of_its_sub_agents_passes_nothing_that_they_may_have_done() {
    let (code, all) = verdicts("transcript/11111111-aaaa.jsonl");
    assert_eq!(code, 1);
    for line in ["docs-calls not-recorded null", "full-history-agents not-recorded null", "memory-calls broken 1"] {
        assert!(all.iter().any(|l| l == line), "{all:#?}");
    }
    let run = Repo::with(POLICY).run(&["measure", &logs("transcript/11111111-aaaa.jsonl")]);
    assert!(run.out.contains("2 more were started, whose logs are not among the files"), "{}", run.out);
}

#[test]
fn a_held_expectation_is_a_success_and_a_broken_one_names_its_records() {
    let repo = Repo::with(POLICY);
    assert_eq!(repo.run(&["measure", &logs("transcript"), "--expect", "nothing"]).code, 0);
    let run = repo.run(&["measure", &logs("transcript"), "--expect", "all"]);
    assert_eq!(run.code, 1);
    let lines: Vec<&str> = run.out.lines().skip_while(|l| !l.starts_with("  BROKEN  results-over-limit")).collect();
    assert!(lines[1].ends_with("11111111-aaaa.jsonl:9") && lines[2].trim() == "Bash: 250 bytes", "{lines:#?}");
    let broken: Vec<&str> = run.out.lines().filter(|l| l.starts_with("  BROKEN")).collect();
    assert_eq!(broken.len(), 7, "{broken:#?}");
}

#[test]
fn a_wrong_name_is_a_fault_of_the_command_and_a_wrong_key_one_of_the_policy() {
    let repo = Repo::with(POLICY);
    let run = repo.run(&["measure", &logs("chat"), "--expect", "nothin"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `nothing`?"), "{}", run.err);
    let wrong = POLICY.replace("docs-calls: 9", "doc-calls: 9");
    assert_eq!(Repo::with(&wrong).run(&["measure", &logs("chat")]).code, 3);
}

#[test]
fn the_page_fits_a_hundred_columns_and_has_no_colour() {
    let repo = Repo::with(POLICY);
    for name in ["rollout", "transcript", "chat", "export", "chain", "events", "gateway", "side-chains"] {
        let page = repo.run(&["measure", &logs(name), "--expect", "all"]).out;
        for line in page.lines() {
            // A path is never broken.
            assert!(line.chars().count() <= 100 || !line.trim().contains(' '), "{name}: {line}");
        }
        assert!(!page.contains('\u{1b}'));
    }
}

#[test]
fn budgets_are_proposed_from_enough_results_only() {
    let repo = Repo::with(POLICY);
    let few = repo.run(&["measure", &logs("rollout"), "--calibrate"]);
    assert_eq!((few.code, few.out.as_str()), (1, ""));
    let all = repo.run(&["measure", &logs(""), "--calibrate"]);
    assert_eq!(all.code, 0, "{}", all.err);
    assert!(all.out.contains("\n  tool-result: { target: 1KiB, limit: 1KiB }\n"), "{}", all.out);
    assert!(all.out.contains("# codex exec "), "{}", all.out);
    // What is proposed is a policy.
    let policy = format!("version: 1\nhosts: {{ codex: {{}} }}\n{}", all.out);
    assert_eq!(Repo::with(&policy).run(&["packet", "new", "x"]).code, 2);
}

#[test]
fn the_shipped_policy_measures_without_one_of_ones_own() {
    let report = Repo::empty().json(&["measure", &logs("transcript")]);
    assert_eq!(report["version"], json!(1));
}
