//! Hooks that run discovery at the start of every session.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml_edit::{Document, Item, Value as Toml};

use super::phrases::{command_discovers, demand, words};

/// Keys under which no command stands.
const SETTINGS: [&str; 3] = ["matcher", "type", "timeout"];

/// Where commands of these events name discovery tools, in a TOML file or in JSON with or without comments.
/// A file that cannot be parsed is its host's to refuse.
pub fn demands(path: &str, text: &str, events: &[String]) -> Vec<Range<usize>> {
    if path.ends_with(".toml") { in_toml(text, events) } else { in_json(text, events) }
}

/// Whether the text of a command or prompt goes looking.
fn discovers(command: &str) -> bool {
    let said = words(command, 0);
    command_discovers(&said) || demand(&said, command).is_some()
}

fn in_json(text: &str, events: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Ok(parsed) = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()) else { return found };
    let Some(Value::Object(root)) = parsed.value else { return found };
    let Some(Value::Object(hooks)) = property(&root.properties, "hooks") else { return found };
    for event in &hooks.properties {
        if events.iter().any(|e| e == event.name.as_str()) {
            json_strings(&event.value, &mut found);
        }
    }
    found
}

fn property<'a, 'b>(all: &'b [ObjectProp<'a>], name: &str) -> Option<&'b Value<'a>> {
    all.iter().find(|p| p.name.as_str() == name).map(|p| &p.value)
}

fn json_strings(value: &Value<'_>, found: &mut Vec<Range<usize>>) {
    match value {
        Value::Object(object) => {
            let wanted = object.properties.iter().filter(|p| !SETTINGS.contains(&p.name.as_str()));
            wanted.for_each(|p| json_strings(&p.value, found));
        }
        Value::Array(array) => array.elements.iter().for_each(|v| json_strings(v, found)),
        Value::StringLit(string) if discovers(&string.value) => found.push(string.range.start..string.range.end),
        _ => {}
    }
}

fn in_toml(text: &str, events: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Ok(document) = Document::parse(text) else { return found };
    let Some(hooks) = document.get("hooks").and_then(Item::as_table_like) else { return found };
    for (_, event) in hooks.iter().filter(|(name, _)| events.iter().any(|e| e == name)) {
        toml_item(event, &mut found);
    }
    found
}

fn toml_item(item: &Item, found: &mut Vec<Range<usize>>) {
    match item {
        Item::Value(value) => toml_value(value, found),
        Item::Table(table) => {
            table.iter().filter(|(key, _)| !SETTINGS.contains(key)).for_each(|(_, item)| toml_item(item, found));
        }
        Item::ArrayOfTables(tables) => {
            for (key, item) in tables.iter().flat_map(|t| t.iter()) {
                if !SETTINGS.contains(&key) {
                    toml_item(item, found);
                }
            }
        }
        Item::None => {}
    }
}

fn toml_value(value: &Toml, found: &mut Vec<Range<usize>>) {
    match value {
        Toml::String(string) if discovers(string.value()) => found.extend(string.span()),
        Toml::Array(array) => array.iter().for_each(|v| toml_value(v, found)),
        Toml::InlineTable(table) => {
            table.iter().filter(|(key, _)| !SETTINGS.contains(key)).for_each(|(_, v)| toml_value(v, found));
        }
        _ => {}
    }
}
