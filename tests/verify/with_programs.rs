//! The real programs: what is rendered holds, and what is changed by hand is found. A test that is skipped
//! says so.

use std::path::Path;

use super::support::{Repository, programs, with};

const NOTHING: Vec<String> = Vec::new();

/// Every finding that is bad is about `role`, and each of `lines` is among them.
fn only(repository: &Repository, bin: &Path, host: &str, role: &str, lines: &[&str]) {
    let (code, report) = repository.verify(bin, &["--host", host, "--role", "explorer", "--role", "docs_writer"]);
    let broken = with(&report, "broken");
    assert_eq!(code, 1, "{broken:?}");
    assert_eq!(with(&report, "unclear"), NOTHING);
    assert!(broken.iter().all(|b| b.starts_with(&format!("{role}: "))), "{broken:?}");
    for line in lines {
        assert!(broken.contains(&format!("{role}: {line}")), "`{line}` is not in {broken:?}");
    }
}

#[test]
fn what_is_rendered_holds_on_every_host_that_can_be_run() {
    let Some(bin) = programs("the shipped policy") else { return };
    let hosts = ["claude-code", "codex", "copilot", "gemini-cli"];
    let repository = Repository::rendered(&hosts, &[]);
    let (code, report) = repository.verify(&bin, &[]);
    assert_eq!((with(&report, "broken"), with(&report, "unclear")), (NOTHING, NOTHING), "{report:#}");
    assert_eq!(code, 0);
    for host in report["hosts"].as_array().unwrap() {
        assert!(host["not-verified"].is_null(), "*** NOT VERIFIED: {host}");
        assert!(host["version"].is_string(), "{host}");
    }
    let held = with(&report, "held");
    for line in ["docs_writer: shell.run", "explorer: repo.edit", "rule routing-core to main"] {
        assert!(held.iter().any(|h| h == line), "{line}");
    }
}

#[test]
fn a_list_that_was_widened_by_hand_is_found() {
    let Some(bin) = programs("a widened list on Claude Code") else { return };
    let repository = Repository::rendered(&["claude-code"], &[]);
    repository.change(".claude/agents/explorer.md", "tools: [", "tools: [\"Bash\", ");
    only(&repository, &bin, "claude-code", "explorer", &["tools", "shell.run", "repo.edit", "web.fetch"]);
}

#[test]
fn a_specifier_that_the_host_ignores_is_found_by_what_it_lets_through() {
    let Some(bin) = programs("an ignored specifier on Claude Code") else { return };
    let repository = Repository::rendered(&["claude-code"], &[]);
    repository.change(".claude/agents/explorer.md", "tools: [", "tools: [\"Edit(/docs/**)\", ");
    only(&repository, &bin, "claude-code", "explorer", &["tools", "repo.edit", "repo.create", "policy.edit"]);
}

#[test]
fn a_shell_that_was_given_back_is_found() {
    let Some(bin) = programs("a shell given back on Codex") else { return };
    let patcher =
        "---\ndescription: Edits.\ngrants:\n  repo.edit: {}\n  plan.track: {}\n---\nEdit what you are told.\n";
    let repository = Repository::rendered(&["codex"], &[("patcher", patcher)]);
    let verify = || repository.verify(&bin, &["--host", "codex", "--role", "patcher"]);
    let (code, report) = verify();
    assert_eq!((code, with(&report, "broken")), (0, NOTHING), "{report:#}");
    repository.change(".codex/agents/patcher.toml", "shell_tool = false\nunified_exec = false", "");
    let (code, report) = verify();
    assert_eq!((code, with(&report, "broken")), (1, vec!["patcher: tools".to_owned()]));
}

#[test]
fn a_word_that_brings_a_shell_is_found() {
    let Some(bin) = programs("a widened list on Copilot") else { return };
    let repository = Repository::rendered(&["copilot"], &[]);
    repository.change(".github/agents/explorer.agent.md", "tools: [", "tools: [\"execute\", ");
    only(&repository, &bin, "copilot", "explorer", &["tools", "shell.run", "repo.edit"]);
}

#[test]
fn names_of_another_host_keep_a_role_from_loading_and_that_is_found() {
    let Some(bin) = programs("names of another host on Gemini CLI") else { return };
    let repository = Repository::rendered(&["gemini-cli"], &[]);
    repository.change(".gemini/agents/explorer.md", "tools: [", "tools: [\"Bash(git:*)\", ");
    only(&repository, &bin, "gemini-cli", "explorer", &["tools"]);
}

#[test]
fn a_rule_that_arrives_twice_is_found() {
    let Some(bin) = programs("a repeated rule on Claude Code") else { return };
    let repository = Repository::rendered(&["claude-code"], &[]);
    let rules = repository.read("CLAUDE.md");
    repository.write(".claude/rules/again.md", &rules);
    let (code, report) = repository.verify(&bin, &["--host", "claude-code", "--role", "explorer"]);
    let broken = with(&report, "broken");
    assert_eq!(code, 1, "{broken:?}");
    assert!(broken.contains(&"rule routing-core to main".to_owned()), "{broken:?}");
    assert!(broken.iter().all(|b| b.starts_with("rule ")), "{broken:?}");
}

/// A role whose paths are confined where `run` starts it.
const WRITER: &str = "---\ndescription: Writes.\ngrants:\n  repo.read: {}\n  repo.edit: { paths: [\"docs/**\"] }\n  repo.create: { paths: [\"docs/**\"] }\n---\nWrite.\n";

/// What was found of one capability of `writer` in the form that `run` starts.
fn writer(repository: &Repository, bin: &Path, host: &str, capability: &str) -> (String, String) {
    let (_, report) = repository.verify(bin, &["--host", host, "--role", "writer"]);
    let findings = report["hosts"][0]["findings"].as_array().unwrap();
    let about = |f: &&serde_json::Value| {
        let role = &f["about"]["line"]["role"];
        role["capability"] == capability && role["form"] != "subagent"
    };
    let found = findings.iter().find(about).unwrap_or_else(|| panic!("{report:#}"));
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("verdict"), format!("{}; {}", text("claim"), text("seen")))
}

#[test]
fn paths_hold_in_a_process_that_run_starts_and_a_command_that_opens_more_is_found() {
    let Some(bin) = programs("paths of processes that `run` starts") else { return };
    for (host, guarantee, from, to) in [
        ("codex", "enforced", "'\".\"=\"read\"'", "'\".\"=\"write\"'"),
        ("gemini-cli", "enforced", "decision = \"deny\"\npriority = 990", "decision = \"allow\"\npriority = 990"),
        ("claude-code", "prompted", "\"/\" ~ path ~ \")\"", "\"/**)\""),
    ] {
        let repository = Repository::rendered(&[host], &[("writer", WRITER)]);
        for capability in ["repo.edit", "repo.create"] {
            let (verdict, seen) = writer(&repository, &bin, host, capability);
            assert!(
                verdict == "held" && seen.contains(guarantee) && seen.contains("inside it works"),
                "{host}: {verdict}: {seen}"
            );
        }
        let shipped = format!("{}/templates/{host}/run.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(shipped).unwrap();
        assert!(text.contains(from), "{host}: {from}");
        repository.write(&format!("shared-agent-rules/templates/{host}/run.json"), &text.replace(from, to));
        let (verdict, seen) = writer(&repository, &bin, host, "repo.create");
        assert_eq!(verdict, "broken", "{host}: {seen}");
    }
}
