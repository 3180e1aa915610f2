//! From primitives to tools to roles: what a review of tools looks at. A tool is its primitive and what is bound of it;
//! whoever reviews the primitives has reviewed every tool but for its bindings, which stand here.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::layout::Table;
use super::view::View;
use crate::resolve::composed::{Composed, From, Maker};

/// Tools by what they are made of, in the order of its name.
fn grouped<'a>(view: &View<'a>) -> IndexMap<String, Vec<&'a Composed>> {
    let mut groups: IndexMap<String, Vec<&Composed>> = IndexMap::new();
    for tool in view.policy.tools.values() {
        groups.entry(origin(tool)).or_default().push(tool);
    }
    groups.sort_keys();
    groups
}

fn origin(tool: &Composed) -> String {
    match &tool.maker {
        Maker::Program(program) => {
            let words: Vec<&str> = program.command.iter().map(|word| word.value.as_str()).collect();
            words.join(" ")
        }
        Maker::Server | Maker::Primitive => format!("{}/{}", tool.server, tool.tool),
    }
}

const fn kind(tool: &Composed) -> &'static str {
    match &tool.maker {
        Maker::Server => "a server",
        Maker::Primitive => "built in",
        Maker::Program(_) => "a program",
    }
}

/// The roles that `serve --role` shows a tool.
fn roles<'a>(view: &View<'a>, tool: &Composed) -> Vec<&'a str> {
    let shown = view.policy.roles.iter().filter(|role| {
        let scoped = role.grants.iter().any(|(cap, scope)| scope.scoped() && tool.confers.has(*cap));
        tool.confers.within(role.granted()) && !scoped
    });
    shown.map(|role| role.id.as_str()).collect()
}

/// What is bound to anything but an argument of the same name.
fn bound(tool: &Composed) -> Vec<String> {
    let plain = |from: &From, name: &str| matches!(from, From::Argument(own) if own == name);
    let all = tool.bind.iter().filter(|bind| !plain(&bind.from, &bind.dotted()));
    all.map(|bind| format!("{} ← {}", bind.dotted(), said(&bind.from))).collect()
}

fn said(from: &From) -> String {
    match from {
        From::Argument(name) => format!("argument {name}"),
        From::Constant(value) => value.to_string(),
        From::Runtime(name) => format!("run time {name}"),
        From::List(items) => format!("[{}]", items.iter().map(said).collect::<Vec<_>>().join(", ")),
    }
}

/// The part of the page; empty without tools.
pub(super) fn human(view: &View<'_>) -> String {
    let groups = grouped(view);
    if groups.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\nwhat the tools of the policy are made of, what is bound of it, and the roles that `serve --role` shows them\n",
    );
    for (made_of, tools) in groups {
        let _ = writeln!(out, "  {made_of} ({})", tools.first().map_or("", |tool| kind(tool)));
        let mut table = Table::default();
        for tool in tools {
            let names: Vec<&str> = tool.arguments.keys().map(String::as_str).collect();
            let bound = match bound(tool) {
                none if none.is_empty() => "-".to_owned(),
                bound => bound.join(", "),
            };
            let roles = match roles(view, tool) {
                none if none.is_empty() => "-".to_owned(),
                roles => roles.join(", "),
            };
            table.row([format!("{}({})", tool.name, names.join(", ")), roles, bound]);
        }
        out.push_str(&table.print(4, &[36, 24]));
    }
    out
}

/// The same for programs.
pub(super) fn json(view: &View<'_>) -> Value {
    let group = |(made_of, tools): (String, Vec<&Composed>)| {
        let each = tools.iter().map(|tool| {
            let bind: IndexMap<String, String> =
                tool.bind.iter().map(|bind| (bind.dotted(), said(&bind.from))).collect();
            let names: Vec<&String> = tool.arguments.keys().collect();
            json!({ "tool": tool.name, "arguments": names, "bind": bind, "roles": roles(view, tool) })
        });
        let tools_json: Vec<Value> = each.collect();
        json!({ "primitive": made_of, "kind": tools.first().map_or("", |tool| kind(tool)), "tools": tools_json })
    };
    grouped(view).into_iter().map(group).collect()
}
