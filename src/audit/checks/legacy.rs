//! Tools that are kept because something still needs them.

use super::Subject;
use crate::audit::finding::Finding;
use crate::diag::Code;
use crate::model::policy::ServerTool as Raw;
use crate::plan::offer::Origin;
use crate::resolve::policy::Server;
use crate::resolve::{CapSet, gateway};
use crate::yaml::Sp;

pub(super) fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for (name, raw) in &subject.raw.tools {
        let Some(legacy) = &raw.legacy else { continue };
        for successor in legacy.superseded_by.iter().filter(|successor| !exists(subject, successor)) {
            let message = format!("its successor `{}` does not exist", successor.value);
            found.push(Finding::new(Code::LegacyTool, subject.name(), message).tool(name).at(successor.span));
        }
        used(subject, name, raw, found);
    }
}

/// The tools of a successor: `TOOL` of the same server, or `SERVER/TOOL`.
fn place<'a>(subject: &Subject<'a>, successor: &'a str) -> (&'a str, &'a str) {
    successor.split_once('/').unwrap_or((subject.name(), successor))
}

fn exists(subject: &Subject<'_>, successor: &Sp<String>) -> bool {
    if subject.policy.tools.contains_key(successor.as_str()) {
        return true;
    }
    let (server, tool) = place(subject, successor);
    if server == subject.name() {
        return subject.contract.tool(tool).is_some();
    }
    subject.policy.servers.get(server).is_some_and(|server| server.tools.contains_key(tool))
}

/// Roles that are given the tool although its successors cover all of it that they are granted.
fn used(subject: &Subject<'_>, name: &Sp<String>, raw: &Raw, found: &mut Vec<Finding>) {
    let Some(class) = subject.class(name) else { return };
    let successors = raw.legacy.iter().flat_map(|legacy| &legacy.superseded_by);
    let covered = successors.fold(CapSet::EMPTY, |set, successor| {
        if let Some(composed) = subject.policy.tools.get(successor.as_str()) {
            return set.union(composed.covers);
        }
        let (server, tool) = place(subject, successor);
        let class = subject.policy.servers.get(server).and_then(|server| server.tools.get(tool));
        set.union(class.map_or(CapSet::EMPTY, |class| class.covers))
    });
    for role in &subject.policy.roles {
        let wanted = class.covers.and(role.granted());
        if !wanted.is_empty() && wanted.within(covered) && given(subject, &role.id, name) {
            let message = format!("role `{}` is given it, and its successors cover what the role is granted", role.id);
            let fix = format!("let it cover only what they do not: `covers: [...]` of `{}`", name.value);
            found.push(Finding::new(Code::LegacyTool, subject.name(), message).tool(name).at(name.span).fix(fix));
        }
    }
}

fn given(subject: &Subject<'_>, role: &str, tool: &str) -> bool {
    let policy = subject.policy;
    // What hosts have only through the gateway they have under the gateway's names.
    let anywhere = |server: &Server| policy.through(server, &[]);
    let names = gateway::names(&policy.servers, &policy.tools, &anywhere);
    let shown = names.into_iter().find(|(_, server, own)| server.name == subject.name() && *own == tool);
    let shown = shown.map(|(name, ..)| name);
    let same = |origin: &Origin| match origin {
        Origin::Mcp { server, tool: own } if gateway::is(server) => shown.as_deref() == Some(own),
        Origin::Mcp { server, tool: own } => server == subject.name() && own == tool,
        Origin::Native => false,
    };
    subject.plan.hosts.iter().any(|host| {
        let forms = host.roles.iter().filter(|on| on.role == role).flat_map(|on| &on.forms);
        forms.flat_map(|form| &form.tools).any(|tool| same(&tool.origin))
    })
}
