//! What of a server's declaration a host cannot be told.

use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::adapter::{Adapter, Bounded, Mcp, Passing, Transport};
use crate::resolve::gateway;
use crate::resolve::policy::{Reach, Server, Text, Value};

/// Reports every part of `server` that would be written as something else, or not at all.
pub(super) fn report(adapter: &Adapter, mcp: &Mcp, server: &Server, sink: &mut Sink) {
    let (transport, place) = match &server.reach {
        Reach::Program { command, .. } => (Transport::Stdio, command),
        Reach::Address(url) => (Transport::Http, url),
    };
    if !mcp.transports.contains(&transport) {
        let what = if transport == Transport::Stdio { "programs of this machine" } else { "remote servers" };
        sink.push(
            refused(adapter, server, place.span, "not here")
                .note(format!("{} takes no {what}", adapter.title))
                .help("leave the host out, or the server"),
        );
    }
    for text in texts(server) {
        if let Some(special) = mcp.special.iter().find(|special| text.text.contains(special.as_str())) {
            sink.push(
                refused(adapter, server, text.span, &format!("has `{special}`"))
                    .note(format!(
                        "{} takes `{special}` for the start of a reference and would replace it",
                        adapter.title
                    ))
                    .help("hand the value over by a variable: `env: { NAME: { env: NAME } }`"),
            );
        }
    }
    for (key, value) in &server.env {
        if let Value::Variable(variable) = value
            && mcp.env == Passing::SameName
            && *key != variable.text
        {
            sink.push(
                refused(adapter, server, variable.span, "under another name")
                    .note(format!(
                        "{} hands a variable on under the name it has; the server would not find `{key}`",
                        adapter.title
                    ))
                    .help(format!("let the variable have the server's name for it: `{key}: {{ env: {key} }}`")),
            );
        }
    }
    nothing_passed(adapter, mcp, server, sink);
    timeouts(adapter, mcp, server, sink);
}

/// Variables where an entry can hand none on.
fn nothing_passed(adapter: &Adapter, mcp: &Mcp, server: &Server, sink: &mut Sink) {
    let env = server.env.iter().filter(|_| mcp.env == Passing::Nothing);
    let headers = server.headers.iter().filter(|_| mcp.headers == Passing::Nothing);
    for (key, value) in env.chain(headers) {
        let (Value::Variable(variable) | Value::Bearer(variable)) = value else { continue };
        if *key == variable.text && mcp.inherited(key) {
            continue;
        }
        let taken = mcp.inherits.as_ref().filter(|_| !mcp.inherited(&variable.text) && gateway::is(&server.name));
        if let Some(taken) = taken {
            sink.push(
                refused(adapter, server, variable.span, "is taken out of its environment")
                    .note(format!(
                        "{} hands no program a variable whose name has {} in it",
                        adapter.title,
                        taken.except.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", ")
                    ))
                    .help("let the variable have another name; the gateway hands it on under the one the server knows"),
            );
            continue;
        }
        sink.push(
            refused(adapter, server, variable.span, "not here")
                .note(format!(
                    "an entry of {} hands no variable on, and its value may not be written down",
                    adapter.title
                ))
                .help("let the gateway hand it on, with `via: gateway`, or leave the host out"),
        );
    }
}

/// Every text that is written as it stands.
fn texts(server: &Server) -> Vec<&Text> {
    let mut all: Vec<&Text> = match &server.reach {
        Reach::Program { command, args } => std::iter::once(command).chain(args).collect(),
        Reach::Address(url) => vec![url],
    };
    let values = server.env.values().chain(server.headers.values());
    all.extend(values.filter_map(|v| if let Value::Literal(text) = v { Some(text) } else { None }));
    all
}

fn refused(adapter: &Adapter, server: &Server, span: Option<Span>, label: &str) -> Diagnostic {
    let message = format!("{} cannot be given server `{}` as it is declared", adapter.title, server.name);
    Diagnostic::new(Code::ServerNotExpressible, message).at_opt(span, label)
}

/// Time-outs that the policy sets and the host's entries cannot carry.
fn timeouts(adapter: &Adapter, mcp: &Mcp, server: &Server, sink: &mut Sink) {
    let bounds = |what: Bounded| mcp.timeout.as_ref().is_some_and(|t| t.bounds.contains(&what));
    let one_figure = mcp.timeout.as_ref().is_some_and(|t| !t.apart) && bounds(Bounded::List);
    let lost = |span: Option<Span>, what: &str, why: &str| {
        Diagnostic::new(
            Code::ServerTimeout,
            format!("{} keeps its own time-out for {what} of server `{}`", adapter.title, server.name),
        )
        .at_opt(span, why)
    };
    if server.call.span.is_some() && !bounds(Bounded::Call) {
        sink.push(lost(server.call.span, "a call", "no entry there carries it"));
    }
    if server.list.span.is_some() && !bounds(Bounded::List) {
        sink.push(lost(server.list.span, "the start", "no entry there carries it"));
    } else if server.list.span.is_some() && one_figure && server.list.seconds != server.call.seconds {
        sink.push(lost(server.list.span, "the start", "one figure bounds both there, that of a call"));
    }
}
