//! What templates see of the servers of a host.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::model::adapter::{Adapter, Mcp, Passing};
use crate::model::scalar::Risk;
use crate::plan::HostPlan;
use crate::plan::servers::{ServerOnHost, ServersPlan};
use crate::resolve::Policy;
use crate::resolve::policy::{self, Reach, Server};

/// Adds `servers`, and `approvals`: every word of the host for what happens before a call, with the tools of which it
/// is said. Both are there for every host, and empty where there is nothing to write.
pub(super) fn see(context: &mut Value, policy: &Policy, plan: &HostPlan, adapter: &Adapter) {
    context["servers"] = Value::from(servers(policy, plan.servers.as_ref(), adapter));
    context["approvals"] = Value::Object(approvals(plan, adapter));
}

fn servers(policy: &Policy, plan: Option<&ServersPlan>, adapter: &Adapter) -> Vec<Value> {
    let Some(mcp) = &adapter.mcp else { return Vec::new() };
    let host = adapter.id.as_str();
    let all = plan.into_iter().flat_map(|p| &p.servers);
    all.filter_map(|own| Some(server(mcp, policy.given_on(host).find(|s| s.name == own.server)?, own))).collect()
}

/// A server as a template sees it.
pub(super) fn server(mcp: &Mcp, server: &Server, own: &ServerOnHost) -> Value {
    let (command, args, url) = match &server.reach {
        Reach::Program { command, args } => (Some(&command.text), args.iter().map(|a| a.text.as_str()).collect(), None),
        Reach::Address(url) => (None, Vec::new(), Some(&url.text)),
    };
    let env = passed(mcp, mcp.env, &server.env);
    let headers = passed(mcp, mcp.headers, &server.headers);
    let approvals: Map<String, Value> =
        own.tools.iter().filter_map(|t| Some((t.tool.clone(), json!(t.word.as_ref()?)))).collect();
    let rules: Vec<Value> =
        own.tools.iter().filter_map(|t| Some(json!({ "seen": t.seen, "word": t.word.as_ref()? }))).collect();
    json!({
        "name": server.name,
        "transport": if command.is_some() { "stdio" } else { "http" },
        "command": command,
        "args": args,
        "url": url,
        "env": env.texts,
        "env_names": env.names,
        "headers": headers.texts,
        "header_names": headers.names,
        "bearer": headers.bearer,
        "call": own.call,
        "list": own.list,
        "tools": own.tools.iter().map(|t| &t.tool).collect::<Vec<_>>(),
        "approvals": approvals,
        "risk": own.tools.iter().map(|t| t.risk).max().map(Risk::word),
        "rules": rules,
    })
}

/// Values as a host takes them: as texts, or by the names of variables.
#[derive(Default)]
struct Passed {
    texts: Map<String, Value>,
    names: Map<String, Value>,
    bearer: Option<String>,
}

fn passed(mcp: &Mcp, by: Passing, values: &IndexMap<String, policy::Value>) -> Passed {
    let mut out = Passed::default();
    for (key, value) in values {
        match (value, by) {
            (policy::Value::Literal(text), _) => {
                out.texts.insert(key.clone(), json!(text.text));
            }
            (policy::Value::Variable(variable), Passing::Reference) => {
                out.texts.insert(key.clone(), json!(mcp.refer(&variable.text)));
            }
            (policy::Value::Bearer(variable), Passing::Reference) => {
                let text = mcp.refer(&variable.text).map(|r| format!("Bearer {r}"));
                out.texts.insert(key.clone(), json!(text));
            }
            // Reported where it is planned.
            (_, Passing::Nothing) => {}
            (policy::Value::Variable(variable), _) => {
                out.names.insert(key.clone(), json!(variable.text));
            }
            (policy::Value::Bearer(variable), _) => out.bearer = Some(variable.text.clone()),
        }
    }
    out
}

fn approvals(plan: &HostPlan, adapter: &Adapter) -> Map<String, Value> {
    let mut all: IndexMap<&str, Vec<&str>> = IndexMap::new();
    let Some(mcp) = &adapter.mcp else { return Map::new() };
    let known = &mcp.approval;
    for word in [&known.safe, &known.restricted, &known.dangerous].into_iter().flatten().filter_map(|a| a.word.as_ref())
    {
        all.entry(word).or_default();
    }
    let forms = plan.roles.iter().flat_map(|role| &role.forms);
    let own = forms.filter_map(|form| form.gateway.as_ref()).map(|gateway| &gateway.on_host);
    for tool in plan.servers.iter().flat_map(|p| &p.servers).chain(own).flat_map(|s| &s.tools) {
        let Some(word) = &tool.word else { continue };
        let said = all.entry(word).or_default();
        if !said.contains(&tool.seen.as_str()) {
            said.push(&tool.seen);
        }
    }
    all.into_iter().map(|(word, tools)| (word.to_owned(), json!(tools))).collect()
}
