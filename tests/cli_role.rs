//! `rolecast role new`, `list` and `show` on the real program.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const HOSTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];
const SHIPPED: [&str; 5] = ["browser_tester", "docs_writer", "explorer", "implementer", "reviewer"];

/// Runs the program in `dir` without anything of the caller's surroundings.
fn rolecast(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rolecast")).args(args).current_dir(dir).env_clear().output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn with_policy(hosts: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let args: Vec<&str> = ["init", "--yes"].into_iter().chain(hosts.iter().flat_map(|h| ["--host", h])).collect();
    assert_eq!(rolecast(dir.path(), &args).status.code(), Some(0));
    dir
}

fn put(dir: &TempDir, path: &str, text: &str) {
    let full = dir.path().join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

fn read(dir: &TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join(path)).unwrap()
}

#[test]
fn a_copy_of_every_shipped_role_compiles_on_each_host_and_on_all() {
    for hosts in HOSTS.iter().map(std::slice::from_ref).chain([&HOSTS[..]]) {
        let dir = with_policy(hosts);
        for from in SHIPPED {
            let name = format!("my-{}", from.replace('_', "-"));
            let done = rolecast(dir.path(), &["role", "new", &name, "--from", from]);
            assert_eq!(done.status.code(), Some(0), "{hosts:?} {from}: {}", err(&done));
        }
    }
}

#[test]
fn a_copy_says_that_it_is_one_and_grants_the_same() {
    let dir = with_policy(&HOSTS);
    let done = rolecast(dir.path(), &["role", "new", "release_notes", "--from", "docs_writer"]);
    let path = "shared-agent-rules/roles/release_notes.md";
    assert_eq!(
        out(&done),
        format!("wrote {path}\nnext: edit it, then `rolecast render` and `rolecast explain release_notes`\n")
    );
    let (made, source) = (read(&dir, path), out(&rolecast(dir.path(), &["role", "show", "docs_writer"])));
    assert_eq!(out(&rolecast(dir.path(), &["role", "show", "release_notes"])), made);
    let rest: Vec<&str> = made
        .lines()
        .filter(|l| !l.contains("opied from docs_writer") && !l.starts_with("<!-- Copied from `docs_writer`"))
        .collect();
    let original: Vec<&str> = source.lines().filter(|l| !l.starts_with("description:")).collect();
    assert_eq!(rest, original);
}

#[test]
fn the_smallest_role_reads_and_compiles_on_each_host_and_on_all() {
    for hosts in HOSTS.iter().map(std::slice::from_ref).chain([&HOSTS[..]]) {
        let dir = with_policy(hosts);
        let done = rolecast(dir.path(), &["role", "new", "helper", "--format", "json"]);
        assert_eq!(done.status.code(), Some(0), "{hosts:?}: {}", err(&done));
        let value: Value = serde_json::from_str(&out(&done)).unwrap();
        assert_eq!((&value["wrote"], &value["compiles"]), (&"shared-agent-rules/roles/helper.md".into(), &true.into()));
    }
}

#[test]
fn names_that_cannot_be_and_names_that_are_taken_are_refused() {
    let dir = with_policy(&["codex"]);
    assert_eq!(rolecast(dir.path(), &["role", "new", "mine"]).status.code(), Some(0));
    let mine = read(&dir, "shared-agent-rules/roles/mine.md");
    for name in
        ["Bad", "../x", "a b", "1x", "", "mine", "docs_writer", "docs-writer", "browser-tester", &"x".repeat(65)]
    {
        let done = rolecast(dir.path(), &["role", "new", name]);
        assert_eq!(done.status.code(), Some(2), "{name}: {}", err(&done));
        assert!(err(&done).contains("help: "), "{name}");
    }
    let done = rolecast(dir.path(), &["role", "new", "other", "--from", "docs_writr"]);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(err(&done), "error: unknown role `docs_writr`\nhelp: did you mean `docs_writer`?\n");
    assert_eq!(read(&dir, "shared-agent-rules/roles/mine.md"), mine);
    assert_eq!(fs::read_dir(dir.path().join("shared-agent-rules/roles")).unwrap().count(), 1);
}

#[test]
fn an_inherited_role_can_be_taken_over_as_it_is() {
    let dir = with_policy(&HOSTS);
    let shipped = out(&rolecast(dir.path(), &["role", "show", "explorer"]));
    let done = rolecast(dir.path(), &["role", "new", "explorer", "--from", "explorer"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert_eq!(read(&dir, "shared-agent-rules/roles/explorer.md"), shipped);
    assert_eq!(rolecast(dir.path(), &["role", "new", "explorer", "--from", "explorer"]).status.code(), Some(2));
}

#[test]
fn roles_go_where_the_layout_says() {
    let dir = with_policy(&["codex"]);
    put(&dir, "agents/roles/.keep", "");
    put(&dir, "shared-agent-rules/layout.yaml", "layout: { roles: agents/roles }\n");
    let done = rolecast(dir.path(), &["role", "new", "helper"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(read(&dir, "agents/roles/helper.md").starts_with("---\n"));
}

#[test]
fn without_a_policy_roles_are_listed_and_none_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let done = rolecast(dir.path(), &["role", "new", "helper"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("rolecast init"), "{}", err(&done));
    let list: Value = serde_json::from_str(&out(&rolecast(dir.path(), &["role", "list", "--format", "json"]))).unwrap();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, SHIPPED);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn the_list_tells_where_roles_come_from() {
    let dir = with_policy(&["codex"]);
    rolecast(dir.path(), &["role", "new", "helper"]);
    let list: Value = serde_json::from_str(&out(&rolecast(dir.path(), &["role", "list", "--format", "json"]))).unwrap();
    let of = |name: &str| list.as_array().unwrap().iter().find(|r| r["name"] == name).unwrap().clone();
    assert_eq!(of("docs_writer")["origin"], "builtin");
    assert_eq!(
        (&of("helper")["origin"], &of("helper")["grants"]),
        (&"shared-agent-rules/roles/helper.md".into(), &2.into())
    );
    let table = out(&rolecast(dir.path(), &["role", "list"]));
    let line = table.lines().find(|l| l.starts_with("docs_writer")).unwrap();
    assert!(line.contains("builtin") && line.contains("6 grants") && line.contains("Writes and updates"), "{line}");
}

#[test]
fn a_role_that_does_not_compile_stays_and_says_what_to_do() {
    let dir = with_policy(&["codex"]);
    let strict = "---\ndescription: Strict\ngrants: { repo.read: {} }\ndeny: { shell.run: enforced }\nwaive: { codex: { shell.run: why } }\n---\nText\n";
    put(&dir, "shared-agent-rules/roles/strict.md", strict);
    assert_eq!(rolecast(dir.path(), &["role", "new", "good", "--from", "strict"]).status.code(), Some(0));
    put(&dir, "shared-agent-rules/roles/strict.md", &strict.replace("waive: { codex: { shell.run: why } }\n", ""));
    let done = rolecast(dir.path(), &["role", "new", "copy", "--from", "strict"]);
    assert_eq!(done.status.code(), Some(3), "{}", err(&done));
    let said = err(&done);
    assert!(said.contains("deny-not-held") && said.contains("does not compile") && said.contains("help: "), "{said}");
    assert!(read(&dir, "shared-agent-rules/roles/copy.md").contains("Copied from `strict`"));
}

#[test]
fn a_broken_policy_is_reported_before_anything_is_written() {
    let dir = with_policy(&["codex"]);
    put(&dir, "shared-agent-rules/roles/bad.md", "---\ndescription: x\ngrant: {}\n---\nText\n");
    for args in [&["role", "new", "helper"][..], &["role", "list"], &["role", "show", "docs_writer"]] {
        let done = rolecast(dir.path(), args);
        assert_eq!(done.status.code(), Some(3), "{args:?}");
        assert!(err(&done).contains("unknown-key"), "{}", err(&done));
    }
    assert!(!dir.path().join("shared-agent-rules/roles/helper.md").exists());
}

#[cfg(unix)]
#[test]
fn no_role_is_written_through_a_link_out_of_the_root() {
    let dir = with_policy(&["codex"]);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("shared-agent-rules/roles")).unwrap();
    let done = rolecast(dir.path(), &["role", "new", "helper"]);
    assert!(matches!(done.status.code(), Some(3 | 4)), "{}", err(&done));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}
