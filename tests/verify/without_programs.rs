//! What needs no program of a host, or only one that is not what it says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::support::{Repository, said, with};

/// A program called `claude` that answers for its version and runs `script` otherwise.
fn fake(dir: &Path, script: &str) -> String {
    let path = dir.join("claude");
    fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 9.9.9 && exit\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", dir.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_host_that_is_not_installed_is_never_verified_and_a_run_that_tried_nothing_fails() {
    let repository = Repository::rendered(&["claude-code", "cursor"], &[]);
    let empty = tempfile::tempdir().unwrap();
    let (code, report) = repository.verify(empty.path(), &[]);
    assert_eq!(code, 1);
    for host in report["hosts"].as_array().unwrap() {
        assert!(host["not-verified"].is_string() && host["findings"].as_array().unwrap().is_empty(), "{host}");
    }
    assert_eq!(report["hosts"].as_array().unwrap().len(), 2);
    assert_eq!(repository.verify(empty.path(), &["--host", "claude-code"]).0, 1);
    assert_eq!(repository.verify(empty.path(), &["--host", "cursor"]).0, 1);
}

#[test]
fn unknown_hosts_and_roles_are_told() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    for (args, hint) in [(["--host", "claude-cod"], "claude-code"), (["--role", "docs_writ"], "docs_writer")] {
        let out = repository.command(&["verify"]).args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        assert!(said(&out).contains(&format!("did you mean `{hint}`?")), "{}", said(&out));
    }
}

#[test]
fn a_program_that_never_asks_the_model_breaks_every_role() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let path = fake(dir.path(), "echo 'please log in' >&2; exit 1");
    let out = repository.command(&["verify", "--role", "explorer"]).env("PATH", path).output().unwrap();
    assert_eq!(out.status.code(), Some(1), "{}", said(&out));
    assert!(said(&out).contains("please log in"), "{}", said(&out));
    assert!(said(&out).contains("9.9.9 (the claims were established on"), "{}", said(&out));
}

#[test]
fn the_program_sees_nothing_of_the_user() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    let path = fake(dir.path(), &format!("{{ env; pwd; ls -A \"$HOME\"; }} > '{}'", seen.display()));
    let mut command = repository.command(&["verify", "--role", "explorer"]);
    command.env("PATH", path).env("HOME", "/home/somebody").env("SECRET_TOKEN", "very-secret");
    command.output().unwrap();
    let seen = fs::read_to_string(seen).unwrap();
    assert!(!seen.contains("very-secret") && !seen.contains("/home/somebody"), "{seen}");
    assert!(!seen.contains(&*repository.root().to_string_lossy()), "not even the repository itself: {seen}");
}

#[test]
fn an_interrupt_ends_all_that_was_started_and_leaves_nothing_behind() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let temp = tempfile::tempdir().unwrap();
    let ids = dir.path().join("ids");
    // One child in the group, and one that leaves it.
    let script = format!("sleep 300 & A=$!\nsetsid sleep 300 & B=$!\necho $$ $A $B > '{}'\nwait", ids.display());
    let path = fake(dir.path(), &script);
    let mut command = repository.command(&["verify"]);
    command.env("PATH", path).env("TMPDIR", temp.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    let ids = loop {
        let text = fs::read_to_string(&ids).unwrap_or_default();
        if text.ends_with('\n') {
            break text;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the program was never started");
        std::thread::sleep(Duration::from_millis(50));
    };
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    for id in ids.split_whitespace() {
        let alive = || fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|s| !s.contains(") Z "));
        let gone = (0..100).any(|_| {
            !alive() || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
        });
        assert!(gone, "process {id} is still there");
    }
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "the places of runs are still there");
}

#[test]
fn verify_changes_nothing_in_the_repository() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let path = fake(dir.path(), "echo junk > junk; rm -rf .claude");
    let (_, report) = {
        let mut command = repository.command(&["verify", "--format", "json", "--role", "explorer"]);
        let out = command.env("PATH", path).output().unwrap();
        (out.status, serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap())
    };
    // Once for each form that is started.
    let broken = ["explorer: tools", "explorer: tools", "with a server, explorer: tools"];
    assert_eq!(with(&report, "broken"), broken);
    assert!(!repository.root().join("junk").exists() && repository.root().join(".claude/agents").is_dir());
}
