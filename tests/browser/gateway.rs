//! The gateway as a host has it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub struct Gateway {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
}

/// What a call was answered with.
#[derive(Debug)]
pub struct Answer {
    pub failed: bool,
    /// All text.
    pub text: String,
    /// Pictures that stand in the answer.
    pub pictures: Vec<Value>,
    /// The notes for programs.
    pub notes: Value,
    /// The whole, as it was written.
    pub written: String,
}

impl Answer {
    fn of(message: &Value) -> Self {
        let result = &message["result"];
        if !result.is_object() {
            let text = message["error"]["message"].as_str().unwrap_or_default().to_owned();
            let written = message.to_string();
            return Self { failed: true, text, pictures: Vec::new(), notes: Value::Null, written };
        }
        let blocks = result["content"].as_array().unwrap();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        Self {
            failed: result["isError"] == true,
            text: texts.join("\n"),
            pictures: blocks.iter().filter(|block| block["type"] == "image").cloned().collect(),
            notes: result["_meta"]["io.github.rolecast/bounded"].clone(),
            written: message.to_string(),
        }
    }

    /// The only artifact of the answer.
    pub fn artifact(&self) -> &Value {
        assert_eq!(self.notes["artifactCount"], 1, "{}", self.written);
        &self.notes["artifacts"][0]
    }

    /// Whether a long run of base64 stands anywhere in it.
    pub fn carries_base64(&self) -> bool {
        let run = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/');
        self.written.split(['"', ' ', '\\', ':', ',', '=', '.', '-']).any(|part| part.len() > 100 && run(part))
    }
}

impl Gateway {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(serde_json::from_str(&line).unwrap_or(Value::Null)).is_err() {
                    return;
                }
            }
        });
        let mut gateway = Self { child, input, messages, last: 0 };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(gateway.ask("initialize", params)["result"]["serverInfo"]["name"], "rolecast");
        writeln!(gateway.input.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)
            .unwrap();
        gateway
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        self.last
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(&[id]).remove(0)
    }

    /// The answers to several requests, in the order of the requests.
    fn wait(&mut self, ids: &[u64]) -> Vec<Value> {
        let mut answers = Map::new();
        while answers.len() < ids.len() {
            let message = self.messages.recv_timeout(Duration::from_secs(120)).expect("an answer");
            if let Some(id) = message["id"].as_u64().filter(|id| ids.contains(id)) {
                answers.insert(id.to_string(), message);
            }
        }
        ids.iter().map(|id| answers[&id.to_string()].clone()).collect()
    }

    /// Definitions by name.
    pub fn tools(&mut self) -> Map<String, Value> {
        let list = self.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone())).collect()
    }

    pub fn call(&mut self, name: &str, arguments: Value) -> Answer {
        Answer::of(&self.ask("tools/call", json!({ "name": name, "arguments": arguments })))
    }

    /// Calls that are all made before any is answered.
    pub fn at_once(&mut self, calls: &[(&str, Value)]) -> Vec<Answer> {
        let begun = calls.iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments }));
        let ids: Vec<u64> = begun.map(|params| self.begin("tools/call", params)).collect();
        self.wait(&ids).iter().map(Answer::of).collect()
    }

    /// Calls a tool that must not fail.
    pub fn good(&mut self, name: &str, arguments: Value) -> Answer {
        let answer = self.call(name, arguments);
        assert!(!answer.failed, "{name}: {}", answer.text);
        answer
    }

    /// Opens a page, with a reason: the first call of a session needs one.
    pub fn open(&mut self, address: &str) {
        self.good(
            "browser_navigate",
            json!({ "url": address, "escalation_reason": "no-host-browser", "escalation_note": "This host has none." }),
        );
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + Duration::from_secs(20);
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
