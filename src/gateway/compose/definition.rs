//! What upstream servers say of their tools, as they say it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Raw definitions by server and tool, and why others are not there.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    tools: BTreeMap<String, BTreeMap<String, Value>>,
    held: BTreeMap<(String, Option<String>), String>,
}

impl Definitions {
    /// Adds what one server says; tools without a name are left out.
    pub fn add(&mut self, server: &str, tools: impl IntoIterator<Item = Value>) {
        let known = self.tools.entry(server.to_owned()).or_default();
        for raw in tools {
            if let Some(name) = raw.get("name").and_then(Value::as_str).map(str::to_owned) {
                known.insert(name, raw);
            }
        }
    }

    /// Says why a tool, or everything of a server, is not to be shown.
    pub fn hold(&mut self, server: &str, tool: Option<&str>, why: &str) {
        self.held.insert((server.to_owned(), tool.map(str::to_owned)), why.to_owned());
    }

    /// Takes all that another knows; always true.
    pub fn join(&mut self, other: Self) -> bool {
        self.tools.extend(other.tools);
        self.held.extend(other.held);
        true
    }

    /// The definition of a tool.
    pub fn get(&self, server: &str, tool: &str) -> Option<&Value> {
        self.tools.get(server)?.get(tool)
    }

    /// Why a tool that is not there is not there; none when the server has no such tool.
    pub fn why(&self, server: &str, tool: &str) -> Option<String> {
        let key = |tool: Option<&str>| (server.to_owned(), tool.map(str::to_owned));
        let held = self.held.get(&key(Some(tool))).or_else(|| self.held.get(&key(None)));
        match held {
            Some(why) => Some(why.clone()),
            None if self.tools.contains_key(server) => None,
            None => Some(format!("nothing is pinned of server `{server}`; `rolecast audit {server} --accept` does")),
        }
    }

    /// The names of a server's tools.
    pub fn names(&self, server: &str) -> impl Iterator<Item = &str> {
        self.tools.get(server).into_iter().flatten().map(|(name, _)| name.as_str())
    }
}
