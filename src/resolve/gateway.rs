//! The gateway as a server like any other: what hosts are given of it, and under which names its tools are.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::capabilities::{CapSet, Catalogue};
use super::composed::{Composed, Maker, RuntimeSources};
use super::policy::{Reach, Role, Server, ServerTool, Text, Timeout, Value};
use super::primitives::Primitive;
use super::tools::OWN_TOOLS;
use crate::model::composed::RuntimeSource;
use crate::model::policy::Via;
use crate::model::scalar::Risk;

/// What hosts call the gateway.
pub const NAME: &str = "rolecast";
/// Seconds of a call: what the gateway itself may need beside the server behind it.
const OWN_TIME: u64 = 10;

/// The tools of the gateway itself, with what they confer.
pub const OWN_CONFERS: &[(&str, &str)] = &[
    ("repo_diff", "repo.diff"),
    ("repo_log", "repo.diff"),
    ("repo_show", "repo.diff"),
    ("docs_validate", "docs.validate"),
];

/// The gateway, when something is to be had only through it.
pub(super) fn server(
    servers: &IndexMap<String, Server>,
    primitives: &IndexMap<String, Primitive>,
    tools: &IndexMap<String, Composed>,
    runtime: &RuntimeSources,
    roles: &[Role],
    catalogue: &Catalogue,
) -> Option<Server> {
    let behind: Vec<&Server> = servers.values().filter(|s| behind(s, tools)).collect();
    let used: Vec<&Primitive> =
        primitives.values().filter(|p| tools.values().any(|tool| tool.server == p.name)).collect();
    let programs = || {
        tools.values().filter_map(|tool| match &tool.maker {
            Maker::Program(program) => Some(program),
            Maker::Server | Maker::Primitive => None,
        })
    };
    if behind.is_empty() && used.is_empty() && programs().next().is_none() {
        return None;
    }
    let text = |text: &str| Text { text: text.to_owned(), span: None };
    let call = behind
        .iter()
        .map(|server| server.call.seconds)
        .chain(used.iter().map(|primitive| primitive.seconds()))
        .chain(programs().map(|program| program.seconds))
        .max()
        .unwrap_or_default();
    let list = behind.iter().map(|server| server.list.seconds).max().unwrap_or_default();
    Some(Server {
        name: NAME.to_owned(),
        span: tools.values().next().map_or_else(|| behind.first().and_then(|s| s.span), |tool| tool.span),
        risk: Risk::Restricted,
        reach: Reach::Program { command: text(NAME), args: vec![text("serve")] },
        via: Via::Direct,
        env: variables(
            behind
                .iter()
                .flat_map(|server| server.env.values().chain(server.headers.values()))
                .chain(used.iter().flat_map(|primitive| primitive.values()))
                .chain(programs().flat_map(|program| program.env.values())),
            runtime,
        ),
        headers: IndexMap::new(),
        call: Timeout { seconds: call.saturating_add(list).saturating_add(OWN_TIME), span: None },
        list: Timeout { seconds: list.saturating_add(OWN_TIME), span: None },
        tools: shown(servers, tools, roles, catalogue),
    })
}

/// Whether something of a server is to be had through the gateway.
pub fn behind(server: &Server, tools: &IndexMap<String, Composed>) -> bool {
    let whole = server.via == Via::Gateway && !server.tools.is_empty();
    whole || tools.values().any(|tool| tool.server == server.name)
}

/// Whether hosts are given nothing of a server but what the gateway shows: of what is not named nobody has anything.
pub fn hides(server: &Server, tools: &IndexMap<String, Composed>) -> bool {
    !server.given() && behind(server, tools)
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
    let granted = |role: &Role| {
        let scoped = role.grants.iter().any(|(cap, scope)| scope.scoped() && confers.has(*cap));
        confers.within(role.granted()) && !scoped
    };
    risk != Risk::Dangerous || roles.iter().any(granted)
}

fn shown(
    servers: &IndexMap<String, Server>,
    tools: &IndexMap<String, Composed>,
    roles: &[Role],
    catalogue: &Catalogue,
) -> IndexMap<String, ServerTool> {
    let risk = |caps: CapSet| caps.iter().map(|cap| catalogue.get(cap).risk).max().unwrap_or(Risk::Safe);
    let mut all = IndexMap::new();
    for tool in tools.values() {
        let (covers, confers) = (tool.covers, tool.confers);
        let bounds = tool.bounds.clone();
        all.insert(tool.name.clone(), ServerTool { span: tool.span, risk: risk(confers), covers, confers, bounds });
    }
    for (name, server, tool) in names(servers, tools) {
        if let Some(class) = server.tools.get(tool) {
            all.insert(name, class.clone());
        }
    }
    for (name, capability) in OWN_CONFERS {
        let caps: CapSet = catalogue.find(capability).into_iter().collect();
        let bounds = super::composed::Bounds::default();
        all.insert(
            (*name).to_owned(),
            ServerTool { span: None, risk: risk(caps), covers: caps, confers: caps, bounds },
        );
    }
    all.retain(|_, tool| common(tool.confers, tool.risk, roles));
    all.sort_keys();
    all
}

/// Every classified tool of a server that is reached through the gateway, with the name it is shown under: its own,
/// unless another has it too.
pub fn names<'a>(
    servers: &'a IndexMap<String, Server>,
    tools: &IndexMap<String, Composed>,
) -> Vec<(String, &'a Server, &'a str)> {
    let through = servers.values().filter(|server| server.via == Via::Gateway);
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
