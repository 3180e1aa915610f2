//! Structured content: a second copy of the text in most answers, the only copy in some.

use serde_json::Value;

/// The structured content as text, when no text says it already.
pub(super) fn unsaid(raw: &Value, texts: &[String]) -> Option<String> {
    let structured = raw.get("structuredContent").filter(|value| !value.is_null())?;
    let said = texts.iter().any(|text| {
        serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured) || holds(structured, text)
    });
    (!said).then(|| structured.to_string())
}

/// Whether a value is only a wrapping around this text.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::Object(fields) if fields.len() == 1 => fields.values().all(|inner| holds(inner, text)),
        Value::Array(items) if items.len() == 1 => holds(&items[0], text),
        Value::String(inner) => inner == text,
        _ => false,
    }
}
