//! The policy's servers on each host: the file they stand in, what of them the host can be told, what holds.

mod express;
mod lines;
mod place;

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::{Adapter, Approval, Approvals, Bounded, Mcp};
use crate::model::scalar::Risk;
use crate::model::user_file::UserFile;
use crate::resolve::policy::{Policy, Server};

use super::names;

pub use lines::{UNNAMED, lines};

/// The servers of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersPlan {
    /// The output they stand in.
    pub output: String,
    /// Its file; that of another host where the host would ignore its own.
    pub file: String,
    /// In the policy's order.
    pub servers: Vec<ServerOnHost>,
}

/// A server as a host is given it; what does not depend on the host stands in the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOnHost {
    /// Its name.
    pub server: String,
    /// Time-out of a call in the host's unit, where it can be written.
    pub call: Option<u64>,
    /// Time-out of the start with the list of tools, where it can be written.
    pub list: Option<u64>,
    /// The tools that the policy names.
    pub tools: Vec<ToolOnHost>,
}

/// A tool of a server on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOnHost {
    /// As the server calls it.
    pub tool: String,
    /// As the model sees it, and rules of the host name it.
    pub seen: String,
    /// Its risk.
    pub risk: Risk,
    /// The risk that decides what happens before a call: its own, or that of its server as a whole.
    pub counts: Risk,
    /// The host's word for what happens before a call, where it is written.
    pub word: Option<String>,
}

/// What is known of the approval of tools of one risk.
pub fn approval(mcp: &Mcp, risk: Risk) -> Option<&Approval> {
    let Approvals { safe, restricted, dangerous, .. } = &mcp.approval;
    match risk {
        Risk::Safe => safe.as_ref(),
        Risk::Restricted => restricted.as_ref(),
        Risk::Dangerous => dangerous.as_ref(),
    }
}

/// The risk that decides what happens before a call of a tool with a risk of its own.
pub fn counts(mcp: &Mcp, server: &Server, own: Risk) -> Risk {
    if mcp.approval.whole { server.tools.values().map(|t| t.risk).max().unwrap_or(own) } else { own }
}

/// Whether the servers of the policy are written for this host.
pub fn written(adapter: &Adapter) -> bool {
    adapter.mcp.as_ref().is_some_and(|m| m.output.is_some())
}

/// Reports servers that no host is given.
pub fn report_unused(policy: &Policy, sink: &mut Sink) {
    let unreached = |server: &&Server| {
        let given = policy.hosts.iter().any(|host| policy.direct(host, server));
        !given && !policy.behind(server, &[])
    };
    for server in policy.servers.values().filter(unreached) {
        sink.push(unused(server));
    }
}

fn unused(server: &Server) -> Diagnostic {
    let report = Diagnostic::new(Code::ServerUnused, format!("no host is given server `{}`", server.name));
    report
        .at_opt(server.span, "none of its tools is named")
        .note("an agent has the tools that the policy names, and no others")
        .help("say what its tools confer, as in `tools: { find: { confers: [docs.search] } }`")
}

/// Plans the servers of one host and reports what it cannot be told.
pub fn plan(
    adapter: &Adapter,
    policy: &Policy,
    selected: &[&Adapter],
    user: &[UserFile],
    sink: &mut Sink,
) -> Option<ServersPlan> {
    let mcp = adapter.mcp.as_ref()?;
    let output = mcp.output.as_ref()?;
    let given: Vec<&Server> = policy.given_on(&adapter.id).collect();
    if given.is_empty() {
        return None;
    }
    for server in &given {
        express::report(adapter, mcp, server, sink);
    }
    let file = place::file(adapter, output, selected, user)?;
    place::report(adapter, output, &file, user, sink);
    let servers = given.into_iter().map(|server| on_host(adapter, mcp, server)).collect();
    Some(ServersPlan { output: output.clone(), file, servers })
}

/// A server as the host takes it.
pub(super) fn on_host(adapter: &Adapter, mcp: &Mcp, server: &Server) -> ServerOnHost {
    let bounds = |what: Bounded| mcp.timeout.as_ref().filter(|t| t.bounds.contains(&what));
    let list = server.list.seconds;
    let tools = server.tools.iter().filter_map(|(tool, class)| {
        // A name that cannot be spelt is an error of its own.
        Some(ToolOnHost {
            tool: tool.clone(),
            seen: names::tool(&adapter.names.tool, &server.name, tool).ok()?,
            risk: class.risk,
            counts: counts(mcp, server, class.risk),
            word: approval(mcp, counts(mcp, server, class.risk)).and_then(|a| a.word.clone()),
        })
    });
    ServerOnHost {
        server: server.name.clone(),
        call: bounds(Bounded::Call).map(|t| t.figure(server.call.seconds)),
        list: bounds(Bounded::List).filter(|t| t.apart).map(|t| t.figure(list)),
        tools: tools.collect(),
    }
}
