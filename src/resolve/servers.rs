//! MCP servers: what their tools confer.

use indexmap::IndexMap;

use super::capabilities::{CapSet, Catalogue};
use super::layers::Merged;
use super::policy::{Server, ServerTool};
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::policy::{self as model, EnvValue};
use crate::model::scalar::Risk;
use crate::yaml::Sp;

/// Resolves every enabled server.
pub(super) fn resolve(merged: &Merged<'_>, catalogue: &Catalogue, sink: &mut Sink) -> IndexMap<String, Server> {
    let mut servers = IndexMap::new();
    for (name, raw) in &merged.servers {
        check(name, raw, sink);
        let tools = raw
            .tools
            .iter()
            .map(|(tool, classes)| (tool.value.clone(), classify(tool, classes, catalogue, sink)))
            .collect();
        if raw.enabled.as_ref().is_none_or(|e| e.value) {
            let risk = raw.risk.as_ref().map_or(Risk::Restricted, |r| r.value);
            servers.insert(name.value.clone(), Server { name: name.value.clone(), span: name.span, risk, tools });
        }
    }
    servers
}

fn check(name: &Sp<String>, raw: &model::Server, sink: &mut Sink) {
    let good = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && name.value != "host";
    if !good {
        sink.push(
            Diagnostic::new(Code::ServerName, format!("`{}` cannot name a server", name.value))
                .at_opt(name.span, if name.value == "host" { "means the host's own browser" } else { "" })
                .help(if name.value == "host" { "give it another name" } else { "use letters, digits, `-` and `_`" }),
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
    }
    super::secrets::check(raw, sink);
    for (key, value) in raw.env.iter().chain(&raw.headers) {
        if let EnvValue::Env(variable) = value {
            let name_like = variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !variable.is_empty();
            if !name_like {
                sink.push(
                    Diagnostic::new(
                        Code::InvalidValue,
                        format!("`{}` is not the name of an environment variable", variable.value),
                    )
                    .at_opt(variable.span, "a name, not a value")
                    .help(format!(
                        "write the variable's name, as in `{}: {{ env: {} }}`",
                        key.value,
                        key.to_uppercase().replace('-', "_")
                    )),
                );
            }
        }
    }
}

fn classify(name: &Sp<String>, tool: &model::ServerTool, catalogue: &Catalogue, sink: &mut Sink) -> ServerTool {
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
    ServerTool { span: name.span, covers, confers, bounds: super::tools::bounds(tool.bounds.as_ref()) }
}
