//! A repository with primitives, and a host that speaks to the gateway.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

pub const POLICY: &str = include_str!("policy.yaml");
pub const DOCUMENTS: &str = include_str!("documents.jsonl");
pub const ROLE: &str = "---\ndescription: Answers.\ngrants: { docs.search: {}, docs.validate: {}, memory.read: {}, memory.search: {} }\n---\nYou answer.\n";

pub struct Repo(tempfile::TempDir);

impl Repo {
    pub fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["shared-agent-rules/roles", "data"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let repo = Self(dir);
        repo.write("shared-agent-rules/policy.yaml", policy);
        repo.write("shared-agent-rules/roles/reader.md", ROLE);
        repo
    }

    /// With the documents of the three tools in its store.
    pub fn filled() -> Self {
        let repo = Self::new(POLICY);
        repo.write("documents.jsonl", DOCUMENTS);
        let done = repo.run(&["primitives", "load", "knowledge", "documents.jsonl"]);
        assert_eq!(said(&done), "`knowledge`: 10 added, 0 replaced, 0 removed\n");
        repo
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path().join(path), text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.args(args).current_dir(self.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn serve(&self, args: &[&str]) -> Host {
        let mut all = vec!["serve"];
        all.extend(args);
        Host::start(self.command(&all))
    }

    /// As a reader who belongs to Rome.
    pub fn roman(&self) -> Host {
        self.serve(&["--role", "reader", "--runtime", "organisation=comune-roma"])
    }
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A host.
pub struct Host {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
}

impl Host {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let input = child.stdin.take();
        let out = child.stdout.take().unwrap();
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut host = Self { child, input, messages, last: 0 };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        host.ask("initialize", &params);
        host.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        host
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(90)).expect("an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.raw(method, &params.to_string())
    }

    /// Parameters exactly as they are written.
    pub fn raw(&mut self, method: &str, params: &str) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        self.wait(id)
    }

    pub fn tools(&mut self) -> Vec<Value> {
        self.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
    }

    pub fn tool(&mut self, name: &str) -> Value {
        self.tools().into_iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no tool `{name}`"))
    }

    /// Whether a call failed, and its text.
    pub fn call(&mut self, name: &str, arguments: &Value) -> (bool, String) {
        answer(&self.ask("tools/call", &json!({ "name": name, "arguments": arguments })))
    }

    /// The answer of a call that does not fail.
    pub fn data(&mut self, name: &str, arguments: &Value) -> Value {
        let (failed, text) = self.call(name, arguments);
        assert!(!failed, "{text}");
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
    }

    pub fn ids(&mut self, name: &str, arguments: &Value) -> Vec<String> {
        let answer = self.data(name, arguments);
        answer["results"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }
}

pub fn answer(message: &Value) -> (bool, String) {
    let result = &message["result"];
    assert!(result.is_object(), "{message}");
    let texts = result["content"].as_array().unwrap().iter().filter_map(|b| b["text"].as_str());
    (result["isError"] == true, texts.collect::<Vec<_>>().join("\n"))
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.input.take());
        for _ in 0..750 {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        assert!(std::thread::panicking(), "it did not end with its input");
    }
}

/// What `tests/primitives/install` installs, when it is there; under `CI` it must be.
pub fn installed(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/primitives").join(path);
    if full.exists() {
        return Some(full);
    }
    let say = format!("*** NOT RUN: {} is not there; see tests/primitives/install", full.display());
    assert!(std::env::var_os("CI").is_none(), "{say}");
    eprintln!("{say}");
    None
}
