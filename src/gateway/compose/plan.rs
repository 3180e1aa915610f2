//! From what a model sends to what a server is sent.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::coerce;
use crate::resolve::composed::{Bind, From};

/// The argument of the gateway's own by which media are asked for.
pub(super) const DELIVERY: &str = "delivery";
/// The argument of the gateway's own that says which need makes the specialist browser necessary.
pub(super) const REASON: &str = "escalation_reason";
/// The argument of the gateway's own that says so in a sentence.
pub(super) const NOTE: &str = "escalation_note";
/// Most characters of a message about the model's own arguments.
const WORDS: usize = 400;

/// How media are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// As files.
    #[default]
    Artifact,
    /// In the answer.
    Inline,
}

/// What is done with the arguments of a call.
#[derive(Debug)]
pub struct Plan {
    pub(super) shown: Value,
    pub(super) accepts: Validator,
    /// The primitive's own schema with its validator; none for tools of this program.
    pub(super) upstream: Option<(Value, Validator)>,
    pub(super) route: Route,
    /// Whether `delivery` is taken.
    pub(super) delivery: bool,
    /// Parameters of the primitive that say where a file is written.
    pub(super) files: Vec<String>,
    /// The needs of which one must be given before anything else in a session; empty = none.
    pub(super) reasons: Vec<&'static str>,
    /// The argument of the model that says how many.
    pub(super) limit: Option<String>,
}

/// How arguments travel.
#[derive(Debug)]
pub(super) enum Route {
    /// Built anew from bindings; `defaults` fill what the model left out.
    Bound { bind: Vec<Bind>, defaults: Map<String, Value> },
    /// As they are, with what the policy adds where the model says nothing.
    Whole { added: Map<String, Value> },
}

/// A call that may be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the origin is sent.
    pub arguments: Map<String, Value>,
    /// How media are wanted.
    pub delivery: Delivery,
    /// Whether the origin is told where to write a file.
    pub path_given: bool,
    /// The number of entries the model asked for itself.
    pub entries: Option<u64>,
    /// Why the specialist browser is needed: one of the policy's needs, and a sentence.
    pub reason: Option<(String, String)>,
}

/// Why a call is not made. The words are for the model and hold nothing that it did not send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Arguments that are not declared.
    #[error("unknown argument {names}; this tool takes {takes}")]
    Unknown {
        /// Those sent, in backticks.
        names: String,
        /// Those there are.
        takes: String,
    },
    /// Arguments that do not fit their schema.
    #[error("the arguments do not fit: {0}")]
    Invalid(String),
    /// A value of the run time is missing.
    #[error(
        "this tool needs the value `{name}` of the run time, which is missing: {why}. It is given by who started this server, not by a call"
    )]
    Runtime {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
    /// What would be sent does not fit the primitive.
    #[error("{0}")]
    Upstream(String),
}

impl Plan {
    /// The needs of which one must be given before anything else in a session; empty = none.
    pub fn reasons(&self) -> &[&'static str] {
        &self.reasons
    }

    /// The values of the run time that a call takes.
    pub fn runtime(&self) -> Vec<&str> {
        let mut names = Vec::new();
        if let Route::Bound { bind, .. } = &self.route {
            for bind in bind {
                runtime_names(&bind.from, &mut names);
            }
        }
        names
    }

    /// What the origin is sent when a model sends `given`. `runtime` gives the values of the run time as text, or says
    /// why there is none.
    ///
    /// # Errors
    /// Why the call is not made.
    pub fn apply(
        &self,
        mut given: Map<String, Value>,
        runtime: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Call, Refusal> {
        self.known(&given)?;
        given = match coerce::to_schema(Value::Object(given), &self.shown) {
            Value::Object(given) => given,
            _ => Map::new(),
        };
        let instance = Value::Object(given);
        if let Some(error) = self.accepts.iter_errors(&instance).next() {
            return Err(Refusal::Invalid(said(&error)));
        }
        let Value::Object(mut given) = instance else { return Err(Refusal::Invalid("no object".to_owned())) };
        let delivery = match given.get(DELIVERY).and_then(Value::as_str) {
            Some("inline") if self.delivery => Delivery::Inline,
            _ => Delivery::Artifact,
        };
        if self.delivery {
            given.shift_remove(DELIVERY);
        }
        let reason = self.reason(&mut given);
        let entries = self.limit.as_ref().and_then(|name| given.get(name)).and_then(Value::as_u64);
        let arguments = match &self.route {
            Route::Whole { added } => {
                for (name, value) in added {
                    given.entry(name.clone()).or_insert_with(|| value.clone());
                }
                given
            }
            Route::Bound { bind, defaults } => {
                for (name, value) in defaults {
                    given.entry(name.clone()).or_insert_with(|| value.clone());
                }
                self.built(bind, &given, runtime)?
            }
        };
        self.fits_upstream(&arguments)?;
        let path_given = self.files.iter().any(|name| arguments.contains_key(name));
        Ok(Call { arguments, delivery, path_given, entries, reason })
    }

    /// Takes the reason out of the arguments.
    fn reason(&self, given: &mut Map<String, Value>) -> Option<(String, String)> {
        if self.reasons.is_empty() {
            return None;
        }
        let mut take = |name: &str| given.shift_remove(name)?.as_str().map(str::trim).map(str::to_owned);
        let (reason, note) = (take(REASON), take(NOTE));
        Some((reason?, note.filter(|note| !note.is_empty())?))
    }

    /// Refuses names that are not declared, bound ones like any other: nothing tells which names a server has.
    fn known(&self, given: &Map<String, Value>) -> Result<(), Refusal> {
        let declared = self.shown.get("properties").and_then(Value::as_object);
        let open = !matches!(self.shown.get("additionalProperties"), None | Some(Value::Bool(false)));
        if open && matches!(self.route, Route::Whole { .. }) {
            return Ok(());
        }
        let is_known = |name: &String| declared.is_some_and(|d| d.contains_key(name));
        let unknown: Vec<String> = given.keys().filter(|name| !is_known(name)).map(|name| quoted(name)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let takes: Vec<String> = declared.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
        let takes = if takes.is_empty() { "none".to_owned() } else { takes.join(", ") };
        let more = unknown.len().saturating_sub(5);
        let mut names = unknown.into_iter().take(5).collect::<Vec<_>>().join(", ");
        if more > 0 {
            names = format!("{names} and {more} more");
        }
        Err(Refusal::Unknown { names, takes })
    }

    fn built(
        &self,
        bind: &[Bind],
        given: &Map<String, Value>,
        runtime: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Map<String, Value>, Refusal> {
        let root = self.upstream.as_ref().map_or(&Value::Null, |(schema, _)| schema);
        let mut made = Map::new();
        for bind in bind {
            let wanted = match super::place::find(root, &bind.path) {
                Ok(super::place::Place::Known(schema)) => schema,
                _ => &Value::Null,
            };
            if let Some(value) = value_of(&bind.from, given, wanted, runtime)? {
                put(&mut made, &bind.path, value);
            }
        }
        Ok(made)
    }

    fn fits_upstream(&self, arguments: &Map<String, Value>) -> Result<(), Refusal> {
        let Some((_, validator)) = &self.upstream else { return Ok(()) };
        let instance = Value::Object(arguments.clone());
        let Some(error) = validator.iter_errors(&instance).next() else { return Ok(()) };
        // What is wrong may be a value the model must not learn: only its place is told.
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { "the whole".to_owned() } else { format!("`{at}`") };
        Err(Refusal::Upstream(match &self.route {
            Route::Whole { .. } => format!("the arguments do not fit: {}", said(&error)),
            Route::Bound { .. } => format!("the server does not take these arguments: {at} does not fit its schema"),
        }))
    }
}

fn runtime_names<'a>(from: &'a From, names: &mut Vec<&'a str>) {
    match from {
        From::Runtime(name) => names.push(name),
        From::List(items) => items.iter().for_each(|item| runtime_names(item, names)),
        From::Argument(_) | From::Constant(_) => {}
    }
}

fn value_of(
    from: &From,
    given: &Map<String, Value>,
    wanted: &Value,
    runtime: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Option<Value>, Refusal> {
    Ok(match from {
        From::Argument(name) => given.get(name).cloned(),
        From::Constant(value) => Some(value.clone()),
        From::Runtime(name) => {
            let text = runtime(name).map_err(|why| Refusal::Runtime { name: name.clone(), why })?;
            Some(coerce::to_schema(json!(text), wanted))
        }
        From::List(items) => {
            let inner = wanted.get("items").unwrap_or(&Value::Null);
            let each = items.iter().filter_map(|item| value_of(item, given, inner, runtime).transpose());
            Some(Value::Array(each.collect::<Result<_, _>>()?))
        }
    })
}

/// Puts a value at a path; the policy has no two bindings of which one would hold the other.
fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((last, before)) = path.split_last() else { return };
    let mut here = object;
    for name in before {
        let next = here.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
        match next {
            Value::Object(inner) => here = inner,
            _ => return,
        }
    }
    here.insert(last.clone(), value);
}

/// A validator that looks up nothing outside of the schema.
///
/// # Errors
/// The schema cannot be used.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::validator_for(schema)
        .map_err(|error| format!("its schema cannot be used: {}", bounded(&error.to_string())))
}

fn said(error: &jsonschema::ValidationError<'_>) -> String {
    let at = error.instance_path().to_string();
    let words = bounded(&error.to_string());
    if at.is_empty() { words } else { format!("`{}`: {words}", bounded(at.trim_start_matches('/'))) }
}

fn bounded(text: &str) -> String {
    let mut kept: String = text.chars().take(WORDS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

/// A name that a model sent, with everything visible.
fn quoted(name: &str) -> String {
    let visible: String = name
        .chars()
        .take(80)
        .flat_map(|c| if c.is_ascii_graphic() { vec![c] } else { c.escape_unicode().collect() })
        .collect();
    format!("`{visible}`")
}
