//! What is rendered for Cursor, run by Cursor's own code: its SDK loads the files of the repository, starts our commands and
//! reads their answers. Nothing of Cursor's server is in that, which starts agents and asks for their hooks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{ROLECAST, Repository};

/// The SDK and what starts it; nothing when they are not installed.
fn installed() -> Option<(PathBuf, PathBuf)> {
    let modules = std::env::var_os("ROLECAST_HOST_BIN").map(|bin| PathBuf::from(bin).join("node_modules"));
    let sdk = modules.as_ref().map(|m| m.join("@cursor/sdk")).filter(|sdk| sdk.is_dir());
    let Some((modules, sdk)) = modules.zip(sdk) else {
        assert!(std::env::var_os("CI").is_none(), "the SDK of Cursor is not installed: `npm ci --prefix tests/hosts`");
        eprintln!("NOT VERIFIED: set ROLECAST_HOST_BIN to a folder with Cursor's SDK in its node_modules");
        return None;
    };
    let packages = std::fs::read_dir(&modules).unwrap().map(|entry| entry.unwrap().path().join("bin/node"));
    Some((sdk, packages.into_iter().find(|node| node.is_file()).unwrap_or_else(|| PathBuf::from("node"))))
}

/// A home whose login shell finds only what is in `path`: Cursor starts hooks in one.
fn home(repository: &Repository, name: &str, path: &str) -> PathBuf {
    let home = repository.root.join(name);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join(".profile"), format!("PATH='{path}'\n")).unwrap();
    home
}

/// A folder with a program in the place of ours.
fn program(repository: &Repository, name: &str, script: &str) -> String {
    let folder = repository.root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rolecast"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("rolecast"), mode).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

/// What was loaded, and the answers to the steps.
fn run(repository: &Repository, home: &Path, steps: &Value) -> Option<(Value, Vec<Value>)> {
    let (sdk, node) = installed()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cursor/drive.mjs");
    let mut command = Command::new(node);
    command.arg(script).arg(sdk).arg(&repository.root).env("HOME", home).env("SHELL", "/bin/sh");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("node runs");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), steps.to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{}", last(&String::from_utf8_lossy(&done.stderr))));
    Some((said["loaded"].clone(), said["answers"].as_array().unwrap().clone()))
}

/// The end of what a program said: before it stands the line that failed, and that is all of a packed file.
fn last(said: &str) -> &str {
    said.char_indices().nth_back(2000).map_or(said, |(at, _)| &said[at..])
}

fn shell(line: &str, stdin: bool) -> Value {
    let input = json!({ "command": line, "cwd": "" });
    let request = json!({ "tool_name": "Shell", "tool_input": input, "tool_use_id": "t1", "cwd": "" });
    json!({ "step": "preToolUse", "stdin": stdin, "request": request })
}

fn file(tool: &str, stdin: bool) -> Value {
    let request = json!({ "tool_name": tool, "tool_input": { "file_path": "long.txt" }, "tool_use_id": "t2" });
    json!({ "step": "preToolUse", "stdin": stdin, "request": request })
}

fn start(task: &str, stdin: bool) -> Value {
    let request = json!({ "subagent_id": "s1", "subagent_type": "explorer", "task": task, "tool_call_id": "t3",
        "parent_conversation_id": "c1", "is_parallel_worker": false });
    json!({ "step": "subagentStart", "stdin": stdin, "request": request })
}

/// The reason, where an answer refuses.
fn refused(answer: &Value) -> Option<&str> {
    (answer["permission"] == "deny").then(|| answer["user_message"].as_str().unwrap())
}

const POLICY: &str = "version: 1\nhosts: { claude-code: {}, cursor: {} }\nextends: [builtin]\n\
    commands: { forbid: [{ run: \"rm *\" }] }\n";

fn repository() -> Repository {
    let repository = Repository::with(POLICY, &[]);
    std::fs::write(repository.root.join("long.txt"), "line\n".repeat(301)).unwrap();
    repository
}

#[test]
fn its_own_code_loads_the_hooks_and_takes_the_answers() {
    let repository = repository();
    let own = Path::new(ROLECAST).parent().unwrap().display().to_string();
    let home = home(&repository, "home", &format!("{own}:/usr/bin:/bin"));
    let long = "word ".repeat(4000);
    let reasoned = format!("over-target: the table is the task\n{long}");
    // The question comes behind the command, or, in later versions, on its standard input.
    let steps = [false, true].map(|stdin| {
        [shell("rm x", stdin), shell("ls", stdin), start(&long, stdin), start(&reasoned, stdin), file("Read", stdin)]
    });
    let Some((loaded, answers)) = run(&repository, &home, &json!(steps.concat())) else { return };
    assert_eq!(loaded["errors"], json!([]));
    let events = |source: &str| loaded[source]["hooks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(events("projectHooks"), ["preToolUse", "subagentStart"]);
    // Hooks of Claude Code's settings run there too, and are to decide the same.
    assert_eq!(events("claudeProjectHooks"), ["preToolUse", "postToolUse"]);
    for answers in answers.chunks(5) {
        let [rm, ls, long, reasoned, read] = answers else { panic!("{answers:?}") };
        let parts: Vec<&str> = refused(rm).unwrap().split("\n\n---\n\n").collect();
        assert!(parts.len() == 2 && parts[0] == parts[1] && parts[0].contains("nobody may run `rm`"), "{parts:?}");
        assert!(refused(long).unwrap().contains("over its target"), "{long}");
        assert_eq!([ls, reasoned, read], [&json!({}), &json!({}), &Value::Null]);
    }
}

#[test]
fn its_own_code_refuses_what_fails() {
    let repository = repository();
    let path = repository.root.join(".cursor/hooks.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"timeout\": 10") && text.contains("\"failClosed\": true"), "{text}");
    // Its seconds are ours to spend.
    std::fs::write(&path, text.replace("\"timeout\": 10", "\"timeout\": 1")).unwrap();
    for (name, script, words) in [
        ("killed", "#!/bin/sh\nkill -9 $$\n", "illed"),
        ("silent", "#!/bin/sh\nexit 2\n", "no reason"),
        ("slow", "#!/bin/sh\nsleep 5\n", "timed out"),
    ] {
        let home = home(&repository, &format!("home-{name}"), &program(&repository, name, script));
        let Some((_, answers)) = run(&repository, &home, &json!([shell("ls", false), start("do it", true)])) else {
            return;
        };
        for answer in &answers {
            assert!(refused(answer).is_some_and(|why| why.contains(words)), "{name}: {answer}");
        }
    }
    let home = home(&repository, "home-none", "/usr/bin:/bin");
    let Some((_, answers)) = run(&repository, &home, &json!([shell("ls", false), start("do it", true)])) else {
        return;
    };
    assert!(answers.iter().all(|a| refused(a).is_some_and(|why| why.contains("not on the PATH"))), "{answers:?}");
}
