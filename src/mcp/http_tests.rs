//! The client against remote servers that answer in each way the transport has.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::{Value, json};

use super::*;

type Requests = Vec<(Method, HeaderMap, Value)>;
type Seen = Arc<Mutex<Requests>>;

fn answer(status: u16, kind: &str, body: String) -> Response {
    let mut builder = Response::builder().status(status).header("content-type", kind);
    if kind == "application/json" && body.contains("protocolVersion") {
        builder = builder.header("mcp-session-id", "session-7");
    }
    builder.body(Body::from(body)).unwrap()
}

fn message(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Serves until the runtime ends; `list` makes the answer to `tools/list`.
async fn serve(list: fn(&Value) -> Response) -> (String, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let app = Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
        let kept = Arc::clone(&kept);
        async move {
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            kept.lock().unwrap().push((method, headers, asked.clone()));
            match asked["method"].as_str() {
                Some("initialize") => {
                    answer(200, "application/json", message(&asked["id"], &json!({ "protocolVersion": "2025-06-18" })))
                }
                Some("tools/list") => list(&asked["id"]),
                _ => answer(202, "text/plain", String::new()),
            }
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, seen)
}

fn tools(list: fn(&Value) -> Response) -> (Result<Listing, Failed>, Requests) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (url, seen) = serve(list).await;
        let headers = vec![("Authorization".to_owned(), "Bearer a-long-secret".to_owned())];
        let launch = Launch { name: "s".into(), transport: Transport::Http { url, headers }, secrets: vec![] };
        let limits = Limits { list: Duration::from_secs(3), message: 4096, ..Limits::default() };
        let client = Client::open(&launch, limits).await.unwrap();
        let listing = client.tools().await;
        let listing = match listing {
            Ok(listing) => {
                client.close().await;
                Ok(listing)
            }
            Err(problem) => Err(client.failed(problem).await),
        };
        let seen = seen.lock().unwrap().clone();
        (listing, seen)
    })
}

#[test]
fn session_version_and_headers_go_with_every_later_request_and_the_session_is_ended() {
    let (listing, seen) =
        tools(|id| answer(200, "application/json", message(id, &json!({ "tools": [{ "name": "a", "x": 1 }] }))));
    assert_eq!(listing.unwrap().tools, [json!({ "name": "a", "x": 1 })]);
    let header = |at: usize, name: &str| seen[at].1.get(name).map(|v| v.to_str().unwrap().to_owned());
    assert!(seen.iter().all(|(_, headers, _)| headers["authorization"] == "Bearer a-long-secret"));
    assert_eq!((header(0, "mcp-session-id"), header(0, "mcp-protocol-version")), (None, None));
    for at in 1..seen.len() {
        assert_eq!(header(at, "mcp-session-id").as_deref(), Some("session-7"));
        assert_eq!(header(at, "mcp-protocol-version").as_deref(), Some("2025-06-18"));
    }
    let asked: Vec<&str> = seen.iter().map(|(_, _, body)| body["method"].as_str().unwrap_or("")).collect();
    assert_eq!(asked, ["initialize", "notifications/initialized", "tools/list", ""]);
    assert_eq!(seen.last().unwrap().0, Method::DELETE);
}

#[test]
fn an_answer_may_be_a_stream_with_questions_before_it() {
    let (listing, seen) = tools(|id| {
        let events = [
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }).to_string(),
            json!({ "jsonrpc": "2.0", "id": "q", "method": "ping" }).to_string(),
            message(id, &json!({ "tools": [] })),
        ];
        let text: String = events.iter().map(|event| format!(": note\nevent: message\ndata: {event}\n\n")).collect();
        answer(200, "text/event-stream", text)
    });
    assert_eq!(listing.unwrap().tools.len(), 0);
    assert!(seen.iter().any(|(_, _, body)| *body == json!({ "jsonrpc": "2.0", "id": "q", "result": {} })));
}

#[test]
fn refusals_floods_redirects_and_streams_that_break_off_are_named() {
    type Case = (fn(&Value) -> Response, Problem);
    let cases: [Case; 4] = [
        (|_| answer(401, "text/plain", "who are you".into()), Problem::Http { status: 401 }),
        (
            |id| answer(200, "application/json", message(id, &json!({ "tools": "x".repeat(5000) }))),
            Problem::TooLarge(4096),
        ),
        (
            |_| answer(200, "text/event-stream", "data: {}\n\n".into()),
            Problem::Malformed("it ends its answer to `tools/list` without one".into()),
        ),
        (
            |_| answer(307, "text/plain", String::new()),
            Problem::Connection("it redirects (HTTP 307): declare the final address".into()),
        ),
    ];
    for (list, problem) in cases {
        assert_eq!(tools(list).0.unwrap_err().problem, problem);
    }
}

/// What opening a server comes to that answers each request by this.
fn opened(answers: fn(&Method, &Value) -> Response) -> Problem {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let app = Router::new().fallback(move |method: Method, body: Bytes| async move {
            answers(&method, &serde_json::from_slice(&body).unwrap_or_default())
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/sse", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let launch = Launch { name: "s".into(), transport: Transport::Http { url, headers: vec![] }, secrets: vec![] };
        let Err(failed) = Client::open(&launch, Limits::default()).await else { panic!("it was opened") };
        failed.problem
    })
}

#[test]
fn a_server_of_the_old_transport_is_told_as_one() {
    let problem = opened(|method, _| {
        if *method == Method::GET {
            answer(200, "text/event-stream", "event: endpoint\ndata: /messages?id=1\n\n".into())
        } else {
            answer(405, "text/plain", String::new())
        }
    });
    assert_eq!(problem, Problem::EventsAlone);
}

#[test]
fn a_server_that_knows_only_the_newest_protocol_is_told_as_one() {
    let problem = opened(|method, asked| {
        if *method == Method::GET {
            return answer(405, "text/plain", String::new());
        }
        match asked["method"].as_str() {
            Some("server/discover") => {
                answer(200, "application/json", message(&asked["id"], &json!({ "supportedVersions": ["2026-07-28"] })))
            }
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                answer(
                    400,
                    "application/json",
                    json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }).to_string(),
                )
            }
        }
    });
    assert_eq!(problem, Problem::Version("2026-07-28".into()));
}

#[test]
fn a_server_that_refuses_for_another_reason_keeps_its_words() {
    let problem = opened(|_, _| answer(404, "text/plain", String::new()));
    assert_eq!(problem, Problem::Http { status: 404 });
}
