//! Hooks that run discovery at the start of every session.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::phrases::{command_discovers, demand, words};

/// Where commands of these events name discovery tools. A file that is no JSON is its host's to refuse.
pub fn demands(text: &str, events: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Ok(parsed) = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()) else { return found };
    let Some(Value::Object(root)) = parsed.value else { return found };
    let Some(Value::Object(hooks)) = property(&root.properties, "hooks") else { return found };
    for event in &hooks.properties {
        if events.iter().any(|e| e == event.name.as_str()) {
            strings(&event.value, text, &mut found);
        }
    }
    found
}

fn property<'a, 'b>(all: &'b [ObjectProp<'a>], name: &str) -> Option<&'b Value<'a>> {
    all.iter().find(|p| p.name.as_str() == name).map(|p| &p.value)
}

fn strings(value: &Value<'_>, text: &str, found: &mut Vec<Range<usize>>) {
    match value {
        Value::Object(object) => {
            for property in
                object.properties.iter().filter(|p| !matches!(p.name.as_str(), "matcher" | "type" | "timeout"))
            {
                strings(&property.value, text, found);
            }
        }
        Value::Array(array) => array.elements.iter().for_each(|v| strings(v, text, found)),
        Value::StringLit(string) => {
            let said = words(&string.value, 0);
            if command_discovers(&said) || demand(&said, &string.value).is_some() {
                found.push(string.range.start..string.range.end);
            }
        }
        _ => {}
    }
}
