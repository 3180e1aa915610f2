//! A connection to one server.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Http;
use super::launch::{Launch, Transport};
use super::limits::Limits;
use super::listing::{self, Listing};
use super::peer::Peer;
use super::problem::{Failed, Problem};
use super::stdio::Stdio;
use super::told::Listening;
use super::{KNOWN, PROTOCOL};
use crate::text::redact;

/// The version of servers that know no handshake.
const NEWEST: &str = "2026-07-28";
/// How long is waited to learn why a handshake was refused.
const EXPLAIN: Duration = Duration::from_secs(5);
/// How long a server may take to agree to a level of its log.
const LEVEL: Duration = Duration::from_secs(2);

/// A server that answered the handshake. Dropping it ends the program and all that it started.
pub struct Client {
    pub(super) peer: Arc<Peer>,
    link: Link,
    limits: Limits,
    secrets: Vec<String>,
    welcome: Value,
}

/// Nobody waits for an answer any more, however that came about.
struct Forgotten<'a>(&'a Peer, u64);

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

enum Link {
    Stdio(Stdio),
    Http(Box<Http>),
}

impl Client {
    /// Starts or reaches a server, and agrees on a version of the protocol.
    ///
    /// # Errors
    /// It cannot be started or reached, does not answer in time, or speaks no version that is known here.
    pub async fn open(launch: &Launch, limits: Limits) -> Result<Self, Failed> {
        Self::begin(launch, limits)?.greeted().await
    }

    /// Starts a server, or prepares to reach it; nothing is said yet, and nothing may be asked before [`Self::greeted`].
    ///
    /// # Errors
    /// It cannot be started, or its address is none.
    pub fn begin(launch: &Launch, limits: Limits) -> Result<Self, Problem> {
        let peer = Arc::new(Peer::default());
        let link = match &launch.transport {
            Transport::Stdio { program, args, env, folder } => {
                Link::Stdio(Stdio::start(program, args, env, folder, &peer, &limits)?)
            }
            Transport::Http { url, headers } => Link::Http(Box::new(Http::new(url, headers, &peer, &limits)?)),
        };
        Ok(Self { peer, link, limits, secrets: launch.secrets.clone(), welcome: Value::Null })
    }

    /// Agrees on a version of the protocol.
    ///
    /// # Errors
    /// It does not answer in time, or speaks no version that is known here.
    pub async fn greeted(mut self) -> Result<Self, Failed> {
        match self.greet().await {
            Ok(()) => Ok(self),
            Err(problem) => Err(self.failed(problem).await),
        }
    }

    async fn greet(&mut self) -> Result<(), Problem> {
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": "rolecast", "version": env!("CARGO_PKG_VERSION") },
        });
        self.welcome = match self.request("initialize", params, self.limits.start).await {
            Ok(welcome) => welcome,
            Err(problem) => return Err(self.explained(problem).await),
        };
        let version = self.welcome.get("protocolVersion").and_then(Value::as_str).unwrap_or("").to_owned();
        if !KNOWN.contains(&version.as_str()) {
            return Err(Problem::Version(version));
        }
        if let Link::Http(http) = &self.link {
            http.agreed(&version);
        }
        self.notify("notifications/initialized", json!({})).await
    }

    /// A refused handshake by what the server is: one that knows only the newest protocol, or only the oldest transport.
    async fn explained(&self, problem: Problem) -> Problem {
        let refused = matches!(&problem, Problem::Refused { .. } | Problem::Http { status: 400 | 404 | 405 });
        if !refused {
            return problem;
        }
        if let Link::Http(http) = &self.link
            && tokio::time::timeout(EXPLAIN, http.sends_events_alone()).await == Ok(true)
        {
            return Problem::EventsAlone;
        }
        let params = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": { "name": "rolecast", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        } });
        if let Link::Http(http) = &self.link {
            http.agreed(NEWEST);
        }
        match self.request("server/discover", params, EXPLAIN.min(self.limits.start)).await {
            Ok(_) => Problem::Version(NEWEST.to_owned()),
            Err(_) => problem,
        }
    }

    /// What it said of itself: the result of `initialize`, with every field.
    pub const fn welcome(&self) -> &Value {
        &self.welcome
    }

    /// The bounds of the connection.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The first thing it wrote that is no message of the protocol.
    pub fn noise(&self) -> Option<String> {
        self.peer.first_noise().map(|text| redact::body(&text, &self.secrets))
    }

    /// The end of its standard error, without secrets; empty for a remote server.
    pub fn stderr(&self) -> String {
        match &self.link {
            Link::Stdio(stdio) => stdio.stderr(&self.secrets),
            Link::Http(_) => String::new(),
        }
    }

    /// A problem with what the server said before it, both without secrets.
    pub async fn failed(mut self, problem: Problem) -> Failed {
        if let Link::Stdio(stdio) = &mut self.link {
            stdio.settle().await;
        }
        let problem = match problem {
            Problem::Refused { method, code, message } => {
                Problem::Refused { method, code, message: redact::body(&message, &self.secrets) }
            }
            other => other,
        };
        let stderr = self.stderr();
        self.close().await;
        Failed { problem, stderr }
    }

    /// Asks for all tools.
    ///
    /// # Errors
    /// No answer, none of the protocol, or a list without end.
    pub async fn tools(&self) -> Result<Listing, Problem> {
        listing::tools(self).await
    }

    /// Calls a tool; the result as it was answered. Without arguments the server is sent none.
    ///
    /// # Errors
    /// No answer in time, or an error of the protocol. A tool's own error is a result.
    pub async fn call(&self, tool: &str, arguments: Option<Value>) -> Result<Value, Problem> {
        let mut params = json!({ "name": tool });
        if let Some(arguments) = arguments {
            params["arguments"] = arguments;
        }
        self.request("tools/call", params, self.limits.call).await
    }

    /// As [`Self::call`], for at most `time`, and until `stop` comes to its end: then the server is told so. What the
    /// server says meanwhile makes it no longer.
    ///
    /// # Errors
    /// As [`Self::call`]; [`Problem::Stopped`].
    pub async fn call_until(
        &self,
        tool: &str,
        arguments: Value,
        time: Duration,
        stop: impl Future<Output = ()>,
        listening: Option<Listening>,
    ) -> Result<Value, Problem> {
        self.request_until("tools/call", json!({ "name": tool, "arguments": arguments }), time, stop, listening).await
    }

    /// Whether the server said since this was last asked that its list of tools changed.
    pub fn list_changed(&self) -> bool {
        self.peer.list_changed()
    }

    /// Asks for messages for a log from this level on, where the server has such.
    pub async fn log_from(&self, level: &str) {
        if self.welcome.pointer("/capabilities/logging").is_some() {
            // What it sends anyway is looked at one by one.
            let _ = self.request("logging/setLevel", json!({ "level": level }), LEVEL.min(self.limits.list)).await;
        }
    }

    /// Whether it has not ended.
    pub fn is_open(&self) -> bool {
        self.peer.is_open()
    }

    /// The process group that it leads, when it is a program.
    pub const fn group(&self) -> Option<i32> {
        match &self.link {
            Link::Stdio(stdio) => stdio.group(),
            Link::Http(_) => None,
        }
    }

    /// Asks something; the result with every field.
    ///
    /// # Errors
    /// No answer in time, an error, or the end of the connection.
    pub async fn request(&self, method: &str, params: Value, time: Duration) -> Result<Value, Problem> {
        self.request_until(method, params, time, std::future::pending(), None).await
    }

    async fn request_until(
        &self,
        method: &str,
        mut params: Value,
        time: Duration,
        stop: impl Future<Output = ()>,
        listening: Option<Listening>,
    ) -> Result<Value, Problem> {
        let (id, mut answer) = self.peer.expect(method)?;
        let _forgotten = Forgotten(&self.peer, id);
        if let Some(listening) = listening {
            if listening.progress {
                params["_meta"] = json!({ "progressToken": id });
            }
            self.peer.listen(id, listening);
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let exchange = async {
            let mut sending = pin!(self.send(&message));
            let lost = || Problem::Malformed(format!("it ends its answer to `{method}` without one"));
            tokio::select! {
                biased;
                got = &mut answer => return got.unwrap_or_else(|_| Err(lost())),
                sent = &mut sending => sent?,
            }
            match &self.link {
                // The program answers when it likes.
                Link::Stdio(_) => answer.await.unwrap_or_else(|_| Err(lost())),
                // The whole answer has been read.
                Link::Http(_) => answer.try_recv().unwrap_or_else(|_| Err(lost())),
            }
        };
        let (problem, reason) = tokio::select! {
            biased;
            answer = exchange => return answer,
            () = stop => (Problem::Stopped, "not wanted any more"),
            () = tokio::time::sleep(time) => (Problem::Time { method: method.to_owned(), time }, "time-out"),
        };
        self.peer.forget(id);
        // The specification forbids to cancel the handshake.
        if method != "initialize" {
            let told = self.notify("notifications/cancelled", json!({ "requestId": id, "reason": reason }));
            // Whoever does not answer may not read either.
            let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
        }
        Err(problem)
    }

    /// Tells something that has no answer.
    ///
    /// # Errors
    /// It cannot be sent.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), Problem> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await
    }

    async fn send(&self, message: &Value) -> Result<(), Problem> {
        match &self.link {
            Link::Stdio(stdio) => stdio.send(message).await,
            Link::Http(http) => http.send(message).await,
        }
    }

    /// Ends the connection: asked first, then ended with all that it started.
    pub async fn close(self) {
        match self.link {
            Link::Stdio(stdio) => stdio.close().await,
            Link::Http(http) => http.close().await,
        }
    }
}
