//! What a model meant where it wrote a text for a number: only conversions that lose nothing.

use serde_json::{Map, Number, Value};

/// Most levels looked into.
const DEPTH: usize = 6;

/// `value` in the form its schema wants, when that is the same thing written differently.
pub(super) fn to_schema(value: Value, schema: &Value) -> Value {
    deep(value, schema, DEPTH)
}

fn deep(value: Value, schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value };
    let kinds = types(schema);
    let value = match value {
        Value::String(text) if !kinds.is_empty() && !kinds.contains(&"string") => {
            text_as(&text, &kinds).unwrap_or(Value::String(text))
        }
        other => other,
    };
    match value {
        Value::Object(object) => {
            let inner = schema.get("properties").and_then(Value::as_object);
            let one = |(name, value): (String, Value)| match inner.and_then(|p| p.get(&name)) {
                Some(schema) => (name, deep(value, schema, depth)),
                None => (name, value),
            };
            Value::Object(object.into_iter().map(one).collect::<Map<_, _>>())
        }
        Value::Array(items) => match schema.get("items") {
            Some(schema) => Value::Array(items.into_iter().map(|item| deep(item, schema, depth)).collect()),
            None => Value::Array(items),
        },
        other => other,
    }
}

/// The types a schema names; none when it does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => {
            let choices = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
            let each: Vec<Vec<&str>> = choices.map(types).collect();
            // One choice that does not say may be anything.
            if each.iter().any(Vec::is_empty) { Vec::new() } else { each.concat() }
        }
    }
}

fn text_as(text: &str, kinds: &[&str]) -> Option<Value> {
    for kind in kinds {
        let parsed = match *kind {
            "integer" => text.parse::<i64>().ok().filter(|n| n.to_string() == text).map(Value::from),
            "number" => serde_json::from_str::<Number>(text).ok().filter(|n| exact(n, text)).map(Value::Number),
            "boolean" => match text {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            "array" => serde_json::from_str(text).ok().filter(Value::is_array),
            "object" => serde_json::from_str(text).ok().filter(Value::is_object),
            _ => None,
        };
        if parsed.is_some() {
            return parsed;
        }
    }
    None
}

/// Whether the number is written as it was given: `0.1` is, a number with more digits than fit is not.
fn exact(number: &Number, text: &str) -> bool {
    number.to_string() == text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::to_schema;

    #[test]
    fn a_text_becomes_what_is_wanted_only_where_nothing_is_lost() {
        for (given, schema, wanted) in [
            (json!("5"), json!({ "type": "integer" }), json!(5)),
            (json!("-7"), json!({ "type": ["integer", "null"] }), json!(-7)),
            (json!("true"), json!({ "type": "boolean" }), json!(true)),
            (json!("0.5"), json!({ "type": "number" }), json!(0.5)),
            (json!("[1,\"2\"]"), json!({ "type": "array", "items": { "type": "integer" } }), json!([1, 2])),
            (
                json!("{\"a\":\"1\"}"),
                json!({ "type": "object", "properties": { "a": { "type": "integer" } } }),
                json!({ "a": 1 }),
            ),
            (json!("3"), json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), json!(3)),
        ] {
            assert_eq!(to_schema(given, &schema), wanted);
        }
    }

    #[test]
    fn what_would_lose_something_or_is_a_text_already_stays() {
        for (given, schema) in [
            ("5", json!({ "type": "string" })),
            ("5", json!({ "type": ["string", "integer"] })),
            ("05", json!({ "type": "integer" })),
            (" 5", json!({ "type": "integer" })),
            ("5.0", json!({ "type": "integer" })),
            ("99999999999999999999", json!({ "type": "integer" })),
            ("0.10000000000000000000001", json!({ "type": "number" })),
            ("yes", json!({ "type": "boolean" })),
            ("[1", json!({ "type": "array" })),
            ("{}", json!({ "type": "array" })),
            ("5", json!({})),
            ("5", json!({ "anyOf": [{ "type": "integer" }, {}] })),
        ] {
            assert_eq!(to_schema(json!(given), &schema), json!(given), "{schema}");
        }
    }
}
