//! Programs as tools: to a model they are like any other.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::plan::{self, Plan, Route};
use super::{Exposed, Origin, direct, extra, hints};
use crate::diag::{Code, Diagnostic, Sink};
use crate::primitives::definition;
use crate::resolve::Policy;
use crate::resolve::composed::{Composed, Program};

/// Makes the tool of a program. There is no upstream schema: what the policy declares is all there is.
///
/// # Errors
/// Why there is no tool, in one sentence.
pub(super) fn expose(tool: &Composed, program: &Program, policy: &Policy, sink: &mut Sink) -> Result<Exposed, String> {
    let declared = hints::of(tool.confers, &policy.catalogue, &Value::Null, true, &tool.hints);
    let hints = declared.inspect_err(|why| {
        let report = Diagnostic::new(Code::ComposedTool, why.clone());
        sink.push(report.at_opt(tool.hints.span.or(tool.span), "").help("leave the hint out"));
    })?;
    let mut properties: Map<String, Value> =
        tool.arguments.iter().map(|(name, argument)| (name.clone(), definition::argument(argument))).collect();
    let limit = tool.bounds.limit_argument.as_ref().and_then(|l| tool.arguments.contains_key(&l.value).then_some(l));
    let figures = direct::figures(&tool.bounds, tool.covers, policy).filter(|_| limit.is_some());
    if let (Some(limit), Some((target, most))) = (limit, figures)
        && let Some(Value::Object(schema)) = properties.get_mut(&limit.value)
    {
        super::schema::cap(schema, most);
        if tool.arguments.get(&limit.value).is_some_and(|argument| !argument.required) {
            schema.entry("default").or_insert_with(|| json!(target));
        }
    }
    extra::add(&mut properties, tool.bounds.inline_media, &[]);
    let required: Vec<&String> = tool.arguments.iter().filter(|(_, a)| a.required).map(|(name, _)| name).collect();
    let mut shown =
        Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), json!(properties))]);
    if !required.is_empty() {
        shown.insert("required".to_owned(), json!(required));
    }
    shown.insert("additionalProperties".to_owned(), json!(false));
    let mut defaults: Map<String, Value> =
        tool.arguments.iter().filter_map(|(name, a)| Some((name.clone(), a.default.clone()?))).collect();
    if let (Some(limit), Some((target, _))) = (limit, figures) {
        defaults.entry(limit.value.clone()).or_insert_with(|| json!(target));
    }
    let narrow = limit.map(|l| l.value.clone());
    Ok(Exposed {
        name: tool.name.clone(),
        description: tool.description.clone(),
        hints,
        confers: tool.confers,
        risk: super::composed::risk(tool.confers, policy),
        origin: Origin::Program(Arc::new(program.clone())),
        raw: None,
        bounds: direct::result_bounds(&tool.bounds, tool.covers, policy, narrow.clone(), None),
        plan: Plan {
            shown: Value::Object(shown.clone()),
            accepts: plan::validator(&Value::Object(shown.clone()))?,
            upstream: None,
            route: Route::Bound { bind: tool.bind.clone(), defaults },
            delivery: tool.bounds.inline_media,
            reasons: Vec::new(),
            files: Vec::new(),
            limit: narrow,
        },
        input_schema: shown,
    })
}
