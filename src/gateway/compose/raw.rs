//! Primitives as they are, with nothing bound: what a reviewer tries, never what a role is shown.

use serde_json::{Map, Value};

use super::plan::{self, Plan, Route};
use super::{Exposed, Hints, Origin, ResultBounds};
use crate::model::scalar::Risk;
use crate::primitives::definition;
use crate::resolve::CapSet;
use crate::resolve::primitives::Primitive;

/// Every primitive under one name.
///
/// # Errors
/// A schema that cannot be used.
pub fn raw(primitive: &Primitive) -> Result<Vec<Exposed>, String> {
    definition::of(primitive).into_iter().map(|raw| one(&primitive.name, raw)).collect()
}

fn one(name: &str, raw: Value) -> Result<Exposed, String> {
    let text = |key: &str| raw.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let said = |key: &str, default: bool| raw["annotations"][key].as_bool().unwrap_or(default);
    let hints = Hints {
        read_only: said("readOnlyHint", false),
        destructive: said("destructiveHint", true),
        idempotent: said("idempotentHint", false),
        open_world: said("openWorldHint", true),
    };
    let schema = raw.get("inputSchema").and_then(Value::as_object).cloned().unwrap_or_default();
    let tool = text("name");
    Ok(Exposed {
        name: tool.clone(),
        description: text("description"),
        hints,
        confers: CapSet::default(),
        risk: if hints.read_only { Risk::Safe } else { Risk::Restricted },
        origin: Origin::Upstream { server: name.to_owned(), tool },
        plan: Plan {
            shown: Value::Object(schema.clone()),
            accepts: plan::validator(&Value::Object(schema.clone()))?,
            upstream: None,
            route: Route::Whole { added: Map::new() },
            delivery: false,
            reasons: Vec::new(),
            files: Vec::new(),
            limit: schema["properties"].get("limit").map(|_| "limit".to_owned()),
        },
        bounds: ResultBounds { narrow: Some("limit".to_owned()), ..ResultBounds::default() },
        raw: Some(raw),
        input_schema: schema,
    })
}
