//! Finding a parameter in the schema of a primitive.

use serde_json::Value;

/// Most references followed, one after another.
const HOPS: usize = 16;
/// Keywords at the top of a schema that tie parameters to each other. A part of the parameters cannot be taken out
/// of such a schema without changing what it says.
const TYING: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "$ref",
    "$dynamicRef",
];
/// Dialects that are understood, by how their address ends.
const DIALECTS: &[&str] = &["draft-07/schema", "2020-12/schema", "draft-06/schema", "2019-09/schema"];

/// What is known of a parameter.
#[derive(Debug)]
pub(super) enum Place<'a> {
    /// Its schema.
    Known(&'a Value),
    /// The object around it takes anything.
    Open,
    /// There is no such parameter.
    Missing,
}

/// Whether parameters can be taken out of a schema one by one.
///
/// # Errors
/// Why not.
pub(super) fn narrowable(root: &Value) -> Result<(), String> {
    dialect(root)?;
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Err("its schema is not of type `object`".to_owned());
    }
    match TYING.iter().find(|key| root.get(**key).is_some()) {
        Some(key) => Err(format!("its schema ties its parameters to each other with `{key}`")),
        None => Ok(()),
    }
}

/// Whether the dialect of a schema is understood.
///
/// # Errors
/// The dialect that is not.
pub(super) fn dialect(root: &Value) -> Result<(), String> {
    match root.get("$schema") {
        None => Ok(()),
        Some(Value::String(name)) if DIALECTS.iter().any(|known| name.trim_end_matches('#').ends_with(known)) => Ok(()),
        Some(other) => Err(format!("its schema is of the dialect {other}, which is not understood")),
    }
}

/// Looks a path up.
///
/// # Errors
/// A reference that leads nowhere, in a circle or out of the schema.
pub(super) fn find<'a>(root: &'a Value, path: &[String]) -> Result<Place<'a>, String> {
    let mut here = root;
    for (depth, name) in path.iter().enumerate() {
        let object = object_of(root, here, name)?;
        if let Some(next) = object.get("properties").and_then(|p| p.get(name)) {
            here = target(root, next)?;
            continue;
        }
        return Ok(match object.get("additionalProperties") {
            Some(Value::Bool(true)) => Place::Open,
            Some(Value::Bool(false)) => Place::Missing,
            Some(schema @ Value::Object(fields)) if depth + 1 == path.len() && !fields.is_empty() => {
                Place::Known(target(root, schema)?)
            }
            Some(_) => Place::Open,
            // A misspelt parameter would be such an open place, too.
            None if depth == 0 => Place::Missing,
            None if takes_objects(object) => Place::Open,
            None => Place::Missing,
        });
    }
    Ok(Place::Known(here))
}

/// The alternative of a schema that can hold `name`; itself where it has none.
fn object_of<'a>(root: &'a Value, schema: &'a Value, name: &str) -> Result<&'a Value, String> {
    if schema.get("properties").is_some() || takes_objects_plainly(schema) {
        return Ok(schema);
    }
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let mut open = None;
    for choice in choices {
        let choice = target(root, choice)?;
        if choice.get("properties").is_some_and(|p| p.get(name).is_some()) {
            return Ok(choice);
        }
        if takes_objects_plainly(choice) {
            open = open.or(Some(choice));
        }
    }
    Ok(open.unwrap_or(schema))
}

fn takes_objects_plainly(schema: &Value) -> bool {
    super::coerce::types(schema).contains(&"object")
        && !["anyOf", "oneOf", "allOf"].iter().any(|key| schema.get(*key).is_some())
}

fn takes_objects(schema: &Value) -> bool {
    let kinds = super::coerce::types(schema);
    kinds.is_empty() || kinds.contains(&"object")
}

/// A schema with its reference followed.
///
/// # Errors
/// A reference that leads nowhere, in a circle or out of the schema.
pub(super) fn target<'a>(root: &'a Value, schema: &'a Value) -> Result<&'a Value, String> {
    let mut here = schema;
    for _ in 0..HOPS {
        let Some(reference) = here.get("$ref").and_then(Value::as_str) else { return Ok(here) };
        let pointer = reference.strip_prefix('#').filter(|p| p.starts_with('/'));
        let Some(pointer) = pointer else {
            return Err(format!("its schema refers to `{reference}`, which is not looked up"));
        };
        here =
            root.pointer(pointer).ok_or_else(|| format!("its schema refers to `{reference}`, which is not in it"))?;
    }
    Err("the references of its schema lead in a circle".to_owned())
}
