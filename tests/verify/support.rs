//! A repository with rendered files, and the program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A repository.
pub struct Repository(TempDir);

impl Repository {
    /// Rendered for `hosts` from the shipped policy and the role files given (name and text).
    pub fn rendered(hosts: &[&str], roles: &[(&str, &str)]) -> Self {
        let repository = Self::empty();
        let hosts: Vec<String> = hosts.iter().map(|h| format!("{h}: {{}}")).collect();
        let policy = format!("version: 1\nhosts: {{ {} }}\nextends: [builtin]\n", hosts.join(", "));
        repository.write("shared-agent-rules/policy.yaml", &policy);
        for (name, text) in roles {
            repository.write(&format!("shared-agent-rules/roles/{name}.md"), text);
        }
        let rendered = repository.command(&["render"]).output().unwrap();
        assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
        repository
    }

    pub fn empty() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        assert!(Command::new("git").args(["init", "-q"]).current_dir(repository.root()).status().unwrap().success());
        repository
    }

    /// Every file but git's own.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let all = walkdir::WalkDir::new(self.root()).into_iter().filter_entry(|e| e.file_name() != ".git");
        let files = all.map(|e| e.unwrap().into_path()).filter(|p| p.is_file());
        let name = |p: &Path| p.strip_prefix(self.root()).unwrap().to_string_lossy().into_owned();
        files.map(|p| (name(&p), fs::read(&p).unwrap())).collect()
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Changes a rendered file by hand; fails when there is nothing to change.
    pub fn change(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no `{from}`:\n{text}");
        self.write(path, &text.replacen(from, to, 1));
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.args(args).current_dir(self.root());
        command
    }

    /// Runs `verify` with the programs below `bin`.
    pub fn verify(&self, bin: &Path, args: &[&str]) -> (i32, Value) {
        let mut command = self.command(&["verify", "--format", "json", "--host-bin"]);
        let out = command.arg(bin).args(args).output().unwrap();
        let report = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&out)));
        (out.status.code().unwrap(), report)
    }
}

pub fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// `ROLE (FORM): CAPABILITY`, `ROLE (FORM): tools` or `rule ID to WHOM`, for findings with this verdict.
pub fn with(report: &Value, verdict: &str) -> Vec<String> {
    let findings = report["hosts"].as_array().unwrap().iter().flat_map(|h| h["findings"].as_array().unwrap());
    findings
        .filter(|f| f["verdict"] == verdict)
        .map(|f| {
            let about = &f["about"];
            let kinds = [("with-server", "with a server, "), ("through-gateway", "through the gateway, ")];
            let found = kinds.iter().find_map(|(key, words)| Some((about.get(*key)?, *words)));
            let (about, with) = found.unwrap_or((about, ""));
            let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
            format!("{with}{}", subject(about, text))
        })
        .collect()
}

fn subject(about: &Value, text: impl Fn(&Value) -> String) -> String {
    if let Some(tools) = about.get("tools") {
        return format!("{}: tools", text(&tools["role"]));
    }
    if let Some(guard) = about.get("guard") {
        return format!("guard: {}", text(&guard["what"]));
    }
    if let Some(reader) = about.get("reader") {
        return format!("{} with {}", text(&reader["file"]), text(&reader["with"]));
    }
    for kind in ["notes", "start"] {
        if let Some(agents) = about.get(kind) {
            return format!("{kind} of {}", text(&agents["to"]));
        }
    }
    let line = &about["line"];
    match (line.get("role"), line.get("rule"), line.get("server")) {
        (Some(role), _, _) => format!("{}: {}", text(&role["role"]), text(&role["capability"])),
        (_, Some(rule), _) => format!("rule {} to {}", text(&rule["rule"]), text(&rule["to"])),
        (_, _, Some(server)) => format!("server: {}", text(&server["tool"])),
        _ => format!("budget {}", text(&line["budget"]["budget"])),
    }
}

/// The folder with the hosts' programs, or nothing, said so loudly that it cannot be missed: what was not
/// run is not verified. In CI that is a failure.
pub fn programs(test: &str) -> Option<PathBuf> {
    let bin = std::env::var_os("ROLECAST_HOST_BIN").map(PathBuf::from).filter(|b| b.is_dir());
    if bin.is_none() {
        let how = "set ROLECAST_HOST_BIN to a folder with the hosts' npm packages, one folder each";
        let said = format!("\n*** NOT VERIFIED: {test} was skipped, no host program was run: {how} ***\n");
        // Not `eprintln`, which the harness hides for tests that pass.
        std::io::stderr().write_all(said.as_bytes()).unwrap();
        assert!(std::env::var_os("CI").is_none(), "{said}");
    }
    bin
}
