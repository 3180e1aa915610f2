//! Ledger lines of a role on a host, those that say the same of several capabilities put together.

use crate::model::adapter::Adapter;
use crate::model::capability::ScopeKind;
use crate::model::scalar::Guarantee;
use crate::plan::deny;
use crate::plan::ledger::{Line, State, Subject};
use crate::plan::role::RolePlan;
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
    /// Tools that confer each of the capabilities.
    pub tools: Vec<&'a str>,
    /// Whether further tools confer some of them.
    pub more: bool,
    /// The reason with [`TOOLS`] for the tools it names.
    pub reason: String,
}

/// Stands for the tools in a reason, so that lines which differ in them only can be put together.
pub const TOOLS: &str = "\u{0}";

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
    },
}

/// The lines of one role in one form on one host.
pub fn lines<'a>(view: &View<'a>, host: &str, role: &str, form: &str) -> Vec<&'a Line> {
    let about = |line: &&Line| {
        line.host == host && matches!(&line.subject, Subject::Role { role: r, form: f, .. } if r == role && f == form)
    };
    view.plan.ledger.lines.iter().filter(about).collect()
}

/// Puts lines together, in the order of the first capability of each group. Denials may differ in the tools that
/// confer them as long as some tool confers all of a group.
pub fn groups<'a>(
    policy: &Policy,
    adapter: &Adapter,
    role: &Role,
    plan: &'a RolePlan,
    lines: &[&'a Line],
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for line in lines {
        let Some(cap) = capability(policy, line) else { continue };
        let tools: Vec<&str> = plan.tools.iter().filter(|t| t.confers.has(cap)).map(|t| t.name.as_str()).collect();
        let group = Group {
            caps: std::iter::once(cap).collect(),
            line,
            scope: (line.state == State::Granted).then(|| scope(policy, role, cap)).flatten(),
            demand: demand(adapter, role, cap, line),
            reason: if tools.is_empty() { line.reason.clone() } else { line.reason.replace(&ticked(&tools), TOOLS) },
            tools,
            more: false,
        };
        match groups.iter_mut().find(|g| g.takes(&group)) {
            Some(found) => found.take(&group),
            None => groups.push(group),
        }
    }
    groups
}

impl Group<'_> {
    fn takes(&self, other: &Self) -> bool {
        let claim = |l: &Line| (l.state, l.limited_by, l.guarantee, l.evidence);
        claim(self.line) == claim(other.line)
            && self.line.version == other.line.version
            && self.line.date == other.line.date
            && self.line.conditions == other.line.conditions
            && self.reason == other.reason
            && self.scope == other.scope
            && self.demand == other.demand
            && (self.tools == other.tools
                || self.line.state == State::Denied && self.tools.iter().any(|t| other.tools.contains(t)))
    }

    fn take(&mut self, other: &Self) {
        self.caps = self.caps.union(other.caps);
        self.more |= self.tools != other.tools;
        self.tools.retain(|t| other.tools.contains(t));
    }

    /// The reason in words, tools named once.
    pub fn why(&self) -> String {
        let some = if self.more { " (and others some of it)" } else { "" };
        self.reason.replacen(TOOLS, &format!("{}{some}", ticked(&self.tools)), 1).replace(TOOLS, "them")
    }
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
    if denies.iter().any(|d| deny::why_not(adapter, d, line).is_some()) {
        Demand::Waived { at_least }
    } else {
        Demand::Held { at_least }
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
