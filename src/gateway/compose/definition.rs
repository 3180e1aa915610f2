//! What upstream servers say of their tools, as they say it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Raw definitions by server and tool.
#[derive(Debug, Clone, Default)]
pub struct Definitions(BTreeMap<String, BTreeMap<String, Value>>);

impl Definitions {
    /// Adds what one server says; tools without a name are left out.
    pub fn add(&mut self, server: &str, tools: impl IntoIterator<Item = Value>) {
        let known = self.0.entry(server.to_owned()).or_default();
        for raw in tools {
            if let Some(name) = raw.get("name").and_then(Value::as_str).map(str::to_owned) {
                known.insert(name, raw);
            }
        }
    }

    /// The definition of a tool.
    pub fn get(&self, server: &str, tool: &str) -> Option<&Value> {
        self.0.get(server)?.get(tool)
    }

    /// The names of a server's tools; `None` when nothing is known of the server.
    pub fn names(&self, server: &str) -> Option<impl Iterator<Item = &str>> {
        Some(self.0.get(server)?.keys().map(String::as_str))
    }
}
