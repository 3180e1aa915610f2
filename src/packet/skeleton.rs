//! An empty packet with everything that the policy knows already.

use crate::model::policy::{ContextChoice, PacketPart};
use crate::resolve::policy::{GrantScope, Policy, Role};

/// A packet for `role` whose capabilities and stop conditions are filled in.
pub fn skeleton(policy: &Policy, role: &Role) -> String {
    let mut out = format!("---\nrole: {}\n", role.id);
    if role.context == ContextChoice::Full {
        out.push_str("context: full\ncontext-reason: \"\"\n");
    }
    out.push_str("---\n");
    for part in &policy.settings.packet {
        out.push_str(&format!("\n## {}\n\n", part.phrase()));
        match part {
            PacketPart::Capabilities => out.push_str(&capabilities(policy, role)),
            PacketPart::StopConditions => out.push_str(&stops(role)),
            other => out.push_str(&format!("<!-- {} -->\n", asks(*other))),
        }
    }
    out
}

/// What the author is asked for.
const fn asks(part: PacketPart) -> &'static str {
    match part {
        PacketPart::Objective => "the result wanted, in one sentence",
        PacketPart::Scope => "the files and areas that belong to it, and what does not",
        PacketPart::VerifiedFacts => "what is established, each with its path and line or the command that shows it",
        PacketPart::Constraints => "decisions already made, conventions, what must stay as it is",
        PacketPart::Capabilities => "what the role can and cannot do here",
        PacketPart::Validation => "how the result will be judged, and which checks the role runs itself",
        PacketPart::StopConditions => "when to stop and report instead of going on",
    }
}

fn capabilities(policy: &Policy, role: &Role) -> String {
    let mut out = String::new();
    for (cap, scope) in &role.grants {
        out.push_str(&format!("- `{}`{}\n", policy.catalogue.name(*cap), limits(scope)));
    }
    if !role.deny.is_empty() {
        let denied: Vec<String> = role.deny.iter().map(|d| format!("`{}`", d.pattern)).collect();
        out.push_str(&format!("- not: {}\n", denied.join(", ")));
    }
    if out.is_empty() {
        out.push_str("- not: any tool\n");
    }
    out
}

fn limits(scope: &GrantScope) -> String {
    let kinds = [("in", &scope.paths), ("the commands", &scope.commands), ("at", &scope.domains)];
    let said = kinds.into_iter().filter_map(|(word, list)| {
        let list = list.as_ref()?;
        Some(format!("{word} {}", list.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ")))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() { String::new() } else { format!(": only {}", said.join("; ")) }
}

fn stops(role: &Role) -> String {
    if role.stop.is_empty() {
        return format!("<!-- {} -->\n", asks(PacketPart::StopConditions));
    }
    role.stop.iter().map(|s| format!("- {s}\n")).collect()
}
