//! The real programs: what is rendered holds, and what is changed by hand is found. A test that is skipped
//! says so.

use std::path::Path;

use super::support::{Repository, programs, said, with};

const NOTHING: Vec<String> = Vec::new();

/// Every finding that is bad is about `role`, and each of `lines` is among them.
fn only(repository: &Repository, bin: &Path, host: &str, role: &str, lines: &[&str]) {
    let (code, report) = repository.verify(bin, &["--host", host, "--role", "explorer", "--role", "docs_writer"]);
    let broken = with(&report, "broken");
    assert_eq!(code, 1, "{broken:?}");
    assert_eq!(with(&report, "unclear"), NOTHING);
    let about = |b: &str| b.trim_start_matches("with a server, ").starts_with(&format!("{role}: "));
    assert!(broken.iter().all(|b| about(b)), "{broken:?}");
    for line in lines {
        assert!(broken.contains(&format!("{role}: {line}")), "`{line}` is not in {broken:?}");
    }
}

#[test]
fn what_is_rendered_holds_on_every_host_that_can_be_run() {
    let Some(bin) = programs("the shipped policy") else { return };
    let hosts = ["claude-code", "codex", "copilot", "gemini-cli", "opencode", "qwen-code"];
    let repository = Repository::rendered(&hosts, &[]);
    let (code, report) = repository.verify(&bin, &[]);
    assert_eq!((with(&report, "broken"), with(&report, "unclear")), (NOTHING, NOTHING), "{report:#}");
    assert_eq!(code, 0);
    let told = report["hosts"].as_array().unwrap();
    assert_eq!(told.iter().map(|host| host["host"].as_str().unwrap()).collect::<Vec<_>>(), hosts);
    for host in told {
        assert!(host["not-verified"].is_null(), "*** NOT VERIFIED: {host}");
        assert!(host["version"].is_string(), "{host}");
    }
    let held = with(&report, "held");
    for line in [
        "docs_writer: shell.run",
        "explorer: repo.edit",
        "rule routing-core to main",
        "notes of roles",
        "start of main",
        "with a server, browser_tester: tools",
        "with a server, browser_tester: browser.inspect",
        "with a server, explorer: browser.interact",
        "with a server, server: *",
    ] {
        assert!(held.iter().any(|h| h == line), "{line}");
    }
}

#[test]
fn a_list_that_takes_every_tool_of_a_server_is_found() {
    let Some(bin) = programs("every tool of a server on Claude Code") else { return };
    let repository = Repository::rendered(&["claude-code"], &[]);
    repository.change(".claude/agents/explorer.md", "tools: [", "tools: [\"mcp__tryout__*\", ");
    let lines = ["tools", "browser.inspect", "browser.interact", "docs.search"];
    let lines = lines.map(|l| format!("with a server, explorer: {l}"));
    let (code, report) = repository.verify(&bin, &["--host", "claude-code", "--role", "explorer"]);
    assert_eq!((code, with(&report, "broken")), (1, lines.to_vec()));
}

/// What is written in the role's file does nothing, which is why the ledger says no more than `advised`.
#[test]
fn a_server_that_a_role_of_codex_switches_off_stays() {
    let Some(bin) = programs("a server switched off in a role of Codex") else { return };
    let repository = Repository::rendered(&["codex"], &[]);
    let role = repository.read(".codex/agents/explorer.toml");
    repository.write(".codex/agents/explorer.toml", &format!("{role}\n[mcp_servers.tryout]\nenabled = false\n"));
    let (code, report) = repository.verify(&bin, &["--host", "codex", "--role", "explorer"]);
    assert_eq!((code, with(&report, "broken")), (0, NOTHING), "{report:#}");
    let possible = |f: &&serde_json::Value| {
        f["about"]["with-server"]["line"]["role"]["capability"] == "browser.interact"
            && f["seen"].as_str().is_some_and(|s| s.starts_with("possible, as said"))
    };
    assert!(report["hosts"][0]["findings"].as_array().unwrap().iter().any(|f| possible(&f)), "{report:#}");
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
    let tools = ["patcher: tools", "with a server, patcher: tools"].map(str::to_owned);
    assert_eq!((code, with(&report, "broken")), (1, tools.to_vec()));
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
fn an_order_of_rules_that_denies_everything_is_found() {
    let Some(bin) = programs("rules in another order on opencode") else { return };
    let repository = Repository::rendered(&["opencode"], &[]);
    repository.change(".opencode/agents/explorer.md", "  \"*\": deny\n", "");
    repository.change(".opencode/agents/explorer.md", "  grep: allow\n", "  grep: allow\n  \"*\": deny\n");
    only(&repository, &bin, "opencode", "explorer", &["tools"]);
}

#[test]
fn a_rendered_file_that_was_opened_to_a_role_is_found() {
    let Some(bin) = programs("a rendered file opened to a role on opencode") else { return };
    let patcher = "---\ndescription: Edits.\ngrants: { repo.read: {}, repo.edit: {} }\n---\nEdit what you are told.\n";
    let repository = Repository::rendered(&["opencode"], &[("patcher", patcher)]);
    // Else the guard refuses what the rules let through.
    let policy = "version: 1\nhosts: { opencode: {} }\nextends: [builtin]\nguard: { roles: false }\n";
    repository.write("shared-agent-rules/policy.yaml", policy);
    assert!(repository.command(&["render"]).output().unwrap().status.success());
    repository.change(".opencode/agents/patcher.md", "    \".opencode/**\": deny", "    \".opencode/**\": allow");
    let (code, report) = repository.verify(&bin, &["--role", "patcher"]);
    assert_eq!((code, with(&report, "broken")), (1, vec!["patcher: repo.edit".into(), "patcher: policy.edit".into()]));
}

#[test]
fn front_matter_that_cannot_be_read_opens_a_role_and_that_is_found() {
    let Some(bin) = programs("broken front matter on opencode") else { return };
    let repository = Repository::rendered(&["opencode"], &[]);
    repository.change(".opencode/agents/explorer.md", "permission:\n", "permission: [\n");
    only(&repository, &bin, "opencode", "explorer", &["tools", "shell.run", "repo.edit", "web.fetch"]);
}

#[test]
fn a_name_of_another_host_is_dropped_and_the_missing_tool_is_found() {
    let Some(bin) = programs("names of another host on Qwen Code") else { return };
    let repository = Repository::rendered(&["qwen-code"], &[]);
    repository.change(".qwen/agents/explorer.md", "\"read_file\"", "\"Read\"");
    only(&repository, &bin, "qwen-code", "explorer", &["tools", "repo.read"]);
}

#[test]
fn a_list_of_which_nothing_is_left_gives_everything_and_that_is_found() {
    let Some(bin) = programs("an empty list on Qwen Code") else { return };
    let repository = Repository::rendered(&["qwen-code"], &[]);
    repository.change(".qwen/agents/explorer.md", "[\"read_file\", \"grep_search\", \"glob\"]", "[]");
    only(&repository, &bin, "qwen-code", "explorer", &["tools", "shell.run", "repo.edit", "web.fetch"]);
}

#[test]
fn a_rule_for_paths_comes_with_its_files_and_one_that_comes_at_once_is_found() {
    let Some(bin) = programs("a rule for paths on Claude Code") else { return };
    let repository = Repository::rendered(&["claude-code"], &[]);
    let rule = "---\ntitle: Web\nactivation: { paths: [\"web/**\"] }\naudience: [main, roles]\n---\nWeb pages are plain HTML here.\n";
    repository.write("shared-agent-rules/web.md", rule);
    assert!(repository.command(&["render"]).output().unwrap().status.success());
    let verify = || repository.verify(&bin, &["--host", "claude-code", "--role", "explorer"]);
    let (code, report) = verify();
    assert_eq!((code, with(&report, "broken")), (0, NOTHING), "{report:#}");
    let held = with(&report, "held");
    assert!(
        held.contains(&"rule web to main".to_owned()) && held.contains(&"rule web to roles".to_owned()),
        "{held:?}"
    );
    repository.change(".claude/rules/web.md", "paths:", "globs:");
    let (code, report) = verify();
    assert_eq!(
        (code, with(&report, "broken")),
        (1, vec!["rule web to main".to_owned(), "rule web to roles".to_owned()])
    );
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
    assert!(broken.iter().all(|b| b.starts_with("rule ") || b.starts_with("notes ")), "{broken:?}");
    repository.write(".claude/rules/again.md", "A note of somebody else, which is long enough to be told.\n");
    let (_, report) = repository.verify(&bin, &["--host", "claude-code", "--role", "explorer"]);
    let first = &report["hosts"][0]["first-requests"][0];
    assert_eq!(first["files"], serde_json::json!([".claude/rules/again.md"]));
    assert!(first["without"].as_u64() < first["bytes"].as_u64() && first["without"].is_u64(), "{first}");
}

/// A role whose paths are confined where `run` starts it.
const WRITER: &str = "---\ndescription: Writes.\ngrants:\n  repo.read: {}\n  repo.edit: { paths: [\"docs/**\"] }\n  repo.create: { paths: [\"docs/**\"] }\n---\nWrite.\n";

/// What was found of capabilities of `writer` in the form that `run` starts.
fn writer<const N: usize>(
    repository: &Repository,
    bin: &Path,
    host: &str,
    capabilities: [&str; N],
) -> [(String, String); N] {
    let (_, report) = repository.verify(bin, &["--host", host, "--role", "writer"]);
    let findings = report["hosts"][0]["findings"].as_array().unwrap();
    capabilities.map(|capability| {
        let about = |f: &&serde_json::Value| {
            let role = &f["about"]["line"]["role"];
            role["capability"] == capability && role["form"] != "subagent"
        };
        let found = findings.iter().find(about).unwrap_or_else(|| panic!("{report:#}"));
        let text = |key: &str| found[key].as_str().unwrap().to_owned();
        (text("verdict"), format!("{}; {}", text("claim"), text("seen")))
    })
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
        // Else the hook would hold them where the process does not.
        repository.write("shared-agent-rules/guard.yaml", "guard: { roles: false }\n");
        let rendered = repository.command(&["render"]).output().unwrap();
        assert!(rendered.status.success(), "{}", said(&rendered));
        for (verdict, seen) in writer(&repository, &bin, host, ["repo.edit", "repo.create"]) {
            assert!(
                verdict == "held" && seen.contains(guarantee) && seen.contains("inside it works"),
                "{host}: {verdict}: {seen}"
            );
        }
        let shipped = format!("{}/templates/{host}/run.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(shipped).unwrap();
        assert!(text.contains(from), "{host}: {from}");
        repository.write(&format!("shared-agent-rules/templates/{host}/run.json"), &text.replace(from, to));
        let [(verdict, seen)] = writer(&repository, &bin, host, ["repo.create"]);
        assert_eq!(verdict, "broken", "{host}: {seen}");
    }
}
