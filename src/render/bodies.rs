//! The whole prompt of a role on a host.

use serde_json::json;

use crate::diag::Sink;
use crate::model::adapter::Adapter;
use crate::plan::delivery::{HostDelivery, ScopedRoute};
use crate::resolve::policy::Role;

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
                return prompt(role, &role.body);
            }
            if let Some((_, problem)) = problems.iter().find(|(id, _)| *id == role.id) {
                sink.push(problem.diagnostic(role.source, role.body_at));
                return String::new();
            }
            let context =
                json!({ "budgets": texts.budgets, "policy": texts.policy, "role": context::role(inputs.policy, role) });
            match engine.render(&role.id, &context) {
                Ok(text) => prompt(role, &text),
                Err(problem) => {
                    sink.push(problem.diagnostic(role.source, role.body_at));
                    String::new()
                }
            }
        })
        .collect()
}

fn prompt(role: &Role, text: &str) -> String {
    let mut out = tidy(text);
    if !role.stop.is_empty() {
        out.push_str("\n\n## When to stop\n\nStop and report to the parent when:\n");
        for reason in &role.stop {
            out.push_str("\n- ");
            out.push_str(reason);
        }
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
