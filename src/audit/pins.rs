//! A contract as a pin, what changed since, and what follows from pins alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::contract::{Contract, HINTS, Tool};
use super::finding::Finding;
use crate::diag::{Code, Diagnostic, Severity};
use crate::resolve::Policy;
use crate::resolve::composed::Composed;
use crate::resolve::policy::Server;
use crate::sync::pins::{Pins, ServerPin, ToolPin};
use crate::text::digest::{digest, value_digest};

/// Fields of a tool that have a digest of their own, or that no model and no host decides by.
const APART: &[&str] = &["name", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"];

/// The pin of a contract.
pub fn of(contract: &Contract) -> ServerPin {
    ServerPin {
        instructions: contract.instructions.as_ref().map(|text| digest(text.as_bytes())),
        tools: contract.tools.iter().map(|tool| (tool.name.clone(), tool_pin(tool))).collect(),
    }
}

fn tool_pin(tool: &Tool) -> ToolPin {
    let field = |name: &str| tool.raw.get(name).cloned().unwrap_or(Value::Null);
    let rest: serde_json::Map<String, Value> = tool
        .raw
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !APART.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    ToolPin {
        description: value_digest(&field("description")),
        schema: value_digest(&json!([field("inputSchema"), field("outputSchema")])),
        annotations: value_digest(&field("annotations")),
        other: value_digest(&Value::Object(rest)),
        hints: HINTS.into_iter().filter_map(|hint| Some((hint.to_owned(), tool.hint(hint)?))).collect(),
        parameters: tool.params().into_iter().map(|param| param.path).collect(),
    }
}

/// What changed since a server was pinned.
pub fn changed(server: &str, was: &ServerPin, is: &ServerPin) -> Vec<Finding> {
    let mut found = Vec::new();
    let finding = |message: String| {
        Finding::new(Code::ContractChanged, server, message)
            .fix(format!("look at it, then `rolecast audit {server} --accept`"))
    };
    if was.instructions != is.instructions {
        let how = match (&was.instructions, &is.instructions) {
            (None, _) => "it has instructions now, and had none",
            (_, None) => "it has no instructions any more",
            _ => "its instructions are others",
        };
        found.push(finding(how.to_owned()));
    }
    let names: BTreeSet<&String> = was.tools.keys().chain(is.tools.keys()).collect();
    let renamed = renamed(was, is);
    for name in names {
        let message = match (was.tools.get(name), is.tools.get(name)) {
            (Some(was), Some(is)) if was == is => continue,
            (Some(was), Some(is)) => parts(was, is),
            (None, _) => match renamed.iter().find(|(_, new)| **new == name) {
                Some((old, _)) => format!("it was `{old}` when it was pinned, and is the same otherwise"),
                None => "it was added".to_owned(),
            },
            (Some(_), None) if renamed.contains_key(name) => continue,
            (Some(_), None) => "it is gone".to_owned(),
        };
        found.push(finding(message).tool(name));
    }
    found
}

/// Old name → new name of tools that are the same otherwise; only where it is the only such pair.
fn renamed<'a>(was: &'a ServerPin, is: &'a ServerPin) -> BTreeMap<&'a String, &'a String> {
    let gone: Vec<_> = was.tools.iter().filter(|(name, _)| !is.tools.contains_key(*name)).collect();
    let new: Vec<_> = is.tools.iter().filter(|(name, _)| !was.tools.contains_key(*name)).collect();
    let mut pairs = BTreeMap::new();
    for (old, pin) in &gone {
        let same: Vec<_> = new.iter().filter(|(_, other)| other == pin).collect();
        let alone = gone.iter().filter(|(_, other)| other == pin).count() == 1;
        if let ([(name, _)], true) = (same.as_slice(), alone) {
            pairs.insert(*old, *name);
        }
    }
    pairs
}

/// The parts of one tool that are others now.
fn parts(was: &ToolPin, is: &ToolPin) -> String {
    let mut said = Vec::new();
    if was.schema != is.schema {
        let (old, new): (BTreeSet<_>, BTreeSet<_>) = (was.parameters.iter().collect(), is.parameters.iter().collect());
        let list = |names: Vec<&&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (gone, added): (Vec<_>, Vec<_>) = (old.difference(&new).collect(), new.difference(&old).collect());
        let mut changes = Vec::new();
        if !added.is_empty() {
            changes.push(format!("takes {} too", list(added)));
        }
        if !gone.is_empty() {
            changes.push(format!("takes {} no more", list(gone)));
        }
        let same = "its schema changed; the parameters are called the same".to_owned();
        said.push(if changes.is_empty() { same } else { format!("its schema changed: {}", changes.join(", ")) });
    }
    if was.description != is.description {
        said.push("its description changed".to_owned());
    }
    if was.annotations != is.annotations {
        let word = |hints: &BTreeMap<String, bool>, hint| {
            hints.get(hint).map_or_else(|| "not given".to_owned(), bool::to_string)
        };
        let moved = HINTS.into_iter().filter(|hint| was.hints.get(*hint) != is.hints.get(*hint));
        let hints: Vec<String> =
            moved.map(|hint| format!("`{hint}` {} → {}", word(&was.hints, hint), word(&is.hints, hint))).collect();
        let title = "its annotations changed; the hints are the same".to_owned();
        said.push(if hints.is_empty() { title } else { format!("its hints changed: {}", hints.join(", ")) });
    }
    if was.other != is.other {
        said.push("something else it says of itself changed (title, execution or the like)".to_owned());
    }
    said.join("; ")
}

/// What pins alone say about a policy: nothing is started. Composed tools of the servers `known` are looked at by whoever
/// knows more of them.
pub fn offline(policy: &Policy, pins: &Pins, known: &BTreeSet<String>) -> Vec<Finding> {
    let mut found = Vec::new();
    for server in policy.servers.values() {
        let Some(pin) = pins.get(&server.name) else {
            if policy.behind(server, &[]) {
                // Said by what it means for the gateway.
                continue;
            }
            let message = "nothing is pinned, so that nothing can be said of its tools";
            let finding = Finding::new(Code::ContractUnpinned, &server.name, message).at(server.span);
            found.push(finding.fix(format!("rolecast audit {} --accept", server.name)));
            continue;
        };
        for (name, class) in server.tools.iter().filter(|(name, _)| !pin.tools.contains_key(*name)) {
            let finding = Finding::new(Code::ToolGone, &server.name, "the server does not offer it, as pinned")
                .tool(name)
                .at(class.span);
            found.push(match crate::text::suggest::nearest(name, pin.tools.keys().map(String::as_str)) {
                Some(near) => finding.fix(format!("did you mean `{near}`?")),
                None => finding.fix(format!("take it out of the policy, or run `rolecast audit {}`", server.name)),
            });
        }
        let hidden = policy.hides(server);
        for name in pin.tools.keys().filter(|name| !hidden && !server.tools.contains_key(*name)) {
            let message = "it is pinned, and the policy does not say what it confers";
            let finding = Finding::new(Code::ToolUnclassified, &server.name, message).tool(name).at(server.span);
            found.push(finding.fix(format!("rolecast audit {} --suggest", server.name)));
        }
    }
    let unknown = policy.tools.values().filter(|tool| !known.contains(&tool.server));
    found.extend(unknown.filter_map(|tool| composed(tool, pins)));
    found
}

/// Servers that are had only through the gateway and of which nothing is pinned: until somebody looks at them, nobody has
/// a tool of theirs.
pub fn unseen(policy: &Policy, pins: &Pins) -> Vec<Diagnostic> {
    let servers =
        policy.servers.values().filter(|server| policy.behind(server, &[]) && !pins.contains_key(&server.name));
    let one = |server: &Server| {
        let hosts: Vec<String> = policy
            .hosts
            .iter()
            .filter_map(|host| Some((host, policy.route_of(host, &server.name)?)))
            .filter(|(_, route)| route.gateway && route.auto)
            .map(|(host, route)| format!("`{host}` has it through the gateway because {}", route.why))
            .collect();
        let message = format!("the gateway shows nothing of server `{}` until it is pinned", server.name);
        let report = Diagnostic::new(Code::GatewayUnpinned, message).at_opt(server.span, "");
        let report = hosts.into_iter().fold(report, Diagnostic::note);
        report.help(format!("run `rolecast audit {} --accept`", server.name))
    };
    servers.map(one).collect()
}

/// What pins say about the primitive of a composed tool.
fn composed(tool: &Composed, pins: &Pins) -> Option<Finding> {
    let pin = pins.get(&tool.server)?;
    let Some(primitive) = pin.tools.get(&tool.tool) else {
        let message = format!("the server does not offer the primitive of `{}`, as pinned", tool.name);
        let finding = Finding::new(Code::ComposedPrimitive, &tool.server, message).tool(&tool.tool);
        let near = crate::text::suggest::nearest(&tool.tool, pin.tools.keys().map(String::as_str));
        let fix =
            near.map_or_else(|| "name a tool that it offers".to_owned(), |near| format!("did you mean `{near}`?"));
        return Some(finding.at(tool.primitive_span).fix(fix));
    };
    // Some primitives take more than they name; whoever starts the gateway learns it.
    let missing = tool.bind.iter().find(|bind| !primitive.parameters.contains(&bind.path[0]))?;
    let message = format!("`{}` binds `{}`, which the primitive does not take, as pinned", tool.name, missing.dotted());
    let finding = Finding::new(Code::ComposedBinding, &tool.server, message).tool(&tool.tool).at(missing.span);
    let finding = finding.weighs(Severity::Warning);
    Some(finding.fix(format!("it takes: {}", primitive.parameters.join(", "))))
}

/// What pins alone say about a policy, as diagnostics; whether the gate must fail.
pub fn gate(policy: &Policy, pins: &Pins, known: &BTreeSet<String>) -> (Vec<Diagnostic>, bool) {
    let found = offline(policy, pins, known);
    let fails = found.iter().any(|finding| finding.severity == Severity::Error);
    (found.iter().map(Finding::diagnostic).chain(unseen(policy, pins)).collect(), fails)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(tools: Value) -> Contract {
        let Value::Array(tools) = tools else { panic!() };
        Contract::new("s", &json!({}), tools).unwrap()
    }

    fn tool(name: &str) -> Value {
        json!({ "name": name, "description": "d", "inputSchema": { "type": "object", "properties": { "a": { "type": "string" } } }, "annotations": { "readOnlyHint": true } })
    }

    fn diff(was: Value, is: Value) -> Vec<String> {
        let found = changed("s", &of(&contract(was)), &of(&contract(is)));
        found.iter().map(|f| format!("{}: {}", f.tool.as_deref().unwrap_or("-"), f.message)).collect()
    }

    #[test]
    fn each_part_of_a_tool_is_told_when_it_changes() {
        let mut new = tool("t");
        new["description"] = json!("e");
        new["inputSchema"]["properties"] = json!({ "b": {} });
        new["annotations"] = json!({ "readOnlyHint": false, "openWorldHint": true });
        new["execution"] = json!({ "taskSupport": "required" });
        assert_eq!(
            diff(json!([tool("t")]), json!([new])),
            [
                "t: its schema changed: takes `b` too, takes `a` no more; its description changed; its hints changed: `readOnlyHint` true → false, \
              `openWorldHint` not given → true; something else it says of itself changed (title, execution or the like)"
            ]
        );
        let mut stricter = tool("t");
        stricter["inputSchema"]["required"] = json!(["a"]);
        assert_eq!(
            diff(json!([tool("t")]), json!([stricter])),
            ["t: its schema changed; the parameters are called the same"]
        );
    }

    #[test]
    fn added_gone_and_renamed_tools_are_told_apart_and_order_does_not_count() {
        assert_eq!(diff(json!([tool("a"), tool("b")]), json!([tool("b"), tool("a")])), [""; 0]);
        assert_eq!(
            diff(json!([tool("a")]), json!([tool("c")])),
            ["c: it was `a` when it was pinned, and is the same otherwise"]
        );
        let twins = diff(json!([tool("a"), tool("b")]), json!([tool("c"), tool("d")]));
        assert_eq!(twins, ["a: it is gone", "b: it is gone", "c: it was added", "d: it was added"]);
    }
}
