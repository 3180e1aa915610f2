//! Answers on the wire, streaming or not.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// An answer before it is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// One document.
    Document(Value),
    /// Server-sent events: name (if the protocol names them) and data.
    Events(Vec<(Option<&'static str>, String)>),
}

/// Tokens of a call, so that the figures of hosts are plausible.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Of the request.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// Events whose names are the `type` of their data.
pub fn typed(events: Vec<(&'static str, Value)>) -> Reply {
    Reply::Events(events.into_iter().map(|(name, data)| (Some(name), data.to_string())).collect())
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self {
            Self::Document(value) => document(StatusCode::OK, &value),
            Self::Events(events) => {
                let events = events.into_iter().map(|(name, data)| {
                    let event = Event::default().data(data);
                    Ok::<_, Infallible>(match name {
                        Some(name) => event.event(name),
                        None => event,
                    })
                });
                Sse::new(Once(events)).into_response()
            }
        }
    }
}

/// A JSON document with a status.
pub fn document(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(value.to_string())).into_response()
}

/// An iterator as a stream that never waits.
struct Once<I>(I);

impl<I: Iterator + Unpin> futures_core::Stream for Once<I> {
    type Item = I::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.next())
    }
}
