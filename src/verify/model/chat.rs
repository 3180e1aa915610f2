//! Chat completions.

use serde_json::{Value, json};

use super::digest::{Digest, list, text};
use super::reply::{Reply, Usage};
use super::script::Answer;

pub(super) fn digest(body: &Value) -> Digest {
    let mut digest = Digest::default();
    for tool in list(&body["tools"]) {
        let name = tool["function"]["name"].as_str().or_else(|| tool["custom"]["name"].as_str());
        let name = name.or_else(|| tool["type"].as_str()).unwrap_or_default();
        digest.offer(name.to_owned(), tool);
    }
    for message in list(&body["messages"]) {
        let content = text(&message["content"]);
        match message["role"].as_str() {
            Some("user") => digest.user(content),
            Some("system" | "developer") => digest.system_line(&content),
            Some("tool") => digest.results.push(content),
            _ => {}
        }
    }
    digest
}

pub(super) fn reply(digest: &Digest, answer: &Answer, usage: Usage, id: &str) -> Reply {
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            json!({
                "index": index, "id": format!("call_{id}_{index}"), "type": "function",
                "function": { "name": call.name, "arguments": call.input.arguments().to_string() },
            })
        })
        .collect();
    let usage = json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output,
    });
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let head = |object: &str, choices: Value| json!({ "id": format!("chatcmpl_{id}"), "object": object, "created": 1_700_000_000, "model": digest.model, "choices": choices });
    if !digest.stream {
        let mut message = json!({ "role": "assistant", "content": answer.text });
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        let mut full = head("chat.completion", json!([{ "index": 0, "finish_reason": finish, "message": message }]));
        full["usage"] = usage;
        return Reply::Document(full);
    }
    let chunk = |delta: Value, finish: Option<&str>| {
        head("chat.completion.chunk", json!([{ "index": 0, "finish_reason": finish, "delta": delta }]))
    };
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": answer.text.as_deref().unwrap_or("") }), None)];
    if !calls.is_empty() {
        chunks.push(chunk(json!({ "tool_calls": calls }), None));
    }
    chunks.push(chunk(json!({}), Some(finish)));
    let mut last = head("chat.completion.chunk", json!([]));
    last["usage"] = usage;
    chunks.push(last);
    let data = chunks.into_iter().map(|c| (None, c.to_string()));
    Reply::Events(data.chain([(None, "[DONE]".to_owned())]).collect())
}
