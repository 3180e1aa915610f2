//! What the policy names, and what there is.

use super::Subject;
use crate::audit::finding::Finding;
use crate::diag::Code;
use crate::resolve::policy::ServerTool;

pub(super) fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let hidden = subject.server.is_some_and(|server| subject.policy.hides(server));
    for tool in subject.contract.tools.iter().filter(|_| !hidden) {
        if subject.class(&tool.name).is_none() {
            let finding = subject.finding(Code::ToolUnclassified, tool, "the policy does not say what it confers");
            found.push(finding.fix(subject.entry(tool)));
        }
    }
    for (name, class) in subject.server.iter().flat_map(|server| &server.tools) {
        if subject.contract.tool(name).is_none() {
            gone(subject, name, class, found);
        }
    }
    composed(subject, found);
}

fn gone(subject: &Subject<'_>, name: &str, class: &ServerTool, found: &mut Vec<Finding>) {
    let names = subject.contract.tools.iter().map(|tool| tool.name.as_str());
    let finding =
        Finding::new(Code::ToolGone, subject.name(), "the server does not offer it").tool(name).at(class.span);
    found.push(match crate::text::suggest::nearest(name, names) {
        Some(near) => finding.fix(format!("did you mean `{near}`?")),
        None => finding.fix("take it out of the policy"),
    });
    for cap in class.covers.iter().filter(|cap| !served(subject, *cap)) {
        for role in subject.policy.roles.iter().filter(|role| role.granted().has(cap)) {
            let capability = subject.policy.catalogue.name(cap);
            let message =
                format!("role `{}` is granted `{capability}`, which no other tool of a server serves", role.id);
            let span = role.grants.get(&cap).and_then(|scope| scope.span);
            found.push(Finding::new(Code::GrantUnserved, subject.name(), message).tool(name).at(span));
        }
    }
}

/// Whether a tool that exists, of any server, serves a capability. What other servers offer is taken from the policy.
fn served(subject: &Subject<'_>, cap: crate::resolve::CapId) -> bool {
    subject.policy.servers.values().any(|server| {
        let here = server.name == subject.name();
        server
            .tools
            .iter()
            .any(|(name, class)| class.covers.has(cap) && !(here && subject.contract.tool(name).is_none()))
    })
}

/// Tools composed of one that does not exist.
fn composed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for (name, tool) in subject.loaded.layers.iter().flat_map(|layer| &layer.policy.tools).flatten() {
        let Some(written) = &tool.primitive else { continue };
        let Some((server, primitive)) = written.split_once('/') else { continue };
        if server == subject.name() && subject.contract.tool(primitive).is_none() {
            let message = format!("the composed tool `{}` is made of it, and the server does not offer it", name.value);
            found.push(Finding::new(Code::ToolGone, server, message).tool(primitive).at(written.span));
        }
    }
}
