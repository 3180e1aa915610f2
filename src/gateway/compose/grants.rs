//! Which tools a role's grants cover.

use super::{Exposed, Origin, OwnTool};
use crate::model::scalar::Risk;
use crate::resolve::{CapSet, Policy, Role, gateway};

/// Whether everything a tool confers is granted.
///
/// # Errors
/// What is not, in one sentence.
pub(super) fn covered(tool: &Exposed, policy: &Policy, role: Option<&Role>) -> Result<(), String> {
    let names = |caps: CapSet| {
        let names: Vec<String> = caps.iter().map(|cap| format!("`{}`", policy.catalogue.name(cap))).collect();
        names.join(", ")
    };
    let Some(role) = role else {
        // Nobody wrote down what the main agent may do. One process may serve all agents of a host, whose own lists tell
        // them apart.
        let shown = gateway::common(tool.confers, tool.risk, &policy.roles);
        return if shown { Ok(()) } else { Err("it is dangerous, and no role is granted it".to_owned()) };
    };
    // It returns only what this role was given before.
    if matches!(tool.origin, Origin::Own(OwnTool::ReadArtifact)) {
        return Ok(());
    }
    let missing = tool.confers.without(role.granted());
    if !missing.is_empty() {
        return Err(format!("role `{}` is not granted {}", role.id, names(missing)));
    }
    if tool.confers.is_empty() {
        return Err("it confers nothing that could be granted".to_owned());
    }
    let scoped: CapSet = role
        .grants
        .iter()
        .filter(|(cap, scope)| scope.scoped() && tool.confers.has(**cap))
        .map(|(cap, _)| *cap)
        .collect();
    if scoped.is_empty() {
        return Ok(());
    }
    Err(format!("role `{}` is granted {} only within a scope, which this tool would not keep", role.id, names(scoped)))
}

/// Keeps a tool that has the risk that is asked for. What gives back a part of an answer goes with each.
///
/// # Errors
/// That it has another, in one sentence.
pub(super) fn of_risk(tool: Exposed, asked: Option<Risk>) -> Result<Exposed, String> {
    match asked {
        Some(risk) if tool.risk != risk && !matches!(tool.origin, Origin::Own(OwnTool::ReadArtifact)) => {
            Err(format!("it is {}, and only what is {} is asked for", tool.risk.word(), risk.word()))
        }
        _ => Ok(tool),
    }
}
