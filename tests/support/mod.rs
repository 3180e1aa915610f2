//! A repository in a temporary folder, and the real program run in it with nothing of the surroundings.

#![allow(dead_code, reason = "each test program uses its part")]

use std::path::Path;
use std::process::Command;

/// A policy for all shipped hosts that takes over everything shipped.
pub const FIVE: &str = "version: 1\nhosts: { claude-code: {}, codex: {}, cursor: {}, copilot: {}, gemini-cli: {} }\nextends: [builtin]\n";

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
