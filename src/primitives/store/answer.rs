//! What a call of a store's primitive is answered with.

use serde_json::{Map, Value, json};

use super::memory::Conversation;
use super::search::Kept;
use super::{Filter, Space, Store};

type Arguments = Map<String, Value>;

/// Calls a primitive of a store; arguments are held against its schema before.
///
/// # Errors
/// Why there is no answer, in words for the model.
pub fn call(store: &mut Store, tool: &str, arguments: &Arguments) -> Result<Value, String> {
    match tool {
        "semantic_search" => search(store, arguments),
        "metadata_filter" => list(store, arguments),
        "metadata_keys" => keys(store, arguments),
        "memory_add" => add(store, arguments),
        "memory_search" => recall(store, arguments),
        "memory_list" => turns(store, arguments),
        other => Err(format!("a store has no `{other}`")),
    }
}

fn search(store: &mut Store, arguments: &Arguments) -> Result<Value, String> {
    let filter = filter(arguments)?;
    let most = most(store, arguments);
    let (found, among) = store.search(Space::Documents, text(arguments, "query")?, &filter, most)?;
    let results: Vec<Value> = found
        .into_iter()
        .map(|(found, kept)| {
            let mut shown = document(kept, &filter);
            shown.insert("score".to_owned(), rounded(found.score, 5));
            shown.insert("similarity".to_owned(), rounded(f64::from(found.near), 3));
            Value::Object(shown)
        })
        .collect();
    Ok(json!({ "results": results, "searched": among }))
}

fn list(store: &Store, arguments: &Arguments) -> Result<Value, String> {
    let filter = filter(arguments)?;
    let most = most(store, arguments);
    let after = arguments.get("after").and_then(Value::as_str);
    let failed = |e: rusqlite::Error| store.failed(&e);
    let mut kept = store.listed(&filter, after, most.saturating_add(1)).map_err(failed)?;
    let more = kept.len() > most;
    kept.truncate(most);
    let next = kept.last().filter(|_| more).map(|kept| kept.id.clone());
    let matching = store.count(&filter).map_err(failed)?;
    let results: Vec<Value> = kept.into_iter().map(|kept| Value::Object(document(kept, &filter))).collect();
    let mut answer = json!({ "results": results, "matching": matching });
    if let Some(next) = next {
        answer["next"] = json!(next);
    }
    Ok(answer)
}

fn keys(store: &Store, arguments: &Arguments) -> Result<Value, String> {
    let filter = filter(arguments)?;
    let most = most(store, arguments);
    let failed = |e: rusqlite::Error| store.failed(&e);
    match arguments.get("key").and_then(Value::as_str) {
        Some(key) => Ok(json!({ "key": key, "values": store.values(&filter, key, most).map_err(failed)? })),
        None => Ok(json!({ "keys": store.paths(&filter, most).map_err(failed)? })),
    }
}

fn add(store: &mut Store, arguments: &Arguments) -> Result<Value, String> {
    let of = conversation(arguments)?;
    let speaker = arguments.get("speaker").and_then(Value::as_str).unwrap_or("user");
    let turn = store.remember(&of, speaker, text(arguments, "text")?)?;
    Ok(json!({ "turn": turn }))
}

fn recall(store: &mut Store, arguments: &Arguments) -> Result<Value, String> {
    let filter = conversation(arguments)?.filter();
    let most = most(store, arguments);
    let (found, among) = store.search(Space::Turns, text(arguments, "query")?, &filter, most)?;
    let results: Vec<Value> = found.into_iter().map(|(_, kept)| turn(kept)).collect();
    Ok(json!({ "results": results, "searched": among }))
}

fn turns(store: &Store, arguments: &Arguments) -> Result<Value, String> {
    let of = conversation(arguments)?;
    let before = arguments.get("before").and_then(Value::as_i64);
    let kept = store.turns(&of, before, most(store, arguments)).map_err(|e| store.failed(&e))?;
    let turns: Vec<Value> = kept.into_iter().map(turn).collect();
    let first = turns.first().and_then(|turn| turn["turn"].as_i64()).filter(|first| *first > 1);
    let mut answer = json!({ "turns": turns });
    if let Some(first) = first {
        answer["earlier"] = json!(first);
    }
    Ok(answer)
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is no text"))
}

fn filter(arguments: &Arguments) -> Result<Filter, String> {
    match arguments.get("filter") {
        None => Ok(Filter::default()),
        Some(Value::Object(filter)) => Filter::of(filter),
        Some(_) => Err("`filter` is no object".to_owned()),
    }
}

fn most(store: &Store, arguments: &Arguments) -> usize {
    let (target, limit) = store.file.results;
    let asked = arguments.get("limit").and_then(Value::as_u64).unwrap_or(target);
    usize::try_from(asked.clamp(1, limit.max(1))).unwrap_or(1)
}

fn conversation(arguments: &Arguments) -> Result<Conversation<'_>, String> {
    let owner = arguments.get("owner").and_then(Value::as_str);
    if owner == Some("") {
        return Err("`owner` is empty".to_owned());
    }
    Ok(Conversation { name: text(arguments, "conversation")?, owner: owner.unwrap_or("") })
}

/// A document as it is shown. What was filtered by is left out: it may be bound, and then its value is nobody's business.
fn document(kept: Kept, filter: &Filter) -> Map<String, Value> {
    let metadata = without(kept.metadata, "", filter);
    let mut shown = Map::from_iter([("id".to_owned(), json!(kept.id)), ("text".to_owned(), json!(kept.text))]);
    if !metadata.is_empty() {
        shown.insert("metadata".to_owned(), Value::Object(metadata));
    }
    shown
}

fn without(object: Map<String, Value>, above: &str, filter: &Filter) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in object {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            _ if filter.names(&path) => {}
            Value::Object(inner) if filter.reaches_into(&path) => {
                let inner = without(inner, &path, filter);
                if !inner.is_empty() {
                    kept.insert(key, Value::Object(inner));
                }
            }
            value => {
                kept.insert(key, value);
            }
        }
    }
    kept
}

fn turn(kept: Kept) -> Value {
    json!({ "turn": kept.metadata.get("turn"), "speaker": kept.metadata.get("speaker"), "text": kept.text })
}

fn rounded(value: f64, digits: i32) -> Value {
    let scale = 10_f64.powi(digits);
    json!((value * scale).round() / scale)
}
