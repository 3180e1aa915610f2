//! A repository in a temporary folder, and the real program run in it with nothing of the surroundings.

#![allow(dead_code, reason = "each test program uses its part")]

use std::path::Path;
use std::process::Command;

/// A policy for all shipped hosts that takes over everything shipped.
pub const FIVE: &str =
    "version: 1\nhosts: { claude-code: {}, codex: {}, cursor: {}, copilot: {}, gemini-cli: {} }\nextends: [builtin]\n";

/// A repository.
pub struct Repo {
    dir: tempfile::TempDir,
}

/// How a run ended.
pub struct Run {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Repo {
    /// An empty one.
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    /// One with this `policy.yaml`.
    pub fn with(policy: &str) -> Self {
        Self::empty().file("shared-agent-rules/policy.yaml", policy)
    }

    /// Adds a file.
    pub fn file(self, path: &str, text: &str) -> Self {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, text).expect("written");
        self
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs the program in it.
    pub fn run(&self, args: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_rolecast"))
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .output()
            .expect("the program runs");
        Run {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Runs it, expects success without a word on standard error, and returns the page.
    pub fn page(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
        run.out
    }

    /// As [`Self::page`], as JSON.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        serde_json::from_str(&self.page(&args)).expect("JSON")
    }
}

/// A policy with budgets and a server for two hosts.
pub const TRIAGE_POLICY: &str = r#"version: 1
hosts: { claude-code: {}, codex: {} }
budgets:
  tool-result: { target: 12KiB, limit: 32KiB }
  search: { target: 20, limit: 100 }
  instructions: { target: 12KiB, limit: 32KiB }
servers:
  tickets:
    command: tickets-mcp
    tools:
      get_ticket: { confers: [ticket.read] }
      set_ticket: { confers: [ticket.read, ticket.write] }
"#;

/// A role with every kind of scope but commands, with denials that one of the hosts cannot hold.
pub const TRIAGE: &str = r#"---
description: Sorts tickets.
grants:
  repo.read: {}
  ticket.read: {}
  web.fetch: { domains: ["tracker.example"] }
  repo.create: { paths: ["triage/**"] }
deny:
  ticket.write: enforced
  shell.run: guarded
waive:
  codex:
    ticket.write: "a Codex sub-agent shares the parent's servers"
    shell.run: "Codex reads only through its shell"
stop: ["a ticket has no owner"]
---
Sort the tickets.
"#;

/// A rule for paths.
pub const WEB: &str = r#"---
title: Web files
activation: { paths: ["web/**"] }
---
Keep pages small.
"#;

/// A rule that is always on, with a figure and a host note.
pub const CORE: &str = r#"---
title: Core
activation: always
template: true
---
Look at most at {{ budgets.search.limit }} results.
Be brief.
{% block host_note %}You run in {{ host.title }}.{% endblock %}
"#;

/// The repository of these sources, with an `AGENTS.md` of the user.
pub fn triage() -> Repo {
    Repo::with(TRIAGE_POLICY)
        .file("shared-agent-rules/roles/triage.md", TRIAGE)
        .file("shared-agent-rules/web.md", WEB)
        .file("shared-agent-rules/core.md", CORE)
        .file("AGENTS.md", "# Mine\n\nMy own text.\n")
}
