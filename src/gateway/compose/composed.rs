//! Tools that the policy makes from a primitive.

use serde_json::{Map, Value, json};

use super::place::{self, Place};
use super::plan::{self, Plan, Route};
use super::{Definitions, Exposed, Origin, extra, hints, schema};
use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::scalar::Risk;
use crate::resolve::composed::{Bind, Bounds, Composed, From, Maker, ToolArgument};
use crate::resolve::{CapSet, Policy};

/// The first and the most of what a tool returns, and the binding of the parameter that says how many.
type Counted = (Option<(u64, u64)>, Option<Bind>);

/// Makes one tool. What its primitive does not allow is reported.
///
/// # Errors
/// Why there is no tool, in one sentence.
pub(super) fn expose(
    tool: &Composed,
    policy: &Policy,
    definitions: &Definitions,
    sink: &mut Sink,
) -> Result<Exposed, String> {
    if let Maker::Program(program) = &tool.maker {
        return super::program::expose(tool, program, policy, sink);
    }
    let Some(raw) = definitions.get(&tool.server, &tool.tool) else {
        return Err(unknown(tool, definitions, sink));
    };
    let mut reports = Vec::new();
    let made = Making { tool, policy, raw, reports: &mut reports }.make();
    let failed = !reports.is_empty();
    let first = reports.first().map(|d: &Diagnostic| d.message.clone());
    for report in reports {
        sink.push(report);
    }
    match made {
        Some(made) if !failed => Ok(made),
        _ => Err(first.unwrap_or_else(|| "its primitive does not allow it".to_owned())),
    }
}

fn unknown(tool: &Composed, definitions: &Definitions, sink: &mut Sink) -> String {
    if let Some(why) = definitions.why(&tool.server, &tool.tool) {
        return why;
    }
    sink.push(
        Diagnostic::new(Code::ComposedPrimitive, format!("server `{}` has no tool `{}`", tool.server, tool.tool))
            .at_opt(tool.primitive_span, "made from nothing")
            .suggest(&tool.tool, definitions.names(&tool.server)),
    );
    format!("server `{}` has no tool `{}`", tool.server, tool.tool)
}

/// The greatest risk of a set of capabilities.
pub(super) fn risk(caps: CapSet, policy: &Policy) -> Risk {
    caps.iter().map(|cap| policy.catalogue.get(cap).risk).max().unwrap_or(Risk::Restricted)
}

struct Making<'a> {
    tool: &'a Composed,
    policy: &'a Policy,
    raw: &'a Value,
    reports: &'a mut Vec<Diagnostic>,
}

impl Making<'_> {
    fn make(mut self) -> Option<Exposed> {
        let tool = self.tool;
        let empty = json!({ "type": "object" });
        let root = self.raw.get("inputSchema").unwrap_or(&empty);
        if let Err(why) = place::narrowable(root) {
            self.whole(&why);
            return None;
        }
        let bounds = self.bounds();
        let (limit, added) = self.limit(&bounds, root)?;
        let mut bind = tool.bind.clone();
        bind.extend(added);
        self.required(&bind, root);
        let (properties, required) = self.arguments(&bind, &bounds, limit, root)?;
        self.constants(&bind, root);
        let narrowed = self.narrowed(&bind, root);
        let mut choices = tool.hints;
        // Of what this program answers itself it is known, not only said, that it stays on this machine.
        if matches!(tool.maker, Maker::Primitive) && self.raw["annotations"]["openWorldHint"] == false {
            choices.open_world = choices.open_world.or(Some(false));
        }
        let hints = hints::of(tool.confers, &self.policy.catalogue, self.raw, narrowed, &choices);
        let hints = hints
            .map_err(|why| self.report(Code::ComposedTool, tool.hints.span.or(tool.span), &why, "leave the hint out"))
            .ok()?;
        let shown = schema::object(properties, required, root).map_err(|why| self.whole(&why)).ok()?;
        let accepts = plan::validator(&Value::Object(shown.clone())).map_err(|why| self.whole(&why)).ok()?;
        let upstream = plan::validator(root).map_err(|why| self.whole(&why)).ok()?;
        let argument_of = |parameter: Option<&str>| -> Option<String> {
            let bind = bind.iter().find(|b| Some(b.dotted().as_str()) == parameter)?;
            bind.from.arguments().first().map(|name| (*name).to_owned())
        };
        let narrow = argument_of(bounds.limit_argument.as_ref().map(|l| l.value.as_str()));
        let cursor = argument_of(bounds.cursor_argument.as_ref().map(|c| c.value.as_str()));
        let reasons = self.reasons();
        let defaults = tool.arguments.iter().filter_map(|(name, a)| Some((name.clone(), a.default.clone()?))).collect();
        Some(Exposed {
            name: tool.name.clone(),
            description: tool.description.clone(),
            hints,
            confers: tool.confers,
            risk: risk(tool.confers, self.policy),
            origin: Origin::Upstream { server: tool.server.clone(), tool: tool.tool.clone() },
            raw: Some(self.raw.clone()),
            bounds: super::direct::result_bounds(&bounds, tool.covers, self.policy, narrow.clone(), cursor),
            plan: Plan {
                shown: Value::Object(shown.clone()),
                accepts,
                upstream: Some((root.clone(), upstream)),
                route: Route::Bound { bind, defaults },
                delivery: bounds.inline_media,
                files: extra::files(&tool.server, self.raw, bounds.inline_media),
                reasons,
                limit: narrow,
            },
            input_schema: shown,
        })
    }

    fn reasons(&self) -> Vec<&'static str> {
        extra::reasons(&self.tool.server, self.tool.confers, self.policy)
    }

    /// Its own bounds, else those of the classified primitive.
    fn bounds(&self) -> Bounds {
        let tool = self.tool;
        let own = &tool.bounds;
        let classified = self.policy.servers.get(&tool.server).and_then(|s| s.tools.get(&tool.tool)).map(|t| &t.bounds);
        Bounds {
            limit_argument: own.limit_argument.clone().or_else(|| classified?.limit_argument.clone()),
            cursor_argument: own.cursor_argument.clone().or_else(|| classified?.cursor_argument.clone()),
            budget: own.budget.or_else(|| classified?.budget),
            inline_media: own.inline_media,
        }
    }

    /// The figures for the parameter that says how many, and its binding where the policy has none.
    fn limit(&mut self, bounds: &Bounds, root: &Value) -> Option<Counted> {
        for parameter in [&bounds.limit_argument, &bounds.cursor_argument].into_iter().flatten() {
            let path: Vec<String> = parameter.split('.').map(str::to_owned).collect();
            if !matches!(place::find(root, &path), Ok(Place::Known(_))) {
                let message = format!("the primitive `{}` has no parameter `{}`", self.primitive(), parameter.value);
                self.report(Code::ComposedBinding, parameter.span, &message, "name a parameter that it has");
                return None;
            }
        }
        let Some(parameter) = &bounds.limit_argument else { return Some((None, None)) };
        let Some(figures) = super::direct::figures(bounds, self.tool.covers, self.policy) else {
            return Some((None, None));
        };
        let path: Vec<String> = parameter.split('.').map(str::to_owned).collect();
        let bound = self.tool.bind.iter().any(|b| b.path == path);
        let from = From::Constant(json!(figures.0));
        Some((Some(figures), (!bound).then_some(Bind { path, span: parameter.span, from })))
    }

    /// The properties of the shown schema, and which of them must be given.
    fn arguments(
        &mut self,
        bind: &[Bind],
        bounds: &Bounds,
        limit: Option<(u64, u64)>,
        root: &Value,
    ) -> Option<(Map<String, Value>, Vec<String>)> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut good = true;
        for (name, argument) in &self.tool.arguments {
            let Some((bind, in_list)) = uses(bind, name) else { continue };
            let Some(schema) = self.argument(argument, bind, in_list, root) else {
                good = false;
                continue;
            };
            let mut schema = schema;
            let is_limit = bounds.limit_argument.as_ref().is_some_and(|l| l.value == bind.dotted());
            if let (true, Some((target, most)), Value::Object(fields)) = (is_limit, limit, &mut schema) {
                schema::cap(fields, most);
                if !argument.required {
                    fields.entry("default").or_insert_with(|| json!(target));
                }
            }
            properties.insert(name.clone(), schema);
            if argument.required {
                required.push(name.clone());
            }
        }
        extra::add(&mut properties, bounds.inline_media, &self.reasons());
        good.then_some((properties, required))
    }

    fn argument(&mut self, argument: &ToolArgument, bind: &Bind, in_list: bool, root: &Value) -> Option<Value> {
        let found = match place::find(root, &bind.path) {
            Ok(found) => found,
            Err(why) => {
                self.whole(&why);
                return None;
            }
        };
        let found = match found {
            Place::Missing => {
                let message = format!("the primitive `{}` has no parameter `{}`", self.primitive(), bind.dotted());
                self.missing(bind, &message, root);
                return None;
            }
            Place::Known(schema) if in_list => match schema.get("items").map(|items| place::target(root, items)) {
                Some(Ok(items)) => Place::Known(items),
                _ => Place::Open,
            },
            other => other,
        };
        match schema::argument(argument, &found, root) {
            Ok(schema) => Some(schema),
            Err(why) => {
                let span = argument.values_span.filter(|_| why.contains("does not take")).or(argument.span);
                self.report(
                    Code::ComposedArgument,
                    span,
                    &why,
                    "an argument may allow less than its primitive, not more",
                );
                None
            }
        }
    }

    /// Constants that the primitive would refuse in every call.
    fn constants(&mut self, bind: &[Bind], root: &Value) {
        for bind in bind {
            let found = place::find(root, &bind.path);
            match (&bind.from, found) {
                (_, Err(why)) => self.whole(&why),
                // An argument's own place was reported with it.
                (_, Ok(Place::Missing)) if bind.from.arguments().is_empty() => {
                    let message = format!("the primitive `{}` has no parameter `{}`", self.primitive(), bind.dotted());
                    self.missing(bind, &message, root);
                }
                (From::Constant(value), Ok(Place::Known(schema))) => {
                    let mut alone = schema.clone();
                    if let (Some(fields), Some(defs)) = (alone.as_object_mut(), root.as_object()) {
                        let carried = ["$schema", "$defs", "definitions"];
                        fields.extend(carried.iter().filter_map(|k| Some(((*k).to_owned(), defs.get(*k)?.clone()))));
                    }
                    let error =
                        plan::validator(&alone).ok().and_then(|v| v.validate(value).err().map(|e| e.to_string()));
                    if let Some(error) = error {
                        let message = format!("the primitive does not take this constant: {error}");
                        self.report(Code::ComposedBinding, bind.span, &message, "bind a value that it takes");
                    }
                }
                _ => {}
            }
        }
    }

    /// Parameters that must be sent and are not bound, or only to what may be left out.
    fn required(&mut self, bind: &[Bind], root: &Value) {
        let names = root.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in names {
            let of: Vec<&Bind> = bind.iter().filter(|b| b.path[0] == name).collect();
            let optional = |bind: &&&Bind| match &bind.from {
                From::Argument(argument) => {
                    self.tool.arguments.get(argument).is_some_and(|a| !a.required && a.default.is_none())
                }
                _ => false,
            };
            let left_out = of.iter().filter(optional).count();
            let (why, span) = if of.is_empty() {
                ("is required and bound to nothing", self.tool.primitive_span)
            } else if left_out == of.len() {
                ("is required, and the argument it is bound to may be left out", of[0].span)
            } else {
                continue;
            };
            let message = format!("the parameter `{name}` of `{}` {why}", self.primitive());
            self.report(Code::ComposedUnbound, span, &message, &format!("bind it, as in `bind: {{ {name}: … }}`"));
        }
    }

    /// Whether something the primitive can do cannot be reached.
    fn narrowed(&self, bind: &[Bind], root: &Value) -> bool {
        let all = root.get("properties").and_then(Value::as_object);
        let left_out = all.is_some_and(|all| all.keys().any(|name| !bind.iter().any(|b| b.path[0] == *name)));
        let fixed = bind.iter().any(|b| matches!(b.from, From::Constant(_)));
        left_out || fixed || self.tool.arguments.values().any(|a| a.values.is_some())
    }

    fn primitive(&self) -> String {
        format!("{}/{}", self.tool.server, self.tool.tool)
    }

    fn missing(&mut self, bind: &Bind, message: &str, root: &Value) {
        let names =
            root.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str());
        let names: Vec<&str> = names.collect();
        let written = bind.path.first().map_or("", String::as_str);
        self.reports.push(
            Diagnostic::new(Code::ComposedBinding, message)
                .at_opt(bind.span, "bound to nothing")
                .suggest(written, names),
        );
    }

    fn whole(&mut self, why: &str) {
        let message = format!("`{}` cannot be narrowed: {why}", self.primitive());
        let help = "use the tool as it is, through its classification, or another primitive";
        self.report(Code::ComposedPrimitive, self.tool.primitive_span, &message, help);
    }

    fn report(&mut self, code: Code, span: Option<Span>, message: &str, help: &str) {
        self.reports.push(Diagnostic::new(code, message).at_opt(span.or(self.tool.span), "").help(help));
    }
}

/// The first binding that uses an argument, and whether it does as an item of a list.
fn uses<'a>(bind: &'a [Bind], name: &str) -> Option<(&'a Bind, bool)> {
    let bind = bind.iter().find(|b| b.from.arguments().contains(&name))?;
    Some((bind, matches!(bind.from, From::List(_))))
}
