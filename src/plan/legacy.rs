//! Tools that stay because something still needs them, and those that are to be preferred.

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::Adapter;
use crate::resolve::policy::{Policy, Role, ServerTool};
use crate::resolve::{CapSet, gateway};

use super::names;
use super::offer::Origin;
use super::role::RolePlan;
use super::servers::ServersPlan;

/// Whether a host is given such a tool at all.
pub fn any(policy: &Policy, host: &str) -> bool {
    policy.given_on(host).any(|server| server.tools.values().any(|tool| !tool.successors.is_empty()))
}

/// Whether two names are of one server: the gateway has several.
fn one(a: &str, b: &str) -> bool {
    a == b || gateway::is(a) && gateway::is(b)
}

fn tool<'a>(policy: &'a Policy, host: &'a str, server: &str, name: &str) -> Option<&'a ServerTool> {
    policy.given_on(host).filter(|s| one(&s.name, server)).find_map(|s| s.tools.get(name))
}

/// One line for each such tool that a host shows beside a successor, with the names that its model sees.
pub fn lines(policy: &Policy, adapter: &Adapter, shown: &ServersPlan) -> Vec<String> {
    let has = |server: &str, name: &str| {
        shown.servers.iter().any(|s| s.server == server && s.tools.iter().any(|t| t.tool == name))
    };
    let mut lines = Vec::new();
    for server in &shown.servers {
        for own in &server.tools {
            let Some(class) = tool(policy, &adapter.id, &server.server, &own.tool) else { continue };
            let there = class.successors.iter().filter(|(server, name)| has(server, name));
            let seen = there.filter_map(|(server, name)| names::tool(&adapter.names.tool, server, name).ok());
            let seen: Vec<String> = seen.map(|name| format!("`{name}`")).collect();
            if !seen.is_empty() {
                lines.push(format!(
                    "Prefer {} to `{}`, which stays only for what they cannot do.",
                    seen.join(", "),
                    own.seen
                ));
            }
        }
    }
    lines
}

/// Warns where a role is served by such a tool although successors that cover the same are there.
pub fn report(policy: &Policy, host: &str, role: &Role, plan: &RolePlan, sink: &mut Sink) {
    for kept in plan.tools.iter().filter(|t| !t.successors.is_empty()) {
        let Origin::Mcp { server, tool: name } = &kept.origin else { continue };
        let Some(class) = tool(policy, host, server, name) else { continue };
        let covers = |all: CapSet, other: CapSet| all.union(other);
        let preferred = |origin: &Origin| match origin {
            Origin::Mcp { server, tool } => class.successors.iter().any(|(s, t)| one(s, server) && t == tool),
            Origin::Native => false,
        };
        let has = plan.tools.iter().filter(|t| preferred(&t.origin)).map(|t| t.covers);
        let has = has.fold(CapSet::EMPTY, covers);
        let could =
            class.successors.iter().filter_map(|(server, name)| tool(policy, host, server, name)).map(|t| t.covers);
        let could = could.fold(CapSet::EMPTY, covers);
        let wanted = kept.covers.and(role.granted());
        if !wanted.is_empty() && wanted.within(could) && !wanted.within(has) {
            let names: Vec<String> = class.successors.iter().map(|(_, tool)| format!("`{tool}`")).collect();
            sink.push(
                Diagnostic::new(
                    Code::LegacyTool,
                    format!("role `{}` is given `{server}/{name}`, although {} would do", role.id, names.join(", ")),
                )
                .at_opt(class.span, "kept as a legacy")
                .note("its successors confer what the role denies, or more that it is not granted")
                .help("grant the role what the successors confer, or let the legacy tool cover only what they do not"),
            );
        }
    }
}
