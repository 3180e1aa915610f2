//! Sessions of the user's own hosts.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::Repo;
use crate::{POLICY, logs};

fn copy(from: &str, to: &std::path::Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(logs(from), to).unwrap();
}

fn run(repo: &Repo, home: &std::path::Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .args(args)
        .current_dir(repo.path())
        .env_clear()
        .env("HOME", home)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_last_sessions_of_a_host_are_found_with_all_their_files() {
    let (repo, home) = (Repo::with(POLICY), tempfile::tempdir().unwrap());
    let projects = home.path().join(".claude/projects/-w-demo");
    copy("transcript/11111111-aaaa.jsonl", &projects.join("11111111-aaaa.jsonl"));
    let agents = "11111111-aaaa/subagents/agent-a1.jsonl";
    copy(&format!("transcript/{agents}"), &projects.join(agents));
    copy("side-chains/33333333-cccc.jsonl", &projects.join("33333333-cccc.jsonl"));
    // The main file is old, but its sub-agent's is the newest of all.
    let age = |name: &str, days: u64| {
        let file = fs::File::options().write(true).open(projects.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).unwrap();
    };
    age("11111111-aaaa.jsonl", 9);
    age("33333333-cccc.jsonl", 5);
    let (code, out, err) =
        run(&repo, home.path(), &["measure", "--host", "claude-code", "--last", "1", "--format", "json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    let session = &report["sessions"][0]["session"];
    assert_eq!((report["sessions"].as_array().unwrap().len(), session.as_str()), (1, Some("11111111-aaaa")));
    let (_, out, _) =
        run(&repo, home.path(), &["measure", "--host", "claude-code", "--since", "7d", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_host_without_sessions_here_says_where_it_looked() {
    let (repo, home) = (Repo::with(POLICY), tempfile::tempdir().unwrap());
    let (code, _, err) = run(&repo, home.path(), &["measure", "--host", "codex"]);
    assert_eq!(code, 4);
    assert!(err.contains(".codex/sessions"), "{err}");
    let (code, _, err) = run(&repo, home.path(), &["measure", "--host", "opencode"]);
    assert_eq!(code, 2);
    assert!(err.contains("opencode export"), "{err}");
    assert_eq!(run(&repo, home.path(), &["measure", "--host", "codx"]).0, 2);
    assert_eq!(run(&repo, home.path(), &["measure"]).0, 2);
    assert_eq!(run(&repo, home.path(), &["measure", "nowhere"]).0, 4);
    assert_eq!(run(&repo, home.path(), &["measure", "--host", "codex", "--since", "soon"]).0, 2);
    // Nothing was written into the home.
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}
