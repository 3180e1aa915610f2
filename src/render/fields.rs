//! What the template of a role sees.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::model::adapter::Adapter;
use crate::plan::PathPlan;
use crate::plan::narrow::{Permission, Said};
use crate::plan::role::RolePlan;
use crate::resolve::policy::Role;

use super::{Inputs, servers};

/// What a role's template sees.
#[derive(Serialize)]
pub(super) struct Context<'a> {
    /// The role on the host.
    pub role: Fields<'a>,
}

/// `role` of a role's template: borrowed, because there is one for each role and host.
#[derive(Serialize)]
pub(super) struct Fields<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    source: String,
    notice: String,
    model: IndexMap<&'a str, &'a str>,
    grants: Vec<&'a str>,
    list: &'a [String],
    removed: &'a [String],
    inform: &'a [String],
    permissions: Vec<Value>,
    paths: Option<Value>,
    gateway: Option<Value>,
    body: &'a str,
}

/// The fields of `role` in the form that `plan` is for.
pub(super) fn role<'a>(
    inputs: &'a Inputs<'_>,
    adapter: &'a Adapter,
    role: &'a Role,
    name: &'a str,
    plan: &'a RolePlan,
    body: &'a str,
) -> Fields<'a> {
    let source = inputs.source_path(role.source);
    Fields {
        id: &role.id,
        name,
        description: &role.description,
        notice: notice(&source),
        source,
        model: adapter.models.get(&role.model).into_iter().flatten().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
        grants: role.grants.keys().map(|c| inputs.policy.catalogue.name(*c)).collect(),
        list: &plan.list,
        removed: &plan.removed,
        inform: &plan.inform,
        permissions: plan.permissions.iter().map(permission).collect(),
        paths: plan.paths.as_ref().map(paths),
        gateway: gateway(adapter, plan),
        body,
    }
}

/// The gateway that is started for the role alone, as `servers` have one, and the names that the tools would have which only
/// the session's has (`others`).
fn gateway(adapter: &Adapter, plan: &RolePlan) -> Option<Value> {
    let own = plan.gateway.as_ref()?;
    let mut seen = servers::server(adapter.mcp.as_ref()?, &own.server, &own.on_host);
    seen["others"] = json!(own.others);
    Some(seen)
}

fn paths(plan: &PathPlan) -> Value {
    json!({ "all": plan.all, "open": plan.open, "shut": plan.shut })
}

/// A word with its verdict, or with pairs of pattern and verdict: lists, because their order is their meaning.
fn permission(permission: &Permission) -> Value {
    match &permission.said {
        Said::Always(verdict) => json!([permission.word, verdict]),
        Said::By(patterns) => json!([permission.word, patterns.iter().map(|(p, v)| json!([p, v])).collect::<Vec<_>>()]),
    }
}

/// The comment that tells a person who opens a rendered file where its text comes from.
pub(super) fn notice(source: &str) -> String {
    match source.strip_prefix("<builtin>/") {
        Some(shipped) => {
            format!("rendered by rolecast from its own {shipped}; a file of that name in your policy replaces it")
        }
        None => format!("rendered by rolecast from {source}; edit that and run rolecast render"),
    }
}
