//! Sources to a policy without loose ends: names looked up, layers merged, defaults filled in.

mod capabilities;
pub mod commands;
pub mod composed;
pub mod counted;
mod evidence;
pub mod gateway;
mod layers;
mod lookups;
pub mod policy;
pub mod primitives;
pub mod programs;
mod roles;
mod route;
mod rules;
pub mod scenarios;
mod secrets;
mod servers;
mod settings;
mod template;
mod text;
mod tools;

pub use capabilities::{CapId, CapSet, Capability, Catalogue};
pub use evidence::of as evidence_of;
pub use policy::{Policy, Role, Rule};
pub use roles::{role_name, role_name_folded};
pub use route::{OnHost, Route};
pub use tools::{OWN_ARGUMENTS, OWN_TOOLS};

use crate::diag::Sink;
use crate::load::Loaded;

/// Turns what was read into a policy for `hosts` (ids on the command line); empty = those the policy names.
///
/// Returns a value even when there were errors, so that they are all reported; callers stop when the
/// sink has errors.
pub fn resolve(loaded: &Loaded, hosts: &[String], sink: &mut Sink) -> Policy {
    let merged = layers::merge(loaded, sink);
    let catalogue = capabilities::catalogue(&merged, sink);
    let hosts = lookups::hosts(loaded, &merged, hosts, sink);
    let mut servers = servers::resolve(&merged, &catalogue, sink);
    let primitives = primitives::resolve(&merged, sink);
    let runtime = tools::runtime(&merged, sink);
    let known = tools::Known { catalogue: &catalogue, servers: &servers, primitives: &primitives, runtime: &runtime };
    let tools = tools::resolve(&merged, &known, sink);
    gateway::own_successors(&mut servers, &tools);
    let roles = roles::resolve(loaded, &merged, &catalogue, sink);
    let settings = settings::resolve(&merged, &catalogue, &servers, sink);
    let mut rules = rules::resolve(loaded, &merged, sink);
    rules.extend(commands::rule(&settings.forbidden, &merged, sink));
    lookups::adapters(loaded, &hosts, &catalogue, sink);
    // The shipped policy has no folder until a render writes the smallest one.
    let folders =
        if loaded.folders.is_empty() { vec![crate::load::DEFAULT_DIR.to_owned()] } else { loaded.folders.clone() };
    let own = loaded.layers.last().map(|own| own.name.clone());
    let dir =
        own.filter(|name| name != crate::load::builtin::NAME).unwrap_or_else(|| crate::load::DEFAULT_DIR.to_owned());
    let budgets = settings.budgets.keys().copied().chain(["context"]).collect();
    let names = evidence::Names { catalogue: &catalogue, roles: &roles, rules: &rules, budgets };
    let evidence = evidence::resolve(loaded, &hosts, &names, sink);
    for found in &loaded.scenarios {
        scenarios::judge(found, &roles, &catalogue, sink);
    }
    let acceptance = merged.acceptance.iter().map(|(name, all)| (name.value.clone(), all.clone())).collect();
    let (on, gateway) = (indexmap::IndexMap::new(), None);
    let mut policy = Policy {
        catalogue,
        hosts,
        servers,
        primitives,
        on,
        tools,
        runtime,
        gateway,
        roles,
        rules,
        settings,
        dir,
        folders,
        acceptance,
        evidence,
    };
    policy.route(&loaded.adapters);
    policy
}
