//! Ledger lines of a role on a host, those that say the same of several capabilities put together.

use crate::model::adapter::Adapter;
use crate::model::capability::ScopeKind;
use crate::model::scalar::Guarantee;
use crate::plan::deny;
use crate::plan::ledger::{Line, State, Subject};
use crate::resolve::policy::{GrantScope, Policy, Role};
use crate::resolve::{CapId, CapSet};

use super::view::{View, ticked};

/// Capabilities of which the same is claimed.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Which.
    pub caps: CapSet,
    /// The claim, as one of them has it.
    pub line: &'a Line,
    /// What the grant is narrowed to, in words.
    pub scope: Option<String>,
    /// What the role demands of it.
    pub demand: Demand,
}

/// What a role demands of an absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// Nothing.
    None,
    /// It must be absent, and is.
    Held {
        /// At least this hard.
        at_least: Guarantee,
    },
    /// It must be absent, and is not hard enough; a waiver accepts that.
    Waived {
        /// At least this hard.
        at_least: Guarantee,
        /// What is missing.
        why: String,
    },
}

/// The lines of one role in one form on one host.
pub fn lines<'a>(view: &View<'a>, host: &str, role: &str, form: &str) -> Vec<&'a Line> {
    let about = |line: &&Line| {
        line.host == host && matches!(&line.subject, Subject::Role { role: r, form: f, .. } if r == role && f == form)
    };
    view.plan.ledger.lines.iter().filter(about).collect()
}

/// Puts lines together, in the order of the first capability of each group.
pub fn groups<'a>(policy: &Policy, adapter: &Adapter, role: &Role, lines: &[&'a Line]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for line in lines {
        let Some(cap) = capability(policy, line) else { continue };
        let scope = (line.state == State::Granted).then(|| scope(policy, role, cap)).flatten();
        let demand = demand(adapter, role, cap, line);
        match groups.iter_mut().find(|g| same(g.line, line) && g.scope == scope && g.demand == demand) {
            Some(group) => group.caps.insert(cap),
            None => groups.push(Group { caps: std::iter::once(cap).collect(), line, scope, demand }),
        }
    }
    groups
}

/// The capability a line is about.
pub fn capability(policy: &Policy, line: &Line) -> Option<CapId> {
    match &line.subject {
        Subject::Role { capability, .. } => policy.catalogue.find(capability),
        _ => None,
    }
}

/// Whether two lines differ in their subject only.
pub fn same(a: &Line, b: &Line) -> bool {
    let claim = |l: &Line| (l.state, l.limited_by, l.guarantee, l.evidence);
    claim(a) == claim(b)
        && a.version == b.version
        && a.date == b.date
        && a.conditions == b.conditions
        && a.reason == b.reason
}

/// What the role demands of `cap`, held against the line.
pub fn demand(adapter: &Adapter, role: &Role, cap: CapId, line: &Line) -> Demand {
    let denies: Vec<_> = role.deny.iter().filter(|d| d.caps.has(cap)).collect();
    let Some(at_least) = denies.iter().map(|d| d.at_least).max() else { return Demand::None };
    match denies.iter().find_map(|d| deny::why_not(adapter, d, line)) {
        Some(why) => Demand::Waived { at_least, why },
        None => Demand::Held { at_least },
    }
}

/// What a grant is narrowed to.
fn scope(policy: &Policy, role: &Role, cap: CapId) -> Option<String> {
    let scope: &GrantScope = role.grants.get(&cap)?;
    let list = scope.paths.as_ref().or(scope.commands.as_ref()).or(scope.domains.as_ref());
    let edits_policy = policy.catalogue.find("policy.edit").is_some_and(|c| role.grants.contains_key(&c));
    let excluded = policy.catalogue.get(cap).scope == Some(ScopeKind::Paths) && !edits_policy;
    match (list, excluded) {
        (Some(list), true) => Some(format!("{}, never the policy or rendered files", ticked(list))),
        (Some(list), false) => Some(ticked(list)),
        (None, true) => Some("everything but the policy and rendered files".to_owned()),
        (None, false) => None,
    }
}
