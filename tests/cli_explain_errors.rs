//! What `explain` refuses, and how, on the real program.

mod support;

use serde_json::Value;
use support::{FIVE, Repo, triage};

#[test]
fn without_a_policy_the_shipped_one_is_explained_for_the_hosts_named() {
    let repo = Repo::empty();
    let page = repo.page(&["explain", "docs_writer", "--host", "claude-code"]);
    assert!(page.contains("`.claude/agents/docs_writer.md`"), "{page}");
    let run = repo.run(&["explain", "docs_writer"]);
    assert_eq!(run.code, 2);
    insta::assert_snapshot!(run.err, @r#"
error: no host is selected
help: name one with `--host`, or start a policy with `rolecast init`
"#);
}

#[test]
fn what_does_not_exist_is_a_usage_error_with_the_nearest_name() {
    let repo = Repo::with(FIVE);
    let error = |args: &[&str]| {
        let run = repo.run(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        run.err
    };
    insta::assert_snapshot!(error(&["explain", "docs_writr"]), @r#"
error: unknown role `docs_writr`
help: did you mean `docs_writer`?
"#);
    insta::assert_snapshot!(error(&["explain", "zzz"]), @r#"
error: unknown role `zzz`
help: roles: browser_tester, docs_writer, explorer, implementer, reviewer
"#);
    insta::assert_snapshot!(error(&["explain", ".claude/agents/docs_writter.md"]), @r#"
error: `.claude/agents/docs_writter.md` is no file that the policy renders, and no role
help: did you mean `.claude/agents/docs_writer.md`?
"#);
    insta::assert_snapshot!(error(&["explain", "AGENTS.md:4000"]), @r#"
error: `AGENTS.md` has no line 4000
help: it has 40 lines
"#);
    insta::assert_snapshot!(error(&["explain", "AGENTS.md:0"]), @r#"
error: `AGENTS.md` has no line 0
help: it has 40 lines
"#);
    insta::assert_snapshot!(error(&["explain", "--host", "gemini"]), @"
    error: unknown host `gemini`
    help: known hosts: claude-code, codex, copilot, cursor, gemini-cli, opencode, qwen-code, tsuka
    ");
    insta::assert_snapshot!(error(&["explain", "--format", "sarif"]), @r#"
error: `explain` prints `human` or `json`, not annotations
help: `rolecast check` has the formats `github` and `sarif`
"#);
    insta::assert_snapshot!(error(&["explain", "docs_writer", "--format", "github"]), @r#"
error: `explain` prints `human` or `json`, not annotations
help: `rolecast check` has the formats `github` and `sarif`
"#);
    insta::assert_snapshot!(error(&["explain", "docs_writer", "--cost"]), @r#"
error: `--delivery`, `--cost` and `--tools` are pages of the whole policy
help: leave the subject out; `--host` narrows them
"#);
}

#[test]
fn a_host_that_the_policy_does_not_select_is_a_usage_error() {
    let run = triage().run(&["explain", "triage", "--host", "cursor"]);
    assert_eq!(run.code, 2);
    insta::assert_snapshot!(run.err, @r#"
error: the policy does not select host `cursor`
help: selected hosts: claude-code, codex
"#);
}

#[test]
fn two_pages_at_once_are_refused() {
    let run = Repo::with(FIVE).run(&["explain", "--cost", "--delivery"]);
    assert_eq!(run.code, 2);
}

#[test]
fn an_invalid_policy_is_not_explained() {
    let repo = Repo::with("version: 1\nhosts: { claude-code: {} }\nbudget: {}\n");
    let run = repo.run(&["explain"]);
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(run.err.contains("did you mean `budgets`?"), "{}", run.err);
    let run = repo.run(&["explain", "--format", "json"]);
    assert_eq!(run.code, 3);
    assert!(serde_json::from_str::<Value>(&run.out).expect("JSON").is_array());
}

#[test]
fn escapes_in_the_users_text_do_not_reach_the_terminal() {
    let role = support::TRIAGE.replace("Sorts tickets.", "\"Sorts \\e[31mtickets.\"");
    let run = triage().file("shared-agent-rules/roles/triage.md", &role).run(&["explain", "triage"]);
    assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{}{}", run.out, run.err);
}
