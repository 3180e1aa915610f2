//! What is known of servers before they are started: what they said of their tools when they were pinned, in files beside the
//! lock. The files are a help, not a truth: the pins in the lock decide what counts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::compose::{self, Definitions};
use crate::audit::contract::Contract;
use crate::audit::finding::Finding;
use crate::audit::pins;
use crate::diag::{Code, Severity, Sink};
use crate::load::PINS_DIR;
use crate::primitives::definition;
use crate::resolve::Policy;
use crate::resolve::composed::Maker;
use crate::sync::pins::{Pins, ServerPin};
use crate::system::System;

/// Greatest file.
const MAX: u64 = 16 << 20;

/// The file with what a server said, below the folder `dir` of the policy. Names of servers are letters, digits, `-` and `_`.
pub fn file(dir: &str, server: &str) -> String {
    format!("{dir}/{PINS_DIR}/{server}.json")
}

/// Its text: the tools with every field, in the server's order.
pub fn text(tools: &[Value]) -> String {
    format!("{:#}\n", json!(tools))
}

/// What the primitives of this program itself say of themselves.
pub fn built_in(policy: &Policy) -> Definitions {
    let mut definitions = Definitions::default();
    for primitive in policy.primitives.values() {
        definitions.add(&primitive.name, definition::of(primitive));
    }
    definitions
}

/// Reports every tool that is not what its primitive of this program, or its program, allows. Nothing is started.
pub fn check_built_in(policy: &Policy, sink: &mut Sink) {
    compose::check(policy, &built_in(policy), sink, |tool| !matches!(tool.maker, Maker::Server));
}

/// Adds what was kept of a server and is what was pinned; whether that is all that was pinned.
pub(super) fn recall(
    system: &dyn System,
    dir: &str,
    server: &str,
    pin: &ServerPin,
    definitions: &mut Definitions,
) -> bool {
    let read = system.read(&file(dir, server), MAX).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(Value::Array(tools)) = read else { return pin.tools.is_empty() };
    let same: Vec<Value> = matching(server, tools, pin);
    let all = pin.tools.keys().all(|name| same.iter().any(|raw| raw["name"] == json!(name)));
    if all {
        definitions.add(server, same);
    }
    all
}

/// Holds the composed tools against what was pinned, without starting anything: what their primitives do not allow is
/// reported as it is written. The servers of which everything pinned is known.
pub fn check(policy: &Policy, pins: &Pins, system: &dyn System, dir: &str, sink: &mut Sink) -> BTreeSet<String> {
    let mut definitions = Definitions::default();
    let mut known = BTreeSet::new();
    let behind = policy.servers.values().filter(|server| policy.behind(server, &[]));
    for (server, pin) in behind.filter_map(|server| Some((server, pins.get(&server.name)?))) {
        if recall(system, dir, &server.name, pin, &mut definitions) {
            known.insert(server.name.clone());
            continue;
        }
        let path = file(dir, &server.name);
        let there = system.kind(&path).is_ok_and(|kind| kind.is_some());
        let finding = if there {
            let message = format!("`{path}` is not what was pinned");
            Finding::new(Code::ContractChanged, &server.name, message).weighs(Severity::Error)
        } else {
            let message =
                format!("what was pinned is not kept in `{path}`, so that its tools cannot be looked at here");
            Finding::new(Code::ContractUnpinned, &server.name, message).weighs(Severity::Warning)
        };
        let fix = format!("rolecast audit {} --accept", server.name);
        sink.push(finding.at(server.span).fix(fix).diagnostic());
    }
    compose::check(policy, &definitions, sink, |tool| matches!(tool.maker, Maker::Server));
    known
}

/// Adds what a server says now, as far as it is what was pinned, and says of the rest that it is not.
#[cfg(feature = "gateway")]
pub(super) fn accept(server: &str, tools: Vec<Value>, pin: Option<&ServerPin>, definitions: &mut Definitions) {
    let Some(pin) = pin else {
        definitions.add(server, tools);
        return;
    };
    let names: Vec<String> = tools.iter().filter_map(|raw| raw["name"].as_str().map(str::to_owned)).collect();
    let same = matching(server, tools, pin);
    for name in &names {
        if !same.iter().any(|raw| raw["name"] == json!(name)) {
            let what = if pin.tools.contains_key(name) { "is not what was pinned" } else { "is not pinned" };
            let why = format!("tool `{name}` of server `{server}` {what}; `rolecast audit {server}` says more");
            definitions.hold(server, Some(name), &why);
        }
    }
    definitions.add(server, same);
}

/// The tools that are what was pinned.
fn matching(server: &str, tools: Vec<Value>, pin: &ServerPin) -> Vec<Value> {
    let Ok(contract) = Contract::new(server, &Value::Null, tools) else { return Vec::new() };
    let now = pins::of(&contract).tools;
    let same = |name: &String| pin.tools.get(name).is_some_and(|was| now.get(name) == Some(was));
    contract.tools.into_iter().filter(|tool| same(&tool.name)).map(|tool| tool.raw).collect()
}
