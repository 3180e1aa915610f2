//! The gateway that a host starts for one role alone, where it can.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::Sink;
use crate::model::adapter::{Adapter, ListMcp, PerRole};
use crate::resolve::policy::{Policy, Reach, Role, Server, Text};
use crate::resolve::{CapId, gateway};

use super::ledger::{LimitedBy, Line, State};
use super::names;
use super::offer::{self, Origin, Tool};
use super::role::{Planner, RolePlan};
use super::search::Selector;
use super::servers::{self, ServerOnHost};

/// The gateway of one role.
#[derive(Debug, Clone)]
pub struct OwnGateway {
    /// As a server that hosts are given, with the tools that the role has of it.
    pub server: Server,
    /// The same as the host takes it.
    pub on_host: ServerOnHost,
    /// What the session's has beside them, as the host would call it here.
    pub others: Vec<String>,
}

/// How a form of the host starts one; nothing where all agents share that of the session.
pub fn form<'a>(adapter: &'a Adapter, policy: &Policy, form: &str) -> Option<(&'a PerRole, Server)> {
    let all = &adapter.mcp.as_ref()?.per_role;
    // A form that uses the files of another has what they say.
    let other = || all.get(adapter.forms.get(form)?.same_as.as_ref()?);
    let own = all.get(form).or_else(other)?;
    let entries = &policy.on.get(&adapter.id)?.gateways;
    // What is split by risk has one process for each.
    let [entry] = entries.as_slice() else { return None };
    Some((own, entry.clone()))
}

/// The gateway of `role`, with the tools of it that the role keeps (`kept`, as the gateway calls them).
pub fn of(adapter: &Adapter, own: &PerRole, entry: &Server, role: &Role, kept: &[String]) -> Option<OwnGateway> {
    let mcp = adapter.mcp.as_ref()?;
    let mut server = entry.clone();
    if let Some(name) = own.entry(&role.id) {
        server.name = name;
    }
    let other = |tool: &&String| !kept.contains(tool);
    let others = server.tools.keys().filter(other);
    let others = others.filter_map(|tool| names::tool(&adapter.names.tool, &server.name, tool).ok()).collect();
    server.tools.retain(|name, _| kept.contains(name));
    if let Reach::Program { args, .. } = &mut server.reach {
        // The role's file is read by this host alone, whoever reads that of the session's servers.
        let other = |at: usize| args[at].text == "--host" && args.get(at + 1).is_some_and(|id| id.text != adapter.id);
        let gone: BTreeSet<usize> = (0..args.len()).filter(|at| other(*at)).flat_map(|at| [at, at + 1]).collect();
        let kept = args.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, text)| text.clone());
        let role = ["--role", role.id.as_str()].map(|text| Text { text: text.to_owned(), span: None });
        *args = kept.chain(role).collect();
    }
    let on_host = servers::on_host(adapter, mcp, &server);
    Some(OwnGateway { server, on_host, others })
}

/// What the gateway calls a tool of its own; nothing for every other tool.
pub fn bare(tool: &Tool) -> Option<&str> {
    match &tool.origin {
        Origin::Mcp { server, tool } if gateway::is(server) => Some(tool),
        _ => None,
    }
}

/// A tool of the session's gateway as one of the entry `name`, with its spelling in a list. A name that cannot be spelt
/// is reported where names are looked at.
pub fn moved(adapter: &Adapter, name: &str, tool: &Tool, conditions: &[String]) -> Option<(String, Arc<Tool>)> {
    let bare = bare(tool)?;
    let list = adapter.names.list.as_ref().unwrap_or(&adapter.names.tool);
    let seen = names::tool(&adapter.names.tool, name, bare).ok()?;
    let spelt = names::tool(list, name, bare).ok()?;
    let origin = Origin::Mcp { server: name.to_owned(), tool: bare.to_owned() };
    Some((spelt, Arc::new(Tool { name: seen, origin, conditions: conditions.to_vec(), ..tool.clone() })))
}

/// Reports names of a role's own gateway that a host would not take.
pub fn check_names(adapter: &Adapter, policy: &Policy, sink: &mut Sink) {
    for form_name in adapter.mcp.iter().flat_map(|mcp| mcp.per_role.keys()) {
        let Some((own, entry)) = form(adapter, policy, form_name) else { continue };
        for role in &policy.roles {
            let Some(name) = own.entry(&role.id) else { continue };
            let had = entry.tools.iter().filter(|(_, tool)| gateway::granted(tool.confers, role));
            for (tool, class) in had {
                if let Err(problem) = names::tool(&adapter.names.tool, &name, tool) {
                    sink.push(
                        offer::unusable(&format!("{name}/{tool}"), &problem, adapter)
                            .at_opt(role.description_span.or(class.span), "a role of this name has its own gateway"),
                    );
                }
            }
        }
    }
}

impl Planner<'_> {
    /// The words to keep; with a gateway of its own the role has of it what its grants cover whole, and nothing else.
    pub(super) fn chosen(&self, role: &Role, own: bool) -> Vec<usize> {
        let selectors = self.offer.selectors.as_slice();
        if !own {
            return self.problem(role, selectors, &self.offer.fixed).solve();
        }
        let had = |i: &usize| {
            let tools = &self.offer.words[*i].tools;
            tools.iter().all(|tool| bare(tool).is_none() || gateway::granted(tool.confers, role))
        };
        let may: Vec<usize> = (0..selectors.len()).filter(had).collect();
        let some: Vec<Selector> = may.iter().map(|i| selectors[*i].clone()).collect();
        self.problem(role, &some, &self.offer.fixed).solve().into_iter().map(|i| may[i]).collect()
    }

    /// Whoever has a tool of the gateway and cannot read files is given what reads the rest of a long answer.
    pub(super) fn read_back(&self, role: &Role, list: &mut Vec<String>, tools: &mut Vec<Arc<Tool>>) {
        let reads = self.policy.catalogue.find("repo.read").is_some_and(|cap| role.granted().has(cap));
        let entries: BTreeSet<String> = tools
            .iter()
            .filter_map(|tool| match &tool.origin {
                Origin::Mcp { server, .. } if gateway::is(server) => Some(server.clone()),
                _ => None,
            })
            .collect();
        if reads || self.list.mcp != ListMcp::Single {
            return;
        }
        for word in &self.offer.words {
            let [tool] = word.tools.as_slice() else { continue };
            let Origin::Mcp { server, tool: name } = &tool.origin else { continue };
            if name == gateway::READ_ARTIFACT && entries.contains(server) {
                list.push(word.selector.word.clone());
                tools.push(Arc::clone(tool));
            }
        }
    }

    /// The gateway of this role alone, under whose name its tools then are.
    pub(super) fn own_gateway(
        &self,
        role: &Role,
        own: &PerRole,
        entry: &Server,
        list: &mut [String],
        tools: &mut [Arc<Tool>],
    ) -> Option<OwnGateway> {
        let names: Vec<String> = tools.iter().filter_map(|tool| bare(tool)).map(str::to_owned).collect();
        let Some(name) = own.entry(&role.id) else {
            // It stands in place of the session's, which has more.
            return of(self.adapter, own, entry, role, &names);
        };
        if names.is_empty() {
            return None;
        }
        for tool in tools.iter_mut() {
            let session = moved(self.adapter, &entry.name, tool, &[]);
            let moved = moved(self.adapter, &name, tool, &own.claim.conditions);
            if let (Some((before, _)), Some((after, own))) = (session, moved) {
                list.iter_mut().filter(|word| **word == before).for_each(|word| word.clone_from(&after));
                *tool = own;
            }
        }
        of(self.adapter, own, entry, role, &names)
    }

    /// What the session's gateway has and the role's own does not: that holds as hard as the host keeps to the latter.
    pub(super) fn refused_by_own(&self, plan: &RolePlan, cap: CapId) -> Option<Line> {
        plan.gateway.as_ref()?;
        let (own, entry) = form(self.adapter, self.policy, self.form_name)?;
        let claim = &own.claim;
        let conferred = entry.tools.values().any(|tool| tool.confers.has(cap));
        if !conferred || claim.guarantee >= self.list.claim.guarantee {
            return None;
        }
        let reason = "no tool of the role confers it: its own gateway, `rolecast serve --role`, shows none that does, and refuses what it does not show";
        let mut line = self.base(cap, State::Denied, reason.to_owned());
        line.limited_by = Some(LimitedBy::Absence);
        line.guarantee = Some(claim.guarantee);
        line.evidence = claim.evidence.unwrap_or(line.evidence).min(line.evidence);
        for condition in &claim.conditions {
            if !line.conditions.contains(condition) {
                line.conditions.push(condition.clone());
            }
        }
        Some(line)
    }
}
