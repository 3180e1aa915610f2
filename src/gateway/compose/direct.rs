//! Tools of a server as they are: classified, checked and bounded, but not narrowed.

use serde_json::{Map, Value, json};

use super::plan::{self, Plan, Route};
use super::{Definitions, Exposed, Origin, ResultBounds, extra, hints, place, schema};
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::composed::CountBudgetName;
use crate::resolve::composed::{Bounds, HintChoices};
use crate::resolve::counted::counted;
use crate::resolve::policy::{Budget, Server, ServerTool};
use crate::resolve::{CapSet, OWN_ARGUMENTS, Policy};

/// Longest description passed on, in bytes.
const DESCRIPTION: usize = 2048;
/// Longest name; hosts put the name of a server before it, and models take 64 in all.
const NAME: usize = 40;

/// Makes one tool.
///
/// # Errors
/// Why there is none, in one sentence.
pub(super) fn expose(
    name: &str,
    server: &Server,
    tool: &str,
    policy: &Policy,
    definitions: &Definitions,
    sink: &mut Sink,
) -> Result<Exposed, String> {
    let Some(classified) = server.tools.get(tool) else { return Err("it is not classified".to_owned()) };
    let missing = || format!("server `{}` has no tool `{tool}`", server.name);
    let raw = definitions.get(&server.name, tool);
    let raw = raw.ok_or_else(|| definitions.why(&server.name, tool).unwrap_or_else(missing))?;
    usable(name, raw)?;
    let empty = json!({ "type": "object" });
    let root = raw.get("inputSchema").unwrap_or(&empty);
    place::dialect(root)?;
    let Value::Object(mut shown) = root.clone() else { return Err("its schema is no object".to_owned()) };
    let bounds = &classified.bounds;
    let (limit, added) = limited(server, tool, classified, &mut shown, policy, sink)?;
    let reasons = extra::reasons(&server.name, classified.confers, policy);
    if bounds.inline_media || !reasons.is_empty() {
        let properties = shown.entry("properties").or_insert_with(|| json!({}));
        let Some(properties) = properties.as_object_mut() else { return Err("its schema is no object".to_owned()) };
        if let Some(own) = OWN_ARGUMENTS.iter().find(|own| properties.contains_key(**own)) {
            return Err(format!("it has an argument `{own}` of its own"));
        }
        extra::add(properties, bounds.inline_media, &reasons);
    }
    let hints = hints::of(classified.confers, &policy.catalogue, raw, false, &HintChoices::default())?;
    let accepts = plan::validator(&Value::Object(shown.clone()))?;
    let upstream = plan::validator(root)?;
    let cursor = bounds.cursor_argument.as_ref().map(|c| c.value.clone());
    Ok(Exposed {
        name: name.to_owned(),
        description: description(raw),
        hints,
        confers: classified.confers,
        risk: classified.risk,
        origin: Origin::Upstream { server: server.name.clone(), tool: tool.to_owned() },
        raw: Some(raw.clone()),
        bounds: result_bounds(bounds, classified.covers, policy, limit.clone(), cursor),
        plan: Plan {
            shown: Value::Object(shown.clone()),
            accepts,
            upstream: Some((root.clone(), upstream)),
            route: Route::Whole { added },
            delivery: bounds.inline_media,
            files: extra::files(&server.name, raw, bounds.inline_media),
            reasons,
            limit,
        },
        input_schema: shown,
    })
}

fn usable(name: &str, raw: &Value) -> Result<(), String> {
    let good = name.len() <= NAME && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if !good {
        return Err(format!("hosts do not take its name: at most {NAME} letters, digits, `_` and `-`"));
    }
    let task = raw.get("execution").and_then(|e| e.get("taskSupport")).and_then(Value::as_str);
    if task == Some("required") {
        return Err("it can be called only as a task".to_owned());
    }
    Ok(())
}

/// What the server says of it, without characters that cannot be seen, and bounded.
fn description(raw: &Value) -> String {
    let text = raw.get("description").and_then(Value::as_str).unwrap_or("").trim();
    let seen: String =
        text.chars().filter(|c| *c == '\n' || (!c.is_control() && !crate::text::encoding::is_hidden(*c))).collect();
    if seen.len() <= DESCRIPTION {
        return seen;
    }
    format!("{}…", &seen[..seen.floor_char_boundary(DESCRIPTION)])
}

/// Gives the parameter that says how many its default and its maximum.
fn limited(
    server: &Server,
    tool: &str,
    classified: &ServerTool,
    shown: &mut Map<String, Value>,
    policy: &Policy,
    sink: &mut Sink,
) -> Result<(Option<String>, Map<String, Value>), String> {
    let Some(parameter) = &classified.bounds.limit_argument else { return Ok((None, Map::new())) };
    let property = shown.get_mut("properties").and_then(|p| p.get_mut(&parameter.value)).and_then(Value::as_object_mut);
    let Some(property) = property else {
        let message = format!("the tool `{}/{tool}` has no parameter `{}`", server.name, parameter.value);
        sink.push(
            Diagnostic::new(Code::ComposedBinding, message.clone())
                .at_opt(parameter.span, "")
                .help("name the parameter of the tool that says how many"),
        );
        return Err(message);
    };
    let mut added = Map::new();
    if let Some((target, limit)) = figures(&classified.bounds, classified.covers, policy) {
        schema::cap(property, limit);
        property.insert("default".to_owned(), json!(target));
        added.insert(parameter.value.clone(), json!(target));
    }
    Ok((Some(parameter.value.clone()), added))
}

/// The budget by which a tool's results are cut.
fn budget(bounds: &Bounds, covers: CapSet, policy: &Policy) -> Option<CountBudgetName> {
    let limited = bounds.limit_argument.is_some();
    // What is not said of a tool is not cut by it.
    (limited || bounds.budget.is_some()).then(|| counted(bounds.budget, limited, covers, &policy.catalogue)).flatten()
}

/// How many at first, and at most.
pub(super) fn figures(bounds: &Bounds, covers: CapSet, policy: &Policy) -> Option<(u64, u64)> {
    let Budget::Count(count) = policy.settings.budgets.get(budget(bounds, covers, policy)?.key())? else { return None };
    let target = count.target.or(count.limit)?;
    // Without a limit of its own, ten first passes are a lot.
    Some((target, count.limit.unwrap_or(target.saturating_mul(10))))
}

/// What bounds results.
pub(super) fn result_bounds(
    bounds: &Bounds,
    covers: CapSet,
    policy: &Policy,
    narrow: Option<String>,
    cursor: Option<String>,
) -> ResultBounds {
    let counted = budget(bounds, covers, policy);
    let figures = figures(bounds, covers, policy);
    ResultBounds {
        entries: figures.map(|f| f.0),
        entries_limit: figures.map(|f| f.1),
        lines: matches!(counted, Some(CountBudgetName::BrowserLog | CountBudgetName::FileRead)),
        narrow,
        cursor,
        inline_media: bounds.inline_media,
    }
}
