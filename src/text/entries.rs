//! Entries of what a tool gives as JSON.

use serde_json::Value;

/// The list of entries: the value itself, or the only list right inside of it.
pub fn list_in(value: &mut Value) -> Option<&mut Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(fields) => {
            let mut lists = fields.values_mut().filter_map(Value::as_array_mut);
            let only = lists.next()?;
            lists.next().is_none().then_some(only)
        }
        _ => None,
    }
}

/// How many entries a text has that is JSON; `None` = it is none, or which of its lists is meant is not known.
pub fn entries(text: &str) -> Option<usize> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut value = serde_json::from_str(text).ok()?;
    list_in(&mut value).map(|list| list.len())
}
