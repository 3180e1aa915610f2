//! The guard on what hosts really send: the samples in `payloads` were written by real runs of each program.

#![cfg(unix)]

mod context;
mod cursor;
mod everybody;
mod fetch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ROLECAST: &str = env!("CARGO_BIN_EXE_rolecast");
const HOSTS: [&str; 4] = ["claude-code", "codex", "copilot", "qwen-code"];

/// A repository with the shipped policy, rendered, and the files that the samples name.
struct Repository {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Repository {
    fn new() -> Self {
        Self::with(
            "version: 1\nhosts: { claude-code: {}, codex: {}, copilot: {}, qwen-code: {} }\nextends: [builtin]\n",
            &[],
        )
    }

    fn with(policy: &str, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["docs", "src", "rolecast-probe", "shared-agent-rules/roles"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("../rolecast-probe", root.join("docs/rolecast-link")).unwrap();
        std::fs::write(root.join("docs/new.txt"), "untouched\n").unwrap();
        std::fs::write(root.join("shared-agent-rules/policy.yaml"), policy).unwrap();
        for (path, text) in files {
            std::fs::write(root.join(path), text).unwrap();
        }
        let repository = Self { _dir: dir, root };
        repository.render();
        repository
    }

    fn render(&self) {
        let done = Command::new(ROLECAST).args(["render", "-q"]).current_dir(&self.root).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn asks(&self, host: &str, question: &[u8]) -> Answer {
        let mut command = Command::new(ROLECAST);
        command.args(["guard", "--host", host]).current_dir(&self.root);
        answer(&mut command, question)
    }

    /// Asks as `agent` (none = the main agent) with the arguments of a tool.
    fn call(&self, host: &str, agent: Option<&str>, tool: &str, args: serde_json::Value) -> Answer {
        let mut question = serde_json::json!({ "cwd": self.root, "tool_name": tool, "tool_input": args });
        if let Some(agent) = agent {
            question["agent_type"] = agent.into();
        }
        self.asks(host, question.to_string().as_bytes())
    }

    fn sample(&self, name: &str) -> Vec<u8> {
        let path = format!("{}/tests/guard/payloads/{name}.json", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap().replace("{root}", self.root.to_str().unwrap()).into_bytes()
    }
}

#[test]
fn a_forbidden_command_is_refused_to_everybody_and_what_cannot_be_told_is_not() {
    let policy = "version: 1\nhosts: { claude-code: {}, codex: {}, copilot: {}, qwen-code: {} }\nextends: [builtin]\n\
        commands: { forbid: [{ run: \"rm *\" }] }\n";
    let repository = Repository::with(policy, &[]);
    let shells = [("claude-code", "Bash"), ("codex", "Bash"), ("copilot", "bash"), ("qwen-code", "run_shell_command")];
    for (host, tool) in shells {
        let asks = |line: &str| repository.call(host, None, tool, serde_json::json!({ "command": line }));
        for line in ["rm x", "true && rm -r \"$X\"", "/bin/rm x > log"] {
            let Answer { refused, said } = asks(line);
            assert!(refused && said.contains("nobody may run `rm` here"), "{host}: {line}: {said}");
        }
        for line in ["rmdir x", "echo rm x", "bash -c 'rm x'", "echo $(rm x)", "eval \"$X\""] {
            assert!(!asks(line).refused, "{host}: {line}");
        }
    }
    let off = Repository::with(&format!("{policy}guard: {{ commands: false }}\n"), &[]);
    assert!(!off.call("claude-code", None, "Bash", serde_json::json!({ "command": "rm x" })).refused);
}

#[derive(Debug)]
struct Answer {
    refused: bool,
    said: String,
}

fn answer(command: &mut Command, question: &[u8]) -> Answer {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever refuses early does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(question);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let denied = said.contains("\"permissionDecision\":\"deny\"");
    assert!(matches!(status.code(), Some(0 | 2)), "{status}: {said}");
    // What one host takes for a pass.
    let passed = said.is_empty() || said == "{}\n";
    assert!(status.success() != (status.code() == Some(2)) && (passed || denied || !status.success()), "{said}");
    Answer { refused: denied || !status.success(), said }
}

fn samples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guard/payloads");
    let mut all: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

/// The host that is said to ask: that in whose file the hook stands.
fn host_of(sample: &str) -> &'static str {
    match sample {
        s if s.starts_with("claude") || s.starts_with("copilot-as-claude") => "claude-code",
        s if s.starts_with("copilot") => "copilot",
        s if s.starts_with("codex") => "codex",
        _ => "qwen-code",
    }
}

#[test]
fn what_hosts_really_send_is_decided_by_role_and_place() {
    let repository = Repository::new();
    let mut roles = 0;
    for name in samples() {
        let answer = repository.asks(host_of(&name), &repository.sample(&name));
        let read = ["Read", "view", "read_file"].iter().any(|t| name.ends_with(t));
        let refused = name.contains("-role-") && !name.ends_with("-inside") && !read;
        assert_eq!(answer.refused, refused, "{name}: {}", answer.said);
        assert!(!refused || answer.said.contains("rolecast: "), "{name}: {}", answer.said);
        roles += usize::from(refused);
    }
    assert!(roles > 20, "only {roles} samples of roles that are refused");
}

#[test]
fn what_cannot_be_known_is_refused_to_roles_and_not_to_the_main_agent() {
    let samples = [
        ("claude-role-Write-inside", "claude-main-Agent"),
        ("copilot-role-create-inside", "copilot-main-create-inside"),
    ];
    let file = |r: &Repository| r.root.join(".rolecast/guard.json");
    type Break<'a> = (&'a str, &'a dyn Fn(&Repository));
    let breaks: [Break<'_>; 6] = [
        ("gone", &|r| std::fs::remove_file(file(r)).unwrap()),
        ("edited", &|r| {
            let text = std::fs::read_to_string(file(r)).unwrap();
            std::fs::write(file(r), text.replace("docs/**", "**")).unwrap();
        }),
        ("damaged", &|r| std::fs::write(file(r), "{").unwrap()),
        ("of another version", &|r| std::fs::write(file(r), "{\"version\": 3}").unwrap()),
        ("without lock", &|r| std::fs::remove_file(r.root.join("shared-agent-rules/rolecast.lock")).unwrap()),
        ("with a lock left by a merge", &|r| {
            let lock = r.root.join("shared-agent-rules/rolecast.lock");
            let text = std::fs::read_to_string(&lock).unwrap();
            std::fs::write(&lock, format!("<<<<<<< HEAD\n{text}")).unwrap();
        }),
    ];
    for (what, harm) in breaks {
        let repository = Repository::new();
        for (role, main) in samples {
            assert!(!repository.asks(host_of(role), &repository.sample(role)).refused, "{role} before");
            assert!(!repository.asks(host_of(main), &repository.sample(main)).refused, "{main} before");
        }
        harm(&repository);
        for (role, main) in samples {
            let answer = repository.asks(host_of(role), &repository.sample(role));
            assert!(answer.refused && answer.said.contains("rolecast render"), "{role}, {what}: {}", answer.said);
            assert!(!repository.asks(host_of(main), &repository.sample(main)).refused, "{main}, {what}");
        }
        let lock = repository.root.join("shared-agent-rules/rolecast.lock");
        let _ = std::fs::remove_file(lock);
        let _ = std::fs::remove_file(file(&repository));
        repository.render();
        assert!(!repository.asks("claude-code", &repository.sample(samples[0].0)).refused, "{what}: repaired");
    }
}

#[test]
fn garbage_and_floods_are_refused() {
    let repository = Repository::new();
    for garbage in [&b""[..], b"garbage", b"[]", b"\xff\xfe"] {
        assert!(repository.asks("claude-code", garbage).refused, "{garbage:?}");
    }
    let mut flood =
        br#"{"agent_type":"docs_writer","tool_name":"Write","tool_input":{"file_path":"docs/new.txt","content":""#
            .to_vec();
    flood.resize(50 << 20, b'x');
    assert!(repository.asks("claude-code", &flood).refused);
    let strange = br#"{"agent_type":"docs_writer","something":"else"}"#;
    assert!(repository.asks("claude-code", strange).refused);
    assert!(!repository.asks("claude-code", br#"{"something":"else"}"#).refused);
    assert!(
        repository.call("claude-code", Some("docs_writer"), "Write", serde_json::json!({ "target": "docs/x" })).refused
    );
    assert!(repository.call("claude-code", Some("docs_writer"), "Unheard", serde_json::json!({})).refused);
    assert!(!repository.call("claude-code", None, "Unheard", serde_json::json!({})).refused);
}

#[test]
fn a_host_that_never_ends_its_question_gets_an_answer() {
    let repository = Repository::new();
    let mut child = Command::new(ROLECAST)
        .args(["guard", "--host", "claude-code"])
        .current_dir(&repository.root)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    drop(open);
}

/// The command as a host's file has it.
fn rendered(repository: &Repository, host: &str) -> String {
    rendered_at(repository, host, "PreToolUse").unwrap()
}

/// The command of one event; nothing when there is none.
fn rendered_at(repository: &Repository, host: &str, event: &str) -> Option<String> {
    let file = match host {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "copilot" => ".github/hooks/rolecast.json",
        _ => ".qwen/settings.json",
    };
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(repository.root.join(file)).unwrap()).unwrap();
    let hook = json["hooks"][event][0]["hooks"][0]["command"].as_str();
    let own = event.replacen('P', "p", 1);
    hook.or_else(|| json["hooks"][own][0]["bash"].as_str()).map(str::to_owned)
}

#[test]
fn the_rendered_command_refuses_everybody_when_the_program_is_missing_or_fails() {
    let repository = Repository::new();
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
    let places = [
        (folder("none", None), true),
        (folder("crashes", Some("#!/bin/sh\nkill -9 $$\n")), true),
        (folder("fails", Some("#!/bin/sh\nexit 1\n")), true),
        (folder("unstartable", Some("#!/does/not/exist\n")), true),
        (Path::new(ROLECAST).parent().unwrap().to_owned(), false),
    ];
    for (host, main) in HOSTS.iter().zip([
        "claude-main-Agent",
        "codex-main-collaborationspawn_agent",
        "copilot-main-task",
        "qwen-main-agent",
    ]) {
        for (path, refused) in &places {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &rendered(&repository, host)]).current_dir(&repository.root).env("PATH", path);
            let answer = answer(&mut command, &repository.sample(main));
            assert_eq!(answer.refused, *refused, "{host} {}: {}", path.display(), answer.said);
            assert!(!path.ends_with("none") || answer.said.contains("install it"), "{host}: {}", answer.said);
        }
    }
}

#[test]
fn delegation_is_held_for_the_main_agent_too() {
    let repository = Repository::new();
    let spawn = |role: &str, prompt: &str, fork: &str| {
        let args = serde_json::json!({ "agent_type": role, "message": prompt, "fork_turns": fork });
        repository.call("codex", None, "collaborationspawn_agent", args)
    };
    assert!(!spawn("explorer", "find it", "none").refused);
    let copied = spawn("explorer", "find it", "all");
    assert!(copied.refused && copied.said.contains("set `fork_turns` to `none`"), "{}", copied.said);
    assert!(spawn("worker", "find it", "3").refused);
    // Hosts that call the tool alike and its argument not: the argument tells which one asks.
    let starts = |agent, args| repository.call("claude-code", agent, "Agent", args).refused;
    let delegator = Some("implementer");
    for name in ["subagent_type", "agent_type"] {
        assert!(!starts(None, serde_json::json!({ name: "explorer", "prompt": "find it" })), "{name}");
        assert!(starts(delegator, serde_json::json!({ name: "general-purpose", "prompt": "find it" })), "{name}");
    }
    let fork = serde_json::json!({ "subagent_type": "fork", "prompt": "find it" });
    assert!(repository.call("qwen-code", None, "agent", fork).refused);
    let unsaid = serde_json::json!({ "agent_type": "explorer", "message": "find it" });
    assert!(repository.call("codex", None, "collaborationspawn_agent", unsaid).refused);
    let fork = serde_json::json!({ "subagent_type": "fork", "prompt": "find it" });
    assert!(repository.call("claude-code", None, "Agent", fork).refused);
    let long = "word ".repeat(4000);
    let refused = spawn("explorer", &long, "none");
    assert!(refused.refused && refused.said.contains("over-target"), "{}", refused.said);
    assert!(spawn("explorer", &format!("over-target:  \n{long}"), "none").refused);
    assert!(!spawn("explorer", &format!("over-target: the table is the task\n{long}"), "none").refused);
}

#[test]
fn a_first_read_of_a_long_file_is_answered_with_the_range() {
    let repository = Repository::new();
    std::fs::write(repository.root.join("src/long.rs"), "line\n".repeat(301)).unwrap();
    std::fs::write(repository.root.join("src/short.rs"), "line\n".repeat(300)).unwrap();
    let read = |args| repository.call("claude-code", None, "Read", args);
    let long = read(serde_json::json!({ "file_path": "src/long.rs" }));
    assert!(long.refused && long.said.contains("301 lines") && long.said.contains("`limit`"), "{}", long.said);
    assert!(!read(serde_json::json!({ "file_path": "src/long.rs", "offset": 1, "limit": 300 })).refused);
    assert!(!read(serde_json::json!({ "file_path": "src/short.rs" })).refused);
    assert!(!read(serde_json::json!({ "file_path": "src/none.rs" })).refused);
}

#[test]
fn each_thing_that_is_looked_at_can_be_switched_off() {
    let policy =
        |guard: &str| format!("version: 1\nhosts: {{ claude-code: {{}} }}\nextends: [builtin]\nguard: {{ {guard} }}\n");
    let write = |r: &Repository| {
        r.call("claude-code", Some("docs_writer"), "Write", serde_json::json!({ "file_path": "src/x" })).refused
    };
    let fork = |r: &Repository| {
        r.call("claude-code", None, "Agent", serde_json::json!({ "subagent_type": "fork", "prompt": "x" })).refused
    };
    let packet = |r: &Repository| {
        let args = serde_json::json!({ "subagent_type": "explorer", "prompt": "x".repeat(20_000) });
        r.call("claude-code", None, "Agent", args).refused
    };
    let read = |r: &Repository| {
        std::fs::write(r.root.join("src/long.rs"), "line\n".repeat(301)).unwrap();
        r.call("claude-code", None, "Read", serde_json::json!({ "file_path": "src/long.rs" })).refused
    };
    for (off, expected) in [
        ("roles: false", [false, true, true, true]),
        ("history: false", [true, false, true, true]),
        ("packets: false", [true, true, false, true]),
        ("reads: false", [true, true, true, false]),
    ] {
        let r = Repository::with(&policy(off), &[]);
        assert_eq!([write(&r), fork(&r), packet(&r), read(&r)], expected, "{off}");
    }
    let none =
        Repository::with(&policy("roles: false, history: false, packets: false, reads: false, context: false"), &[]);
    assert!(!none.root.join(".rolecast/guard.json").exists());
    assert!(!std::fs::read_to_string(none.root.join(".claude/settings.json")).unwrap().contains("hooks"));
}

const TESTER: &str = "---\ndescription: Runs the tests and reports.\ngrants:\n  repo.read: {}\n  repo.edit: { paths: [\"src/**\"] }\n  shell.run: { commands: [\"cargo test\"] }\n---\nRun the tests.\n";
const EDITOR: &str = "---\ndescription: Edits the policy.\ngrants:\n  repo.read: {}\n  repo.edit: {}\n  policy.edit: {}\n---\nEdit the policy.\n";

#[test]
fn commands_and_the_policy_are_held_to_their_grants() {
    let policy = "version: 1\nhosts: { claude-code: {} }\n";
    let roles = [("shared-agent-rules/roles/tester.md", TESTER), ("shared-agent-rules/roles/editor.md", EDITOR)];
    let r = Repository::with(policy, &roles);
    let bash = |line: &str| r.call("claude-code", Some("tester"), "Bash", serde_json::json!({ "command": line }));
    assert!(!bash("cargo test --lib").refused);
    for line in ["cargo build", "cargo test; rm -r src", "cargo test > src/x", "cargo test $(cat x)"] {
        assert!(bash(line).refused, "{line}");
    }
    std::fs::write(r.root.join("src/x.rs"), "").unwrap();
    let edit =
        |role: &str, path: &str| r.call("claude-code", Some(role), "Edit", serde_json::json!({ "file_path": path }));
    assert!(!edit("tester", "src/x.rs").refused);
    assert!(edit("tester", "src/new.rs").refused, "a new file is not an edit");
    for path in [
        "shared-agent-rules/policy.yaml",
        "Shared-Agent-Rules/policy.yaml",
        ".claude/settings.json",
        ".rolecast/guard.json",
    ] {
        assert!(edit("tester", path).refused, "{path}");
    }
    assert!(!edit("editor", "shared-agent-rules/policy.yaml").refused);
    assert!(edit("editor", ".git/config").refused);
    assert!(edit("editor", "/etc/passwd").refused);
    assert!(!edit("editor", "src/x.rs").refused);
}

/// A role that reads through a shell where another host's roles have tools of their own for that.
#[test]
fn a_call_is_decided_by_the_host_that_asks_when_its_tool_is_known_there() {
    let policy = "version: 1\nhosts: { claude-code: {}, codex: {} }\n";
    let reader = "---\ndescription: Reads.\ngrants: { repo.read: {} }\n---\nRead what you are told.\n";
    let roles = [("shared-agent-rules/roles/tester.md", TESTER), ("shared-agent-rules/roles/reader.md", reader)];
    let r = Repository::with(policy, &roles);
    let line = serde_json::json!({ "command": "cat src/x" });
    assert!(!r.call("codex", Some("reader"), "Bash", line.clone()).refused);
    assert!(r.call("claude-code", Some("reader"), "Bash", line).refused);
}
