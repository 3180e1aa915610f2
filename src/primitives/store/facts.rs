//! Metadata as single facts: a path and a value each.

use serde_json::{Map, Value};

/// Most facts of one row.
const MOST: usize = 256;
/// Longest path or value, in bytes.
const LONGEST: usize = 1024;

/// Every fact of some metadata: values inside of objects by their path with dots, each item of a list as a fact of its
/// own. Sorted, each once.
///
/// # Errors
/// What cannot be a fact, in words.
pub(super) fn of(metadata: &Map<String, Value>) -> Result<Vec<(String, String)>, String> {
    let mut facts = Vec::new();
    for (key, value) in metadata {
        add(key, key, value, &mut facts)?;
    }
    facts.sort();
    facts.dedup();
    if facts.len() > MOST {
        return Err(format!("has more than {MOST} values"));
    }
    Ok(facts)
}

fn add(key: &str, path: &str, value: &Value, facts: &mut Vec<(String, String)>) -> Result<(), String> {
    // A dot in a name would be the same path as two names.
    if key.is_empty() || key.contains('.') || key.chars().any(char::is_control) {
        return Err(format!("has the key `{}`, which is empty or has a dot in it", key.escape_debug()));
    }
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                add(key, &format!("{path}.{key}"), value, facts)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| one(path, item, facts)),
        value => one(path, value, facts),
    }
}

fn one(path: &str, value: &Value, facts: &mut Vec<(String, String)>) -> Result<(), String> {
    let text = plain(value).ok_or_else(|| format!("has at `{path}` no text, number or truth value"))?;
    if path.len() > LONGEST || text.len() > LONGEST {
        return Err(format!("has at `{path}` more than {LONGEST} bytes"));
    }
    facts.push((path.to_owned(), text));
    Ok(())
}

/// A single value as text. A number and its text are one: what comes from the run time is always text.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(match number.as_f64().filter(|n| number.is_f64() && n.fract() == 0.0) {
            Some(whole) if whole.abs() < 1e15 => format!("{whole:.0}"),
            _ => number.to_string(),
        }),
        _ => None,
    }
}
