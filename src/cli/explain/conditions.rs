//! What a condition named on a line means.

use serde_json::{Map, Value, json};

use crate::model::adapter::{Adapter, Fails};
use crate::plan::offer::SERVER_CONFIGURED;

use super::layout::Table;

/// A condition in words.
pub struct Words<'a> {
    /// What must be so.
    pub means: &'a str,
    /// What happens otherwise.
    pub otherwise: &'a str,
    /// How to bring it about.
    pub how: Option<&'a str>,
    /// Whether limits hold without it.
    pub fails: Fails,
}

/// The words of a condition of this host.
pub fn words<'a>(adapter: &'a Adapter, name: &str) -> Words<'a> {
    if let Some(c) = adapter.conditions.get(name) {
        return Words { means: &c.means, otherwise: &c.otherwise, how: c.how.as_deref(), fails: c.fails };
    }
    if name == SERVER_CONFIGURED {
        return Words {
            means: "the server of that tool is configured on this host and running; nothing that is rendered configures it",
            otherwise: "the role has no such tool",
            how: Some("add the server to the host's own MCP configuration under the name the policy gives it"),
            fails: Fails::Closed,
        };
    }
    Words {
        means: "not described by the adapter",
        otherwise: "not known: count nothing that hangs on it",
        how: None,
        fails: Fails::Open,
    }
}

/// One row for each of the conditions in `names`.
pub fn explain(adapter: &Adapter, names: &[String]) -> Table {
    let mut table = Table::default();
    for name in names {
        let words = words(adapter, name);
        let open = if words.fails == Fails::Open { " (the limits it carries fail open)" } else { "" };
        let mut text = format!("{}; else {}{open}", words.means, words.otherwise);
        if let Some(how) = words.how {
            text.push_str("; how: ");
            text.push_str(how);
        }
        table.row([format!("if {name}"), text]);
    }
    table
}

/// The same for programs.
pub fn json(adapter: &Adapter, names: &[String]) -> Value {
    let mut all = Map::new();
    for name in names {
        let words = words(adapter, name);
        let fails = if words.fails == Fails::Open { "open" } else { "closed" };
        all.insert(
            name.clone(),
            json!({ "means": words.means, "else": words.otherwise, "how": words.how, "fails": fails }),
        );
    }
    Value::Object(all)
}

/// Every condition named by one of `lists`, each once, in order.
pub fn named<'a>(lists: impl IntoIterator<Item = &'a [String]>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in lists.into_iter().flatten() {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}
