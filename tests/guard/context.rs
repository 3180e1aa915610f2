//! What an agent is told of its context, by what hosts really send after a call and keep in their transcripts: the
//! samples in `after` were written by real runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{HOSTS, ROLECAST, Repository, rendered_at};

/// A session of a host: its transcripts stand in a home of their own.
struct Session<'a> {
    repository: &'a Repository,
    home: tempfile::TempDir,
    host: &'static str,
}

impl<'a> Session<'a> {
    fn new(repository: &'a Repository, host: &'static str) -> Self {
        Self { repository, home: tempfile::tempdir().unwrap(), host }
    }

    fn sample(&self, name: &str) -> String {
        let path = format!("{}/tests/guard/after/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        text.replace("{root}", self.repository.root.to_str().unwrap())
            .replace("{home}", self.home.path().to_str().unwrap())
    }

    /// Where the transcript of the agent in a sample stands.
    fn transcript(&self, name: &str) -> PathBuf {
        let question: serde_json::Value = serde_json::from_str(&self.sample(&format!("{name}.json"))).unwrap();
        let told = PathBuf::from(question["transcript_path"].as_str().unwrap());
        match name {
            "claude-role" => {
                let id = question["agent_id"].as_str().unwrap();
                told.with_extension("").join(format!("subagents/agent-{id}.jsonl"))
            }
            _ => told,
        }
    }

    /// Makes the agent's context this full; the sample has 150025 tokens.
    fn fill(&self, name: &str, percent: u64) {
        let window: u64 = if self.host == "codex" { 475_000 } else { 1_000_000 };
        let used = window * percent / 100 + 1;
        let line = self.sample(&format!("{name}.jsonl"));
        let line = match self.host {
            "codex" => line
                .replace(
                    "\"last_token_usage\":{",
                    &format!("\"last_token_usage\":{{\"total_tokens\":{used},\"was\":{{"),
                )
                .replacen("},\"last_usage_includes_reasoning\"", "}},\"last_usage_includes_reasoning\"", 1),
            _ => line.replace("\"input_tokens\":50000", &format!("\"input_tokens\":{}", used - 100_025)),
        };
        let path = self.transcript(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, format!("{before}{line}")).unwrap();
    }

    fn told(&self, name: &str) -> String {
        asks(&self.repository.root, self.host, self.sample(&format!("{name}.json")).as_bytes())
    }
}

/// What the model is told; nothing else may be printed, and no call is held up.
fn asks(root: &Path, host: &str, question: &[u8]) -> String {
    let mut child = Command::new(ROLECAST)
        .args(["guard", "--context", "--host", host])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), question);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
    if out.stdout.is_empty() {
        return String::new();
    }
    let said: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn each_threshold_is_told_once_to_each_agent_and_again_after_a_compaction() {
    let repository = Repository::new();
    for (host, main, role) in [("claude-code", "claude-main", "claude-role"), ("codex", "codex-main", "codex-role")] {
        let session = Session::new(&repository, host);
        assert_eq!(session.told(main), "", "{host}: no transcript yet");
        for (percent, expected) in [
            (15, ""),
            (49, ""),
            (50, "50 % of the context window is used: stop gathering"),
            (51, ""),
            (66, "66 % of the context window is used: start no more agents"),
            (80, "80 % of the context window is used: hand off now"),
            (81, ""),
            (20, ""),
            (77, "77 % of the context window is used: hand off now"),
        ] {
            session.fill(main, percent);
            let said = session.told(main);
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{host} {percent}: {said}");
            assert!(said.is_empty() || said.starts_with("rolecast: ") && !said.contains('\n'), "{said}");
        }
        assert_eq!(session.told(main), "", "{host}: once");
        session.fill(role, 76);
        assert!(session.told(role).contains("hand back to the parent"), "{host}");
        assert_eq!(session.told(role), "", "{host}: once");
    }
}

#[test]
fn nothing_is_said_where_the_figure_or_the_window_is_not_known() {
    let repository = Repository::new();
    for (host, sample) in [("copilot", "copilot-main"), ("qwen-code", "qwen-main")] {
        assert_eq!(Session::new(&repository, host).told(sample), "", "{host}");
    }
    let session = Session::new(&repository, "claude-code");
    session.fill("claude-main", 90);
    let path = session.transcript("claude-main");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("claude-opus-5-5", "claude-of-tomorrow")).unwrap();
    assert_eq!(session.told("claude-main"), "");
    for garbage in [&b""[..], b"garbage", b"[]", b"{}", b"\xff"] {
        assert_eq!(asks(&repository.root, "claude-code", garbage), "");
    }
    std::fs::write(repository.root.join(".rolecast/guard.json"), "{").unwrap();
    std::fs::write(&path, text).unwrap();
    assert_eq!(session.told("claude-main"), "", "what is compiled is damaged");
}

#[test]
fn what_is_remembered_is_in_no_repository_and_no_drift() {
    let repository = Repository::new();
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).current_dir(&repository.root).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    git(&["init", "-q"]);
    let session = Session::new(&repository, "claude-code");
    session.fill("claude-main", 90);
    assert_ne!(session.told("claude-main"), "");
    assert!(repository.root.join(".rolecast/context").is_dir());
    assert!(!git(&["status", "--short", "-uall"]).contains(".rolecast/context"));
    let check = Command::new(ROLECAST).arg("check").current_dir(&repository.root).status().unwrap();
    assert!(check.success());
}

#[test]
fn the_rendered_command_never_holds_a_call_up() {
    let repository = Repository::new();
    let mut told = Vec::new();
    for host in HOSTS {
        let Some(command) = rendered_at(&repository, host, "PostToolUse") else { continue };
        told.push(host);
        for path in ["/nowhere", Path::new(ROLECAST).parent().unwrap().to_str().unwrap()] {
            let out = Command::new("/bin/sh")
                .args(["-c", &command])
                .current_dir(&repository.root)
                .env("PATH", path)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(out.status.success() && out.stdout.is_empty() && out.stderr.is_empty(), "{host}: {out:?}");
        }
    }
    assert_eq!(told, ["claude-code", "codex"]);
}

#[test]
fn it_can_be_switched_off_alone() {
    let policy =
        |guard: &str| format!("version: 1\nhosts: {{ claude-code: {{}} }}\nextends: [builtin]\nguard: {{ {guard} }}\n");
    let off = Repository::with(&policy("context: false"), &[]);
    assert_eq!(rendered_at(&off, "claude-code", "PostToolUse"), None);
    assert!(rendered_at(&off, "claude-code", "PreToolUse").is_some());
    let only = Repository::with(&policy("roles: false, history: false, packets: false, reads: false"), &[]);
    assert_eq!(rendered_at(&only, "claude-code", "PreToolUse"), None);
    let session = Session::new(&only, "claude-code");
    session.fill("claude-main", 70);
    assert!(session.told("claude-main").contains("70 %"));
}
