//! What the model is shown of a parameter: the primitive's own schema, narrowed by what the policy says.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::coerce;
use super::place::{self, Place};
use crate::resolve::composed::ToolArgument;

/// Keywords that narrow a value by itself; they stay.
const PLAIN: &[&str] = &[
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "enum",
    "const",
    "not",
    "allOf",
    "anyOf",
    "oneOf",
];

/// The schema of one argument.
///
/// # Errors
/// What the argument allows and the parameter does not.
pub(super) fn argument(argument: &ToolArgument, place: &Place<'_>, root: &Value) -> Result<Value, String> {
    let kind = argument.kind.as_str();
    let upstream = match place {
        Place::Known(schema) => variant(schema, kind, root)?,
        _ => Value::Object(Map::new()),
    };
    let kinds = coerce::types(&upstream);
    let fits = |has: &&str| *has == kind || (*has == "number" && kind == "integer");
    if !kinds.is_empty() && !kinds.iter().any(fits) {
        return Err(format!("the primitive takes {} here, not {kind}", kinds.join(" or ")));
    }
    let mut made = Map::new();
    made.insert("type".to_owned(), json!(kind));
    let own = argument.description.clone().filter(|d| !d.is_empty());
    let said = || upstream.get("description").and_then(Value::as_str).map(str::to_owned);
    if let Some(description) = own.or_else(said) {
        made.insert("description".to_owned(), json!(description));
    }
    for key in PLAIN {
        if let Some(value) = upstream.get(*key) {
            made.insert((*key).to_owned(), value.clone());
        }
    }
    subset(argument, &mut made)?;
    if let Some(maximum) = argument.maximum {
        cap(&mut made, u64::try_from(maximum).unwrap_or(0));
    }
    if let Some(default) = &argument.default {
        made.insert("default".to_owned(), default.clone());
    }
    Ok(Value::Object(made))
}

/// The alternative of a schema that is of the wanted type; itself where it has none or several.
fn variant(schema: &Value, kind: &str, root: &Value) -> Result<Value, String> {
    let Some(choices) = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()) else {
        return Ok(schema.clone());
    };
    let choices: Vec<&Value> = choices.iter().map(|choice| place::target(root, choice)).collect::<Result<_, _>>()?;
    let of = |choice: &&&Value| {
        let kinds = coerce::types(choice);
        kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"))
    };
    let fitting: Vec<&&Value> = choices.iter().filter(of).collect();
    let [one] = fitting.as_slice() else { return Ok(schema.clone()) };
    let mut merged = (**one).clone();
    let description = schema.get("description").filter(|_| merged.get("description").is_none());
    if let (Some(description), Some(fields)) = (description, merged.as_object_mut()) {
        fields.insert("description".to_owned(), description.clone());
    }
    Ok(merged)
}

/// Narrows the values to those the policy allows.
fn subset(argument: &ToolArgument, made: &mut Map<String, Value>) -> Result<(), String> {
    let Some(values) = &argument.values else { return Ok(()) };
    let listed = made.get("enum").and_then(Value::as_array).cloned().or_else(|| {
        let choices = ["anyOf", "oneOf"].into_iter().find_map(|key| made.get(key)?.as_array())?;
        let consts: Vec<Value> = choices.iter().filter_map(|c| c.get("const").cloned()).collect();
        (consts.len() == choices.len()).then_some(consts)
    });
    if let Some(listed) = listed
        && let Some(other) = values.iter().find(|value| !listed.contains(&json!(value)))
    {
        let known: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        return Err(format!("the primitive does not take `{other}`; it takes {}", known.join(", ")));
    }
    made.insert("enum".to_owned(), json!(values));
    Ok(())
}

/// Lowers the greatest number to `limit`.
pub(super) fn cap(schema: &mut Map<String, Value>, limit: u64) {
    let lower = schema.get("maximum").and_then(Value::as_f64).is_some_and(|own| own <= limit as f64);
    if !lower {
        schema.insert("maximum".to_owned(), json!(limit));
    }
}

/// An object schema of exactly these properties, with the definitions they refer to.
///
/// # Errors
/// A reference that is not to a definition of the same schema.
pub(super) fn object(
    properties: Map<String, Value>,
    required: Vec<String>,
    root: &Value,
) -> Result<Map<String, Value>, String> {
    let mut made = Map::new();
    if let Some(dialect) = root.get("$schema") {
        made.insert("$schema".to_owned(), dialect.clone());
    }
    made.insert("type".to_owned(), json!("object"));
    let needed = definitions(&Value::Object(properties.clone()), root)?;
    made.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        made.insert("required".to_owned(), json!(required));
    }
    made.insert("additionalProperties".to_owned(), json!(false));
    for (place, name) in needed {
        let definition = root.get(&place).and_then(|d| d.get(&name)).cloned().unwrap_or(Value::Null);
        let all = made.entry(place).or_insert_with(|| Value::Object(Map::new()));
        if let Some(all) = all.as_object_mut() {
            all.insert(name, definition);
        }
    }
    Ok(made)
}

/// Every definition that something refers to, also through others.
fn definitions(from: &Value, root: &Value) -> Result<BTreeSet<(String, String)>, String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let outside = || format!("its schema refers to `{reference}`, which cannot be narrowed");
                    let path = reference.strip_prefix("#/").ok_or_else(outside)?;
                    let (place, name) = path.split_once('/').ok_or_else(outside)?;
                    let name = name.split('/').next().unwrap_or(name).replace("~1", "/").replace("~0", "~");
                    let definition = root.get(place).and_then(|d| d.get(&name)).ok_or_else(outside)?;
                    if !matches!(place, "$defs" | "definitions") {
                        return Err(outside());
                    }
                    if found.insert((place.to_owned(), name)) {
                        open.push(definition);
                    }
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    Ok(found)
}
