//! Which way each host has to each server: itself, or through the gateway, and why. Decided once for the whole set of
//! hosts, because a file that two of them read says one thing.

use indexmap::IndexMap;

use super::capabilities::Catalogue;
use super::composed::{Composed, RuntimeSources};
use super::gateway;
use super::policy::{Policy, Reach, Role, Server, Value};
use super::primitives::Primitive;
use crate::model::adapter::{Adapter, Borrowed, Mcp, Passing, Transport};
use crate::model::policy::Via;
use crate::model::scalar::Risk;

/// How a host has a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Whether the gateway stands between.
    pub gateway: bool,
    /// Why, in words that follow `because` or a semicolon.
    pub why: String,
    /// Whether the policy leaves it to us.
    pub auto: bool,
}

/// What one host is given.
#[derive(Debug, Clone, Default)]
pub struct OnHost {
    /// Its way to each server of which a tool is named.
    pub routes: IndexMap<String, Route>,
    /// The gateway; several entries where one may hold tools of one risk only.
    pub gateways: Vec<Server>,
}

/// What the decision rests on.
pub(super) struct Given<'a> {
    pub servers: &'a IndexMap<String, Server>,
    pub primitives: &'a IndexMap<String, Primitive>,
    pub tools: &'a IndexMap<String, Composed>,
    pub runtime: &'a RuntimeSources,
    pub roles: &'a [Role],
    pub catalogue: &'a Catalogue,
}

/// Decides for the selected hosts.
pub(super) fn hosts(given: &Given<'_>, selected: &[&Adapter]) -> IndexMap<String, OnHost> {
    let mut routes: Vec<IndexMap<String, Route>> = selected.iter().map(|adapter| own(adapter, given)).collect();
    together(selected, &mut routes);
    let shared = |at: usize| -> Vec<&str> {
        let file = written(selected[at], selected);
        let same =
            |other: &&&Adapter| other.id == selected[at].id || (file.is_some() && written(other, selected) == file);
        selected.iter().filter(same).map(|a| a.id.as_str()).collect()
    };
    let gateways: Vec<Vec<Server>> = (0..selected.len())
        .map(|at| gateway::servers(given, selected[at], &routes, &routes[at], &shared(at)))
        .collect();
    let all = selected.iter().zip(routes).zip(gateways);
    all.map(|((adapter, routes), gateways)| (adapter.id.clone(), OnHost { routes, gateways })).collect()
}

/// What one host would have for itself.
fn own(adapter: &Adapter, given: &Given<'_>) -> IndexMap<String, Route> {
    let named = given.servers.values().filter(|server| !server.tools.is_empty());
    named.map(|server| (server.name.clone(), route(adapter, server))).collect()
}

fn route(adapter: &Adapter, server: &Server) -> Route {
    let said = |gateway, why: &str| Route { gateway, why: why.to_owned(), auto: server.via == Via::Auto };
    match server.via {
        Via::Gateway => return said(true, "the policy says `via: gateway`"),
        Via::Direct => return said(false, "the policy says `via: direct`"),
        Via::Auto => {}
    }
    let Some(mcp) = adapter.mcp.as_ref().filter(|m| m.output.is_some()) else {
        return said(false, "no server is written for this host");
    };
    match reason(mcp, server) {
        Some(why) => said(true, &why),
        None => said(false, "the host leaves out by itself, or asks for, what the policy does not name"),
    }
}

/// Why a server that is left to us goes through the gateway on a host: what the host's own entry would leave to text,
/// or could not say.
fn reason(mcp: &Mcp, server: &Server) -> Option<String> {
    if mcp.unnamed.is_none() {
        return Some(
            "an entry there has no list of tools, so that what the policy does not name would be within reach".into(),
        );
    }
    if server.tools.values().any(|tool| tool.bounds.wanted()) {
        return Some("`bounds` of its tools are kept by nobody else".into());
    }
    let risks: std::collections::BTreeSet<Risk> = server.tools.values().map(|tool| tool.risk).collect();
    if mcp.approval.whole && risks.len() > 1 {
        return Some("one risk counts for a whole entry there, and its tools have several".into());
    }
    unsayable(mcp, server)
}

/// What an entry there cannot carry.
fn unsayable(mcp: &Mcp, server: &Server) -> Option<String> {
    let transport = if matches!(server.reach, Reach::Program { .. }) { Transport::Stdio } else { Transport::Http };
    if !mcp.transports.contains(&transport) {
        return Some("an entry there does not reach it".into());
    }
    let handed = |(key, value): (&String, &Value)| match value {
        Value::Literal(_) => false,
        Value::Variable(variable) => *key != variable.text || !mcp.inherited(&variable.text),
        Value::Bearer(_) => true,
    };
    let lost = (mcp.env == Passing::Nothing && server.env.iter().any(handed))
        || (mcp.headers == Passing::Nothing && server.headers.iter().any(handed));
    if lost {
        return Some("an entry there hands no variable on".into());
    }
    let other = |(key, value): (&String, &Value)| matches!(value, Value::Variable(variable) if variable.text != *key);
    let renamed = mcp.env == Passing::SameName && server.env.iter().any(other);
    renamed.then(|| "an entry there hands a variable on only under its own name".into())
}

/// Makes hosts that read one file agree: the tighter form counts for all of them.
fn together(selected: &[&Adapter], routes: &mut [IndexMap<String, Route>]) {
    for _ in 0..selected.len() {
        for a in 0..selected.len() {
            for b in 0..selected.len() {
                if a == b || !one_file(selected[a], selected[b]) {
                    continue;
                }
                for name in routes[a].iter().filter(|(_, r)| r.gateway).map(|(n, _)| n.clone()).collect::<Vec<_>>() {
                    if let Some(other) = routes[b].get_mut(&name).filter(|r| !r.gateway && r.auto) {
                        other.gateway = true;
                        other.why =
                            format!("{} reads the same file, and has it through the gateway", selected[a].title);
                    }
                }
            }
        }
    }
}

/// Whether one of two hosts reads the servers of the other.
fn one_file(a: &Adapter, b: &Adapter) -> bool {
    let reads = |who: &Adapter, of: &Adapter| {
        own_file(of).is_some_and(|file| who.borrows.iter().any(|b| b.what == Borrowed::Servers && b.file == file))
    };
    a.id != b.id && (reads(a, b) || reads(b, a))
}

fn own_file(adapter: &Adapter) -> Option<&str> {
    let output = adapter.mcp.as_ref()?.output.as_ref()?;
    adapter.outputs.get(output).map(|output| output.file.as_str())
}

/// The file that a host's servers are written into: that of another selected host where it would ignore its own.
fn written<'a>(adapter: &'a Adapter, selected: &[&'a Adapter]) -> Option<&'a str> {
    let theirs = |file: &str| selected.iter().any(|other| other.id != adapter.id && own_file(other) == Some(file));
    let instead = adapter.borrows.iter().filter(|b| b.what == Borrowed::Servers && !b.loses_to_own);
    let own = own_file(adapter)?;
    Some(instead.map(|b| b.file.as_str()).find(|file| theirs(file)).unwrap_or(own))
}

impl Policy {
    /// Decides anew for `adapters`; needed when the servers were replaced.
    pub fn route(&mut self, adapters: &IndexMap<String, Adapter>) {
        let selected: Vec<&Adapter> = self.hosts.iter().filter_map(|id| adapters.get(id)).collect();
        let given = Given {
            servers: &self.servers,
            primitives: &self.primitives,
            tools: &self.tools,
            runtime: &self.runtime,
            roles: &self.roles,
            catalogue: &self.catalogue,
        };
        let on = hosts(&given, &selected);
        self.gateway = gateway::union(&given, &on);
        self.on = on;
    }

    /// The way of a host to a server of which a tool is named.
    pub fn route_of(&self, host: &str, server: &str) -> Option<&Route> {
        self.on.get(host)?.routes.get(server)
    }

    /// Whether a host is given a server itself.
    pub fn direct(&self, host: &str, server: &Server) -> bool {
        let asked = || server.via != Via::Gateway;
        !server.tools.is_empty() && self.route_of(host, &server.name).map_or_else(asked, |route| !route.gateway)
    }

    /// What a host is given: servers, and the gateway.
    pub fn given_on<'a>(&'a self, host: &'a str) -> impl Iterator<Item = &'a Server> {
        let own = self.servers.values().filter(move |server| self.direct(host, server));
        own.chain(self.on.get(host).into_iter().flat_map(|on| &on.gateways))
    }

    /// Whether something of a server is to be had through the gateway on one of `hosts`, or on any where none is named.
    pub fn behind(&self, server: &Server, hosts: &[String]) -> bool {
        self.tools.values().any(|tool| tool.server == server.name) || self.through(server, hosts)
    }

    /// Whether the classified tools of a server are.
    pub fn through(&self, server: &Server, hosts: &[String]) -> bool {
        let hosts = if hosts.is_empty() { &self.hosts } else { hosts };
        let gateway = |host: &String| self.route_of(host, &server.name).is_some_and(|route| route.gateway);
        let asked = server.via == Via::Gateway;
        !server.tools.is_empty() && (hosts.iter().any(gateway) || asked)
    }

    /// Whether no host is given a server but through the gateway: of what is not named nobody has anything.
    pub fn hides(&self, server: &Server) -> bool {
        let given =
            if self.hosts.is_empty() { server.given() } else { self.hosts.iter().any(|h| self.direct(h, server)) };
        !given && self.behind(server, &[])
    }
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
