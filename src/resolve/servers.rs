//! MCP servers: how they are reached, and what their tools confer.

use indexmap::IndexMap;

use super::capabilities::{CapSet, Catalogue};
use super::layers::Merged;
use super::policy::{Reach, Server, ServerTool, Text, Timeout, Value};
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::policy::{self as model, EnvValue, Map, Via};
use crate::model::scalar::Risk;
use crate::yaml::Sp;

/// Seconds of a time-out that the policy does not set.
const TIMEOUT: u64 = 60;

/// Resolves every enabled server.
pub(super) fn resolve(merged: &Merged<'_>, catalogue: &Catalogue, sink: &mut Sink) -> IndexMap<String, Server> {
    let mut servers = IndexMap::new();
    for (name, raw) in &merged.servers {
        check(name, raw, sink);
        let tools: IndexMap<String, ServerTool> = raw
            .tools
            .iter()
            .map(|(tool, classes)| (tool.value.clone(), classify(name, tool, classes, raw, catalogue, sink)))
            .collect();
        let Some(reach) = reach(raw).filter(|_| raw.enabled.as_ref().is_none_or(|e| e.value)) else { continue };
        let server = Server {
            name: name.value.clone(),
            span: name.span,
            risk: raw.risk.as_ref().map_or(Risk::Restricted, |r| r.value),
            reach,
            via: raw.via.as_ref().map_or(Via::Auto, |v| v.value),
            env: values(&raw.env),
            headers: values(&raw.headers),
            call: timeout(raw.timeout.as_ref().and_then(|t| t.call.as_ref())),
            list: timeout(raw.timeout.as_ref().and_then(|t| t.list.as_ref())),
            tools,
        };
        servers.insert(name.value.clone(), server);
    }
    servers
}

fn text(text: &Sp<String>) -> Text {
    Text { text: text.value.clone(), span: text.span }
}

fn reach(raw: &model::Server) -> Option<Reach> {
    match (&raw.command, &raw.url) {
        (Some(command), None) => {
            Some(Reach::Program { command: text(command), args: raw.args.iter().map(text).collect() })
        }
        (None, Some(url)) => Some(Reach::Address(text(url))),
        _ => None,
    }
}

fn values(raw: &Map<EnvValue>) -> IndexMap<String, Value> {
    let value = |value: &EnvValue| match value {
        EnvValue::Env(variable) => Value::Variable(text(variable)),
        EnvValue::Bearer(variable) => Value::Bearer(text(variable)),
        EnvValue::Literal(literal) => Value::Literal(text(literal)),
    };
    raw.iter().map(|(key, own)| (key.value.clone(), value(own))).collect()
}

/// The environment of a program that is no server, judged as that of one.
pub(super) fn program(words: &[Sp<String>], env: &Map<EnvValue>, sink: &mut Sink) -> IndexMap<String, Value> {
    let (command, args) = match words.split_first() {
        Some((first, rest)) => (Some(first.clone()), rest.to_vec()),
        None => (None, Vec::new()),
    };
    judged(&model::Server { command, args, env: env.clone(), ..model::Server::default() }, sink);
    values(env)
}

/// The headers of requests to an address that is no server's, judged as those of one.
pub(super) fn address(url: &Sp<String>, headers: &Map<EnvValue>, sink: &mut Sink) -> IndexMap<String, Value> {
    judged(&model::Server { url: Some(url.clone()), headers: headers.clone(), ..model::Server::default() }, sink);
    values(headers)
}

fn judged(like: &model::Server, sink: &mut Sink) {
    super::secrets::check(like, sink);
    variables(like, sink);
}

fn timeout(own: Option<&Sp<u64>>) -> Timeout {
    Timeout { seconds: own.map_or(TIMEOUT, |t| t.value), span: own.and_then(|t| t.span) }
}

fn check(name: &Sp<String>, raw: &model::Server, sink: &mut Sink) {
    let gateway = super::gateway::is(name);
    let reserved = name.value == "host" || gateway;
    let good = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') && !reserved;
    if !good {
        sink.push(
            Diagnostic::new(Code::ServerName, format!("`{}` cannot name a server", name.value))
                .at_opt(
                    name.span,
                    match name.as_str() {
                        "host" => "means the host's own browser",
                        _ if gateway => "means the gateway",
                        _ => "",
                    },
                )
                .help(if reserved { "give it another name" } else { "use letters, digits, `-` and `_`" }),
        );
    }
    if raw.command.is_some() == raw.url.is_some() {
        sink.push(
            Diagnostic::new(Code::ServerTransport, format!("server `{}` needs either `command` or `url`", name.value))
                .at_opt(
                    raw.url.as_ref().and_then(|u| u.span).or(name.span),
                    if raw.url.is_some() { "has both" } else { "has neither" },
                )
                .help(if raw.url.is_some() {
                    "keep `command` for a program of this machine, or `url` for a remote server"
                } else {
                    "add `command:` for a program of this machine, or `url:` for a remote server"
                }),
        );
    } else {
        belongs(raw, sink);
    }
    super::secrets::check(raw, sink);
    variables(raw, sink);
    for own in raw.timeout.iter().flat_map(|t| [&t.call, &t.list]).flatten().filter(|t| t.value == 0) {
        sink.push(wrong("a time-out of 0 ends every call", own.span, "seconds").help("give it at least 1 second"));
    }
}

fn wrong(message: impl Into<String>, span: Option<crate::diag::Span>, label: &str) -> Diagnostic {
    Diagnostic::new(Code::InvalidValue, message).at_opt(span, label)
}

/// What belongs to the other kind of server would be lost without a word.
fn belongs(raw: &model::Server, sink: &mut Sink) {
    if let Some(url) = &raw.url {
        let strangers = raw.args.first().and_then(|a| a.span).map(|s| ("args", s));
        let env = raw.env.keys().next().and_then(|k| k.span).map(|s| ("env", s));
        for (key, span) in strangers.into_iter().chain(env) {
            sink.push(
                wrong(format!("a remote server has no `{key}`"), Some(span), "belongs to a program of this machine")
                    .help("hand values over in `headers:`, or reach the server by `command`"),
            );
        }
        if !url.starts_with("https://") && !url.starts_with("http://") {
            sink.push(
                wrong("the address of a server starts with `https://` or `http://`", url.span, "another protocol")
                    .help("write the whole address, as in `https://example.org/mcp`"),
            );
        }
    } else if let Some(header) = raw.headers.keys().next() {
        sink.push(
            wrong("a program of this machine gets no headers", header.span, "belongs to a remote server")
                .help("hand values over in `env:`, or reach the server by `url`"),
        );
    }
}

fn variables(raw: &model::Server, sink: &mut Sink) {
    let name_like = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let own = raw.env.iter().map(|entry| (entry, true)).chain(raw.headers.iter().map(|entry| (entry, false)));
    for ((key, value), env) in own {
        let (EnvValue::Env(variable) | EnvValue::Bearer(variable)) = value else { continue };
        if !name_like(variable) {
            sink.push(
                wrong(
                    format!("`{}` is not the name of an environment variable", variable.value),
                    variable.span,
                    "a name, not a value",
                )
                .help(format!(
                    "write the variable's name, as in `{}: {{ env: {} }}`",
                    key.value,
                    key.to_uppercase().replace('-', "_")
                )),
            );
        }
        if matches!(value, EnvValue::Bearer(_)) && (env || !key.eq_ignore_ascii_case("authorization")) {
            sink.push(
                wrong("only the header `Authorization` has a bearer token", key.span, "takes a plain value")
                    .help(format!("write `{}: {{ env: {} }}`", key.value, variable.value)),
            );
        }
    }
    for key in raw.env.keys().filter(|key| !name_like(key)) {
        sink.push(wrong(
            format!("`{}` is not the name of an environment variable", key.value),
            key.span,
            "letters, digits and `_`",
        ));
    }
}

fn classify(
    own: &Sp<String>,
    name: &Sp<String>,
    tool: &model::ServerTool,
    server: &model::Server,
    catalogue: &Catalogue,
    sink: &mut Sink,
) -> ServerTool {
    let mut set =
        |names: &[Sp<String>]| -> CapSet { names.iter().filter_map(|n| catalogue.require(n, sink)).collect() };
    let confers = set(&tool.confers);
    let covers = tool.covers.as_ref().map_or(confers, |c| set(c));
    if !covers.within(confers) {
        sink.push(
            Diagnostic::new(Code::CoversNotConferred, format!("tool `{}` covers what it does not confer", name.value))
                .at_opt(name.span, "")
                .help("list every capability of `covers` in `confers` too"),
        );
    }
    let least = server.risk.as_ref().map_or(Risk::Safe, |r| r.value);
    let risk = confers.iter().map(|cap| catalogue.get(cap).risk).max().unwrap_or(Risk::Safe).max(least);
    let successors = tool.legacy.iter().flat_map(|legacy| &legacy.superseded_by);
    let place = |successor: &Sp<String>| match successor.split_once('/') {
        Some((server, tool)) => (server.to_owned(), tool.to_owned()),
        None => (own.value.clone(), successor.value.clone()),
    };
    let bounds = super::tools::bounds(tool.bounds.as_ref());
    ServerTool { span: name.span, risk, covers, confers, bounds, successors: successors.map(place).collect() }
}
