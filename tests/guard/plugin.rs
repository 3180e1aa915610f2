//! The script that a host loads as a plugin, run by Node: events and calls are shaped as in real runs of that host.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{ROLECAST, Repository};

const FILE: &str = ".opencode/plugins/rolecast.js";

/// What each step did; nothing where there is no Node, which only CI must have.
fn run(repository: &Repository, path: &Path, steps: &[Value]) -> Option<Vec<Value>> {
    let node = std::env::split_paths(&std::env::var_os("PATH")?).map(|f| f.join("node")).find(|n| n.is_file());
    let Some(node) = node else {
        assert!(std::env::var_os("CI").is_none(), "there is no node");
        return None;
    };
    // As a module, whatever stands above it.
    let script = repository.root.join("loaded.mjs");
    std::fs::copy(repository.root.join(FILE), &script).unwrap();
    let mut child = Command::new(node)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guard/plugin.mjs"))
        .args([&script, &repository.root])
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = steps.iter().map(|s| format!("{s}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let said: Vec<Value> =
        String::from_utf8(out.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(said.len(), steps.len(), "{said:?}");
    Some(said)
}

fn here() -> &'static Path {
    Path::new(ROLECAST).parent().unwrap()
}

/// A message that an agent begins or ends, as the host tells of it.
fn message(session: &str, agent: &str, task: &str, used: u64) -> Value {
    let tokens = json!({ "input": used, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } });
    let info = json!({ "role": "assistant", "sessionID": session, "parentID": task, "mode": agent, "agent": agent,
        "tokens": tokens, "modelID": "m", "providerID": "p" });
    json!({ "event": { "type": "message.updated", "properties": { "sessionID": session, "info": info } } })
}

/// What a person or a parent says.
fn task(session: &str, agent: &str, id: &str) -> Value {
    let info = json!({ "role": "user", "id": id, "sessionID": session, "agent": agent });
    json!({ "event": { "type": "message.updated", "properties": { "sessionID": session, "info": info } } })
}

fn before(session: &str, tool: &str, args: Value) -> Value {
    json!({ "before": { "tool": tool, "sessionID": session, "callID": "c" }, "args": args })
}

fn error(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_default()
}

#[test]
fn a_call_is_that_of_the_agent_whose_message_it_stands_in() {
    let repository = Repository::new();
    let write = |session, path: &str| before(session, "write", json!({ "filePath": path, "content": "x" }));
    let steps = [
        task("main", "build", "m1"),
        message("main", "build", "m1", 0),
        write("main", "src/x.md"),
        task("child", "docs_writer", "m2"),
        message("child", "docs_writer", "m2", 0),
        write("child", "docs/x.md"),
        write("child", "src/x.md"),
        write("main", "src/x.md"),
        // A person's command that starts an agent: the message has its name, and the call is not its.
        message("main", "docs_writer", "m1", 0),
        before("main", "task", json!({ "subagent_type": "docs_writer", "prompt": "x", "description": "x" })),
        // What is not watched is not held up, whoever calls.
        before("stranger", "glob", json!({ "pattern": "*" })),
        write("stranger", "src/x.md"),
    ];
    let Some(said) = run(&repository, here(), &steps) else { return };
    let refused: Vec<usize> = (0..said.len()).filter(|at| !error(&said[*at]).is_empty()).collect();
    assert_eq!(refused, [6, 11], "{said:?}");
    assert!(error(&said[6]).starts_with("rolecast: role `docs_writer` may not write `src/x.md`"), "{said:?}");
    assert!(error(&said[11]).contains("which agent calls"), "{said:?}");
}

#[test]
fn everybody_is_refused_when_the_program_is_missing_or_fails() {
    let repository = Repository::new();
    let steps = [message("s", "build", "m", 0), before("s", "write", json!({ "filePath": "src/x", "content": "x" }))];
    let folder = |name: &str, script: Option<&str>| {
        let folder = repository.root.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        if let Some(script) = script {
            let path = folder.join("rolecast");
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        folder
    };
    for (name, script, expected) in [
        ("none", None, "install it"),
        ("crashes", Some("#!/bin/sh\nkill -9 $$\n"), "exit code null"),
        ("fails", Some("#!/bin/sh\nexit 1\n"), "exit code 1"),
        ("mute", Some("#!/bin/sh\nexit 2\n"), "exit code 2"),
        ("talks", Some("#!/bin/sh\necho '{}'\n"), "exit code 0"),
        ("unstartable", Some("#!/does/not/exist\n"), "rolecast: "),
        ("not a program", Some("\0\u{1}\u{2}"), "rolecast: "),
    ] {
        let Some(said) = run(&repository, &folder(name, script), &steps) else { return };
        assert!(error(&said[1]).starts_with("rolecast: ") && error(&said[1]).contains(expected), "{name}: {said:?}");
    }
    let Some(said) = run(&repository, here(), &steps) else { return };
    assert_eq!(error(&said[1]), "");
}

#[test]
fn a_call_that_is_too_large_is_refused_and_other_letters_arrive_whole() {
    let repository = Repository::new();
    std::fs::write(repository.root.join("docs/größe 字.md"), "line\n".repeat(301)).unwrap();
    let large = json!({ "filePath": "docs/x.md", "content": "x".repeat(9 << 20) });
    let steps = [
        message("s", "build", "m", 0),
        before("s", "write", large),
        before("s", "read", json!({ "filePath": "docs/größe 字.md" })),
    ];
    let Some(said) = run(&repository, here(), &steps) else { return };
    assert!(error(&said[1]).contains("too large"), "{said:?}");
    assert!(error(&said[2]).contains("`docs/größe 字.md` has 301 lines"), "{said:?}");
}

#[test]
fn an_agent_is_told_of_its_context_once_and_nothing_that_goes_wrong_there_is_an_error() {
    let repository = Repository::new();
    let window = json!({ "params": { "sessionID": "s", "model": { "id": "m", "providerID": "p", "limit": { "context": 1000 } } } });
    let after = |result: Value| json!({ "after": { "tool": "x", "sessionID": "s", "callID": "c" }, "args": {}, "result": result });
    let text = || after(json!({ "output": "done" }));
    let steps = [
        message("s", "build", "m1", 600),
        text(),
        window,
        text(),
        text(),
        message("s", "build", "m2", 0),
        text(),
        message("s", "build", "m2", 700),
        after(json!({ "content": [] })),
    ];
    let Some(said) = run(&repository, here(), &steps) else { return };
    let output = |at: usize| said[at]["result"]["output"].as_str().unwrap_or_default();
    let told = "done\n\nrolecast: 60 % of the context window is used: stop gathering";
    assert_eq!(output(1), "done", "the window is not known: {said:?}");
    assert!(output(3).starts_with(told), "{said:?}");
    assert_eq!((output(4), output(6)), ("done", "done"), "{said:?}");
    let content = said[8]["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(content.starts_with("rolecast: 70 % of the context window is used: start no more agents"), "{said:?}");
    let away = repository.root.join("none");
    std::fs::create_dir_all(&away).unwrap();
    let Some(said) = run(&repository, &away, &steps) else { return };
    assert!(said.iter().all(|s| error(s).is_empty()), "{said:?}");
}

#[test]
fn where_all_is_switched_off_no_plugin_is_rendered() {
    let policy =
        |guard: &str| format!("version: 1\nhosts: {{ opencode: {{}} }}\nextends: [builtin]\nguard: {{ {guard} }}\n");
    let off = Repository::with(
        &policy("roles: false, history: false, packets: false, reads: false, commands: false, context: false"),
        &[],
    );
    assert!(!off.root.join(FILE).exists());
    let told = Repository::with(&policy("roles: false, packets: false, reads: false, commands: false"), &[]);
    let text = std::fs::read_to_string(told.root.join(FILE)).unwrap();
    assert!(text.contains("tool.execute.after") && text.contains("new Set([])"), "{text}");
    let mute = Repository::with(&policy("context: false"), &[]);
    assert!(!std::fs::read_to_string(mute.root.join(FILE)).unwrap().contains("tool.execute.after"));
}
