//! What the primitives say of themselves, in the form in which a server says it: whoever makes tools of them treats
//! both alike.

use serde_json::{Map, Value, json};

use crate::resolve::composed::ToolArgument;
use crate::resolve::primitives::{ApiCall, Kind, Method, Primitive};

/// The primitives of every store.
pub const STORE: [&str; 6] =
    ["semantic_search", "metadata_filter", "metadata_keys", "memory_add", "memory_search", "memory_list"];

/// Longest text of a call, in characters.
const TEXT: u64 = 32_768;
/// Longest query, name or id, in characters.
const SHORT: u64 = 1024;

/// Every primitive under one name of the policy, in a fixed order.
pub fn of(primitive: &Primitive) -> Vec<Value> {
    match &primitive.kind {
        // A program that makes vectors may send texts anywhere.
        Kind::Store(store) => {
            STORE.iter().map(|name| in_store(name, store.results, store.embedder.is_some())).collect()
        }
        Kind::Api(api) => api.calls.values().map(request).collect(),
    }
}

fn in_store(name: &str, (target, limit): (u64, u64), outside: bool) -> Value {
    let limit = |what: &str| json!({ "type": "integer", "minimum": 1, "maximum": limit, "default": target, "description": format!("Most {what}.") });
    let short = |about: &str| json!({ "type": "string", "minLength": 1, "maxLength": SHORT, "description": about });
    let conversation = || short("Name of the conversation.");
    let owner = || short("Whose conversation it is; conversations of different owners are apart, even under one name.");
    let (description, properties, required, reads): (&str, Value, &[&str], bool) = match name {
        "semantic_search" => (
            "Search documents by words and by likeness, within what a filter of their metadata lets through; the best first.",
            json!({ "query": short("What to look for, in plain words."), "filter": filter(), "limit": limit("results") }),
            &["query"],
            true,
        ),
        "metadata_filter" => (
            "List the documents with exactly these metadata, in the order of their ids.",
            json!({
                "filter": filter(),
                "limit": limit("documents"),
                "after": short("The id after which to go on: `next` of the answer before."),
            }),
            &["filter"],
            true,
        ),
        "metadata_keys" => (
            "List which metadata the documents have; with `key`, which values it has, the most frequent first.",
            json!({ "key": short("A key, with dots for keys inside of it."), "filter": filter(), "limit": limit("keys or values") }),
            &[],
            true,
        ),
        "memory_add" => (
            "Add a turn to a conversation.",
            json!({
                "conversation": conversation(),
                "owner": owner(),
                "speaker": { "type": "string", "enum": ["user", "assistant", "tool"], "default": "user", "description": "Who said it." },
                "text": { "type": "string", "minLength": 1, "maxLength": TEXT, "description": "What was said." },
            }),
            &["conversation", "text"],
            false,
        ),
        "memory_search" => (
            "Search the turns of a conversation by words and by likeness; the best first.",
            json!({
                "conversation": conversation(),
                "owner": owner(),
                "query": short("What to look for, in plain words."),
                "limit": limit("turns"),
            }),
            &["conversation", "query"],
            true,
        ),
        _ => (
            "List the last turns of a conversation, oldest first.",
            json!({
                "conversation": conversation(),
                "owner": owner(),
                "before": { "type": "integer", "minimum": 2, "description": "The turn before which to list: `earlier` of the answer before." },
                "limit": limit("turns"),
            }),
            &["conversation"],
            true,
        ),
    };
    tool(name, description, &properties, required, &hints(reads, false, outside))
}

/// Conditions: one value, a list of which one must hold, or conditions inside of a key.
fn filter() -> Value {
    let single = json!(["string", "number", "boolean"]);
    json!({
        "type": "object",
        "description": "Metadata that documents must have: a value, or a list of which one must be there; objects lead into objects.",
        "maxProperties": 32,
        "additionalProperties": {
            "type": ["string", "number", "boolean", "array", "object"],
            "items": { "type": single },
            "minItems": 1,
            "maxItems": 256,
            "minProperties": 1,
        },
    })
}

fn request(call: &ApiCall) -> Value {
    let properties: Map<String, Value> =
        call.parameters.iter().map(|(name, parameter)| (name.clone(), argument(parameter))).collect();
    let required: Vec<&str> =
        call.parameters.iter().filter(|(_, p)| p.required).map(|(name, _)| name.as_str()).collect();
    let hints = hints(call.method == Method::Get, true, true);
    tool(&call.name, &call.description, &Value::Object(properties), &required, &hints)
}

/// The schema of a declared argument.
pub fn argument(argument: &ToolArgument) -> Value {
    let mut schema = Map::from_iter([("type".to_owned(), json!(argument.kind))]);
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(key.to_owned(), value);
        }
    };
    put("description", argument.description.clone().filter(|d| !d.is_empty()).map(Value::from));
    put("enum", argument.values.as_ref().map(|values| json!(values)));
    put("maximum", argument.maximum.map(Value::from));
    put("default", argument.default.clone());
    Value::Object(schema)
}

/// All four, as the specification has them.
fn hints(reads: bool, destroys: bool, outside: bool) -> Value {
    json!({ "readOnlyHint": reads, "destructiveHint": !reads && destroys, "idempotentHint": reads, "openWorldHint": outside })
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str], hints: &Value) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    json!({ "name": name, "description": description, "inputSchema": schema, "annotations": hints })
}
