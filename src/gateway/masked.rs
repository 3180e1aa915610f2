//! The values of a call's arguments as they may be written down: what is a secret, looks like one or stands under the name
//! of one is covered, and everything is bounded.

use serde_json::{Map, Value, json};

use crate::text::{redact, secret};

/// Most characters of one text.
const TEXT: usize = 500;
/// Most bytes of all values together.
const ALL: usize = 8 << 10;
/// How deep values are looked into.
const DEPTH: usize = 8;

/// The values, without `secrets`.
pub(super) fn values(arguments: &Map<String, Value>, secrets: &[String]) -> Value {
    let masked = object(arguments, secrets, 0);
    if masked.to_string().len() > ALL { json!("too many to be written down") } else { masked }
}

fn object(fields: &Map<String, Value>, secrets: &[String], depth: usize) -> Value {
    let one = |(name, value): (&String, &Value)| {
        let covered = redact::secret(name) && !value.is_null();
        let value = if covered { json!(redact::REDACTED) } else { masked(value, secrets, depth + 1) };
        (short(&text(name, secrets)), value)
    };
    Value::Object(fields.iter().map(one).collect())
}

fn masked(value: &Value, secrets: &[String], depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth > DEPTH => json!("…"),
        Value::Object(fields) => object(fields, secrets, depth),
        Value::Array(items) => items.iter().map(|item| masked(item, secrets, depth + 1)).collect(),
        // What it is cut to is looked at as a whole first: half of a secret looks like none.
        Value::String(words) => json!(short(&text(words, secrets))),
        other => other.clone(),
    }
}

fn text(words: &str, secrets: &[String]) -> String {
    secret::covered(&redact::body(words, secrets))
}

fn short(words: &str) -> String {
    let mut kept: String = words.chars().take(TEXT).collect();
    if kept.len() < words.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(arguments: Value) -> Value {
        let Value::Object(arguments) = arguments else { panic!() };
        values(&arguments, &["of-the-server-1".to_owned()])
    }

    #[test]
    fn values_stay_and_secrets_do_not() {
        let random = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        let given = json!({
            "query": "building permits", "n": 5, "deep": { "list": ["a", { "api_key": "x" }] },
            "password_token": ["a", "b"], "note": format!("use {random} and of-the-server-1 here"), random: 1,
        });
        let masked = written(given);
        assert_eq!(masked["query"], "building permits");
        assert_eq!(masked["deep"], json!({ "list": ["a", { "api_key": "<redacted>" }] }));
        assert_eq!((&masked["n"], &masked["password_token"]), (&json!(5), &json!("<redacted>")));
        let all = masked.to_string();
        assert!(!all.contains(random) && !all.contains("of-the-server-1"), "{all}");
        assert!(
            masked["note"].as_str().is_some_and(|note| note.starts_with("use ") && note.ends_with(" here")),
            "{all}"
        );
    }

    #[test]
    fn no_value_makes_a_line_long_or_deep() {
        assert_eq!(written(json!({ "a": "é".repeat(600) }))["a"].as_str().map(|a| a.chars().count()), Some(TEXT + 1));
        assert_eq!(written(json!({ "a": vec!["x".repeat(400); 100] })), json!("too many to be written down"));
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(written(json!({ "a": deep })).to_string().len() < 60);
    }

    #[test]
    fn a_secret_at_the_end_of_what_is_kept_is_not_half_kept() {
        let long = format!("{}of-the-server-1", "x ".repeat(245));
        assert!(!written(json!({ "a": long })).to_string().contains("of-the"));
    }
}
