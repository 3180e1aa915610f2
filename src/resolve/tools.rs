//! Composed tools: names, bindings and arguments judged without looking at the primitive itself.

use indexmap::IndexMap;

use super::capabilities::{CapSet, Catalogue};
use super::composed::{Bind, Bounds, Composed, From, HintChoices, Maker, RuntimeSources, ToolArgument};
use super::layers::Merged;
use super::policy::Server;
use super::primitives::Primitive;
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::composed::{Argument, Binding, ComposedTool, Literal, RuntimeSource, ToolBounds};
use crate::model::policy::Map;
use crate::yaml::Sp;

/// Longest name of a tool: hosts put the name of a server and underscores before it, and models take 64 in all.
const MAX_NAME: usize = 40;
/// Longest name of an argument; models take no more.
const MAX_ARGUMENT: usize = 64;
/// Types an argument can be of.
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object"];
/// Names that programs in other languages take for something of their own.
const PROTOTYPE: &[&str] = &["__proto__", "constructor", "prototype"];
/// Arguments that the gateway itself adds to some tools.
pub const OWN_ARGUMENTS: &[&str] = &["delivery", "escalation_reason", "escalation_note"];
/// Tools that the gateway itself has.
pub const OWN_TOOLS: &[&str] = &["repo_diff", "repo_log", "repo_show", "docs_validate", "read_artifact"];

/// What a name must look like.
const NAME_HELP: &str = "use a lower-case letter, then lower-case letters, digits and `_`, at most 40 in all";

/// Resolves where values of the run time come from.
pub(super) fn runtime(merged: &Merged<'_>, sink: &mut Sink) -> RuntimeSources {
    let mut sources = IndexMap::new();
    for (name, source) in &merged.runtime {
        if !lower_name(name, MAX_NAME) {
            sink.push(
                Diagnostic::new(Code::RuntimeSource, format!("`{}` cannot name a value of the run time", name.value))
                    .at_opt(name.span, "")
                    .help(NAME_HELP),
            );
        }
        runtime_source(name, source, sink);
        sources.insert(name.value.clone(), (*source).clone());
    }
    sources
}

fn runtime_source(name: &Sp<String>, source: &RuntimeSource, sink: &mut Sink) {
    let (wrong, span) = match source {
        RuntimeSource::Argument => return,
        RuntimeSource::Env(variable) => {
            let good = !variable.is_empty() && variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (if good { return } else { "not the name of an environment variable" }, variable.span)
        }
        RuntimeSource::File(path) => {
            let good = !path.is_empty() && !path.starts_with('/') && !path.contains(['\\', ':']);
            let inside = good && !path.split('/').any(|part| part == "..");
            (if inside { return } else { "not a path below the root" }, path.span)
        }
        RuntimeSource::Command(words) => {
            let first = words.first();
            let good = first.is_some_and(|program| !program.trim().is_empty());
            (if good { return } else { "names no program" }, first.and_then(|w| w.span))
        }
    };
    sink.push(
        Diagnostic::new(Code::RuntimeSource, format!("nothing can give the value `{}`", name.value))
            .at_opt(span.or(name.span), wrong)
            .help("write `argument`, `{ env: NAME }`, `{ file: PATH }` or `{ command: [PROGRAM, …] }`"),
    );
}

/// What tools can be made of.
pub(super) struct Known<'a> {
    /// Every capability.
    pub(super) catalogue: &'a Catalogue,
    /// Enabled servers.
    pub(super) servers: &'a IndexMap<String, Server>,
    /// Primitives of this program itself.
    pub(super) primitives: &'a IndexMap<String, Primitive>,
    /// Values of the run time.
    pub(super) runtime: &'a RuntimeSources,
}

/// Resolves every composed tool.
pub(super) fn resolve(merged: &Merged<'_>, known: &Known<'_>, sink: &mut Sink) -> IndexMap<String, Composed> {
    let Known { catalogue, runtime, .. } = known;
    let mut tools = IndexMap::new();
    for (name, raw) in &merged.tools {
        tool_name(name, sink);
        let made_of = made_of(name, raw, merged, known, sink);
        let mut set =
            |names: &[Sp<String>]| -> CapSet { names.iter().filter_map(|n| catalogue.require(n, sink)).collect() };
        let confers = set(&raw.confers);
        let covers = raw.covers.as_ref().map_or(confers, |c| set(c));
        if !covers.within(confers) {
            sink.push(
                Diagnostic::new(
                    Code::CoversNotConferred,
                    format!("tool `{}` covers what it does not confer", name.value),
                )
                .at_opt(name.span, "")
                .help("list every capability of `covers` in `confers` too"),
            );
        }
        if raw.confers.is_empty() {
            sink.push(
                Diagnostic::new(Code::ComposedTool, format!("tool `{}` confers nothing", name.value))
                    .at_opt(name.span, "no role would ever have it")
                    .help("say in `confers` what having it makes possible"),
            );
        }
        if raw.description.trim().is_empty() {
            sink.push(
                Diagnostic::new(Code::ComposedTool, format!("tool `{}` has no description", name.value))
                    .at_opt(raw.description.span, "a model chooses by it")
                    .help("say in one or two sentences what it does and when to use it"),
            );
        }
        let arguments = parameters(&raw.arguments, sink);
        let mut bind = bindings(name, raw, runtime, sink);
        if raw.command.is_some() && raw.bind.is_empty() {
            bind = as_they_are(&arguments);
        }
        unused(&arguments, &bind, sink);
        let Some((server, tool, maker)) = made_of else { continue };
        tools.insert(
            name.value.clone(),
            Composed {
                name: name.value.clone(),
                span: name.span,
                description: raw.description.trim().to_owned(),
                server,
                tool,
                maker,
                primitive_span: raw.primitive.as_ref().and_then(|p| p.span),
                arguments,
                bind,
                covers,
                confers,
                hints: hints(raw, sink),
                bounds: bounds(raw.bounds.as_ref()),
            },
        );
    }
    tools
}

fn lower_name(name: &str, max: usize) -> bool {
    name.len() <= max
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn tool_name(name: &Sp<String>, sink: &mut Sink) {
    let own = OWN_TOOLS.contains(&name.as_str());
    if own || !lower_name(name, MAX_NAME) {
        sink.push(
            Diagnostic::new(Code::ComposedTool, format!("`{}` cannot name a tool", name.value))
                .at_opt(name.span, if own { "the gateway has a tool of this name" } else { "" })
                .help(if own { "give it another name" } else { NAME_HELP }),
        );
    }
}

/// The server and the tool that answer, or the program.
fn made_of(
    name: &Sp<String>,
    raw: &ComposedTool,
    merged: &Merged<'_>,
    known: &Known<'_>,
    sink: &mut Sink,
) -> Option<(String, String, Maker)> {
    if raw.primitive.is_some() || raw.command.is_none() {
        super::programs::strangers(name, raw, sink);
    }
    match (&raw.primitive, &raw.command) {
        (Some(written), None) => primitive(name, written, merged, known, sink),
        (None, Some(words)) => {
            let program = super::programs::resolve(name, words, raw, sink);
            Some((String::new(), String::new(), Maker::Program(program)))
        }
        (primitive, _) => {
            let label = if primitive.is_some() { "made of both" } else { "made of neither" };
            sink.push(
                Diagnostic::new(
                    Code::ComposedPrimitive,
                    format!("tool `{}` needs either `primitive` or `command`", name.value),
                )
                .at_opt(primitive.as_ref().and_then(|p| p.span).or(name.span), label)
                .help("write `primitive: SERVER/TOOL`, or `command: [PROGRAM, …]` for a program of this machine"),
            );
            None
        }
    }
}

fn primitive(
    name: &Sp<String>,
    written: &Sp<String>,
    merged: &Merged<'_>,
    known: &Known<'_>,
    sink: &mut Sink,
) -> Option<(String, String, Maker)> {
    let Some((server, tool)) = written.split_once('/').filter(|(s, t)| !s.is_empty() && !t.is_empty()) else {
        sink.push(
            Diagnostic::new(Code::ComposedPrimitive, format!("`{}` names no primitive", written.value))
                .at_opt(written.span, "not of the form `server/tool`")
                .help("write the name of a server of `servers:` or an entry of `primitives:`, a slash, and that of its tool"),
        );
        return None;
    };
    if known.primitives.contains_key(server) {
        return Some((server.to_owned(), tool.to_owned(), Maker::Primitive));
    }
    if !known.servers.contains_key(server) {
        let off = merged.servers.keys().any(|declared| declared.value == server);
        let why = if off { "this server is not enabled" } else { "no server has this name" };
        sink.push(
            Diagnostic::new(
                Code::ComposedPrimitive,
                format!("tool `{}` is made from a server that is not there: `{server}`", name.value),
            )
            .at_opt(written.span, why)
            .suggest(server, known.servers.keys().chain(known.primitives.keys()).map(String::as_str)),
        );
        return None;
    }
    Some((server.to_owned(), tool.to_owned(), Maker::Server))
}

/// Every argument as the parameter of its own name.
fn as_they_are(arguments: &IndexMap<String, ToolArgument>) -> Vec<Bind> {
    let one = |(name, argument): (&String, &ToolArgument)| Bind {
        path: vec![name.clone()],
        span: argument.span,
        from: From::Argument(name.clone()),
    };
    arguments.iter().map(one).collect()
}

/// Arguments that a model sees, or parameters of a declared request.
pub(super) fn parameters(raw: &Map<Argument>, sink: &mut Sink) -> IndexMap<String, ToolArgument> {
    let mut arguments = IndexMap::new();
    for (name, argument) in raw {
        if let Some(why) = argument_fault(name) {
            sink.push(
                Diagnostic::new(Code::ComposedArgument, format!("`{}` cannot name an argument", name.value))
                    .at_opt(name.span, why)
                    .help("use a letter or `_`, then letters, digits and `_`, at most 64 in all"),
            );
        }
        kinds(argument, sink);
        let default = argument.default.as_ref().map(|d| d.value.0.clone());
        let required = argument.required.as_ref().map_or(default.is_none(), |r| r.value);
        arguments.insert(
            name.value.clone(),
            ToolArgument {
                span: name.span,
                kind: argument.kind.value.clone(),
                description: argument.description.as_ref().map(|d| d.trim().to_owned()),
                required,
                values: argument.values.as_ref().map(|v| v.iter().map(|v| v.value.clone()).collect()),
                values_span: argument.values.as_ref().and_then(|v| v.first()).and_then(|v| v.span),
                default,
                maximum: argument.maximum.as_ref().map(|m| m.value),
            },
        );
    }
    arguments
}

fn argument_fault(name: &str) -> Option<&'static str> {
    let form = name.len() <= MAX_ARGUMENT
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name {
        _ if OWN_ARGUMENTS.contains(&name) => Some("the gateway has an argument of this name"),
        _ if PROTOTYPE.contains(&name) || name == "_meta" => Some("this name means something else to programs"),
        _ if !form => Some(""),
        _ => None,
    }
}

fn kinds(argument: &Argument, sink: &mut Sink) {
    let kind = &argument.kind;
    let mut wrong = |span, message: String, help: &str| {
        sink.push(Diagnostic::new(Code::ComposedArgument, message).at_opt(span, "").help(help));
    };
    if !TYPES.contains(&kind.as_str()) {
        let help = format!("use one of {}", TYPES.join(", "));
        wrong(kind.span, format!("`{}` is no type of an argument", kind.value), &help);
        return;
    }
    let number = matches!(kind.as_str(), "integer" | "number");
    if let Some(values) = argument.values.as_ref().filter(|values| kind.value != "string" || values.is_empty()) {
        let span = values.first().and_then(|v| v.span).or(kind.span);
        wrong(span, "an `enum` is a list of texts, of an argument of type string".to_owned(), "leave it out");
    }
    if let Some(maximum) = argument.maximum.as_ref().filter(|_| !number) {
        wrong(maximum.span, "only a number has a `maximum`".to_owned(), "leave it out");
    }
    if let Some(default) = &argument.default {
        let fits = match &default.value.0 {
            serde_json::Value::String(_) => kind.value == "string",
            serde_json::Value::Bool(_) => kind.value == "boolean",
            serde_json::Value::Number(n) => kind.value == "number" || (kind.value == "integer" && !n.is_f64()),
            _ => kind.value == "array",
        };
        if !fits {
            wrong(
                default.span,
                format!("the default is not of type {}", kind.value),
                "give one of the argument's type",
            );
        } else if argument.required.as_ref().is_some_and(|r| r.value) {
            let help = "leave out one of the two";
            wrong(default.span, "a required argument has no use for a default".to_owned(), help);
        }
    }
}

fn bindings(name: &Sp<String>, raw: &ComposedTool, runtime: &RuntimeSources, sink: &mut Sink) -> Vec<Bind> {
    let mut bind: Vec<Bind> = Vec::new();
    for (path, binding) in &raw.bind {
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        if parts.iter().any(|part| part.is_empty() || PROTOTYPE.contains(&part.as_str())) {
            sink.push(
                Diagnostic::new(Code::ComposedBinding, format!("`{}` is no path of a parameter", path.value))
                    .at_opt(path.span, "")
                    .help("write the parameter's name, and after dots those inside of it, as in `filter.tenant`"),
            );
            continue;
        }
        let inside = |a: &[String], b: &[String]| a.len() <= b.len() && a.iter().zip(b).all(|(a, b)| a == b);
        if let Some(other) = bind.iter().find(|b| inside(&b.path, &parts) || inside(&parts, &b.path)) {
            sink.push(
                Diagnostic::new(
                    Code::ComposedBinding,
                    format!(
                        "tool `{}` binds `{}` and `{}`, of which one holds the other",
                        name.value,
                        other.dotted(),
                        path.value
                    ),
                )
                .at_opt(path.span, "one value would replace the other")
                .also(other.span, "bound here")
                .help("bind the single values inside, each by its own path"),
            );
            continue;
        }
        if let Some(from) = origin(path, binding, raw, runtime, sink) {
            bind.push(Bind { path: parts, span: path.span, from });
        }
    }
    bind
}

fn origin(
    path: &Sp<String>,
    binding: &Binding,
    raw: &ComposedTool,
    runtime: &RuntimeSources,
    sink: &mut Sink,
) -> Option<From> {
    Some(match binding {
        Binding::Argument(argument) => {
            if !raw.arguments.contains_key(argument.as_str()) {
                sink.push(
                    Diagnostic::new(
                        Code::ComposedBinding,
                        format!("`{}` is bound to an argument that is not declared", path.value),
                    )
                    .at_opt(argument.span, "no argument has this name")
                    .suggest(argument, raw.arguments.keys().map(|k| k.as_str())),
                );
                return None;
            }
            From::Argument(argument.value.clone())
        }
        Binding::Constant(value) => From::Constant(constant(value)),
        Binding::Runtime(value) => {
            if !runtime.contains_key(value.as_str()) {
                let known: Vec<&str> = runtime.keys().map(String::as_str).collect();
                let unknown = Diagnostic::new(
                    Code::RuntimeUnknown,
                    format!("`{}` is bound to a value that nothing gives: `{}`", path.value, value.value),
                )
                .at_opt(value.span, "not declared in `runtime:`");
                sink.push(match crate::text::suggest::nearest(value, known) {
                    Some(near) => unknown.help(format!("did you mean `{near}`?")),
                    None => unknown.help(format!("declare it, as in `runtime: {{ {}: argument }}`", value.value)),
                });
                return None;
            }
            From::Runtime(value.value.clone())
        }
        Binding::List(items) => {
            let all: Vec<From> = items.iter().filter_map(|item| origin(path, item, raw, runtime, sink)).collect();
            From::List(all)
        }
    })
}

fn constant(value: &Sp<Literal>) -> serde_json::Value {
    value.value.0.clone()
}

fn unused(arguments: &IndexMap<String, ToolArgument>, bind: &[Bind], sink: &mut Sink) {
    for (name, argument) in arguments {
        if !bind.iter().any(|b| b.from.arguments().contains(&name.as_str())) {
            sink.push(
                Diagnostic::new(Code::ComposedArgument, format!("the argument `{name}` is used nowhere"))
                    .at_opt(argument.span, "what a model writes here would be lost")
                    .help(format!("bind a parameter to it, as in `bind: {{ {name}: {{ argument: {name} }} }}`")),
            );
        }
    }
}

fn hints(raw: &ComposedTool, sink: &mut Sink) -> HintChoices {
    let Some(hints) = &raw.hints else { return HintChoices::default() };
    let value = |hint: &Option<Sp<bool>>| hint.as_ref().map(|h| h.value);
    if value(&hints.read_only) == Some(true) && value(&hints.destructive) == Some(true) {
        sink.push(
            Diagnostic::new(Code::ComposedTool, "a tool that changes nothing cannot be destructive")
                .at_opt(hints.destructive.as_ref().and_then(|h| h.span), "")
                .help("leave out the one that is not true"),
        );
    }
    let each = [&hints.read_only, &hints.destructive, &hints.idempotent, &hints.open_world];
    HintChoices {
        span: each.into_iter().flatten().find_map(|h| h.span),
        read_only: value(&hints.read_only),
        destructive: value(&hints.destructive),
        idempotent: value(&hints.idempotent),
        open_world: value(&hints.open_world),
    }
}

/// What the gateway does with calls and results.
pub(super) fn bounds(raw: Option<&ToolBounds>) -> Bounds {
    raw.map_or_else(Bounds::default, |raw| Bounds {
        limit_argument: raw.limit_argument.clone(),
        cursor_argument: raw.cursor_argument.clone(),
        budget: raw.budget.as_ref().map(|b| b.value),
        inline_media: raw.inline_media.as_ref().is_some_and(|i| i.value),
    })
}
