//! `explain --tools`: every tool a host or a server has, what it makes possible, and which roles have it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::plan::offer::{self, Origin, Tool};

use super::conditions;
use super::layout::Table;
use super::view::{Shown, View};

/// The page.
pub fn human(view: &View<'_>) -> String {
    let mut out = String::new();
    for host in &view.hosts {
        let _ = writeln!(out, "{} ({}), seen on {}", host.adapter.title, host.plan.host, super::role::seen_on(*host));
        let mut table = Table::default();
        let roles = format!("roles that have it{}", under(&list_terms(*host)));
        table.row(["tool".to_owned(), roles, "makes possible".to_owned()]);
        for tool in all(view, *host) {
            let roles = holders(*host, &tool);
            let roles = if roles.is_empty() { "-".to_owned() } else { roles.join(", ") };
            table.row([shown(&tool), roles, view.caps(tool.confers)]);
        }
        for name in &host.adapter.inert {
            table.row([name.as_str(), "-", "none of the capabilities"]);
        }
        out.push_str(&table.print(2, &[36, 34]));
        out.push_str(&routes(view, *host));
        let terms = conditions::explain(host.adapter, &terms(view, *host));
        if !terms.is_empty() {
            let _ = write!(out, "  where\n{}", terms.print(4, &[24]));
        }
        out.push('\n');
    }
    out.push_str(&servers(view));
    out.push_str(&super::made::human(view));
    out
}

/// Which way the host has to each server, and why.
fn routes(view: &View<'_>, host: Shown<'_>) -> String {
    let Some(on) = view.policy.on.get(&host.plan.host).filter(|on| !on.routes.is_empty()) else { return String::new() };
    let mut table = Table::default();
    for (server, route) in &on.routes {
        let way = if route.gateway { "through the gateway" } else { "directly" };
        table.row([server.clone(), way.to_owned(), route.why.clone()]);
    }
    for gateway in &on.gateways {
        let own: Vec<String> = host
            .plan
            .roles
            .iter()
            .flat_map(|role| &role.forms)
            .filter_map(|form| Some((form, form.gateway.as_ref()?)))
            .map(|(form, own)| format!("{} as {}: `{}`", form.role, form.form, own.server.name))
            .collect();
        let why = if own.is_empty() {
            "one for all agents of the session: which role has what of it is up to the role's list".to_owned()
        } else {
            format!("the session's; roles have their own: {}", own.join(", "))
        };
        table.row([gateway.name.clone(), "the gateway".to_owned(), why]);
    }
    format!("  servers\n{}", table.print(4, &[24, 20]))
}

fn shown(tool: &Tool) -> String {
    match &tool.origin {
        Origin::Native => tool.name.clone(),
        Origin::Mcp { .. } => format!("{}{}", tool.name, under(&tool.conditions)),
    }
}

/// Conditions under which the roles' lists are as planned.
fn list_terms(host: Shown<'_>) -> Vec<String> {
    let planned = host.adapter.forms.values().filter(|f| !f.launched);
    let lists = planned.filter_map(|form| offer::list(host.adapter, form));
    conditions::named(lists.map(|l| l.claim.conditions.as_slice()))
}

/// Every condition on the page of a host.
fn terms(view: &View<'_>, host: Shown<'_>) -> Vec<String> {
    let mut terms = list_terms(host);
    for condition in all(view, host).iter().filter(|t| t.origin != Origin::Native).flat_map(|t| &t.conditions) {
        if !terms.contains(condition) {
            terms.push(condition.clone());
        }
    }
    terms
}

fn under(conditions: &[String]) -> String {
    conditions.iter().map(|c| format!(", if {c}")).collect()
}

/// The host's own tools that confer something, then those of servers as the roles' plans have them.
fn all(view: &View<'_>, host: Shown<'_>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = host
        .adapter
        .tools
        .keys()
        .filter(|name| !host.adapter.inert.contains(name))
        .map(|name| offer::native(host.adapter, name, &view.policy.catalogue))
        .collect();
    for form in host.adapter.forms.values() {
        let Some(list) = offer::list(host.adapter, form) else { continue };
        let offered = offer::offer(host.adapter, form, list, view.policy);
        let found = offered.words.into_iter().flat_map(|w| w.tools).chain(offered.fixed);
        for tool in found.filter(|t| t.origin != Origin::Native) {
            if !tools.contains(&tool) {
                tools.push(Arc::unwrap_or_clone(tool));
            }
        }
    }
    // Those of a role's own gateway have names of their own.
    let own = host.plan.roles.iter().flat_map(|role| &role.forms).flat_map(|form| &form.tools);
    for tool in own.filter(|t| t.origin != Origin::Native) {
        if !tools.contains(tool) {
            tools.push(Tool::clone(tool));
        }
    }
    tools
}

/// The roles that have a tool; with the forms where not all of a role's forms have it.
fn holders(host: Shown<'_>, tool: &Tool) -> Vec<String> {
    let mut out = Vec::new();
    for role in &host.plan.roles {
        let having: Vec<&str> =
            role.forms.iter().filter(|f| f.tools.iter().any(|t| **t == *tool)).map(|f| f.form.as_str()).collect();
        if having.len() == role.forms.len() && !having.is_empty() {
            out.push(role.role.clone());
        } else {
            out.extend(having.iter().map(|form| format!("{} as {form}", role.role)));
        }
    }
    out
}

fn servers(view: &View<'_>) -> String {
    if view.policy.offered().next().is_none() {
        return "the policy declares no servers\n".to_owned();
    }
    let mut out = String::from(
        "servers of the policy; a tool that is not named here is granted to nobody, and where a host cannot leave it out the\nsession has it all the same\n",
    );
    let mut table = Table::default();
    for server in view.policy.offered() {
        if server.tools.is_empty() {
            table.row([server.name.clone(), "no tool is classified".to_owned()]);
        }
        for (name, tool) in &server.tools {
            table.row([format!("{}/{name}", server.name), view.caps(tool.confers)]);
        }
    }
    out.push_str(&table.print(2, &[50]));
    out
}

/// The same for programs.
fn routes_json(view: &View<'_>, host: Shown<'_>) -> Vec<Value> {
    let on = view.policy.on.get(&host.plan.host);
    let one = |(server, route): (&String, &crate::resolve::Route)| {
        let way = if route.gateway { "gateway" } else { "direct" };
        json!({ "server": server, "via": way, "auto": route.auto, "why": route.why })
    };
    on.into_iter().flat_map(|on| &on.routes).map(one).collect()
}

/// The page for programs.
pub fn json(view: &View<'_>) -> Value {
    let hosts: Vec<Value> = view
        .hosts
        .iter()
        .map(|host| {
            let tools: Vec<Value> = all(view, *host)
                .iter()
                .map(|tool| {
                    let mut value = super::role::tool_json(view, tool);
                    let has = |f: &crate::plan::role::RolePlan| f.tools.iter().any(|t| **t == *tool);
                    let roles: Vec<Value> = host
                        .plan
                        .roles
                        .iter()
                        .flat_map(|r| r.forms.iter().filter(|f| has(f)))
                        .map(|f| json!({ "role": f.role, "form": f.form }))
                        .collect();
                    value["roles"] = Value::from(roles);
                    value
                })
                .collect();
            json!({
                "host": host.plan.host,
                "tools": tools,
                "servers": routes_json(view, *host),
                "inert": host.adapter.inert,
                "lists-hold-if": list_terms(*host),
                "conditions": conditions::json(host.adapter, &terms(view, *host)),
            })
        })
        .collect();
    let names = |set: crate::resolve::CapSet| set.iter().map(|c| view.policy.catalogue.name(c)).collect::<Vec<_>>();
    let servers: Vec<Value> = view
        .policy
        .offered()
        .map(|s| {
            let tools: Vec<Value> = s
                .tools
                .iter()
                .map(|(name, t)| json!({ "name": name, "risk": t.risk, "covers": names(t.covers), "confers": names(t.confers) }))
                .collect();
            json!({ "server": s.name, "risk": s.risk, "tools": tools })
        })
        .collect();
    json!({ "hosts": hosts, "servers": servers, "primitives": super::made::json(view) })
}
