//! What `verify --accept` writes, and what the ledger makes of it: with a host of our own invention, whose program is a
//! script that asks the model twice, so that a "version" of it can be anything.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;

use super::support::{Repository, said};

const FILE: &str = "shared-agent-rules/evidence/mini.yaml";

const ADAPTER: &str = r#"
id: mini
title: Mini
evidence: { version: "1.0", date: "2026-01-01", by: source }
reads: [{ file: AGENTS.md }]
carriers: [{ file: AGENTS.md, kinds: [shared] }]
subagents: { inherit: instructions, history: fresh, call: { tool: task, role: agent, prompt: prompt } }
names: { role: { join: "{role}", keep: "A-Za-z0-9_-" }, tool: { join: "{server}_{tool}", keep: "A-Za-z0-9_-" } }
tools:
  read: { covers: [repo.read] }
  find: { covers: [repo.search] }
  shell: { covers: [shell.run], confers: [repo.delete] }
forms:
  main:
    title: main agent
    list: { sense: allow, mcp: single, claim: { guarantee: enforced, evidence: docs } }
    outputs: [role]
    launch: { template: run.json }
program: { name: mini }
meter: { reader: human, where: nowhere }
models: { fast: {}, balanced: {}, strong: {}, inherit: {} }
outputs: { role: { each: role, file: ".mini/{name}.md", own: whole, template: role.md } }
verify:
  version-args: [--version]
  protocol: chat
  args: ["{url}"]
  launched: ["{url}"]
  refusals: [no such tool]
  attempts: [{ tries: [shell.run], call: { tool: shell, args: { command: "printf made > '{root}/{new}'" } } }]
"#;

/// A repository with the role `looker`, which reads, for a host that is first of version 1.0 and good.
struct Mini {
    repository: Repository,
    bin: tempfile::TempDir,
}

impl Mini {
    fn new() -> Self {
        let mini = Self { repository: Repository::empty(), bin: tempfile::tempdir().unwrap() };
        let write = |path: &str, text: &str| mini.repository.write(path, text);
        write("shared-agent-rules/policy.yaml", "version: 1\nhosts: { mini: {} }\n");
        write(
            "shared-agent-rules/terse.md",
            "---\ntitle: Terse\nactivation: always\naudience: [main, roles]\n---\nSay little.\n",
        );
        write("shared-agent-rules/adapters/mini.yaml", ADAPTER);
        write("shared-agent-rules/templates/mini/role.md", "{{ role.list | yaml }}\n{{ role.body }}\n");
        write("shared-agent-rules/templates/mini/run.json", "{ \"args\": [] }\n");
        mini.role("");
        mini.install("1.0", &["read"], false);
        assert!(mini.run(&["render"]).status.success(), "{}", said(&mini.run(&["render"])));
        mini
    }

    /// Writes the role with more lines in its front matter.
    fn role(&self, more: &str) {
        let text = format!("---\ndescription: Looks.\ngrants: {{ repo.read: {{}} }}\n{more}---\nYou look.\n");
        self.repository.write("shared-agent-rules/roles/looker.md", &text);
    }

    /// Installs a version that offers `tools`, and runs a shell that it was not told of when `runs`.
    fn install(&self, version: &str, tools: &[&str], runs: bool) {
        let tool = |name: &&str| format!(r#"{{"type":"function","function":{{"name":"{name}"}}}}"#);
        let tools = tools.iter().map(tool).collect::<Vec<_>>().join(",");
        let (answer, act) = if runs {
            ("fine", "mkdir -p rolecast-probe; printf made > rolecast-probe/0.txt")
        } else {
            ("no such tool: shell", ":")
        };
        let script = format!(
            r#"#!/bin/bash
[ "$1" = --version ] && echo "mini {version}" && exit
port=${{1##*:}}
ask() {{
  local body="{{\"model\":\"m\",\"tools\":[$tools],\"messages\":[{{\"role\":\"system\",\"content\":\"Say little.\"}},{{\"role\":\"user\",\"content\":\"rolecast_try_main\"}}$1]}}"
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' "${{#body}}" "$body" >&3
  cat <&3 >/dev/null
}}
tools='{tools}'
ask ''
{act}
# A run with a server has some calls, one after the other.
said=
for call in 1 2 3 4 5 6; do
  said="$said,{{\"role\":\"tool\",\"tool_call_id\":\"$call\",\"content\":\"{answer}\"}}"
  ask "$said"
done
"#
        );
        let path = self.bin.path().join("mini");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn uninstall(&self) {
        fs::remove_file(self.bin.path().join("mini")).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        let path = format!("{}:{}", self.bin.path().display(), std::env::var("PATH").unwrap());
        self.repository.command(args).env("PATH", path).output().unwrap()
    }

    fn exit(&self, args: &[&str]) -> (i32, String) {
        let out = self.run(args);
        (out.status.code().unwrap(), said(&out))
    }

    fn accept(&self) -> (i32, String) {
        self.exit(&["verify", "--accept"])
    }

    /// The line of the ledger about a capability.
    fn line(&self, capability: &str) -> Value {
        let out = self.run(&["explain", "looker", "--format", "json"]);
        let page: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&out)));
        let of = |l: &&Value| l["subject"]["role"]["capability"] == capability;
        page["lines"].as_array().unwrap().iter().find(of).unwrap().clone()
    }

    fn known(&self, capability: &str) -> (String, String) {
        let line = self.line(capability);
        (line["evidence"].as_str().unwrap().to_owned(), line["version"].as_str().unwrap().to_owned())
    }
}

fn pair(kind: &str, version: &str) -> (String, String) {
    (kind.to_owned(), version.to_owned())
}

#[test]
fn what_held_is_known_from_a_run_on_that_version_and_nothing_else_is_written() {
    let mini = Mini::new();
    let before = mini.repository.files();
    assert_eq!(mini.known("shell.run"), pair("docs", "1.0"));
    mini.install("2.0", &["read"], false);
    let (code, said) = mini.accept();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("wrote {FILE}")), "{said}");
    let mut after = mini.repository.files();
    assert!(after.remove(FILE).is_some());
    assert_eq!(after, before);
    for capability in ["shell.run", "repo.read", "web.fetch"] {
        assert_eq!(mini.known(capability), pair("ran", "2.0"), "{capability}");
    }
    let text = mini.repository.read(FILE);
    assert!(!text.contains("/tmp") && !text.contains(&*mini.bin.path().to_string_lossy()), "{text}");
    assert_eq!(mini.exit(&["check"]).0, 0);
}

#[test]
fn a_claim_that_nothing_tried_is_not_raised() {
    let mini = Mini::new();
    mini.repository.change("shared-agent-rules/adapters/mini.yaml", "attempts: [{", "attempts: [] #");
    mini.install("2.0", &["read"], false);
    assert_eq!(mini.accept().0, 0);
    assert_eq!(mini.known("repo.read"), pair("ran", "2.0"));
    assert_eq!(mini.known("shell.run"), pair("docs", "1.0"), "no forged call was tried, so no refusal was seen");
}

#[test]
fn a_tool_that_is_offered_turns_its_lines_down_and_fails_a_denial_that_misses_it() {
    let mini = Mini::new();
    mini.role("deny: { shell.run: hidden }\n");
    assert_eq!(mini.exit(&["render"]).0, 0);
    mini.install("2.0", &["read", "shell"], true);
    let (code, said) = mini.exit(&["verify"]);
    assert_eq!(code, 1);
    assert_eq!(mini.exit(&["check"]).0, 0, "nothing was accepted: {said}");
    let (code, said) = mini.accept();
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("from now on the ledger says of `shell.run` of looker (main): advised, not denied"),
        "{said}"
    );
    let (code, said) = mini.exit(&["check"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("roles/looker.md:4:9") && said.contains(FILE) && said.contains("waive"), "{said}");
    assert!(said.contains("broken on 2.0, "), "{said}");
    // A waiver is a decision.
    mini.role("deny: { shell.run: hidden }\nwaive: { mini: { shell.run: \"2.0 is wrong\" } }\n");
    assert_eq!(mini.exit(&["check"]).0, 0, "{}", mini.exit(&["check"]).1);
    let line = mini.line("shell.run");
    assert_eq!(
        (&line["guarantee"], &line["version"], &line["lowered"]["by"]),
        (&"advised".into(), &"2.0".into(), &FILE.into())
    );
    // So is a version that holds; verifying is possible although the policy cannot be held.
    mini.role("deny: { shell.run: hidden }\n");
    mini.install("2.1", &["read"], false);
    assert_eq!(mini.accept().0, 0, "{}", mini.accept().1);
    assert_eq!(mini.exit(&["check"]).0, 0);
}

#[test]
fn a_forged_call_that_runs_leaves_the_tool_hidden() {
    let mini = Mini::new();
    mini.install("2.0", &["read"], true);
    assert_eq!(mini.accept().0, 1);
    assert_eq!(mini.line("shell.run")["guarantee"], "hidden");
    mini.role("deny: { shell.run: hidden }\n");
    assert_eq!(mini.exit(&["render"]).0, 0);
    mini.role("deny: { shell.run: guarded }\n");
    assert_eq!(mini.exit(&["check"]).0, 3);
}

#[test]
fn a_tool_that_nobody_knows_turns_every_absence_down() {
    let mini = Mini::new();
    mini.install("2.0", &["read", "teleport"], false);
    assert_eq!(mini.accept().0, 1);
    let line = mini.line("web.fetch");
    assert_eq!(line["guarantee"], "advised", "{line}");
    assert!(line["reason"].as_str().unwrap().contains("`teleport`"), "{line}");
    assert!(mini.exit(&["check"]).1.contains("evidence-broken"));
}

#[test]
fn evidence_about_another_plan_counts_for_nothing_and_that_is_said() {
    let mini = Mini::new();
    mini.install("2.0", &["read", "shell"], true);
    assert_eq!(mini.accept().0, 1);
    mini.repository.change("shared-agent-rules/roles/looker.md", "repo.read: {}", "repo.read: {}, repo.search: {}");
    assert_eq!(mini.line("shell.run")["guarantee"], "enforced");
    let (code, said) = mini.exit(&["check"]);
    assert_eq!(code, 1, "the file of the role differs");
    assert!(said.contains("warning[evidence-outdated]"), "{said}");
    // What held is only a remark.
    mini.install("2.0", &["read", "find"], false);
    assert_eq!((mini.exit(&["render"]).0, mini.accept().0), (0, 0), "{}", mini.accept().1);
    mini.role("");
    assert_eq!(mini.known("repo.read"), pair("docs", "1.0"));
    assert!(!mini.exit(&["check"]).1.contains("evidence-outdated"));
    assert!(mini.exit(&["check", "-v"]).1.contains("note[evidence-outdated]"));
}

#[test]
fn what_was_not_run_keeps_its_evidence() {
    let mini = Mini::new();
    assert_eq!(mini.accept().0, 0);
    let before = mini.repository.read(FILE);
    mini.uninstall();
    let (code, said) = mini.accept();
    assert_eq!((code, mini.repository.read(FILE)), (1, before));
    assert!(said.contains("nothing accepted"), "{said}");
}

#[test]
fn with_a_role_only_its_records_are_replaced() {
    let mini = Mini::new();
    let other = mini.repository.read("shared-agent-rules/roles/looker.md");
    mini.repository.write("shared-agent-rules/roles/other.md", &other);
    assert_eq!(mini.exit(&["render"]).0, 0);
    assert_eq!(mini.accept().0, 0);
    mini.install("2.0", &["read"], false);
    assert_eq!(mini.exit(&["verify", "--accept", "--role", "other"]).0, 0);
    let text = mini.repository.read(FILE);
    let versions: Vec<&str> = text.lines().filter(|l| l.contains("version:")).map(str::trim).collect();
    assert_eq!(versions[..2], ["version: \"1.0\"", "version: \"2.0\""], "{text}");
    assert!(versions[2..].iter().all(|v| v.contains("1.0")), "rules and budgets were tried with all roles: {text}");
}

#[test]
fn stale_evidence_is_shown_by_verify_and_by_hosts() {
    let mini = Mini::new();
    assert_eq!(mini.accept().0, 0);
    assert!(!mini.exit(&["verify"]).1.contains("stale"));
    let found = |args: &[&str]| -> Value {
        let out = mini.run(args);
        let all: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&out)));
        all.as_array().unwrap().iter().find(|h| h["host"] == "mini").unwrap().clone()
    };
    let host = found(&["hosts", "--installed", "--format", "json"]);
    assert_eq!((&host["stale"], &host["installed"]["version"]), (&false.into(), &"1.0".into()));
    assert_eq!(host["verified"][0]["broken"], 0);
    mini.install("2.0", &["read"], false);
    assert!(mini.exit(&["verify"]).1.contains("stale"));
    let host = found(&["hosts", "--installed", "--format", "json"]);
    assert_eq!((&host["stale"], &host["installed"]["version"]), (&true.into(), &"2.0".into()));
    assert!(mini.exit(&["hosts", "--installed"]).1.contains("stale"));
    mini.uninstall();
    assert_eq!(found(&["hosts", "--installed", "--format", "json"])["stale"], Value::Null);
}

#[test]
fn the_gate_sees_the_evidence_of_the_tree_it_looks_at() {
    let mini = Mini::new();
    mini.role("deny: { shell.run: hidden }\n");
    assert_eq!(mini.exit(&["render"]).0, 0);
    let git = |args: &[&str]| {
        let all = [&["-c", "user.name=a", "-c", "user.email=a@example.com"], args].concat();
        assert!(
            std::process::Command::new("git")
                .args(all)
                .current_dir(mini.repository.root())
                .output()
                .unwrap()
                .status
                .success()
        );
    };
    git(&["add", "-A"]);
    git(&["commit", "-qm", "a"]);
    mini.install("2.0", &["read", "shell"], true);
    assert_eq!(mini.accept().0, 1);
    assert_eq!(mini.exit(&["check"]).0, 3);
    assert_eq!(mini.exit(&["check", "--against", "index"]).0, 0);
    git(&["add", "-A"]);
    assert_eq!(mini.exit(&["check", "--against", "index"]).0, 3);
    assert_eq!(mini.exit(&["check", "--against", "HEAD"]).0, 0);
}
