//! A repository with a policy, servers behind its gateway, and the gateway as a host has it.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server in shell. Each tool is named for what it does; `tell` answers with the request as it came.
pub const SERVER: &str = r#"
echo started >> "$1"
tool() { printf '{"name":"%s","description":"%s it.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"filter":{"type":"object"},"extra":{"type":"string"}}}}' "$1" "$1"; }
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[!0-9]*}
  say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*) say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"tools/list"'*) say "{\"tools\":[$(tool tell),$(tool die),$(tool hang),$(tool flood),$(tool big),$(tool change),$(tool lie)]}" ;;
    *'"method":"notifications/cancelled"'*) echo cancelled >> "$1" ;;
    *'"name":"tell"'*) say "{\"content\":[],\"structuredContent\":$line}" ;;
    *'"name":"die"'*) echo 'last words' >&2; exit 7 ;;
    *'"name":"flood"'*) head -c 9000000 /dev/zero | tr '\0' x; echo ;;
    *'"name":"lie"'*)
      printf 'no message\n{"jsonrpc":"2.0","id":999999,"result":{}}\n[{"jsonrpc":"2.0","id":{}}]\n{"id":null,"error":7}\n\n'
      say '{"content":"no list","structuredContent":[1,{"a":[]}],"isError":"yes","resultType":7}'
      say '{"content":[]}' ;;
    *'"name":"big"'*) say "{\"content\":[{\"type\":\"text\",\"text\":\"$(head -c 50000 /dev/zero | tr '\0' y)\"}]}" ;;
  esac
done
# Whoever asks it to end waits for long.
[ -e stubborn ] && { trap '' TERM HUP; sleep 300; }
"#;

pub const ROLE: &str =
    "---\ndescription: Reads.\ngrants: { docs.search: {}, repo.diff: {}, docs.validate: {} }\n---\nYou read.\n";

/// A repository.
pub struct Repo(tempfile::TempDir);

impl Repo {
    pub fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("shared-agent-rules/roles")).unwrap();
        let repo = Self(dir);
        repo.write("shared-agent-rules/policy.yaml", policy);
        repo.write("shared-agent-rules/roles/reader.md", ROLE);
        repo.write("server.sh", SERVER);
        repo
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path().join(path), text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    pub fn pinned(self) -> Self {
        self.pinned_with(&[])
    }

    /// With what is offered pinned, by a run that has these variables.
    pub fn pinned_with(self, variables: &[(&str, &str)]) -> Self {
        let mut command = self.command(&["audit", "-q", "--accept"]);
        let done = command.envs(variables.iter().copied()).output().unwrap();
        assert!(self.read("shared-agent-rules/rolecast.lock").contains("pins"), "{done:?}");
        for log in ["one.log", "two.log"] {
            let _ = std::fs::remove_file(self.path().join(log));
        }
        self
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.args(args).current_dir(self.path());
        command
    }

    pub fn serve(&self, args: &[&str]) -> Gateway {
        let mut all = vec!["serve"];
        all.extend(args);
        Gateway::start(self.command(&all))
    }

    /// Lines of the record.
    pub fn record(&self) -> Vec<Value> {
        let folder = self.path().join(".rolecast/log");
        let mut lines = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().extension().is_some_and(|e| e == "jsonl") {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
            }
        }
        lines
    }
}

/// `rolecast serve`, after the handshake.
pub struct Gateway {
    pub child: Child,
    pub input: Option<ChildStdin>,
    pub messages: Receiver<Value>,
    pub last: u64,
}

impl Gateway {
    pub fn start(command: Command) -> Self {
        Self::with_errors(command, Stdio::piped())
    }

    /// As [`Self::start`], with somewhere for the standard error to go.
    pub fn with_errors(mut command: Command, errors: Stdio) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let input = child.stdin.take();
        let messages = read(child.stdout.take().unwrap());
        let mut gateway = Self { child, input, messages, last: 0 };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(gateway.ask("initialize", params)["result"]["serverInfo"]["name"], "rolecast");
        gateway.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        gateway
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.send(&message.to_string());
        self.last
    }

    pub fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).expect("an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(id)
    }

    pub fn names(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Whether a call failed, and its text.
    pub fn call(&mut self, name: &str, arguments: Value) -> (bool, String) {
        answer(&self.ask("tools/call", json!({ "name": name, "arguments": arguments })))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + Duration::from_secs(15);
        while Instant::now() < until {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        assert!(std::thread::panicking(), "it did not end with its input");
    }
}

pub fn answer(message: &Value) -> (bool, String) {
    let result = &message["result"];
    assert!(result.is_object(), "{message}");
    let texts = result["content"].as_array().unwrap().iter().filter_map(|b| b["text"].as_str());
    (result["isError"] == true, texts.collect::<Vec<_>>().join("\n"))
}

/// Every line of the standard output must be a message.
pub fn read(out: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "no message": line }));
            assert!(message.get("jsonrpc").is_some(), "{message}");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// What the server was sent.
pub fn sent(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["params"]["arguments"].clone()
}

pub fn gone(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

pub fn within(seconds: u64, mut test: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        if test() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}
