//! Pins of servers' tools: what was looked at and accepted, by digest, so that a change is noticed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// Server → its pin.
pub type Pins = BTreeMap<String, ServerPin>;

/// What one server was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPin {
    /// Digest of its instructions; none when it had none.
    pub instructions: Option<String>,
    /// Its tools by name.
    pub tools: BTreeMap<String, ToolPin>,
}

/// What one tool was. Hints and the names of parameters are kept in clear, so that a change can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPin {
    /// Digest of the description.
    pub description: String,
    /// Digest of the schemas of input and output.
    pub schema: String,
    /// Digest of all annotations.
    pub annotations: String,
    /// Digest of everything else it says, but icons and what it says of itself to programs.
    pub other: String,
    /// The hints that were explicit.
    pub hints: BTreeMap<String, bool>,
    /// Parameters, by their dotted names.
    pub parameters: Vec<String>,
}

/// Reads the section of a lock.
pub(super) fn parse(value: Value) -> Option<Pins> {
    let Value::Object(servers) = value else { return None };
    servers.into_iter().map(|(name, value)| Some((name, server(value)?))).collect()
}

fn server(value: Value) -> Option<ServerPin> {
    let Value::Object(mut value) = value else { return None };
    let instructions = match value.shift_remove("instructions") {
        None => None,
        Some(text) => Some(text.as_str()?.to_owned()),
    };
    let Some(Value::Object(tools)) = value.shift_remove("tools") else { return None };
    let tools = tools.into_iter().map(|(name, value)| Some((name, tool(&value)?))).collect::<Option<_>>()?;
    Some(ServerPin { instructions, tools })
}

fn tool(value: &Value) -> Option<ToolPin> {
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let hints = value.get("hints")?.as_object()?;
    let parameters = value.get("parameters")?.as_array()?;
    Some(ToolPin {
        description: text("description")?,
        schema: text("schema")?,
        annotations: text("annotations")?,
        other: text("other")?,
        hints: hints.iter().map(|(name, is)| Some((name.clone(), is.as_bool()?))).collect::<Option<_>>()?,
        parameters: parameters.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    })
}

/// The section as text, one line for each tool, so that merges and reviews stay small.
pub(super) fn to_text(pins: &Pins) -> String {
    let mut out = String::from("{");
    for (at, (name, pin)) in pins.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}\n    {}: {{\n", if at > 0 { "," } else { "" }, Value::String(name.clone()));
        if let Some(digest) = &pin.instructions {
            let _ = writeln!(out, "      \"instructions\": {},", Value::String(digest.clone()));
        }
        let lines: Vec<String> = pin
            .tools
            .iter()
            .map(|(name, pin)| format!("        {}: {}", Value::String(name.clone()), line(pin)))
            .collect();
        let tools = if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n      }}", lines.join(",\n")) };
        let _ = write!(out, "      \"tools\": {tools}\n    }}");
    }
    out.push_str("\n  }");
    out
}

fn line(pin: &ToolPin) -> Value {
    let hints: Map<String, Value> = pin.hints.iter().map(|(name, is)| (name.clone(), Value::Bool(*is))).collect();
    json!({
        "description": pin.description,
        "schema": pin.schema,
        "annotations": pin.annotations,
        "other": pin.other,
        "hints": hints,
        "parameters": pin.parameters,
    })
}
