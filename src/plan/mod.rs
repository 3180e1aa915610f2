//! Policy × adapters to a plan: which tools each role gets, which settings are set, which file carries
//! what to whom, and what can be claimed of all that.

mod clash;
pub mod commands;
mod confine;
pub mod delivery;
pub mod deny;
pub mod evidence;
pub mod globs;
pub mod knobs;
pub mod ledger;
pub mod legacy;
pub mod measured;
pub mod names;
pub mod narrow;
pub mod offer;
pub mod own_gateway;
mod reach;
pub mod role;
pub mod search;
pub mod servers;
pub mod standing;

use indexmap::IndexMap;

use crate::diag::Sink;
use crate::model::adapter::Adapter;
use crate::resolve::Policy;
use crate::resolve::policy::{Role, RuleActivation};

pub use confine::PathPlan;
use delivery::{Delivery, HostInput, Input, Kind, RuleInfo, UserFile};
use evidence::Known;
use knobs::KnobPlan;
use ledger::{Ledger, Line};
use role::{BUILT, Planner, RolePlan};
use servers::ServersPlan;

/// The plan for a set of hosts.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One for each selected host.
    pub hosts: Vec<HostPlan>,
    /// Which file carries which text to whom.
    pub delivery: Delivery,
    /// What is claimed.
    pub ledger: Ledger,
}

/// The plan for one host.
#[derive(Debug, Clone)]
pub struct HostPlan {
    /// The host.
    pub host: String,
    /// Roles in the policy's order.
    pub roles: Vec<RoleOnHost>,
    /// Settings that carry a budget.
    pub knobs: Vec<KnobPlan>,
    /// MCP servers; `None` = no file carries any.
    pub servers: Option<ServersPlan>,
}

/// A role on a host.
#[derive(Debug, Clone)]
pub struct RoleOnHost {
    /// Role id.
    pub role: String,
    /// As the host spells it.
    pub name: String,
    /// The shapes it takes there.
    pub forms: Vec<RolePlan>,
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Files only: the ledger stays empty, because writing it out costs more than all the rest.
    Files,
    /// The ledger too.
    Ledger,
    /// The ledger as the adapters claim it, whatever was seen since: what a verification tries.
    Claims,
}

/// Plans for the hosts of `policy`.
pub fn plan(
    policy: &Policy,
    adapters: &IndexMap<String, Adapter>,
    user: &[UserFile],
    purpose: Purpose,
    sink: &mut Sink,
) -> Plan {
    let selected: Vec<&Adapter> = policy.hosts.iter().filter_map(|id| adapters.get(id)).collect();
    let delivery = deliver(policy, &selected, user);
    reach::report(policy, &selected, &delivery, sink);
    servers::report_unused(policy, sink);
    clash::check_gateway(policy, sink);
    let excluded = narrow::excluded(policy, &selected);
    let mut lines = Vec::new();
    let hosts = selected
        .iter()
        .map(|adapter| {
            clash::check(adapter, policy, sink);
            own_gateway::check_names(adapter, policy, sink);
            let (roles, mut own) = roles(adapter, policy, &excluded, purpose, sink);
            let servers = servers::plan(adapter, policy, &selected, user, sink);
            if purpose != Purpose::Files {
                lines.append(&mut own);
                lines.extend(knobs::lines(adapter, policy));
                lines.extend(commands::lines(adapter, policy));
                lines.extend(servers::lines(adapter, policy, servers.as_ref()));
            }
            HostPlan { host: adapter.id.clone(), roles, knobs: knobs::plan(adapter, policy), servers }
        })
        .collect();
    if purpose != Purpose::Files {
        lines.extend(reach::lines(policy, &selected, &delivery));
    }
    if purpose != Purpose::Claims {
        others(policy, &selected, &delivery, purpose, &mut lines, sink);
    }
    if purpose == Purpose::Ledger {
        measured::put(policy, &mut lines, sink);
    }
    Plan { hosts, delivery, ledger: Ledger { lines } }
}

/// Holds what was seen of rules and budgets against their lines; those that nobody wants are made only where
/// something is to be told of them.
fn others(
    policy: &Policy,
    selected: &[&Adapter],
    delivery: &Delivery,
    purpose: Purpose,
    lines: &mut [Line],
    sink: &mut Sink,
) {
    for adapter in selected {
        let known = Known::new(adapter, policy);
        if purpose == Purpose::Ledger {
            known.others(lines, sink);
        } else if known.doubts_others() {
            let mut own = knobs::lines(adapter, policy);
            own.extend(reach::lines(policy, selected, delivery));
            known.others(&mut own, sink);
        }
    }
}

fn deliver(policy: &Policy, selected: &[&Adapter], user: &[UserFile]) -> Delivery {
    let rules: Vec<RuleInfo> = policy
        .rules
        .iter()
        .map(|rule| RuleInfo {
            id: rule.id.clone(),
            activation: match rule.activation {
                RuleActivation::Always => Kind::Always,
                RuleActivation::Paths(_) => Kind::Paths,
                RuleActivation::OnDemand(_) => Kind::OnDemand,
            },
            main: rule.main,
            roles: rule.roles,
        })
        .collect();
    let noted = policy.rules.iter().any(crate::resolve::Rule::has_note);
    let hosts = selected
        .iter()
        .map(|adapter| {
            let wants_card = noted || legacy::any(policy, &adapter.id);
            HostInput { adapter, wants_card, has_roles: !policy.roles.is_empty() }
        })
        .collect();
    let roles: Vec<String> = policy.roles.iter().map(|r| r.id.clone()).collect();
    delivery::plan(&Input { hosts, rules: &rules, roles: &roles, user })
}

fn roles(
    adapter: &Adapter,
    policy: &Policy,
    excluded: &[String],
    purpose: Purpose,
    sink: &mut Sink,
) -> (Vec<RoleOnHost>, Vec<Line>) {
    let mut lines = Vec::new();
    let forms: Vec<_> = adapter
        .forms
        .iter()
        .filter_map(|(name, form)| {
            offer::list(adapter, form).map(|list| (name, form, list, offer::offer(adapter, form, list, policy)))
        })
        .collect();
    let mut planned = Vec::new();
    let known = Known::new(adapter, policy);
    for role in &policy.roles {
        let mut own_lines = Vec::new();
        let plans = forms
            .iter()
            .map(|(form_name, form, list, offer)| {
                let planner = Planner { adapter, form_name, form, list, offer, policy, built: BUILT, excluded };
                let plan = planner.tools(role);
                legacy::report(policy, &adapter.id, role, &plan, sink);
                // Denials are judged by what the ledger says of them, whether it is wanted or not.
                let wanted = purpose != Purpose::Files || !role.deny.is_empty() || known.doubts(&role.id);
                let mut lines = if wanted { planner.lines(role, &plan) } else { Vec::new() };
                if purpose != Purpose::Claims {
                    known.role(role, &plan, &mut lines, sink);
                }
                own_lines.append(&mut lines);
                plan
            })
            .collect();
        deny::judge(adapter, policy, role, &own_lines, sink);
        lines.append(&mut own_lines);
        if let Some(name) = role_name(adapter, role, sink) {
            planned.push(RoleOnHost { role: role.id.clone(), name, forms: plans });
        }
    }
    (planned, lines)
}

fn role_name(adapter: &Adapter, role: &Role, sink: &mut Sink) -> Option<String> {
    match names::role(&adapter.names.role, &role.id) {
        Ok(name) => Some(name),
        Err(problem) => {
            sink.push(
                offer::unusable(&role.id, &problem, adapter).at_opt(role.description_span, "in the file of this role"),
            );
            None
        }
    }
}
