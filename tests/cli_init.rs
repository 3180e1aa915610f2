//! `rolecast init`, `schema` and `completions` on the real program.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Runs the program in `dir` without anything of the caller's surroundings.
fn rolecast(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn with(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine\n").unwrap();
    }
    dir
}

fn policy(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("shared-agent-rules/policy.yaml")).unwrap()
}

/// Every file below a folder.
fn files(dir: &Path) -> Vec<String> {
    let mut all: Vec<String> = walkdir::WalkDir::new(dir)
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| !e.file_type().is_dir())
        .map(|e| e.path().strip_prefix(dir).unwrap().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn hosts_whose_files_are_there_are_selected() {
    let dir = with(&[".cursor/rules/a.mdc", "GEMINI.md", "AGENTS.md"]);
    let done = rolecast(dir.path(), &["init"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert_eq!(out(&done), "wrote shared-agent-rules/policy.yaml for cursor, gemini-cli\nnext: rolecast render\n");
    let text: Vec<String> = policy(&dir).lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect();
    assert_eq!(text, ["version: 1", "hosts:", "  cursor: {}", "  gemini-cli: {}", "extends: [builtin]"]);
    assert_eq!(files(dir.path()), [".cursor/rules/a.mdc", "AGENTS.md", "GEMINI.md", "shared-agent-rules/policy.yaml"]);
}

#[test]
fn named_hosts_win_over_those_found_and_are_written_once_in_order() {
    let dir = with(&["CLAUDE.md"]);
    let done = rolecast(
        dir.path(),
        &["init", "--yes", "--host", "cursor", "--host", "codex", "--host", "cursor", "--format", "json"],
    );
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let value: Value = serde_json::from_str(&out(&done)).unwrap();
    assert_eq!(value["hosts"], serde_json::json!(["codex", "cursor"]));
    assert_eq!(value["wrote"], "shared-agent-rules/policy.yaml");
    assert!(policy(&dir).contains("hosts:\n  codex: {}\n  cursor: {}\n"));
}

#[test]
fn nothing_named_or_found_is_a_usage_error_that_says_what_to_write() {
    let dir = with(&["AGENTS.md"]);
    for args in [&["init"][..], &["init", "--yes"]] {
        let done = rolecast(dir.path(), args);
        assert_eq!(done.status.code(), Some(2));
        let said = err(&done);
        for word in ["rolecast init --host HOST", "claude-code", "codex", "cursor", "copilot", "gemini-cli"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert_eq!(files(dir.path()), ["AGENTS.md"]);
    }
}

#[test]
fn an_unknown_host_is_named_with_its_neighbour() {
    let dir = with(&["CLAUDE.md"]);
    let done = rolecast(dir.path(), &["init", "--host", "cursr"]);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(err(&done), "error: unknown host `cursr`\nhelp: did you mean `cursor`?\n");
    assert_eq!(files(dir.path()), ["CLAUDE.md"]);
}

#[test]
fn a_policy_that_is_there_is_never_touched() {
    let dir = with(&["CLAUDE.md", "shared-agent-rules/mine.yaml"]);
    let done = rolecast(dir.path(), &["init", "--host", "codex"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("shared-agent-rules/mine.yaml; nothing was changed"), "{}", out(&done));
    assert_eq!(files(dir.path()), ["CLAUDE.md", "shared-agent-rules/mine.yaml"]);
    let below = dir.path().join("sub");
    fs::create_dir(&below).unwrap();
    assert_eq!(rolecast(&below, &["init", "--host", "codex"]).status.code(), Some(0));
    assert_eq!(files(dir.path()).len(), 2);
}

#[test]
fn a_folder_without_a_policy_gets_one_and_keeps_its_files() {
    let dir = with(&["CLAUDE.md", "shared-agent-rules/.keep"]);
    assert_eq!(rolecast(dir.path(), &["init"]).status.code(), Some(0));
    assert_eq!(files(dir.path()), ["CLAUDE.md", "shared-agent-rules/.keep", "shared-agent-rules/policy.yaml"]);
    let dir = with(&["CLAUDE.md", "shared-agent-rules/policy.yml"]);
    assert_eq!(rolecast(dir.path(), &["init"]).status.code(), Some(3));
    assert_eq!(files(dir.path()), ["CLAUDE.md", "shared-agent-rules/policy.yml"]);
}

#[test]
fn the_policy_is_written_at_the_top_of_the_repository() {
    let dir = with(&["CLAUDE.md", "deep/down/x"]);
    assert_eq!(rolecast(&dir.path().join("deep/down"), &["init"]).status.code(), Some(0));
    assert_eq!(files(dir.path()), ["CLAUDE.md", "deep/down/x", "shared-agent-rules/policy.yaml"]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_out_of_the_root_or_over_a_file() {
    let outside = tempfile::tempdir().unwrap();
    for target in [outside.path().to_owned(), outside.path().join("not-yet")] {
        let dir = with(&["CLAUDE.md"]);
        std::os::unix::fs::symlink(&target, dir.path().join("shared-agent-rules")).unwrap();
        let done = rolecast(dir.path(), &["init"]);
        assert_eq!(done.status.code(), Some(4), "{}", err(&done));
        assert!(err(&done).contains("`shared-agent-rules`"), "{}", err(&done));
        assert_eq!(files(outside.path()), Vec::<String>::new());
    }
    let dir = with(&["CLAUDE.md", "shared-agent-rules"]);
    let done = rolecast(dir.path(), &["init"]);
    assert_eq!(done.status.code(), Some(4), "{}", err(&done));
    assert_eq!(fs::read_to_string(dir.path().join("shared-agent-rules")).unwrap(), "mine\n");
}

#[test]
fn schemas_are_listed_printed_and_unknown_ones_refused() {
    let dir = with(&[]);
    let names: Vec<String> =
        serde_json::from_str(&out(&rolecast(dir.path(), &["schema", "--format", "json"]))).unwrap();
    assert_eq!(names, ["policy", "role", "rule", "packet", "adapter", "scenario", "evidence"]);
    let list = out(&rolecast(dir.path(), &["schema"]));
    assert_eq!(list.lines().count(), names.len());
    for name in &names {
        let schema: Value = serde_json::from_str(&out(&rolecast(dir.path(), &["schema", name]))).unwrap();
        assert!(schema["title"].as_str().unwrap().starts_with(&format!("rolecast {name}")), "{name}");
    }
    let done = rolecast(dir.path(), &["schema", "rol"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("did you mean `role`?"), "{}", err(&done));
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let dir = with(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = rolecast(dir.path(), &["completions", shell]);
        assert_eq!(done.status.code(), Some(0));
        assert!(["rolecast", "render", "explain"].iter().all(|w| out(&done).contains(w)), "{shell}");
    }
    assert_eq!(rolecast(dir.path(), &["completions", "cmd"]).status.code(), Some(2));
}
