//! Raw requests over a socket, as hosts send them.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

fn call(name: &str, key: &str) -> Call {
    let mut args = Map::new();
    args.insert("key".into(), json!(key));
    Call { name: name.into(), input: Input::Arguments(args) }
}

fn script() -> Script {
    let rule = |name: &str, steps| Rule {
        name: name.into(),
        look: Look::User,
        text: format!("{name}-task"),
        needs_tools: true,
        steps,
    };
    let step = |calls| Step { calls, ..Step::default() };
    let last = Step { text: Some("done".into()), ..Step::default() };
    Script {
        rules: vec![
            rule("child", vec![step(vec![call("shell", "child")]), last.clone()]),
            rule("main", vec![step(vec![call("spawn", "a"), call("spawn", "b")]), last]),
        ],
        otherwise: "nothing to do".into(),
    }
}

async fn send(server: &Server, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).await.unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-very-secret\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn document(answer: &str) -> Value {
    let start = answer.find('{').unwrap();
    let end = answer.rfind('}').unwrap();
    serde_json::from_str(&answer[start..=end]).unwrap()
}

fn events(answer: &str) -> Vec<Value> {
    assert!(answer.to_lowercase().contains("content-type: text/event-stream"), "{answer}");
    answer
        .lines()
        .filter_map(|l| l.strip_prefix("data: "))
        .filter(|d| *d != "[DONE]")
        .map(|d| serde_json::from_str(d).unwrap())
        .collect()
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn start() -> Server {
    Server::start(|_| script(), Limits::default()).await.unwrap()
}

#[test]
fn responses_calls_in_a_namespace_and_freeform_and_reads_tools_wherever_they_stand() {
    run(async {
        let mut script = script();
        script.rules[1].steps[0].calls =
            vec![call("team.spawn", "a"), Call { name: "exec".into(), input: Input::Text("text(1)".into()) }];
        let server = Server::start(|_| script, Limits::default()).await.unwrap();
        let mut body = json!({
            "model": "m", "stream": true, "instructions": "system words",
            "tools": [
                { "type": "function", "name": "wait" },
                { "type": "namespace", "name": "team", "tools": [{ "type": "function", "name": "spawn", "defer_loading": true }] },
                { "type": "web_search" },
            ],
            "input": [
                { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "more" }] },
                { "type": "additional_tools", "tools": [{ "type": "namespace", "name": "functions", "tools": [{ "type": "custom", "name": "exec" }] }] },
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "main-task" }] },
            ],
        });
        let items: Vec<Value> = events(&send(&server, "/v1/responses", &body).await)
            .into_iter()
            .filter(|e| e["type"] == "response.output_item.done")
            .map(|e| e["item"].clone())
            .collect();
        assert_eq!(items[0]["type"], "function_call");
        assert_eq!((&items[0]["namespace"], &items[0]["name"]), (&json!("team"), &json!("spawn")));
        assert_eq!((&items[1]["type"], &items[1]["input"]), (&json!("custom_tool_call"), &json!("text(1)")));
        let digest = server.recorded()[0].digest.clone();
        assert_eq!(digest.tools, ["wait", "team.spawn", "web_search", "exec"]);
        assert_eq!(digest.deferred, ["team.spawn"]);
        assert_eq!(digest.system, "system words\nmore");
        // Two results end the first step; the answer is a document when none asked for a stream.
        let input = body["input"].as_array_mut().unwrap();
        input.push(json!({ "type": "function_call_output", "output": "one" }));
        input.push(json!({ "type": "custom_tool_call_output", "output": [{ "type": "input_text", "text": "two" }] }));
        body["stream"] = json!(false);
        let answer = document(&send(&server, "/v1/responses", &body).await);
        assert_eq!(answer["output"][0]["content"][0]["text"], "done");
        assert_eq!(server.recorded()[1].digest.results, ["one", "two"]);
    });
}

#[test]
fn chat_calls_and_ends_streaming_or_not() {
    run(async {
        let server = start().await;
        let mut body = json!({
            "model": "m", "stream": true,
            "tools": [{ "type": "function", "function": { "name": "spawn" } }],
            "messages": [{ "role": "system", "content": "words" }, { "role": "user", "content": "main-task" }],
        });
        let answer = send(&server, "/v1/chat/completions", &body).await;
        assert!(answer.contains("data: [DONE]"), "{answer}");
        let calls: Vec<Value> = events(&answer)
            .iter()
            .filter_map(|e| e["choices"][0]["delta"]["tool_calls"].as_array().cloned())
            .flatten()
            .collect();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[1]["function"], json!({ "name": "spawn", "arguments": "{\"key\":\"b\"}" }));
        body["stream"] = json!(false);
        body["messages"].as_array_mut().unwrap().extend([
            json!({ "role": "tool", "content": "x" }),
            json!({ "role": "tool", "content": [{ "type": "text", "text": "y" }] }),
        ]);
        let answer = document(&send(&server, "/v1/chat/completions", &body).await);
        assert_eq!(answer["choices"][0]["message"]["content"], "done");
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    });
}

#[test]
fn messages_call_count_and_tell_children_from_parents() {
    run(async {
        let server = start().await;
        let mut body = json!({
            "model": "m", "stream": true, "system": [{ "type": "text", "text": "words" }],
            "tools": [{ "name": "shell" }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "reminder" }, { "type": "text", "text": "child-task" }] }],
        });
        let all = events(&send(&server, "/v1/messages?beta=true", &body).await);
        assert_eq!(all[1]["content_block"]["name"], "shell");
        assert_eq!(all[2]["delta"]["partial_json"], "{\"key\":\"child\"}");
        assert_eq!(all.last().unwrap()["type"], "message_stop");
        body["stream"] = json!(false);
        body["messages"].as_array_mut().unwrap().push(json!({ "role": "user", "content": [
            { "type": "tool_result", "content": [{ "type": "text", "text": "No such tool" }] },
        ] }));
        let answer = document(&send(&server, "/v1/messages", &body).await);
        assert_eq!((&answer["content"][0]["text"], &answer["stop_reason"]), (&json!("done"), &json!("end_turn")));
        assert_eq!(server.recorded()[1].digest.results, ["No such tool"]);
        let count = document(&send(&server, "/v1/messages/count_tokens", &body).await);
        assert!(count["input_tokens"].as_u64().unwrap() > 10);
        assert_eq!(server.recorded()[2].answer, Answer::default());
    });
}

#[test]
fn generate_calls_streaming_or_not() {
    run(async {
        let server = start().await;
        let mut body = json!({
            "systemInstruction": { "parts": [{ "text": "words" }] },
            "tools": [{ "functionDeclarations": [{ "name": "shell" }, { "name": "read" }] }, { "googleSearch": {} }],
            "contents": [{ "role": "user", "parts": [{ "text": "child-task" }] }],
        });
        let path = "/v1beta/models/some-model:streamGenerateContent?alt=sse&key=very-secret";
        let all = events(&send(&server, path, &body).await);
        let parts = &all[0]["candidates"][0]["content"]["parts"];
        assert_eq!(parts[0]["functionCall"]["name"], "shell");
        let recorded = server.recorded()[0].clone();
        assert_eq!(recorded.digest.tools, ["shell", "read", "googleSearch"]);
        assert_eq!(recorded.digest.model.as_deref(), Some("some-model"));
        assert!(recorded.path.ends_with("key=<redacted>"), "{}", recorded.path);
        body["contents"].as_array_mut().unwrap().extend([
            json!({ "role": "model", "parts": [{ "text": "child-task" }] }),
            json!({ "role": "user", "parts": [{ "functionResponse": { "response": { "error": "Unauthorized" } } }] }),
        ]);
        let answer = document(&send(&server, "/v1beta/models/some-model:generateContent", &body).await);
        assert_eq!(answer["candidates"][0]["content"]["parts"][0]["text"], "done");
        assert!(server.recorded()[1].digest.results[0].contains("Unauthorized"));
        let count = document(&send(&server, "/v1beta/models/some-model:countTokens", &body).await);
        assert!(count["totalTokens"].is_u64());
    });
}

#[test]
fn secrets_are_not_recorded_and_models_are_listed() {
    run(async {
        let server = start().await;
        let answer = send(&server, "/v1/messages", &json!({ "messages": [], "echo": "sk-very-secret" })).await;
        assert_eq!(document(&answer)["content"][0]["text"], "nothing to do");
        assert!(!format!("{:?}", server.recorded()).contains("sk-very-secret"));
        assert!(document(&send(&server, "/v1/models", &json!({})).await)["data"][0]["id"].is_string());
        assert!(send(&server, "/elsewhere", &json!({})).await.starts_with("HTTP/1.1 404"));
        assert!(send(&server, "/probe/1", &json!({})).await.starts_with("HTTP/1.1 200"));
        assert_eq!(server.recorded()[3].path, "/probe/1");
    });
}

#[test]
fn whoever_takes_the_server_for_a_proxy_is_refused_and_remembered() {
    run(async {
        let server = start().await;
        let body = json!({ "tools": [{ "name": "shell" }], "messages": [{ "role": "user", "content": "child-task" }] });
        let answer = send(&server, "http://api.example.com/v1/messages", &body).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        let recorded = server.recorded();
        assert_eq!((recorded[0].stray.as_deref(), recorded[0].wire), (Some("api.example.com"), Wire::Other));
    });
}

#[test]
fn a_host_that_loops_is_given_words_and_a_server_ends_by_itself() {
    run(async {
        let limits = Limits { life: Duration::from_millis(400), requests: 1, tokens: None };
        let server = Server::start(|_| script(), limits).await.unwrap();
        let body = json!({ "tools": [{ "name": "shell" }], "messages": [{ "role": "user", "content": "child-task" }] });
        assert_eq!(document(&send(&server, "/v1/messages", &body).await)["stop_reason"], "tool_use");
        assert_eq!(document(&send(&server, "/v1/messages", &body).await)["stop_reason"], "end_turn");
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert!(TcpStream::connect(server.url().trim_start_matches("http://")).await.is_err());
    });
}
