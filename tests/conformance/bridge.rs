//! The public suite speaks streamable HTTP only: this passes its messages to `rolecast serve`, one process a session,
//! and adds nothing to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;

/// By the id that is waited for; an answer comes with what was said before it.
type Waiting = Arc<Mutex<BTreeMap<String, oneshot::Sender<Vec<Value>>>>>;

struct Session {
    _child: Child,
    input: tokio::sync::Mutex<ChildStdin>,
    waiting: Waiting,
}

#[derive(Default)]
struct Bridge {
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
}

/// Runs `test` with the address of a bridge to the gateway of the repository `root`.
pub fn with(root: &Path, test: impl FnOnce(&str)) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let root = root.to_owned();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let bridge = Arc::new(Bridge::default());
            let app = Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
                let (bridge, root) = (Arc::clone(&bridge), root.clone());
                async move { bridge.handle(root, &method, &headers, &body).await }
            });
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            tokio::select! {
                served = axum::serve(listener, app) => served.unwrap(),
                _ = stopped => {}
            }
        });
    });
    test(&url);
    drop(stop);
    thread.join().unwrap();
}

fn status(status: u16) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

impl Bridge {
    async fn handle(&self, root: PathBuf, method: &Method, headers: &HeaderMap, body: &[u8]) -> Response {
        let named = headers.get("mcp-session-id").and_then(|value| value.to_str().ok()).unwrap_or_default();
        if method == Method::DELETE {
            self.sessions.lock().unwrap().remove(named);
            return status(204);
        }
        if method != Method::POST {
            return status(405);
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else { return status(400) };
        let name = if message["method"] == "initialize" { self.begin(&root) } else { named.to_owned() };
        let Some(session) = self.sessions.lock().unwrap().get(&name).cloned() else { return status(404) };
        match session.pass(&message).await {
            None => status(202),
            Some(messages) => {
                let (kind, body) = match &messages[..] {
                    [answer] => ("application/json", answer.to_string()),
                    _ => (
                        "text/event-stream",
                        messages.iter().map(|m| format!("event: message\ndata: {m}\n\n")).collect(),
                    ),
                };
                let response = Response::builder().header("content-type", kind).header("mcp-session-id", name);
                response.body(Body::from(body)).unwrap()
            }
        }
    }

    fn begin(&self, root: &Path) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.arg("serve").current_dir(root).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let waiting = Waiting::default();
        let answered = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            let mut said = Vec::new();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).expect("only messages on the standard output");
                let sender = answered.lock().unwrap().remove(&message["id"].to_string());
                said.push(message);
                if let Some(sender) = sender {
                    let _ = sender.send(std::mem::take(&mut said));
                }
            }
        });
        let mut sessions = self.sessions.lock().unwrap();
        let name = format!("session-{}", sessions.len() + 1);
        sessions.insert(name.clone(), Arc::new(Session { _child: child, input: input.into(), waiting }));
        name
    }
}

impl Session {
    /// What was said since the last answer, and the answer; none when the message wants none.
    async fn pass(&self, message: &Value) -> Option<Vec<Value>> {
        let (sender, receiver) = oneshot::channel();
        let asks = message.get("id").is_some() && message.get("method").is_some();
        if asks {
            self.waiting.lock().unwrap().insert(message["id"].to_string(), sender);
        }
        self.input.lock().await.write_all(format!("{message}\n").as_bytes()).await.ok()?;
        if !asks {
            return None;
        }
        tokio::time::timeout(Duration::from_secs(30), receiver).await.ok()?.ok()
    }
}
