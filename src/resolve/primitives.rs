//! Primitives of this program itself: declared files, programs and requests, every value judged.

use indexmap::IndexMap;

use super::layers::Merged;
use super::policy::Value;
use super::{composed::ToolArgument, servers, tools};
use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::policy::{CountBudget, Map, Timeouts};
use crate::model::primitives::{self as model, EmbedderChoice, PrimitiveSource, StoreChoice};
use crate::text::suggest::nearest;
use crate::yaml::Sp;

/// Results of a store's primitives when the policy says nothing: first and at most.
const RESULTS: (u64, u64) = (10, 50);
/// Most results that a policy may ask for.
const MOST: u64 = 500;
/// Seconds of a request when the policy says nothing.
const TIMEOUT: u64 = 60;

/// What one name stands for.
#[derive(Debug, Clone)]
pub struct Primitive {
    /// The name.
    pub name: String,
    /// Where it is declared.
    pub span: Option<Span>,
    /// What it is.
    pub kind: Kind,
}

/// A store, or a web interface.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Documents and conversations in a file.
    Store(Store),
    /// Declared requests.
    Api(Api),
}

/// Documents and conversations in a file.
#[derive(Debug, Clone)]
pub struct Store {
    /// The file, relative to the root.
    pub file: String,
    /// What makes vectors; none = the built-in one.
    pub embedder: Option<Embedder>,
    /// Results first and at most.
    pub results: (u64, u64),
    /// Seconds that a call may take.
    pub seconds: u64,
}

/// A program that makes vectors.
#[derive(Debug, Clone)]
pub struct Embedder {
    /// The name of its model.
    pub name: String,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// What it is given of the environment beside the usual.
    pub env: IndexMap<String, Value>,
}

/// Declared requests of one web interface.
#[derive(Debug, Clone)]
pub struct Api {
    /// What every address starts with.
    pub base: String,
    /// Headers of every request.
    pub headers: IndexMap<String, Value>,
    /// Seconds that a request may take.
    pub seconds: u64,
    /// By name.
    pub calls: IndexMap<String, ApiCall>,
}

/// One declared request.
#[derive(Debug, Clone)]
pub struct ApiCall {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Option<Span>,
    /// How it is sent.
    pub method: Method,
    /// The path, with `{name}` where a parameter belongs.
    pub path: String,
    /// What it does.
    pub description: String,
    /// What may be sent.
    pub parameters: IndexMap<String, ToolArgument>,
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It reads.
    Get,
    /// It may change something.
    Post,
}

impl Primitive {
    /// Variables of the user that it is given.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        match &self.kind {
            Kind::Store(store) => store.embedder.as_ref().map(|e| e.env.values()),
            Kind::Api(api) => Some(api.headers.values()),
        }
        .into_iter()
        .flatten()
    }

    /// Seconds that a call may take.
    pub const fn seconds(&self) -> u64 {
        match &self.kind {
            Kind::Store(store) => store.seconds,
            Kind::Api(api) => api.seconds,
        }
    }
}

/// Resolves every primitive. Two things of one name would be one to whoever reads a tool.
pub(super) fn resolve(merged: &Merged<'_>, sink: &mut Sink) -> IndexMap<String, Primitive> {
    let mut all = IndexMap::new();
    for (name, source) in &merged.primitives {
        let server = merged.servers.keys().find(|server| server.value == name.value);
        named(name, server.and_then(|s| s.span), server.is_some(), sink);
        let kind = match source {
            PrimitiveSource::Store(store) => Kind::Store(self::store(name, store, sink)),
            PrimitiveSource::Api(api) => Kind::Api(self::api(name, api, sink)),
        };
        all.insert(name.value.clone(), Primitive { name: name.value.clone(), span: name.span, kind });
    }
    all
}

fn wrong(message: impl Into<String>, span: Option<Span>, label: &str, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::PrimitiveSource, message).at_opt(span, label).help(help.into())
}

fn named(name: &Sp<String>, server: Option<Span>, twin: bool, sink: &mut Sink) {
    let good = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !good || name.value == super::gateway::NAME {
        let label = if good { "means the gateway" } else { "" };
        let help = if good { "give it another name" } else { "use letters, digits, `-` and `_`" };
        sink.push(wrong(format!("`{}` cannot name a primitive", name.value), name.span, label, help));
    } else if twin {
        let d = wrong(
            format!("`{}` is the name of a server, too", name.value),
            name.span,
            "",
            "give one of the two another name",
        );
        sink.push(d.also(server, "the server"));
    }
}

fn store(name: &Sp<String>, raw: &StoreChoice, sink: &mut Sink) -> Store {
    if !below_root(&raw.file) {
        sink.push(wrong(
            format!("the file of the store `{}` is not below the root", name.value),
            raw.file.span,
            "not a path below the root",
            "name a file relative to the root, as in `data/knowledge.sqlite`",
        ));
    }
    Store {
        file: raw.file.value.clone(),
        embedder: raw.embedder.as_ref().map(|e| embedder(name, e, sink)),
        results: results(raw.results.as_ref(), sink),
        seconds: seconds(raw.timeout.as_ref(), sink),
    }
}

fn below_root(path: &str) -> bool {
    let plain = !path.is_empty() && !path.starts_with('/') && !path.contains(['\\', ':', '\0', '?']);
    plain && !path.split('/').any(|part| matches!(part, "" | "." | ".."))
}

fn results(raw: Option<&Sp<CountBudget>>, sink: &mut Sink) -> (u64, u64) {
    let Some(raw) = raw else { return RESULTS };
    let figure = |figure: &Option<Sp<u64>>, default: u64| figure.as_ref().map_or(default, |f| f.value);
    let limit = figure(&raw.limit, RESULTS.1.max(figure(&raw.target, 0)));
    let target = figure(&raw.target, RESULTS.0.min(limit));
    if target == 0 || target > limit || limit > MOST {
        sink.push(wrong(
            format!("`results` needs 1 ≤ target ≤ limit ≤ {MOST}"),
            raw.span,
            "",
            "write, as in `results: { target: 10, limit: 50 }`, how many there are at first and at most",
        ));
    }
    (target, limit)
}

fn embedder(name: &Sp<String>, raw: &EmbedderChoice, sink: &mut Sink) -> Embedder {
    let first = raw.command.first();
    if first.is_none_or(|program| program.trim().is_empty()) {
        let span = first.and_then(|p| p.span).or(raw.name.span);
        let message = format!("the embedder of `{}` names no program", name.value);
        sink.push(wrong(message, span, "", "write `command: [PROGRAM, …]`"));
    }
    if raw.name.trim().is_empty() {
        let message = format!("the embedder of `{}` does not say its model", name.value);
        sink.push(wrong(message, raw.name.span, "", "name the model: a store made with another one is not read"));
    }
    Embedder {
        name: raw.name.trim().to_owned(),
        command: raw.command.iter().map(|word| word.value.clone()).collect(),
        env: servers::program(&raw.command, &raw.env, sink),
    }
}

fn api(name: &Sp<String>, raw: &model::Api, sink: &mut Sink) -> Api {
    let base = raw.base.trim_end_matches('/');
    let rest = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || rest.contains(['?', '#', '@', '\\', ' '])) {
        sink.push(wrong(
            format!("the base of `{}` is no address of a web interface", name.value),
            raw.base.span,
            "not `https://HOST/…` without query or user",
            "write the address that every path is appended to, as in `https://example.org/v2`",
        ));
    }
    if raw.calls.is_empty() {
        let message = format!("`{}` declares no call", name.value);
        sink.push(wrong(
            message,
            name.span,
            "nothing can be made from it",
            "declare calls, as in `calls: { search: { get: /issues, … } }`",
        ));
    }
    Api {
        base: base.to_owned(),
        headers: servers::address(&raw.base, &raw.headers, sink),
        seconds: seconds(raw.timeout.as_ref(), sink),
        calls: calls(&raw.calls, sink),
    }
}

/// How long a call may take.
fn seconds(timeout: Option<&Timeouts>, sink: &mut Sink) -> u64 {
    let seconds = timeout.and_then(|timeout| timeout.call.as_ref());
    if let Some(zero) = seconds.filter(|s| s.value == 0) {
        sink.push(wrong("a time-out of 0 ends every call", zero.span, "seconds", "give it at least 1 second"));
    }
    seconds.map_or(TIMEOUT, |s| s.value)
}

fn calls(raw: &Map<model::ApiCall>, sink: &mut Sink) -> IndexMap<String, ApiCall> {
    let mut calls = IndexMap::new();
    for (name, call) in raw {
        let (method, path) = match (&call.get, &call.post) {
            (Some(path), None) => (Method::Get, path),
            (None, Some(path)) => (Method::Post, path),
            (get, _) => {
                let label = if get.is_some() { "has both" } else { "has neither" };
                let message = format!("the call `{}` needs either `get` or `post`", name.value);
                sink.push(wrong(message, name.span, label, "write `get: PATH` for what reads, or `post: PATH`"));
                continue;
            }
        };
        let parameters = tools::parameters(&call.parameters, sink);
        placed(name, path, &parameters, sink);
        if call.description.trim().is_empty() {
            let message = format!("the call `{}` has no description", name.value);
            sink.push(wrong(message, call.description.span, "", "say in a sentence what it does"));
        }
        calls.insert(
            name.value.clone(),
            ApiCall {
                name: name.value.clone(),
                span: name.span,
                method,
                path: path.value.clone(),
                description: call.description.trim().to_owned(),
                parameters,
            },
        );
    }
    calls
}

/// Whether a path is one, and every parameter in it is declared and always there.
fn placed(name: &Sp<String>, path: &Sp<String>, parameters: &IndexMap<String, ToolArgument>, sink: &mut Sink) {
    let mut fault = |label: &str, help: String| {
        let message = format!("the path of `{}` cannot be: `{}`", name.value, path.value);
        sink.push(wrong(message, path.span, label, help));
    };
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '\\' | '@' | '%');
    if !path.starts_with('/') || path.contains("//") || !path.chars().all(plain) {
        return fault("not a path", "write a path that starts with `/`, without query".to_owned());
    }
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return fault("leads upwards", "write the path as it is meant".to_owned());
    }
    for part in path.split('{').skip(1) {
        let Some((parameter, _)) = part.split_once('}') else {
            return fault("a brace is not closed", "write `{name}` for a parameter".to_owned());
        };
        match parameters.get(parameter) {
            None => {
                let near = nearest(parameter, parameters.keys().map(String::as_str));
                let help = near.map_or_else(
                    || format!("declare `{parameter}` in `parameters`"),
                    |near| format!("did you mean `{near}`?"),
                );
                fault(&format!("no parameter is called `{parameter}`"), help);
            }
            Some(declared) if !declared.required && declared.default.is_none() => {
                fault(&format!("`{parameter}` may be left out"), "a parameter of the path must be required".to_owned());
            }
            Some(declared) if matches!(declared.kind.as_str(), "array" | "object") => {
                fault(&format!("`{parameter}` is no single value"), "use a text or a number".to_owned());
            }
            Some(_) => {}
        }
    }
}
