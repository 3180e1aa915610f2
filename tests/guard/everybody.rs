//! Hosts whose hooks are not told which agent calls. The samples of Gemini CLI were written by real runs, of its main agent
//! and of a sub-agent; those of Cursor by the code of its SDK.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Answer, ROLECAST, Repository, answer};

const POLICY: &str = "version: 1\nhosts: { claude-code: {}, gemini-cli: {}, cursor: {} }\nextends: [builtin]\n\
    commands: { forbid: [{ run: \"rm *\" }] }\n";

fn sample(repository: &Repository, name: &str) -> Value {
    let path = format!("{}/tests/guard/everybody/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap().replace("{root}", repository.root.to_str().unwrap());
    serde_json::from_str(&text).unwrap()
}

fn with_long() -> Repository {
    let repository = Repository::with(POLICY, &[]);
    std::fs::write(repository.root.join("long.txt"), "line\n".repeat(301)).unwrap();
    repository
}

/// Asks what is in a sample, with one argument changed.
fn asks(repository: &Repository, host: &str, name: &str, at: &str, value: &str) -> Answer {
    let mut question = sample(repository, name);
    *question.pointer_mut(at).unwrap() = value.into();
    repository.asks(host, question.to_string().as_bytes())
}

#[test]
fn what_is_refused_to_everybody_is_refused_without_a_name() {
    let repository = with_long();
    let long = "word ".repeat(4000);
    let reasoned = format!("over-target: the table is the task\n{long}");
    let whole = |name: &str| {
        let Answer { refused, said } = repository.asks("gemini-cli", sample(&repository, name).to_string().as_bytes());
        assert!(!refused || said.contains("`start_line` and `end_line`"), "{name}: {said}");
        refused
    };
    assert!(whole("gemini-main-read_file-whole") && whole("gemini-agent-read_file-whole"));
    assert!(!whole("gemini-main-read_file-part"));
    for (host, name, at, passes, refused, words) in [
        ("gemini-cli", "gemini-main-run_shell_command", "/tool_input/command", "ls", "rm x", "nobody may run `rm`"),
        ("gemini-cli", "gemini-agent-run_shell_command", "/tool_input/command", "ls", "rm x", "nobody may run `rm`"),
        ("gemini-cli", "gemini-main-invoke_agent", "/tool_input/prompt", &reasoned, &long, "over its target"),
        ("cursor", "cursor-Shell", "/tool_input/command", "ls", "rm x", "nobody may run `rm`"),
        ("cursor", "cursor-subagentStart", "/task", &reasoned, &long, "over its target"),
    ] {
        assert!(!asks(&repository, host, name, at, passes).refused, "{name}");
        let Answer { refused, said } = asks(&repository, host, name, at, refused);
        assert!(refused && said.starts_with("rolecast: ") && said.contains(words), "{name}: {said}");
    }
    // Nothing of roles is looked at: whoever cannot be told is not limited.
    for tool in ["write_file", "replace"] {
        let args = json!({ "file_path": "shared-agent-rules/policy.yaml", "content": "" });
        assert!(!repository.call("gemini-cli", None, tool, args).refused, "{tool}");
    }
}

/// Where another host's hook is run with a field that only one host sends, that host's tools are meant.
#[test]
fn a_host_that_runs_the_hooks_of_another_one_is_told_by_its_sign() {
    let repository = with_long();
    let question = sample(&repository, "cursor-Read");
    // It does not say which part is read: nobody could do what the refusal asks for.
    assert!(!repository.asks("claude-code", question.to_string().as_bytes()).refused);
    let mut own = question.clone();
    own.as_object_mut().unwrap().remove("cursor_version");
    assert!(repository.asks("claude-code", own.to_string().as_bytes()).refused);
    // The same answer under both names, in the way that this host takes for one.
    let line = |host| asks(&repository, host, "cursor-Shell", "/tool_input/command", "rm x");
    let (one, other) = (line("claude-code"), line("cursor"));
    assert!(one.refused && one.said == other.said && !one.said.contains("permissionDecision"), "{one:?} {other:?}");
    // A host that the policy does not select has no limits.
    let without = Repository::with(&POLICY.replace(", cursor: {}", ""), &[]);
    std::fs::write(without.root.join("long.txt"), "line\n".repeat(301)).unwrap();
    assert!(!without.asks("claude-code", sample(&without, "cursor-Read").to_string().as_bytes()).refused);
}

/// The commands of a host's file, by the event.
fn commands(repository: &Repository, host: &str) -> Vec<String> {
    let file = if host == "cursor" { ".cursor/hooks.json" } else { ".gemini/settings.json" };
    let json: Value = serde_json::from_str(&std::fs::read_to_string(repository.root.join(file)).unwrap()).unwrap();
    let events = json["hooks"].as_object().unwrap().values().map(|event| &event[0]);
    events
        .map(|entry| entry["command"].as_str().or(entry["hooks"][0]["command"].as_str()).unwrap().to_owned())
        .collect()
}

/// A call passes only with what the host takes for a pass, and a refusal always has words: one of these hosts lets a call
/// through that is refused without any.
#[test]
fn a_command_that_fails_refuses_with_words() {
    let repository = with_long();
    let folder = |name: &str, script: &str| {
        let folder = repository.root.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("rolecast"), script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.join("rolecast"), mode).unwrap();
        folder
    };
    let own = Path::new(ROLECAST).parent().unwrap().to_owned();
    let places = [
        (repository.root.join("none"), true),
        (folder("killed", "#!/bin/bash\nkill -9 $$\n"), true),
        (folder("aborted", "#!/bin/bash\nkill -ABRT $$\n"), true),
        (folder("unstartable", "#!/does/not/exist\n"), true),
        (own, false),
    ];
    for (host, name) in [("gemini-cli", "gemini-main-run_shell_command"), ("cursor", "cursor-Shell")] {
        for command in commands(&repository, host) {
            for (path, refused) in &places {
                let mut shell = Command::new("/bin/bash");
                shell.args(["-c", &command]).current_dir(&repository.root).env("PATH", path);
                let question = sample(&repository, name).to_string();
                let answer = answer(&mut shell, question.as_bytes());
                assert_eq!(answer.refused, *refused, "{host} {}: {}", path.display(), answer.said);
                let passed = if host == "cursor" { "{}\n" } else { "" };
                assert!(if *refused { !answer.said.trim().is_empty() } else { answer.said == passed }, "{answer:?}");
            }
        }
    }
}

#[test]
fn nothing_is_asked_where_nothing_is_refused_to_everybody() {
    let off = "guard: { packets: false, reads: false, commands: false }\n";
    let repository = Repository::with(&format!("{POLICY}{off}"), &[]);
    let text = |path: &str| std::fs::read_to_string(repository.root.join(path)).unwrap_or_default();
    assert!(!text(".gemini/settings.json").contains("hooks"));
    assert_eq!(text(".cursor/hooks.json"), "");
    assert!(text(".claude/settings.json").contains("hooks"));
    let guard: Value = serde_json::from_str(&text(".rolecast/guard.json")).unwrap();
    assert_eq!(guard["hosts"].as_object().unwrap().keys().collect::<Vec<_>>(), ["claude-code"]);
}
