//! Generated content with parts.

use serde_json::{Value, json};

use super::digest::{Digest, list, text};
use super::reply::{Reply, Usage};
use super::script::Answer;

pub(super) fn digest(body: &Value) -> Digest {
    let either = |a: &str, b: &str| if body[a].is_null() { body[b].clone() } else { body[a].clone() };
    let mut digest =
        Digest { system: text(&either("systemInstruction", "system_instruction")["parts"]), ..Digest::default() };
    for tool in list(&body["tools"]) {
        for (key, value) in tool.as_object().into_iter().flatten() {
            if matches!(key.as_str(), "functionDeclarations" | "function_declarations") {
                for function in list(value) {
                    digest.offer(function["name"].as_str().unwrap_or_default().to_owned(), function);
                }
            } else {
                // A tool of the provider itself, such as its search.
                digest.offer(key.clone(), tool);
            }
        }
    }
    for content in list(&body["contents"]).iter().filter(|c| c["role"] != "model") {
        let parts = list(&content["parts"]);
        let results = parts.iter().map(|p| &p["functionResponse"]).filter(|r| !r.is_null());
        digest.results.extend(results.map(|r| words(&r["response"])));
        let words: Vec<String> = parts.iter().map(text).filter(|t| !t.is_empty()).collect();
        digest.user(words.join("\n"));
    }
    digest
}

/// The texts of a response; hosts name them as they like.
fn words(response: &Value) -> String {
    let texts: Vec<&str> = response.as_object().into_iter().flatten().filter_map(|(_, v)| v.as_str()).collect();
    if texts.is_empty() { response.to_string() } else { texts.join("\n") }
}

pub(super) fn reply(digest: &Digest, answer: &Answer, usage: Usage, id: &str) -> Reply {
    let mut parts: Vec<Value> = Vec::new();
    if answer.text.is_some() || answer.calls.is_empty() {
        parts.push(json!({ "text": answer.text.as_deref().unwrap_or("ok") }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        parts.push(json!({
            "functionCall": { "id": format!("call_{id}_{index}"), "name": call.name, "args": call.input.arguments() },
        }));
    }
    let full = json!({
        "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }],
        "modelVersion": digest.model,
        "usageMetadata": {
            "promptTokenCount": usage.input, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        },
    });
    if digest.stream { Reply::Events(vec![(None, full.to_string())]) } else { Reply::Document(full) }
}
