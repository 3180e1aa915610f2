//! One role on one host in one form: the tools it gets and what can be claimed of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::adapter::{Adapter, Approval, Form, List, Mechanism, Sense};
use crate::model::capability::ScopeKind;
use crate::model::scalar::{Guarantee, Risk};
use crate::resolve::policy::{Policy, Role};
use crate::resolve::{CapId, CapSet, gateway};

use super::confine::PathPlan;
use super::ledger::{LimitedBy, Line, State, Subject};
use super::narrow::{POLICY_EDIT, Permission};
use super::offer::{Offer, Tool};
use super::own_gateway::{self, OwnGateway};
use super::search::{Problem, Selector};

/// Mechanisms that this program renders. One that is not built counts as absent everywhere.
pub const BUILT: &[Mechanism] = &[Mechanism::Rules, Mechanism::Sandbox, Mechanism::Guard];

/// The tools of a role.
#[derive(Debug, Clone)]
pub struct RolePlan {
    /// Role id.
    pub role: String,
    /// Form of the adapter.
    pub form: String,
    /// Words of an allow list, as the host spells them.
    pub list: Vec<String>,
    /// Words of a deny list.
    pub removed: Vec<String>,
    /// The plan as an allow list the host is not known to obey.
    pub inform: Vec<String>,
    /// The words of a list of rules with their verdicts; what stands for every tool is first.
    pub permissions: Vec<Permission>,
    /// The paths that a process of this form may write; none when its host is given none.
    pub paths: Option<PathPlan>,
    /// The gateway that is started for this role alone.
    pub gateway: Option<OwnGateway>,
    /// Every tool the role has.
    pub tools: Vec<Arc<Tool>>,
}

/// Everything needed to plan a role on a form.
pub struct Planner<'a> {
    /// The host.
    pub adapter: &'a Adapter,
    /// Name of the form.
    pub form_name: &'a str,
    /// The form.
    pub form: &'a Form,
    /// Its list.
    pub list: &'a List,
    /// What it can offer.
    pub offer: &'a Offer,
    /// The policy.
    pub policy: &'a Policy,
    /// The mechanisms that are built.
    pub built: &'a [Mechanism],
    /// Globs that no grant of paths reaches.
    pub excluded: &'a [String],
}

impl Planner<'_> {
    /// Chooses the tools of `role`.
    pub fn tools(&self, role: &Role) -> RolePlan {
        let own = own_gateway::form(self.adapter, self.policy, self.form_name);
        let kept = self.preferred(role, self.chosen(role, own.is_some()));
        let (mut list, removed) = match self.list.sense {
            Sense::Allow | Sense::Rules => (self.words(&self.needed(&kept)), Vec::new()),
            Sense::Deny => {
                let gone: Vec<usize> = (0..self.offer.selectors.len()).filter(|i| !kept.contains(i)).collect();
                (Vec::new(), self.words(&gone))
            }
        };
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        // A gateway that is started for the role has nothing else for it, whatever the session's has.
        let shown = |tool: &&Arc<Tool>| {
            own.is_none() || own_gateway::bare(tool).is_none() || gateway::granted(tool.confers, role)
        };
        let fixed = self.offer.fixed.iter().filter(shown);
        let all = kept.iter().flat_map(|i| &self.offer.words[*i].tools).chain(fixed);
        let mut tools: Vec<Arc<Tool>> = all.filter(|tool| seen.insert(&tool.name)).cloned().collect();
        self.read_back(role, &mut list, &mut tools);
        let gateway = own.and_then(|(own, entry)| self.own_gateway(role, own, &entry, &mut list, &mut tools));
        RolePlan {
            role: role.id.clone(),
            form: self.form_name.to_owned(),
            permissions: self.permissions(role, &list),
            paths: self.paths(role),
            list: if list.is_empty() { self.list.empty.clone() } else { list },
            removed,
            inform: self.inform(role),
            gateway,
            tools,
        }
    }

    fn words(&self, indices: &[usize]) -> Vec<String> {
        indices.iter().map(|i| self.offer.selectors[*i].word.clone()).collect()
    }

    /// Leaves out what is kept as a legacy where its successors are kept, and cover all that the role wants of it.
    fn preferred(&self, role: &Role, kept: Vec<usize>) -> Vec<usize> {
        let tools = || kept.iter().flat_map(|i| &self.offer.words[*i].tools).chain(&self.offer.fixed);
        let superseded = |tool: &Tool| {
            let covered = tools()
                .filter(|other| tool.successors.contains(&other.name) && other.name != tool.name)
                .fold(CapSet::EMPTY, |all, other| all.union(other.covers));
            !tool.successors.is_empty() && tool.covers.and(role.granted()).within(covered)
        };
        let stays = |i: &usize| !self.offer.words[*i].tools.iter().all(|tool| superseded(tool));
        kept.iter().copied().filter(stays).collect()
    }

    /// Leaves out words whose tools other kept words bring already: they would only be noise in the file.
    fn needed(&self, kept: &[usize]) -> Vec<usize> {
        let names = |i: usize| self.offer.words[i].tools.iter().map(|t| t.name.as_str());
        let mut bringing: BTreeMap<&str, usize> = BTreeMap::new();
        for name in kept.iter().flat_map(|i| names(*i)) {
            *bringing.entry(name).or_default() += 1;
        }
        let mut needed = Vec::with_capacity(kept.len());
        for i in kept {
            let twice = names(*i).all(|name| bringing.get(name).is_some_and(|count| *count > 1));
            if twice && names(*i).next().is_some() {
                for name in names(*i) {
                    bringing.entry(name).and_modify(|count| *count -= 1);
                }
            } else {
                needed.push(*i);
            }
        }
        needed
    }

    pub(super) fn problem<'s>(&self, role: &Role, selectors: &'s [Selector], fixed: &[Arc<Tool>]) -> Problem<'s> {
        let all = |f: fn(&Tool) -> CapSet| fixed.iter().fold(CapSet::EMPTY, |set, t| set.union(f(t)));
        Problem {
            selectors,
            base_covers: all(|t| t.covers),
            base_confers: all(|t| t.confers),
            grants: role.granted(),
            forbidden: self.forbidden(role),
            dangerous: self.policy.catalogue.of_risk(Risk::Dangerous),
            restricted: self.policy.catalogue.of_risk(Risk::Restricted),
        }
    }

    /// What must be absent here: the denials less what is waived on this host.
    fn forbidden(&self, role: &Role) -> CapSet {
        let denied = role
            .deny
            .iter()
            .filter(|d| d.at_least > Guarantee::Advised)
            .fold(CapSet::EMPTY, |all, d| all.union(d.caps));
        denied.without(self.waived(role))
    }

    fn waived(&self, role: &Role) -> CapSet {
        role.waive.get(&self.adapter.id).into_iter().flatten().fold(CapSet::EMPTY, |all, w| all.union(w.caps))
    }

    /// The same role planned as if every native tool could be written, for a list that only informs.
    fn inform(&self, role: &Role) -> Vec<String> {
        if !self.list.inform {
            return Vec::new();
        }
        let selectors = self.offer.inform.as_slice();
        self.problem(role, selectors, &[]).solve().into_iter().map(|i| selectors[i].word.clone()).collect()
    }

    /// One line for every capability.
    pub fn lines(&self, role: &Role, plan: &RolePlan) -> Vec<Line> {
        let mut lines: Vec<Line> = self.policy.catalogue.ids().map(|cap| self.line(role, plan, cap)).collect();
        for line in &mut lines {
            if let Subject::Role { role: name, .. } = &mut line.subject {
                name.clone_from(&role.id);
            }
        }
        lines
    }

    fn line(&self, role: &Role, plan: &RolePlan, cap: CapId) -> Line {
        let conferring: Vec<&Tool> = plan.tools.iter().map(Arc::as_ref).filter(|t| t.confers.has(cap)).collect();
        match (role.grants.contains_key(&cap), conferring.is_empty()) {
            (true, false) => self.granted(role, cap, &conferring),
            (true, true) => self.unreachable(role, cap),
            (false, true) => self.absent(plan, cap),
            (false, false) => self.kept(role, cap, &conferring, self.base(cap, State::Denied, String::new())),
        }
    }

    pub(super) fn base(&self, cap: CapId, state: State, reason: String) -> Line {
        let evidence = &self.adapter.evidence;
        Line {
            host: self.adapter.id.clone(),
            subject: Subject::Role {
                role: String::new(),
                form: self.form_name.to_owned(),
                capability: self.policy.catalogue.name(cap).to_owned(),
            },
            state,
            limited_by: None,
            guarantee: None,
            evidence: self.list.claim.evidence.unwrap_or(evidence.by),
            version: evidence.version.clone(),
            date: evidence.date.clone(),
            conditions: self.list.claim.conditions.clone(),
            reason,
            lowered: None,
            measured: Vec::new(),
        }
    }

    fn granted(&self, role: &Role, cap: CapId, tools: &[&Tool]) -> Line {
        if let Some(why) = self.nothing_open(role, cap, tools) {
            return self.base(cap, State::Unreachable, format!("{why}; hand it back to the parent"));
        }
        let scope = &role.grants[&cap];
        let kind = self.policy.catalogue.get(cap).scope;
        let (meant, others): (Vec<&Tool>, Vec<&Tool>) = tools.iter().partition(|t| t.covers.has(cap));
        let reason = match (meant.is_empty(), others.is_empty()) {
            (true, _) => format!("by {}", quoted(&others)),
            (false, true) => format!("by {}", quoted(&meant)),
            (false, false) => format!("by {}, also through {}", quoted(&meant), quoted(&others)),
        };
        let mut line = self.base(cap, State::Granted, reason);
        let leant_on = if meant.is_empty() { &others } else { &meant };
        // A grant is known no better than the best known of its tools.
        let known = leant_on.iter().map(|t| t.evidence.unwrap_or(self.adapter.evidence.by)).max();
        line.evidence = line.evidence.min(known.unwrap_or(line.evidence));
        // A capability is there without a condition as soon as one of its tools is.
        if leant_on.iter().all(|t| !t.conditions.is_empty()) {
            for condition in leant_on.iter().flat_map(|t| &t.conditions) {
                if !line.conditions.contains(condition) {
                    line.conditions.push(condition.clone());
                }
            }
        }
        // The policy and what is rendered from it are left out of every grant of paths, unless the role may edit them.
        let edits_policy = self.policy.catalogue.find(POLICY_EDIT).is_some_and(|c| role.grants.contains_key(&c));
        let limited = |k: &ScopeKind| scope.scoped() || (*k == ScopeKind::Paths && !edits_policy);
        let Some(kind) = kind.filter(limited) else {
            self.asked(&mut line, leant_on);
            return line;
        };
        line.limited_by = Some(LimitedBy::of(kind));
        let what =
            if scope.scoped() { "the scope" } else { "the exclusion of the policy and the files rendered from it" };
        self.narrowed(&mut line, role, cap, kind, tools, what);
        line
    }

    /// Every tool that a grant leans on asks a person first: that limits it, by the weakest of them.
    fn asked(&self, line: &mut Line, tools: &[&Tool]) {
        let approvals: Vec<&Approval> = tools.iter().filter(|t| t.asks()).filter_map(|t| t.approval.as_ref()).collect();
        let guarantee = approvals.iter().map(|a| a.guarantee.unwrap_or(Guarantee::Advised)).min();
        let Some(guarantee) = guarantee.filter(|_| approvals.len() == tools.len()) else { return };
        line.limited_by = Some(LimitedBy::Approval);
        line.guarantee = Some(guarantee);
        line.reason.push_str("; a person is asked before each call");
        let holes: BTreeSet<&str> = approvals.iter().filter_map(|a| a.hole.as_deref()).collect();
        for hole in holes {
            line.reason = format!("{}; {hole}", line.reason);
        }
        for approval in approvals {
            line.evidence = line.evidence.min(approval.evidence.unwrap_or(line.evidence));
            for condition in &approval.conditions {
                if !line.conditions.contains(condition) {
                    line.conditions.push(condition.clone());
                }
            }
        }
    }

    fn unreachable(&self, role: &Role, cap: CapId) -> Line {
        let forbidden = self.forbidden(role);
        let lost: Option<String> = self
            .offer
            .words
            .iter()
            .find(|w| w.selector.confers.has(cap) && !w.selector.confers.and(forbidden).is_empty())
            .map(|w| {
                let denied: Vec<String> = w
                    .selector
                    .confers
                    .and(forbidden)
                    .iter()
                    .map(|c| format!("`{}`", self.policy.catalogue.name(c)))
                    .collect();
                format!("`{}` would do it, and confers {}, which the role denies", w.selector.word, denied.join(", "))
            });
        let unused = self
            .offer
            .words
            .iter()
            .find(|w| w.selector.confers.has(cap))
            .map(|w| format!("only `{}` would do it, which is no tool for it", w.selector.word));
        let reason = lost
            .or(unused)
            .unwrap_or_else(|| "the host has no tool for it, and no server of the policy offers one".to_owned());
        self.base(cap, State::Unreachable, format!("{reason}; hand it back to the parent"))
    }

    fn absent(&self, plan: &RolePlan, cap: CapId) -> Line {
        if self.offer.session_servers && self.policy.catalogue.get(cap).via_mcp {
            let mut line = self.base(
                cap,
                State::Denied,
                "the role keeps every MCP server of the session; one that the policy does not know may offer it"
                    .to_owned(),
            );
            line.guarantee = Some(Guarantee::Advised);
            return line;
        }
        let claim = &self.list.claim;
        if let Some(line) = self.refused_by_own(plan, cap) {
            return line;
        }
        let mut line = self.base(
            cap,
            State::Denied,
            match &claim.hole {
                Some(hole) => format!("no tool of the role confers it; {hole}"),
                None => "no tool of the role confers it".to_owned(),
            },
        );
        line.limited_by = Some(LimitedBy::Absence);
        line.guarantee = Some(claim.guarantee);
        line
    }
}

pub(super) fn quoted(tools: &[&Tool]) -> String {
    tools.iter().map(|t| format!("`{}`", t.name)).collect::<Vec<_>>().join(", ")
}
