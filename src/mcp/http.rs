//! A server behind an address: streamable HTTP. Each message is a POST; the answer is one JSON document or a
//! stream of events that ends with it.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use sse_stream::SseByteStream;

use super::limits::Limits;
use super::peer::Peer;
use super::problem::Problem;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const CONNECT: Duration = Duration::from_secs(20);

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
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = || Problem::Declaration(format!("the header `{name}` has a name or value that cannot be sent"));
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
        }
        let client = client(&url)?;
        let learnt = Mutex::new(HeaderMap::new());
        Ok(Self { client, url, headers: map, learnt, peer: Arc::clone(peer), max: limits.message })
    }

    /// The version that was agreed on.
    pub(super) fn agreed(&self, version: &str) {
        if let Ok(value) = HeaderValue::from_str(version) {
            self.learnt.lock().unwrap_or_else(PoisonError::into_inner).insert(VERSION, value);
        }
    }

    /// Sends one message and takes everything that is answered.
    pub(super) async fn send(&self, message: &Value) -> Result<(), Problem> {
        let mut unsent = vec![message.clone()];
        while let Some(message) = unsent.pop() {
            let response = self.post(&message).await?;
            unsent.extend(self.answered(response).await?);
        }
        Ok(())
    }

    async fn post(&self, message: &Value) -> Result<Response, Problem> {
        let learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
        // Errors of the protocol come with a status of their own, and say more than it.
        let json = kind(&response).starts_with("application/json");
        let told = status == StatusCode::BAD_REQUEST && json;
        if !status.is_success() && !told {
            return Err(Problem::Http { status: status.as_u16() });
        }
        if let Some(session) = response.headers().get(SESSION) {
            self.learnt.lock().unwrap_or_else(PoisonError::into_inner).insert(SESSION, session.clone());
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

    /// Takes the messages of an answer; the replies to send.
    async fn answered(&self, response: Response) -> Result<Vec<Value>, Problem> {
        let kind = kind(&response);
        let accepted = response.status() == StatusCode::ACCEPTED;
        let body = capped(response, self.max);
        if kind.starts_with("text/event-stream") {
            return self.events(body).await;
        }
        let bytes = whole(body, self.max).await?;
        if accepted || bytes.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let message = serde_json::from_slice(&bytes)
            .map_err(|_| Problem::Malformed(format!("it answers with `{kind}` that is no JSON")))?;
        Ok(self.peer.take(message))
    }

    async fn events(&self, body: Capped) -> Result<Vec<Value>, Problem> {
        let mut events = pin!(SseByteStream::new(body));
        while let Some(event) = std::future::poll_fn(|cx| events.as_mut().poll_next(cx)).await {
            let event = event.map_err(|error| self.broken(&error))?;
            let Some(data) = event.data.filter(|data| !data.trim().is_empty()) else { continue };
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
        Ok(Vec::new())
    }

    fn broken(&self, error: &sse_stream::Error) -> Problem {
        match error {
            sse_stream::Error::Body(inner) if inner.to_string() == OVER => Problem::TooLarge(self.max),
            other => Problem::Connection(other.to_string()),
        }
    }

    /// Ends the session, when there is one.
    pub(super) async fn close(self) {
        let learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if learnt.contains_key(SESSION) {
            let request = self.client.delete(self.url.clone()).headers(self.headers.clone()).headers(learnt);
            // Servers need not know how to end a session.
            let _ = tokio::time::timeout(Duration::from_secs(2), request.send()).await;
        }
    }
}

/// A client for one address.
pub(super) fn client(url: &Url) -> Result<Client, Problem> {
    // Fails only when one is chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A redirect would carry what the headers hold to an address nobody declared.
    let mut builder = Client::builder().redirect(redirect::Policy::none()).connect_timeout(CONNECT);
    if url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]")) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| Problem::Connection(error.to_string()))
}

pub(super) fn kind(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or("nothing").to_ascii_lowercase()
}

/// The innermost reason; those around it repeat the address, which may hold what is not to be shown.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    let text = error.to_string();
    if text.contains("invalid peer certificate") {
        return format!("its certificate is not trusted on this machine ({text})");
    }
    text
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
