//! The gateway's own tools: what a role without a shell sees of a repository.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

fn git(root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]);
    assert!(command.args(args).current_dir(root).output().unwrap().status.success(), "{args:?}");
}

fn repo() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("shared-agent-rules/policy.yaml", "version: 1\nhosts: { claude-code: {} }\n");
    write(
        "shared-agent-rules/roles/reader.md",
        "---\ndescription: Reads.\ngrants: { repo.diff: {}, docs.validate: {} }\n---\nYou read.\n",
    );
    write(
        "docs/a.md",
        "# A title\n\n### Deep\n\n[b](b.md#second-part) [gone](gone.md) [no](b.md#nowhere) [out](../../x.md)\n[web](https://example.org/x)\n",
    );
    write("docs/b.md", "# B\n\n## Second part\n\n# Again\n\n[a](/docs/a.md#a-title) ![p](p%20q.png)\n");
    write("docs/p q.png", "p");
    write("a.txt", "one\n");
    git(dir.path(), &["init", "-q", "-b", "main"]);
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-qm", "first"]);
    write("a.txt", "two\n");
    git(dir.path(), &["commit", "-qam", "second"]);
    write("a.txt", "three\n");
    dir
}

struct Gateway(Child, BufReader<ChildStdout>, u64);

impl Gateway {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.args(["serve", "--role", "reader"]).current_dir(root);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut gateway = Self(child, out, 0);
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        gateway.ask("initialize", &params);
        writeln!(gateway.0.stdin.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)
            .unwrap();
        gateway
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.2 += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.2, "method": method, "params": params });
        writeln!(self.0.stdin.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Whether it failed, and the text.
    fn call(&mut self, name: &str, arguments: Value) -> (bool, String) {
        let message = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        let result = &message["result"];
        (
            result["isError"] == true,
            result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned(),
        )
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn changes_commits_and_files_of_commits_are_seen() {
    let dir = repo();
    let mut gateway = Gateway::start(dir.path());
    let (failed, diff) = gateway.call("repo_diff", json!({}));
    assert!(!failed && diff.contains("-two\n+three"), "{diff}");
    let (_, staged) = gateway.call("repo_diff", json!({ "staged": true }));
    assert_eq!(staged, "(nothing)");
    let (_, between) = gateway.call("repo_diff", json!({ "from": "HEAD~1", "to": "HEAD", "paths": ["a.txt"] }));
    assert!(between.contains("-one\n+two"), "{between}");
    let (_, log) = gateway.call("repo_log", json!({ "max_count": "1" }));
    assert!(log.ends_with(": second") && log.lines().count() == 1, "{log}");
    let (_, show) = gateway.call("repo_show", json!({ "commit": "main~1", "path": "a.txt" }));
    assert_eq!(show, "one\n");
    let (_, show) = gateway.call("repo_show", json!({ "commit": "main", "stat": true }));
    assert!(show.contains("second") && show.contains("a.txt | 2 +-"), "{show}");
}

#[test]
fn nothing_but_commits_and_paths_below_the_root_is_taken() {
    let dir = repo();
    let mut gateway = Gateway::start(dir.path());
    let marker = dir.path().join("marker");
    for from in [
        "--output=marker",
        "-p",
        "HEAD;id",
        "HEAD..main",
        "$(id)",
        "HEAD:a.txt",
        "main\n--output=marker",
        "nope",
        "@{-99}",
    ] {
        let (failed, text) = gateway.call("repo_diff", json!({ "from": from }));
        assert!(failed, "{from}: {text}");
    }
    for path in ["../x", "/etc/passwd", "a/../../x", ":(top)a", "a\\b"] {
        assert!(gateway.call("repo_diff", json!({ "paths": [path] })).0, "{path}");
        assert!(gateway.call("repo_show", json!({ "commit": "HEAD", "path": path })).0, "{path}");
        assert!(gateway.call("docs_validate", json!({ "paths": [path] })).0, "{path}");
    }
    let (failed, text) = gateway.call("repo_log", json!({ "paths": ["--output=marker"] }));
    assert!(!failed && text == "(nothing)", "an option is only a path here: {text}");
    assert!(gateway.call("repo_log", json!({ "output": "marker" })).0);
    assert!(!marker.exists());
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let dir = repo();
    let root = dir.path();
    let program = root.join("run.sh");
    std::fs::write(&program, "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\ncat \"$1\" 2>/dev/null\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = program.to_str().unwrap();
    for key in [
        "diff.external",
        "core.pager",
        "pager.diff",
        "pager.log",
        "core.fsmonitor",
        "diff.x.textconv",
        "diff.x.command",
        "core.editor",
        "gpg.program",
    ] {
        git(root, &["config", key, run]);
    }
    git(root, &["config", "log.showSignature", "true"]);
    std::fs::write(root.join(".gitattributes"), "*.txt diff=x\n").unwrap();
    let mut gateway = Gateway::start(root);
    for (name, arguments) in [
        ("repo_diff", json!({})),
        ("repo_diff", json!({ "from": "HEAD~1" })),
        ("repo_log", json!({})),
        ("repo_show", json!({ "commit": "HEAD" })),
        ("repo_show", json!({ "commit": "HEAD", "path": "a.txt" })),
        ("docs_validate", json!({})),
    ] {
        let (failed, text) = gateway.call(name, arguments);
        assert!(!failed, "{name}: {text}");
    }
    assert!(!root.join("ran").exists());
}

#[test]
fn links_anchors_and_headings_are_checked() {
    let dir = repo();
    let mut gateway = Gateway::start(dir.path());
    let (failed, text) = gateway.call("docs_validate", json!({ "paths": ["docs"] }));
    assert!(!failed);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "docs/a.md:3: a heading of level 3 follows one of level 1",
            "docs/a.md:5: `gone.md` leads to nothing",
            "docs/a.md:5: `b.md#nowhere` leads to a heading that is not there",
            "docs/a.md:5: `../../x.md` leads out of the repository",
            "docs/b.md:5: a second heading of level 1",
            "5 findings in 2 files",
        ]
    );
}
