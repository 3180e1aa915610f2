//! A server behind an address: streamable HTTP. Each message is a POST; the answer is one JSON document or a
//! stream of events that ends with it. A stream that breaks off before it is taken up again where it was.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use sse_stream::SseByteStream;

use super::limits::Limits;
use super::peer::{self, Peer};
use super::problem::Problem;
use super::tls;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
const CONNECT: Duration = Duration::from_secs(20);
/// How often a stream is taken up again that brings nothing new.
const AGAIN: u32 = 5;
/// The wait before it where the server names none, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// A connection.
pub(super) struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
    /// What later requests carry beside them: session and version.
    learnt: Mutex<HeaderMap>,
    peer: Arc<Peer>,
    max: usize,
}

impl Http {
    /// Prepares; nothing is sent yet.
    pub(super) fn new(
        url: &str,
        headers: &[(String, String)],
        peer: &Arc<Peer>,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        let declared = |what: String| Problem::Declaration(what);
        let url: Url = url.parse().map_err(|error| declared(format!("`url` is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(declared(format!("`{}` addresses are not understood", url.scheme())));
        }
        let map = sensitive(headers)?;
        let client = client(&url)?;
        let learnt = Mutex::new(HeaderMap::new());
        Ok(Self { client, url, headers: map, learnt, peer: Arc::clone(peer), max: limits.message })
    }

    /// The version that was agreed on.
    pub(super) fn agreed(&self, version: &str) {
        if let Ok(value) = HeaderValue::from_str(version) {
            self.learnt().insert(VERSION, value);
        }
    }

    /// Sends one message and takes everything that is answered.
    pub(super) async fn send(&self, message: &Value) -> Result<(), Problem> {
        let id = message.get("id").and_then(Value::as_u64).filter(|_| message.get("method").is_some());
        let mut unsent = vec![message.clone()];
        while let Some(message) = unsent.pop() {
            let response = self.post(&message).await?;
            unsent.extend(self.answered(response, id).await?);
        }
        Ok(())
    }

    fn learnt(&self) -> MutexGuard<'_, HeaderMap> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn post(&self, message: &Value) -> Result<Response, Problem> {
        let learnt = self.learnt().clone();
        let begun = learnt.contains_key(SESSION);
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).headers(learnt);
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(message.to_string());
        let response = request.send().await.map_err(|error| Problem::Connection(cause(&error)))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Problem::Connection(format!(
                "it redirects (HTTP {}): declare the final address",
                status.as_u16()
            )));
        }
        if status == StatusCode::NOT_FOUND && begun {
            return Err(Problem::Session);
        }
        // Errors of the protocol come with a status of their own, and say more than it.
        let json = kind(&response).starts_with("application/json");
        if status == StatusCode::BAD_REQUEST && json {
            return self.refused(response, message, begun).await;
        }
        if !status.is_success() {
            return Err(Problem::Http { status: status.as_u16() });
        }
        if let Some(session) = response.headers().get(SESSION) {
            self.learnt().insert(SESSION, session.clone());
        }
        Ok(response)
    }

    /// Whether the address is that of the old transport: a GET opens a stream whose first event names another address.
    pub(super) async fn sends_events_alone(&self) -> bool {
        let request = self.client.get(self.url.clone()).headers(self.headers.clone());
        let Ok(response) = request.header(ACCEPT, "text/event-stream").send().await else { return false };
        if !response.status().is_success() || !kind(&response).starts_with("text/event-stream") {
            return false;
        }
        let body = Capped { inner: Box::pin(response.bytes_stream()), left: self.max };
        let mut events = pin!(SseByteStream::new(body));
        let first = std::future::poll_fn(|cx| events.as_mut().poll_next(cx)).await;
        matches!(first, Some(Ok(event)) if event.event.as_deref() == Some("endpoint"))
    }

    /// A refusal of the whole request. One that names no message, within a session, is what servers say that do not
    /// know the session and know no better status.
    async fn refused(&self, response: Response, message: &Value, begun: bool) -> Result<Response, Problem> {
        let status = response.status().as_u16();
        let body = Capped { inner: Box::pin(response.bytes_stream()), left: self.max };
        let said: Value = serde_json::from_slice(&whole(body, self.max).await?).unwrap_or_default();
        if said.get("error").is_none_or(|error| !error.is_object()) {
            return Err(Problem::Http { status });
        }
        if said.get("id").is_none_or(Value::is_null) && begun {
            return Err(Problem::Session);
        }
        Err(peer::refused(message.get("method").and_then(Value::as_str).unwrap_or("a reply"), &said["error"]))
    }

    /// Takes the messages of an answer to the request `id`; the replies to send.
    async fn answered(&self, response: Response, id: Option<u64>) -> Result<Vec<Value>, Problem> {
        let kind = kind(&response);
        let accepted = response.status() == StatusCode::ACCEPTED;
        if kind.starts_with("text/event-stream") {
            self.stream(response, id).await?;
            return Ok(Vec::new());
        }
        let body = Capped { inner: Box::pin(response.bytes_stream()), left: self.max };
        let bytes = whole(body, self.max).await?;
        if accepted || bytes.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let message = serde_json::from_slice(&bytes)
            .map_err(|_| Problem::Malformed(format!("it answers with `{kind}` that is no JSON")))?;
        Ok(self.peer.take(message))
    }

    /// Follows a stream until it has brought the answer to `id`, over as many connections as the server makes of it.
    async fn stream(&self, response: Response, id: Option<u64>) -> Result<(), Problem> {
        let mut at = Position::default();
        let mut ended = self.events(response, &mut at).await;
        while let (Some(id), Some(event)) = (id, at.event.clone()) {
            if matches!(ended, Err(Problem::TooLarge(_))) || !self.peer.waits(id) || at.idle >= AGAIN {
                break;
            }
            tokio::time::sleep(at.wait.unwrap_or(WAIT.0).min(WAIT.1)).await;
            at.idle += 1;
            ended = match self.resumed(&event).await {
                Ok(response) => self.events(response, &mut at).await,
                Err(Problem::Connection(why)) => Err(Problem::Connection(why)),
                Err(problem) => return Err(problem),
            };
        }
        ended
    }

    /// Asks for what came after an event.
    async fn resumed(&self, event: &str) -> Result<Response, Problem> {
        let learnt = self.learnt().clone();
        let event = HeaderValue::from_str(event).map_err(|_| Problem::Malformed("an event's id is none".to_owned()))?;
        let request = self.client.get(self.url.clone()).headers(self.headers.clone()).headers(learnt);
        let request = request.header(ACCEPT, "text/event-stream").header(LAST_EVENT, event);
        let response = request.send().await.map_err(|error| Problem::Connection(cause(&error)))?;
        let status = response.status();
        if status.is_success() && kind(&response).starts_with("text/event-stream") {
            return Ok(response);
        }
        Err(Problem::Http { status: status.as_u16() })
    }

    async fn events(&self, response: Response, at: &mut Position) -> Result<(), Problem> {
        let body = Capped { inner: Box::pin(response.bytes_stream()), left: self.max };
        let mut events = pin!(SseByteStream::new(body));
        while let Some(event) = std::future::poll_fn(|cx| events.as_mut().poll_next(cx)).await {
            let event = event.map_err(|error| self.broken(&error))?;
            if let Some(wait) = event.retry {
                at.wait = Some(Duration::from_millis(wait));
            }
            if let Some(id) = event.id.filter(|id| !id.is_empty()) {
                at.event = Some(id);
            }
            let Some(data) = event.data.filter(|data| !data.trim().is_empty()) else { continue };
            at.idle = 0;
            match serde_json::from_str(&data) {
                Ok(message) => {
                    // A server that waits for a reply does not end the stream before it has it.
                    for reply in self.peer.take(message) {
                        self.post(&reply).await?;
                    }
                }
                Err(_) => self.peer.noise(&data),
            }
        }
        Ok(())
    }

    fn broken(&self, error: &sse_stream::Error) -> Problem {
        match error {
            sse_stream::Error::Body(inner) if inner.to_string() == OVER => Problem::TooLarge(self.max),
            other => Problem::Connection(other.to_string()),
        }
    }

    /// Ends the session, when there is one.
    pub(super) async fn close(self) {
        let learnt = self.learnt().clone();
        if learnt.contains_key(SESSION) {
            let request = self.client.delete(self.url.clone()).headers(self.headers.clone()).headers(learnt);
            // Servers need not know how to end a session.
            let _ = tokio::time::timeout(Duration::from_secs(2), request.send()).await;
        }
    }
}

/// Where a stream is.
#[derive(Debug, Default)]
struct Position {
    /// The last event that had an id.
    event: Option<String>,
    /// How long the server wants us to wait before we come back.
    wait: Option<Duration>,
    /// Connections in a row that brought nothing.
    idle: u32,
}

/// Declared headers; none of them is ever printed.
pub(super) fn sensitive(headers: &[(String, String)]) -> Result<HeaderMap, Problem> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad = || Problem::Declaration(format!("the header `{name}` has a name or value that cannot be sent"));
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
    }
    Ok(map)
}

/// A client for one address.
pub(super) fn client(url: &Url) -> Result<Client, Problem> {
    // Fails only when one is chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        // A redirect would carry what the headers hold to an address nobody declared.
        let builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(CONNECT);
        let here = url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        if here { builder.no_proxy() } else { builder }
    };
    let made = match builder().build() {
        // A machine that trusts no certificate at all needs none for this.
        Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
        made => made,
    };
    made.map_err(|error| Problem::Connection(cause(&error)))
}

pub(super) fn kind(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or("nothing").to_ascii_lowercase()
}

/// The innermost reason; those around it repeat the address, which may hold what is not to be shown.
pub(super) fn cause(error: &reqwest::Error) -> String {
    if let Some(words) = tls::words(error) {
        return words;
    }
    let mut error: &dyn std::error::Error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

pub(super) async fn whole(body: Capped, max: usize) -> Result<Vec<u8>, Problem> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(part) = std::future::poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        let part = part.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => Problem::TooLarge(max),
            _ => Problem::Connection(error.to_string()),
        })?;
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

const OVER: &str = "over the bound";

type Body = Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>;

/// A body that ends with an error when it has more than a number of bytes.
pub(super) struct Capped {
    inner: Body,
    left: usize,
}

/// The body of an answer, of at most `max` bytes.
pub(super) fn capped(response: Response, max: usize) -> Capped {
    Capped { inner: Box::pin(response.bytes_stream()), left: max }
}

impl Stream for Capped {
    type Item = io::Result<bytes::Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let part = match ready!(self.inner.as_mut().poll_next(cx)) {
            Some(Ok(part)) => part,
            Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(cause(&error))))),
            None => return Poll::Ready(None),
        };
        match self.left.checked_sub(part.len()) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Some(Ok(part)))
            }
            None => Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::FileTooLarge, OVER)))),
        }
    }
}
