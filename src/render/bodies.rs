//! The whole prompt of a role on a host.

use serde_json::json;

use crate::diag::Sink;
use crate::model::adapter::Adapter;
use crate::plan::delivery::{HostDelivery, ScopedRoute};
use crate::resolve::policy::Role;
use crate::resolve::{CapId, Policy};

use super::engine::Engine;
use super::texts::{Texts, path_lines, tidy};
use super::{Inputs, context};

/// The prompts of all roles as their authors wrote them, rendered once.
pub(super) fn own(inputs: &Inputs<'_>, texts: &Texts, sink: &mut Sink) -> Vec<String> {
    let roles = &inputs.policy.roles;
    let (engine, problems) = Engine::new(roles.iter().filter(|r| r.template).map(|r| (r.id.as_str(), r.body.as_str())));
    roles
        .iter()
        .map(|role| {
            if !role.template {
                return prompt(inputs.policy, role, &role.body);
            }
            if let Some((_, problem)) = problems.iter().find(|(id, _)| *id == role.id) {
                sink.push(problem.diagnostic(role.source, role.body_at));
                return String::new();
            }
            let context =
                json!({ "budgets": texts.budgets, "policy": texts.policy, "role": context::role(inputs.policy, role) });
            match engine.render(&role.id, &context) {
                Ok(text) => prompt(inputs.policy, role, &text),
                Err(problem) => {
                    sink.push(problem.diagnostic(role.source, role.body_at));
                    String::new()
                }
            }
        })
        .collect()
}

/// A prompt with what the host must be given besides.
pub(super) fn whole(own: &str, carried: &str) -> String {
    if carried.is_empty() { format!("{own}\n") } else { format!("{own}\n\n{carried}\n") }
}

fn prompt(policy: &Policy, role: &Role, text: &str) -> String {
    let mut out = tidy(text);
    out.push_str("\n\n");
    out.push_str(&limits(policy, role));
    if !role.stop.is_empty() {
        out.push_str("\n\n## When to stop\n\nStop and report to the parent when:\n");
        for reason in &role.stop {
            out.push_str("\n- ");
            out.push_str(reason);
        }
    }
    out
}

/// What the role is granted, in words. Whatever a host cannot hold is only text, and this is that text: the
/// ledger may say `advised` because it stands here.
fn limits(policy: &Policy, role: &Role) -> String {
    let title = |cap: CapId| policy.catalogue.get(cap).title.as_str();
    let whole: Vec<&str> =
        role.grants.iter().filter(|(_, scope)| !scope.scoped()).map(|(cap, _)| title(*cap)).collect();
    let mut lines: Vec<String> = Vec::new();
    if !whole.is_empty() {
        lines.push(format!("- {}", whole.join("; ")));
    }
    for (cap, scope) in role.grants.iter().filter(|(_, scope)| scope.scoped()) {
        let only: Vec<String> = [&scope.paths, &scope.commands, &scope.domains]
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| format!("`{entry}`"))
            .collect();
        lines.push(format!("- {}: only {}", title(*cap), only.join(", ")));
    }
    let mut out = String::from("## Limits\n\n");
    if lines.is_empty() {
        out.push_str("You are granted nothing beyond your answer, also where a tool of yours could do more.");
        return out;
    }
    out.push_str("This is granted to you and nothing else, also where a tool of yours could do more:\n\n");
    out.push_str(&lines.join("\n"));
    let granted = |name: &str| policy.catalogue.find(name).is_some_and(|cap| role.grants.contains_key(&cap));
    if ["repo.edit", "repo.create", "repo.delete"].into_iter().any(granted) && !granted("policy.edit") {
        out.push_str("\n\nNever change the agent policy, its lock, or what is rendered from it.");
    }
    out
}

/// What every role on a host carries besides its own prompt; the same for all of them.
pub(super) fn carried(inputs: &Inputs<'_>, texts: &Texts, host: &HostDelivery, adapter: &Adapter) -> String {
    let mut parts = Vec::new();
    if host.body.shared {
        parts.push(texts.shared(inputs, true));
    }
    if host.body.card {
        parts.push(texts.role_card(host, adapter));
    }
    // The shared text as a role's body carries it has the rules for roles only already.
    if !host.body.shared {
        parts.push(texts.roles_only(inputs));
    }
    if host.body.path_lines {
        let lines = path_lines(inputs, host, |s| s.roles == ScopedRoute::BodyLine);
        if !lines.is_empty() {
            parts.push(format!("## Read before you touch files\n\n{lines}"));
        }
    }
    parts.retain(|p| !p.is_empty());
    parts.join("\n\n")
}
