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
    /// What each grant is narrowed to, in words.
    pub scopes: Vec<(CapId, Scope<'a>)>,
    /// What the role demands of it.
    pub demand: Demand,
    /// Tools that confer each of the capabilities.
    pub tools: Vec<&'a str>,
    /// How the tools and the capabilities go together.
    pub spread: Spread,
    /// The reason with [`TOOLS`] for the tools it names.
    pub reason: String,
}

/// Stands for the tools in a reason, so that lines which differ in them only can be put together.
pub const TOOLS: &str = "\u{0}";

/// How the tools of a group confer its capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Each tool confers all of it, and no other does.
    Each,
    /// Each tool confers all of it, and others some.
    More,
    /// Each tool confers some of it.
    Some,
}

/// What a grant is narrowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Globs, command prefixes or host names.
    pub only: Option<&'a [String]>,
    /// Whether the policy and the files rendered from it are left out.
    pub not_ours: bool,
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
    role: &'a Role,
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
            scopes: scope(policy, role, cap)
                .filter(|_| line.state == State::Granted)
                .map(|s| (cap, s))
                .into_iter()
                .collect(),
            demand: demand(adapter, role, cap, line),
            reason: if tools.is_empty() { line.reason.clone() } else { line.reason.replace(&ticked(&tools), TOOLS) },
            tools,
            spread: Spread::Each,
        };
        match groups.iter_mut().find(|g| g.takes(&group)) {
            Some(found) => found.take(&group),
            None => groups.push(group),
        }
    }
    scattered(groups)
}

/// Puts those denials together that are left alone because no tool confers two of them.
fn scattered(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    let alone = |g: &Group<'_>| g.line.state == State::Denied && g.caps.len() <= 2 && g.spread != Spread::More;
    for group in groups {
        let twin = out.iter_mut().find(|g| {
            (alone(g) || g.spread == Spread::Some) && alone(&group) && g.claims_as(&group) && !g.tools.is_empty()
        });
        match twin {
            Some(twin) => {
                twin.caps = twin.caps.union(group.caps);
                twin.spread = Spread::Some;
                let new = group.tools.into_iter().filter(|t| !twin.tools.contains(t)).collect::<Vec<_>>();
                twin.tools.extend(new);
            }
            None => out.push(group),
        }
    }
    out
}

impl Group<'_> {
    fn claims_as(&self, other: &Self) -> bool {
        let claim = |l: &Line| (l.state, l.limited_by, l.guarantee, l.evidence);
        let kind = |g: &Self| g.scopes.first().map(|(_, s)| (s.only.is_some(), s.not_ours));
        claim(self.line) == claim(other.line)
            && self.line.version == other.line.version
            && self.line.date == other.line.date
            && self.line.conditions == other.line.conditions
            && self.line.measured == other.line.measured
            && self.reason == other.reason
            && self.demand == other.demand
            && kind(self) == kind(other)
    }

    fn takes(&self, other: &Self) -> bool {
        self.claims_as(other)
            && (self.tools == other.tools
                || self.line.state == State::Denied && self.tools.iter().any(|t| other.tools.contains(t)))
    }

    fn take(&mut self, other: &Self) {
        self.caps = self.caps.union(other.caps);
        self.scopes.extend(other.scopes.iter().copied());
        if self.tools != other.tools {
            self.spread = Spread::More;
        }
        self.tools.retain(|t| other.tools.contains(t));
    }

    /// The reason in words, tools named once.
    pub fn why(&self) -> String {
        let spread = match self.spread {
            Spread::Each => "",
            Spread::More => " (and others some of it)",
            Spread::Some => " (each some of it)",
        };
        self.reason
            .replacen(TOOLS, &format!("{}{spread}", ticked(&self.tools)), 1)
            .replace(TOOLS, if self.tools.len() == 1 { "it" } else { "them" })
    }

    /// What the grants are narrowed to, in words.
    pub fn scope(&self, policy: &Policy) -> Option<String> {
        let (_, first) = self.scopes.first()?;
        let same = self.scopes.iter().all(|(_, s)| s == first);
        let only: Vec<String> =
            self.scopes
                .iter()
                .take(if same { 1 } else { usize::MAX })
                .filter_map(|(cap, s)| Some((cap, ticked(s.only?))))
                .map(|(cap, words)| {
                    if same { format!("only {words}") } else { format!("{} only {words}", policy.catalogue.name(*cap)) }
                })
                .collect();
        let ours = match (first.not_ours, only.is_empty()) {
            (true, true) => "all but the policy and rendered files",
            (true, false) => ", never the policy or rendered files",
            (false, _) => "",
        };
        Some(format!("{}{ours}", only.join("; ")))
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
        && a.measured == b.measured
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

fn scope<'a>(policy: &Policy, role: &'a Role, cap: CapId) -> Option<Scope<'a>> {
    let scope: &GrantScope = role.grants.get(&cap)?;
    let only = scope.paths.as_ref().or(scope.commands.as_ref()).or(scope.domains.as_ref()).map(Vec::as_slice);
    let edits_policy = policy.catalogue.find("policy.edit").is_some_and(|c| role.grants.contains_key(&c));
    let not_ours = policy.catalogue.get(cap).scope == Some(ScopeKind::Paths) && !edits_policy;
    (only.is_some() || not_ours).then_some(Scope { only, not_ours })
}
