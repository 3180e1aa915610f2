//! A JSON document of a template to the single entries we own in a user's file.

use indexmap::IndexMap;
use serde_json::Value;

use crate::model::adapter::Output;

use super::artifact::{Artifact, Content, Entry, EntryKind, EntryPolicy};

/// The leaves of `document`: values of objects, elements of lists. A path in `atomic` or `ordered` of the output is one
/// value though it has children, because entries below it are not independent of their neighbours.
pub(super) fn leaves(document: &Value, output: &Output) -> Vec<Entry> {
    let mut entries = Vec::new();
    walk(document, &mut Vec::new(), output, &mut entries);
    for entry in &mut entries {
        if output.ordered.iter().any(|pointer| fits(pointer, &entry.path)) {
            entry.policy = EntryPolicy::Ordered;
        }
    }
    entries
}

fn walk(value: &Value, path: &mut Vec<String>, output: &Output, entries: &mut Vec<Entry>) {
    let whole = output.atomic.iter().chain(&output.ordered).any(|pointer| fits(pointer, path));
    match value {
        Value::Object(map) if !whole && (!map.is_empty() || path.is_empty()) => {
            for (key, child) in map {
                path.push(key.clone());
                walk(child, path, output, entries);
                path.pop();
            }
        }
        Value::Array(items) if !whole => {
            entries.extend(items.iter().map(|item| entry(path, EntryKind::Element, item)));
        }
        _ => entries.push(entry(path, EntryKind::Value, value)),
    }
}

fn fits(pointer: &str, path: &[String]) -> bool {
    let keys: Vec<&str> = pointer.split('/').skip(1).collect();
    keys.len() == path.len() && keys.iter().zip(path).all(|(want, key)| *want == "*" || want == key)
}

/// Joins the values that two hosts want at one place of one file: keys of both, where a key of both is equal.
/// Returns the file, the place and the hosts of what cannot be joined.
pub(super) fn join(artifacts: &mut [Artifact]) -> Vec<(String, String, Vec<String>)> {
    let mut joined: IndexMap<(String, Vec<String>), (Value, Vec<String>)> = IndexMap::new();
    let mut apart = Vec::new();
    for artifact in artifacts.iter() {
        let Content::Entries(entries) = &artifact.content else { continue };
        for entry in entries.iter().filter(|e| e.kind == EntryKind::Value && e.value.is_object()) {
            let (value, hosts) = joined
                .entry((artifact.path.clone(), entry.path.clone()))
                .or_insert_with(|| (entry.value.clone(), Vec::new()));
            hosts.extend(artifact.hosts.iter().cloned());
            match both(value, &entry.value) {
                Some(all) => *value = all,
                None => apart.push((artifact.path.clone(), pointer(&entry.path), hosts.clone())),
            }
        }
    }
    for artifact in artifacts {
        let Content::Entries(entries) = &mut artifact.content else { continue };
        for entry in entries.iter_mut().filter(|e| e.kind == EntryKind::Value) {
            if let Some((value, _)) = joined.get(&(artifact.path.clone(), entry.path.clone())) {
                entry.value.clone_from(value);
            }
        }
    }
    apart
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{key}")).collect()
}

/// All keys of two objects; `None` when a key has two values.
fn both(one: &Value, other: &Value) -> Option<Value> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut all = one.clone();
            for (key, value) in other {
                let value = match all.get(key) {
                    Some(own) => both(own, value)?,
                    None => value.clone(),
                };
                all.insert(key.clone(), value);
            }
            Some(Value::Object(all))
        }
        _ => (one == other).then(|| one.clone()),
    }
}

fn entry(path: &[String], kind: EntryKind, value: &Value) -> Entry {
    Entry { path: path.to_vec(), kind, value: value.clone(), policy: EntryPolicy::Exact }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(atomic: &[&str], ordered: &[&str]) -> Output {
        serde_json::from_value(json!({ "file": "f.json", "own": "entries", "atomic": atomic, "ordered": ordered }))
            .unwrap()
    }

    #[test]
    fn leaves_are_values_elements_and_atomic_wholes() {
        let document = json!({ "a": { "b": 1, "c": ["x", "y"] }, "p": { "*": "deny" } });
        let found: Vec<(String, EntryKind, Value)> =
            leaves(&document, &output(&["/p"], &[])).into_iter().map(|e| (e.path.join("/"), e.kind, e.value)).collect();
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

    #[test]
    fn every_child_of_a_key_can_be_one_entry() {
        let document = json!({ "servers": { "a": { "x": [1] }, "b": {} }, "rules": { "z": 1, "a": 2 } });
        let found: Vec<(String, EntryPolicy)> = leaves(&document, &output(&["/servers/*"], &["/rules"]))
            .into_iter()
            .map(|e| (e.path.join("/"), e.policy))
            .collect();
        assert_eq!(
            found,
            [
                ("servers/a".to_owned(), EntryPolicy::Exact),
                ("servers/b".to_owned(), EntryPolicy::Exact),
                ("rules".to_owned(), EntryPolicy::Ordered),
            ]
        );
    }

    fn artifact(host: &str, value: Value) -> Artifact {
        let entry = Entry { path: vec!["s".into()], kind: EntryKind::Value, value, policy: EntryPolicy::Exact };
        let content = Content::Entries(vec![entry]);
        Artifact { path: "f.json".into(), content, sources: Vec::new(), hosts: vec![host.into()], reader: None }
    }

    #[test]
    fn two_hosts_join_what_they_want_of_one_entry() {
        let mut both =
            [artifact("a", json!({ "x": 1, "y": { "p": 1 } })), artifact("b", json!({ "y": { "q": 2 }, "z": [3] }))];
        assert!(join(&mut both).is_empty());
        for artifact in &both {
            let Content::Entries(entries) = &artifact.content else { panic!() };
            assert_eq!(entries[0].value, json!({ "x": 1, "y": { "p": 1, "q": 2 }, "z": [3] }));
        }
        let mut apart = [artifact("a", json!({ "x": 1 })), artifact("b", json!({ "x": 2 }))];
        assert_eq!(join(&mut apart), [("f.json".to_owned(), "/s".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
    }
}
