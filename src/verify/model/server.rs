//! The server: 127.0.0.1, a port of the system's choice, and a bounded life.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::model::adapter::Protocol;

use super::digest::Digest;
use super::reply::{Reply, Usage, document};
use super::script::{Answer, Script};
use super::wire::Wire;
use super::{chat, generate, messages, responses};
use crate::text::redact;

/// Largest request that is taken, in bytes.
const MAX_BODY: usize = 32 << 20;

/// How long and how much a server answers.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// After this it is gone.
    pub life: Duration,
    /// After so many requests every answer is plain text, so that no host can loop for ever.
    pub requests: usize,
    /// Tokens that it says a request takes; `None` = by its size.
    pub tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { life: Duration::from_secs(600), requests: 200, tokens: None }
    }
}

/// One request and what was answered.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What it asked for.
    pub wire: Wire,
    /// Path and query, without secrets.
    pub path: String,
    /// The other host that it was meant for, when we were taken for a proxy.
    pub stray: Option<String>,
    /// Header names and values, without secrets.
    pub headers: Vec<(String, String)>,
    /// Size of the body in bytes.
    pub bytes: usize,
    /// What matters of it.
    pub digest: Digest,
    /// The whole body, without secrets; null when it was no JSON.
    pub body: Value,
    /// The answer.
    pub answer: Answer,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    limits: Limits,
    recorded: Mutex<Vec<Recorded>>,
}

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server; the script that it plays may hold its address.
    ///
    /// # Errors
    /// No port on the loopback interface.
    pub async fn start(script: impl FnOnce(&str) -> Script, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let script = script(&format!("http://{address}"));
        let shared = Arc::new(Shared { script, limits, recorded: Mutex::default() });
        let router = Router::new().fallback(handle).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // Neither the end of its life nor a failing socket is anybody's error: the host finds nobody.
            let _ = tokio::time::timeout(limits.life, axum::serve(listener, router)).await;
        });
        Ok(Self { address, shared, task })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order of arrival.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.shared.recorded.lock().map(|r| r.clone()).unwrap_or_default()
    }
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_BODY).await else {
        return document(StatusCode::PAYLOAD_TOO_LARGE, &json!({ "error": { "message": "the request is too large" } }));
    };
    let raw = String::from_utf8_lossy(&bytes);
    let path = parts.uri.path().to_owned();
    let wire = if stray(&parts).is_some() { Wire::Other } else { Wire::of(&path) };
    let body: Value = serde_json::from_str(&raw).unwrap_or_default();
    let digest = match wire {
        Wire::Answer(protocol) | Wire::Count(protocol) => Digest::of(protocol, &path, &body),
        Wire::Models | Wire::Other => Digest::default(),
    };
    let (number, answer) = record(&shared, &parts, wire, &raw, digest.clone());
    if stray(&parts).is_some() {
        return document(StatusCode::FORBIDDEN, &json!({ "error": { "message": "there is no network" } }));
    }
    let usage = Usage { input: shared.limits.tokens.unwrap_or(bytes.len() as u64 / 4), output: 25 };
    respond(wire, &path, &digest, &answer, usage, &format!("{number:04}"))
}

/// Chooses the answer and keeps both; the number of the request makes ids.
fn record(
    shared: &Shared,
    parts: &axum::http::request::Parts,
    wire: Wire,
    raw: &str,
    digest: Digest,
) -> (usize, Answer) {
    let (headers, secrets) = headers(&parts.headers);
    let mut entry = Recorded {
        wire,
        path: redact::query(parts.uri.path_and_query().map_or("", axum::http::uri::PathAndQuery::as_str)),
        stray: stray(parts),
        headers,
        bytes: raw.len(),
        body: serde_json::from_str(&redact::body(raw, &secrets)).unwrap_or_default(),
        digest,
        answer: Answer::default(),
    };
    let Ok(mut recorded) = shared.recorded.lock() else { return (0, entry.answer) };
    let number = recorded.len() + 1;
    if matches!(wire, Wire::Answer(_)) {
        entry.answer = if number > shared.limits.requests {
            Answer::text("Stopped: too many requests.")
        } else {
            shared.script.answer(&entry.digest, raw)
        };
    }
    let answer = entry.answer.clone();
    // The bound holds for memory as well.
    if number <= shared.limits.requests * 2 {
        recorded.push(entry);
    }
    (number, answer)
}

/// A request for another host has that in its target.
fn stray(parts: &axum::http::request::Parts) -> Option<String> {
    let host = parts.uri.host()?;
    (!matches!(host, "127.0.0.1" | "localhost")).then(|| host.to_owned())
}

fn headers(map: &HeaderMap) -> (Vec<(String, String)>, Vec<String>) {
    let mut secrets = Vec::new();
    let shown = map
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            if redact::secret(name.as_str()) {
                secrets.push(value);
                (name.to_string(), redact::REDACTED.to_owned())
            } else {
                (name.to_string(), value)
            }
        })
        .collect();
    (shown, secrets)
}

fn respond(wire: Wire, path: &str, digest: &Digest, answer: &Answer, usage: Usage, id: &str) -> Response {
    match wire {
        Wire::Answer(protocol) => {
            let reply: fn(&Digest, &Answer, Usage, &str) -> Reply = match protocol {
                Protocol::Responses => responses::reply,
                Protocol::Chat => chat::reply,
                Protocol::Messages => messages::reply,
                Protocol::Generate => generate::reply,
            };
            reply(digest, answer, usage, id).into_response()
        }
        Wire::Count(Protocol::Generate) => document(StatusCode::OK, &json!({ "totalTokens": usage.input })),
        Wire::Count(_) => document(StatusCode::OK, &json!({ "input_tokens": usage.input })),
        Wire::Models => document(StatusCode::OK, &models()),
        // A role that gets through to the network asks for such a path; the record is what counts.
        Wire::Other if path.starts_with("/probe/") => (StatusCode::OK, "probe").into_response(),
        Wire::Other => document(StatusCode::NOT_FOUND, &json!({ "error": { "message": "not scripted" } })),
    }
}

fn models() -> Value {
    json!({
        "object": "list", "models": [],
        "data": [{
            "id": "scripted", "object": "model", "type": "model", "display_name": "scripted",
            "created": 1_700_000_000, "created_at": "2023-11-14T00:00:00Z", "owned_by": "scripted",
        }],
    })
}
