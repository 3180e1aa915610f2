//! A JSON document of a template to the single entries we own in a user's file.

use serde_json::Value;

use super::artifact::{Entry, EntryKind, EntryPolicy};

/// The leaves of `document`: values of objects, elements of lists. A path in `atomic` is one value though it
/// has children, because entries below it are not independent of their neighbours.
pub(super) fn leaves(document: &Value, atomic: &[String]) -> Vec<Entry> {
    let mut entries = Vec::new();
    walk(document, &mut Vec::new(), atomic, &mut entries);
    entries
}

fn walk(value: &Value, path: &mut Vec<String>, atomic: &[String], entries: &mut Vec<Entry>) {
    let here: String = path.iter().map(|key| format!("/{key}")).collect();
    match value {
        Value::Object(map) if !atomic.contains(&here) && (!map.is_empty() || path.is_empty()) => {
            for (key, child) in map {
                path.push(key.clone());
                walk(child, path, atomic, entries);
                path.pop();
            }
        }
        Value::Array(items) if !atomic.contains(&here) => {
            entries.extend(items.iter().map(|item| entry(path, EntryKind::Element, item)));
        }
        _ => entries.push(entry(path, EntryKind::Value, value)),
    }
}

fn entry(path: &[String], kind: EntryKind, value: &Value) -> Entry {
    Entry { path: path.to_vec(), kind, value: value.clone(), policy: EntryPolicy::Exact }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn leaves_are_values_elements_and_atomic_wholes() {
        let document = json!({ "a": { "b": 1, "c": ["x", "y"] }, "p": { "*": "deny" } });
        let found: Vec<(String, EntryKind, Value)> =
            leaves(&document, &["/p".to_owned()]).into_iter().map(|e| (e.path.join("/"), e.kind, e.value)).collect();
        assert_eq!(
            found,
            [
                ("a/b".to_owned(), EntryKind::Value, json!(1)),
                ("a/c".to_owned(), EntryKind::Element, json!("x")),
                ("a/c".to_owned(), EntryKind::Element, json!("y")),
                ("p".to_owned(), EntryKind::Value, json!({ "*": "deny" })),
            ]
        );
    }
}
