//! What the gateway adds to a call: the same tool of the same server, through it and directly, in one run.
//!
//! `npm ci --prefix tests/servers`, then `cargo bench --bench gateway -- tests/servers/node_modules/.bin/mcp-server-everything`

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Calls of each size on each side.
const CALLS: usize = 300;
/// Bytes of the message that is echoed.
const SIZES: [usize; 2] = [64, 64 << 10];

fn main() {
    let Some(server) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("name a server with a tool `echo`; nothing was measured");
        return;
    };
    let server = std::fs::canonicalize(server).expect("the server");
    let repo = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(repo.path().join("shared-agent-rules")).expect("a folder");
    let policy = format!(
        "version: 1\nhosts: {{ claude-code: {{}} }}\nbudgets: {{ tool-result: {{ target: 1MiB, limit: 1MiB }} }}\nservers:\n  s:\n    command: {}\ntools:\n  echo:\n    description: Echo.\n    primitive: s/echo\n    arguments: {{ message: {{ type: string }} }}\n    bind: {{ message: {{ argument: message }} }}\n    confers: [docs.search]\n",
        json!(server)
    );
    std::fs::write(repo.path().join("shared-agent-rules/policy.yaml"), policy).expect("a policy");
    let mut direct = Server::start(Command::new(&server));
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
    command.args(["serve", "--eager"]).current_dir(repo.path());
    let mut gateway = Server::start(command);
    for size in SIZES {
        let message = "x".repeat(size);
        let (mut alone, mut through) = (Vec::new(), Vec::new());
        for call in 0..CALLS + 20 {
            let (a, b) = (direct.echo(&message), gateway.echo(&message));
            // The first calls warm both sides up.
            if call >= 20 {
                alone.push(a);
                through.push(b);
            }
        }
        let (alone, through) = (median(alone), median(through));
        println!(
            "{size} bytes: {alone:?} direct, {through:?} through the gateway, {:?} added (medians of {CALLS})",
            through.saturating_sub(alone)
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

struct Server(Child, ChildStdin, BufReader<ChildStdout>, u64);

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
        let (input, output) = (child.stdin.take().expect("input"), child.stdout.take().expect("output"));
        let mut server = Self(child, input, BufReader::new(output), 0);
        let client = json!({ "name": "bench", "version": "1" });
        server.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        writeln!(server.1, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).expect("a pipe");
        server
    }

    fn echo(&mut self, message: &str) -> Duration {
        let began = Instant::now();
        let answer = self.ask("tools/call", &json!({ "name": "echo", "arguments": { "message": message } }));
        let took = began.elapsed();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.len() >= message.len(), "{answer}");
        took
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.3 += 1;
        let question = json!({ "jsonrpc": "2.0", "id": self.3, "method": method, "params": params });
        writeln!(self.1, "{question}").expect("a pipe");
        loop {
            let mut line = String::new();
            assert!(self.2.read_line(&mut line).expect("a pipe") > 0, "it ended");
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["id"] == self.3 {
                return message;
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
