//! Digests of texts and values, the same for every checkout.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of exactly these bytes, as `sha256:<hex>`.
pub fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Digest of a file's content: a byte order mark and CRLF do not count.
pub fn content_digest(bytes: &[u8]) -> String {
    digest(&super::eol::content(bytes))
}

/// Digest of a JSON value: the order of keys does not count.
pub fn value_digest(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    digest(text.as_bytes())
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                let _ = write!(out, "{}:", Value::String(key.clone()));
                canonical(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_count_and_list_order_does() {
        assert_eq!(value_digest(&json!({"a": 1, "b": [1, 2]})), value_digest(&json!({"b": [1, 2], "a": 1})));
        assert_ne!(value_digest(&json!([1, 2])), value_digest(&json!([2, 1])));
        assert_ne!(value_digest(&json!("1")), value_digest(&json!(1)));
    }

    #[test]
    fn a_checkout_with_crlf_and_mark_has_the_same_content() {
        assert_eq!(content_digest(b"\xEF\xBB\xBFa\r\nb\r\n"), content_digest(b"a\nb\n"));
        assert_ne!(content_digest(b"a\rb"), content_digest(b"a\nb"));
    }
}
