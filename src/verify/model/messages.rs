//! Messages with content blocks.

use serde_json::{Value, json};

use super::digest::{Digest, list, text};
use super::reply::{Reply, Usage, typed};
use super::script::Answer;

pub(super) fn digest(body: &Value) -> Digest {
    let mut digest = Digest { system: text(&body["system"]), ..Digest::default() };
    for tool in list(&body["tools"]) {
        let name = tool["name"].as_str().or_else(|| tool["type"].as_str()).unwrap_or_default();
        digest.offer(name.to_owned(), tool);
    }
    for message in list(&body["messages"]) {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("system") => digest.system_line(&text(content)),
            Some("user") => {
                let of = |kind: &'static str| list(content).iter().filter(move |b| b["type"] == kind);
                digest.results.extend(of("tool_result").map(|b| text(&b["content"])));
                let words: Vec<String> = of("text").map(text).collect();
                digest.user(content.as_str().map_or_else(|| words.join("\n"), str::to_owned));
            }
            _ => {}
        }
    }
    digest
}

pub(super) fn reply(digest: &Digest, answer: &Answer, usage: Usage, id: &str) -> Reply {
    let mut content: Vec<Value> = Vec::new();
    if answer.text.is_some() || answer.calls.is_empty() {
        content.push(json!({ "type": "text", "text": answer.text.as_deref().unwrap_or("") }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use", "id": format!("toolu_{id}_{index}"), "name": call.name, "input": call.input.arguments(),
        }));
    }
    let stop = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    let tokens = json!({
        "input_tokens": usage.input, "output_tokens": usage.output,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": digest.model,
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": tokens,
    });
    if !digest.stream {
        return Reply::Document(message);
    }
    let mut start = message;
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![("message_start", json!({ "type": "message_start", "message": start }))];
    for (index, block) in content.iter().enumerate() {
        events.extend(block_events(index, block));
    }
    events.push((
        "message_delta",
        json!({
            "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
            "usage": { "output_tokens": usage.output },
        }),
    ));
    events.push(("message_stop", json!({ "type": "message_stop" })));
    typed(events)
}

fn block_events(index: usize, block: &Value) -> [(&'static str, Value); 3] {
    let mut empty = block.clone();
    let delta = if block["type"] == "text" {
        empty["text"] = json!("");
        json!({ "type": "text_delta", "text": block["text"] })
    } else {
        empty["input"] = json!({});
        json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
    };
    [
        ("content_block_start", json!({ "type": "content_block_start", "index": index, "content_block": empty })),
        ("content_block_delta", json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": index })),
    ]
}
