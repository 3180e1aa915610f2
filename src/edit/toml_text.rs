//! Values to TOML text and back.

use serde_json::{Map, Value};
use std::fmt::Write;
use toml_edit::{Item, TableLike, Value as Node};

/// Why a value has no TOML text.
const NO_NULL: &str = "TOML has no null";

/// A key, quoted where it must be.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { name.to_owned() } else { basic(name) }
}

/// Keys joined by dots.
pub(super) fn dotted(path: &[String]) -> String {
    path.iter().map(|name| key(name)).collect::<Vec<_>>().join(".")
}

/// A value on the right of `=`; texts of several lines keep them.
pub(super) fn inline(value: &Value, eol: &str) -> Result<String, &'static str> {
    Ok(match value {
        Value::Null => return Err(NO_NULL),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.contains('\n') => multiline(text, eol),
        Value::String(text) => basic(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| inline(item, eol)).collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let pair = |(name, value): (&String, &Value)| Ok(format!("{} = {}", key(name), inline(value, eol)?));
            format!("{{ {} }}", map.iter().map(pair).collect::<Result<Vec<_>, &'static str>>()?.join(", "))
        }
    })
}

/// A table under its header, tables in it under theirs.
pub(super) fn table(
    path: &[String],
    map: &Map<String, Value>,
    eol: &str,
    double: bool,
) -> Result<String, &'static str> {
    let (open, close) = if double { ("[[", "]]") } else { ("[", "]") };
    let mut out = format!("{open}{}{close}{eol}", dotted(path));
    for (name, value) in map.iter().filter(|(_, value)| double || !value.is_object()) {
        let _ = write!(out, "{} = {}{eol}", key(name), inline(value, eol)?);
    }
    for (name, value) in map {
        if let (Value::Object(inner), false) = (value, double) {
            let mut below = path.to_vec();
            below.push(name.clone());
            out.push_str(eol);
            out.push_str(&table(&below, inner, eol, false)?);
        }
    }
    Ok(out)
}

fn escaped(text: &str, keep: &[char]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            letter if keep.contains(&letter) => out.push(letter),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out
}

fn basic(text: &str) -> String {
    format!("\"{}\"", escaped(text, &[]))
}

fn multiline(text: &str, eol: &str) -> String {
    let mut body = escaped(text, &['\n', '\t', '"']).replace("\"\"\"", "\"\"\\\"");
    if body.ends_with('"') {
        body.pop();
        body.push_str("\\\"");
    }
    format!("\"\"\"{eol}{}\"\"\"", body.replace('\n', eol))
}

/// What an item says.
pub(super) fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(node) => node_value(node),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(|table| table_value(table)).collect()),
    }
}

/// What a table says.
pub(super) fn table_value(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect())
}

fn node_value(node: &Node) -> Value {
    match node {
        Node::String(text) => Value::String(text.value().replace("\r\n", "\n")),
        Node::Integer(number) => Value::from(*number.value()),
        Node::Float(number) => serde_json::Number::from_f64(*number.value())
            .map_or_else(|| foreign(&number.value().to_string()), Value::Number),
        Node::Boolean(truth) => Value::Bool(*truth.value()),
        Node::Datetime(time) => foreign(&time.value().to_string()),
        Node::Array(items) => Value::Array(items.iter().map(node_value).collect()),
        Node::InlineTable(table) => table_value(table),
    }
}

/// A value that JSON does not have; it equals nothing of ours.
fn foreign(text: &str) -> Value {
    let mut map = Map::new();
    map.insert("$toml".to_owned(), Value::String(text.to_owned()));
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_text_of_several_lines_stays_readable() {
        assert_eq!(inline(&json!("a\n\"b\"\n"), "\n").unwrap(), "\"\"\"\na\n\"b\"\n\"\"\"");
    }

    proptest! {
        #[test]
        fn every_text_reads_back(text in "(\\PC|[\"\\\\\n\r\t\u{1}\u{7f}]){0,12}") {
            let source = format!("k = {}\n", inline(&json!(text), "\n").unwrap());
            let read = source.parse::<toml_edit::DocumentMut>().unwrap();
            prop_assert_eq!(read["k"].as_str().unwrap(), text);
        }

        #[test]
        fn every_key_reads_back(name in "\\PC{0,6}") {
            let source = format!("{} = 1\n", key(&name));
            let read = source.parse::<toml_edit::DocumentMut>().unwrap();
            prop_assert!(read.contains_key(&name));
        }
    }
}
