//! The gateway as a server like any other: what hosts are given of it, and under which names its tools are.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::capabilities::CapSet;
use super::composed::{Composed, Maker, RuntimeSources};
use super::policy::{Reach, Role, Server, ServerTool, Text, Timeout, Value};
use super::primitives::Primitive;
use super::route::{Given, OnHost, Route};
use super::tools::OWN_TOOLS;
use crate::model::adapter::Adapter;
use crate::model::composed::RuntimeSource;
use crate::model::policy::Via;
use crate::model::scalar::Risk;

/// What hosts call the gateway.
pub const NAME: &str = "rolecast";
/// Whether an entry is one of the gateway.
pub fn is(name: &str) -> bool {
    name.strip_prefix(NAME).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Seconds of a call: what the gateway itself may need beside the server behind it.
const OWN_TIME: u64 = 10;

/// The tool of the gateway that gives back a part of what its session kept; it confers nothing.
pub const READ_ARTIFACT: &str = "read_artifact";

/// The tools of the gateway itself, with what they confer.
pub const OWN_CONFERS: &[(&str, &str)] = &[
    ("repo_diff", "repo.diff"),
    ("repo_log", "repo.diff"),
    ("repo_show", "repo.diff"),
    ("docs_validate", "docs.validate"),
];

/// The gateway as a host is given it: one entry, or one for each risk where an entry has one for all of its tools.
/// `readers` are the hosts that read the file it stands in.
pub(super) fn servers(
    given: &Given<'_>,
    adapter: &Adapter,
    all: &[IndexMap<String, Route>],
    own: &IndexMap<String, Route>,
    readers: &[&str],
) -> Vec<Server> {
    let through =
        |routes: &IndexMap<String, Route>, server: &Server| routes.get(&server.name).is_some_and(|r| r.gateway);
    let anywhere = |server: &Server| all.iter().any(|routes| through(routes, server));
    let args: Vec<String> = readers.iter().flat_map(|host| ["--host".to_owned(), (*host).to_owned()]).collect();
    let Some(whole) = server(given, &|server| through(own, server), &anywhere, &args) else { return Vec::new() };
    let risks: BTreeSet<Risk> = whole.tools.values().map(|tool| tool.risk).collect();
    if risks.len() < 2 || !adapter.mcp.as_ref().is_some_and(|mcp| mcp.approval.whole) {
        return vec![whole];
    }
    risks.into_iter().map(|risk| part(&whole, risk)).collect()
}

/// The entry of the gateway that holds what has one risk.
fn part(whole: &Server, risk: Risk) -> Server {
    let mut own = whole.clone();
    own.name = format!("{NAME}-{}", risk.word());
    own.tools.retain(|name, tool| tool.risk == risk || name == READ_ARTIFACT);
    // What is preferred to a tool may stand in the entry of another risk.
    for (entry, name) in own.tools.values_mut().flat_map(|tool| &mut tool.successors) {
        if let Some(tool) = whole.tools.get(name) {
            *entry = format!("{NAME}-{}", tool.risk.word());
        }
    }
    if let Reach::Program { args, .. } = &mut own.reach {
        args.extend(["--risk", risk.word()].map(text));
    }
    own
}

/// The gateway of all hosts together, for what is said of it as a whole.
pub(super) fn union(given: &Given<'_>, on: &IndexMap<String, OnHost>) -> Option<Server> {
    let through = |server: &Server| {
        server.via == Via::Gateway
            || on.values().any(|host| host.routes.get(&server.name).is_some_and(|route| route.gateway))
    };
    server(given, &through, &through, &[])
}

/// The gateway, when something is to be had only through it.
fn server(
    given: &Given<'_>,
    through: &dyn Fn(&Server) -> bool,
    anywhere: &dyn Fn(&Server) -> bool,
    args: &[String],
) -> Option<Server> {
    let of = |name: &str| given.tools.values().any(|tool| tool.server == name);
    let here = |server: &Server| !server.tools.is_empty() && through(server);
    let behind: Vec<&Server> = given.servers.values().filter(|s| here(s) || of(&s.name)).collect();
    let used: Vec<&Primitive> = given.primitives.values().filter(|p| of(&p.name)).collect();
    let programs = || {
        given.tools.values().filter_map(|tool| match &tool.maker {
            Maker::Program(program) => Some(program),
            Maker::Server | Maker::Primitive => None,
        })
    };
    if behind.is_empty() && used.is_empty() && programs().next().is_none() {
        return None;
    }
    let call = behind
        .iter()
        .map(|server| server.call.seconds)
        .chain(used.iter().map(|primitive| primitive.seconds()))
        .chain(programs().map(|program| program.seconds))
        .max()
        .unwrap_or_default();
    let list = behind.iter().map(|server| server.list.seconds).max().unwrap_or_default();
    let args = std::iter::once("serve").chain(args.iter().map(String::as_str)).map(text).collect();
    Some(Server {
        name: NAME.to_owned(),
        span: given.tools.values().next().map_or_else(|| behind.first().and_then(|s| s.span), |tool| tool.span),
        risk: Risk::Restricted,
        reach: Reach::Program { command: text(NAME), args },
        via: Via::Direct,
        env: variables(
            behind
                .iter()
                .flat_map(|server| server.env.values().chain(server.headers.values()))
                .chain(used.iter().flat_map(|primitive| primitive.values()))
                .chain(programs().flat_map(|program| program.env.values())),
            given.runtime,
        ),
        headers: IndexMap::new(),
        call: Timeout { seconds: call.saturating_add(list).saturating_add(OWN_TIME), span: None },
        list: Timeout { seconds: list.saturating_add(OWN_TIME), span: None },
        tools: shown(given, &here, anywhere),
    })
}

fn text(text: &str) -> Text {
    Text { text: text.to_owned(), span: None }
}

/// Makes what is preferred to a tool one of the gateway where it names a composed tool.
pub(super) fn own_successors(servers: &mut IndexMap<String, Server>, tools: &IndexMap<String, Composed>) {
    for server in servers.values_mut() {
        let own: BTreeSet<String> = server.tools.keys().cloned().collect();
        for (owner, name) in server.tools.values_mut().flat_map(|tool| &mut tool.successors) {
            if *owner == server.name && tools.contains_key(name) && !own.contains(name) {
                NAME.clone_into(owner);
            }
        }
    }
}

/// Every variable that the gateway hands on or reads.
fn variables<'a>(values: impl Iterator<Item = &'a Value>, runtime: &RuntimeSources) -> IndexMap<String, Value> {
    let mut all = IndexMap::new();
    let mut add = |variable: &Text| {
        all.insert(variable.text.clone(), Value::Variable(variable.clone()));
    };
    for value in values {
        if let Value::Variable(variable) | Value::Bearer(variable) = value {
            add(variable);
        }
    }
    for source in runtime.values() {
        if let RuntimeSource::Env(variable) = source {
            add(&Text { text: variable.value.clone(), span: variable.span });
        }
    }
    all.sort_keys();
    all
}

/// Whether the gateway of all agents together shows a tool: what is dangerous only where some role is granted it.
pub fn common(confers: CapSet, risk: Risk, roles: &[Role]) -> bool {
    risk != Risk::Dangerous || roles.iter().any(|role| granted(confers, role))
}

/// Whether everything a tool confers is granted to a role, and without a scope.
pub fn granted(confers: CapSet, role: &Role) -> bool {
    let scoped = role.grants.iter().any(|(cap, scope)| scope.scoped() && confers.has(*cap));
    !confers.is_empty() && confers.within(role.granted()) && !scoped
}

fn shown(
    given: &Given<'_>,
    here: &dyn Fn(&Server) -> bool,
    anywhere: &dyn Fn(&Server) -> bool,
) -> IndexMap<String, ServerTool> {
    let Given { servers, tools, roles, catalogue, .. } = *given;
    let risk = |caps: CapSet| caps.iter().map(|cap| catalogue.get(cap).risk).max().unwrap_or(Risk::Safe);
    let mut all = IndexMap::new();
    for tool in tools.values() {
        let (covers, confers) = (tool.covers, tool.confers);
        let bounds = tool.bounds.clone();
        all.insert(
            tool.name.clone(),
            ServerTool { span: tool.span, risk: risk(confers), covers, confers, bounds, successors: Vec::new() },
        );
    }
    let through = names(servers, tools, anywhere);
    for (name, server, tool) in through.iter().filter(|(_, server, _)| here(server)) {
        if let Some(class) = server.tools.get(*tool) {
            // What is preferred is shown here too, or not at all.
            let shown = |(owner, tool): &(String, String)| {
                if owner == NAME {
                    return Some((NAME.to_owned(), tool.clone()));
                }
                let found = through.iter().find(|(_, s, t)| s.name == *owner && t == tool && here(s))?;
                Some((NAME.to_owned(), found.0.clone()))
            };
            let successors = class.successors.iter().filter_map(shown).collect();
            all.insert(name.clone(), ServerTool { successors, ..class.clone() });
        }
    }
    for (name, capability) in OWN_CONFERS {
        let caps: CapSet = catalogue.find(capability).into_iter().collect();
        let bounds = super::composed::Bounds::default();
        all.insert(
            (*name).to_owned(),
            ServerTool { span: None, risk: risk(caps), covers: caps, confers: caps, bounds, successors: Vec::new() },
        );
    }
    all.retain(|_, tool| common(tool.confers, tool.risk, roles));
    let reads = catalogue.find("repo.read");
    if roles.iter().any(|role| reads.is_none_or(|cap| !role.granted().has(cap))) {
        all.insert(READ_ARTIFACT.to_owned(), read_artifact());
    }
    all.sort_keys();
    all
}

fn read_artifact() -> ServerTool {
    let (covers, confers) = (CapSet::EMPTY, CapSet::EMPTY);
    ServerTool {
        span: None,
        risk: Risk::Safe,
        covers,
        confers,
        bounds: super::composed::Bounds::default(),
        successors: Vec::new(),
    }
}

/// Every classified tool of a server that is reached through the gateway on any host, with the name it is shown under:
/// its own, unless another has it too.
pub fn names<'a>(
    servers: &'a IndexMap<String, Server>,
    tools: &IndexMap<String, Composed>,
    anywhere: &dyn Fn(&Server) -> bool,
) -> Vec<(String, &'a Server, &'a str)> {
    let through = servers.values().filter(|server| anywhere(server));
    let all: Vec<(&Server, &str)> = through.flat_map(|s| s.tools.keys().map(move |tool| (s, tool.as_str()))).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, tool) in &all {
        *seen.entry(tool).or_default() += 1;
    }
    let twin =
        |tool: &str| seen.get(tool).is_some_and(|n| *n > 1) || tools.contains_key(tool) || OWN_TOOLS.contains(&tool);
    let name =
        |server: &Server, tool: &str| if twin(tool) { format!("{}_{tool}", server.name) } else { tool.to_owned() };
    all.into_iter().map(|(server, tool)| (name(server, tool), server, tool)).collect()
}
