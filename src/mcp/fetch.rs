//! One request of a declared web interface: nothing is followed, everything is bounded.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Url};

use super::http::{capped, cause, client, kind, sensitive, whole};
use super::problem::Problem;

/// What was answered.
#[derive(Debug)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The type that it says it is.
    pub kind: String,
    /// The body.
    pub bytes: Vec<u8>,
}

/// Sends a request; with a body it is a POST of JSON, without one a GET.
///
/// # Errors
/// No answer in time, a redirect, or a body of more than `max` bytes.
pub async fn fetch(
    url: &str,
    headers: &[(String, String)],
    body: Option<String>,
    time: Duration,
    max: usize,
) -> Result<Fetched, Problem> {
    let url: Url = url.parse().map_err(|error| Problem::Declaration(format!("the address is none: {error}")))?;
    let map = sensitive(headers)?;
    let sending = async {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut request = client(&url)?.request(method, url).headers(map);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(|error| Problem::Connection(cause(&error)))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Problem::Connection(format!("it redirects (HTTP {}), which is not followed", status.as_u16())));
        }
        let kind = kind(&response);
        let bytes = whole(capped(response, max), max).await?;
        Ok(Fetched { status: status.as_u16(), kind, bytes })
    };
    let timed_out = || Problem::Time { method: "the request".to_owned(), time };
    tokio::time::timeout(time, sending).await.map_err(|_| timed_out())?
}
