//! Responses with items.

use serde_json::{Value, json};

use super::digest::{Digest, list, text};
use super::reply::{Reply, Usage, typed};
use super::script::{Answer, Call, Input};

/// The namespace of tools that have none of their own.
const PLAIN: &str = "functions";

pub(super) fn digest(body: &Value) -> Digest {
    let mut digest = Digest { system: text(&body["instructions"]), ..Digest::default() };
    for tool in list(&body["tools"]) {
        offer(&mut digest, tool, "");
    }
    if let Some(text) = body["input"].as_str() {
        digest.user(text.to_owned());
    }
    for item in list(&body["input"]) {
        let content = text(&item["content"]);
        match item["type"].as_str().unwrap_or("message") {
            "message" => match item["role"].as_str() {
                Some("user") => digest.user(content),
                Some("assistant") => {}
                _ => digest.system_line(&content),
            },
            "additional_tools" => {
                for tool in list(&item["tools"]) {
                    offer(&mut digest, tool, "");
                }
            }
            "agent_message" => digest.user(if content.is_empty() { item.to_string() } else { content }),
            kind if kind.ends_with("_output") => {
                let output = &item["output"];
                let words = text(output);
                digest.results.push(if words.is_empty() { output.to_string() } else { words });
            }
            _ => {}
        }
    }
    digest
}

fn offer(digest: &mut Digest, tool: &Value, namespace: &str) {
    let name = tool["name"].as_str().or_else(|| tool["type"].as_str()).unwrap_or_default();
    if tool["type"] == "namespace" {
        for inner in list(&tool["tools"]) {
            offer(digest, inner, if name == PLAIN { "" } else { name });
        }
    } else if namespace.is_empty() {
        digest.offer(name.to_owned(), tool);
    } else {
        digest.offer(format!("{namespace}.{name}"), tool);
    }
}

pub(super) fn reply(digest: &Digest, answer: &Answer, usage: Usage, id: &str) -> Reply {
    let mut items: Vec<Value> = Vec::new();
    if let Some(text) = answer.text.as_ref().or(answer.calls.is_empty().then_some(&String::new())) {
        items.push(json!({
            "type": "message", "id": format!("msg_{id}"), "status": "completed", "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }));
    }
    items.extend(answer.calls.iter().enumerate().map(|(index, call)| item(call, &format!("{id}_{index}"))));
    let full = json!({
        "id": format!("resp_{id}"), "object": "response", "created_at": 1_700_000_000, "status": "completed",
        "model": digest.model, "output": items, "end_turn": answer.calls.is_empty(),
        "usage": {
            "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input + usage.output,
        },
    });
    if digest.stream { stream(full, &items) } else { Reply::Document(full) }
}

fn item(call: &Call, id: &str) -> Value {
    let (namespace, name) = match call.name.split_once('.') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, call.name.as_str()),
    };
    let mut item = match &call.input {
        Input::Text(text) => json!({ "type": "custom_tool_call", "id": format!("ctc_{id}"), "input": text }),
        Input::Arguments(_) => {
            json!({ "type": "function_call", "id": format!("fc_{id}"), "arguments": call.input.arguments().to_string() })
        }
    };
    item["status"] = json!("completed");
    item["call_id"] = json!(format!("call_{id}"));
    item["name"] = json!(name);
    if let Some(namespace) = namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

fn stream(full: Value, items: &[Value]) -> Reply {
    let mut started = full.clone();
    started["status"] = json!("in_progress");
    started["output"] = json!([]);
    started["usage"] = Value::Null;
    let mut events = vec![("response.created", json!({ "type": "response.created", "response": started }))];
    for (index, item) in items.iter().enumerate() {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        if item["type"] == "message" {
            added["content"] = json!([]);
        }
        events.push((
            "response.output_item.added",
            json!({ "type": "response.output_item.added", "output_index": index, "item": added }),
        ));
        if item["type"] == "message" {
            events.push((
                "response.output_text.delta",
                json!({
                    "type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                    "content_index": 0, "delta": item["content"][0]["text"],
                }),
            ));
        }
        events.push((
            "response.output_item.done",
            json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        ));
    }
    events.push(("response.completed", json!({ "type": "response.completed", "response": full })));
    typed(events)
}
