//! What is known of servers before they are started: definitions that were kept when a server was last asked, as far as
//! they are what was pinned. The files are a help, not a truth: a pin decides what counts.

use std::path::Path;

use serde_json::{Value, json};

use super::compose::Definitions;
use super::folder;
use crate::audit::contract::Contract;
use crate::audit::pins;
use crate::sync::pins::ServerPin;
use crate::system::System;

/// Where the files are, relative to the root.
const PLACE: &str = ".rolecast/definitions";
/// Greatest file.
const MAX: u64 = 16 << 20;

/// Adds what was kept of a server and is what was pinned; whether that is all that was pinned.
pub(super) fn recall(system: &dyn System, server: &str, pin: &ServerPin, definitions: &mut Definitions) -> bool {
    let path = format!("{PLACE}/{}", file_name(server));
    let read = system.read(&path, MAX).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(Value::Array(tools)) = read else { return pin.tools.is_empty() };
    let same: Vec<Value> = matching(server, tools, pin);
    let all = pin.tools.keys().all(|name| same.iter().any(|raw| raw["name"] == json!(name)));
    if all {
        definitions.add(server, same);
    }
    all
}

/// Adds what a server says now, as far as it is what was pinned, and says of the rest that it is not.
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

/// Keeps what a server says. That it cannot be kept costs only time later.
pub fn remember(root: &Path, server: &str, tools: &[Value]) {
    let _ = folder::made(root, PLACE)
        .and_then(|place| folder::replace(&place, &file_name(server), json!(tools).to_string().as_bytes()));
}

/// Names of servers are letters, digits, `-` and `_`.
fn file_name(server: &str) -> String {
    format!("{server}.json")
}
