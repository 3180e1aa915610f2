//! Names that are one on a host although they are two in the policy.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::adapter::{Adapter, Names};
use crate::resolve::gateway;
use crate::resolve::policy::{Policy, Server};

use super::names::{self, NameProblem};
use super::offer;

/// Two tools under one name.
#[derive(Debug, PartialEq, Eq)]
struct Clash {
    /// The name.
    spelt: String,
    /// The place of the first in the list; none = a tool of the host's own.
    first: Option<usize>,
    /// The place of the second.
    second: usize,
}

/// Every tool that is not alone under its name, as the model sees it or as a role's list has it. Names that the host
/// does not take are in no clash: they are reported by themselves.
fn clashes(names: &Names, own: &[&str], tools: &[(&str, &str)]) -> Vec<Clash> {
    let mut found: Vec<Clash> = Vec::new();
    for naming in std::iter::once(&names.tool).chain(&names.list) {
        let mut seen: BTreeMap<String, Option<usize>> = own.iter().map(|name| ((*name).to_owned(), None)).collect();
        for (second, (server, tool)) in tools.iter().enumerate() {
            let Ok(spelt) = names::tool(naming, server, tool) else { continue };
            match seen.get(&spelt) {
                Some(first) if found.iter().any(|c| c.first == *first && c.second == second) => {}
                Some(first) => found.push(Clash { spelt, first: *first, second }),
                None => {
                    seen.insert(spelt, Some(second));
                }
            }
        }
    }
    found
}

/// Reports names that a host cuts, refuses, splits, or that become one.
pub fn check(adapter: &Adapter, policy: &Policy, sink: &mut Sink) {
    servers(adapter, policy, sink);
    let all: Vec<(&Server, &String, Option<Span>)> = policy
        .given_on(&adapter.id)
        .flat_map(|server| server.tools.iter().map(move |(tool, class)| (server, tool, class.span)))
        .collect();
    for (server, tool, span) in &all {
        // The spelling in a list has its own bounds.
        let spellings = std::iter::once(&adapter.names.tool).chain(&adapter.names.list);
        let problem: Option<NameProblem> = spellings.filter_map(|n| names::tool(n, &server.name, tool).err()).next();
        if let Some(problem) = problem {
            sink.push(offer::unusable(&format!("{}/{tool}", server.name), &problem, adapter).at_opt(*span, ""));
        }
    }
    let residue = adapter.forms.values().flat_map(|form| &form.residue);
    let own: Vec<&str> = adapter.tools.keys().chain(&adapter.inert).chain(residue).map(String::as_str).collect();
    let pairs: Vec<(&str, &str)> = all.iter().map(|(server, tool, _)| (server.name.as_str(), tool.as_str())).collect();
    for Clash { spelt, first, second } in clashes(&adapter.names, &own, &pairs) {
        let name = |(server, tool): (&str, &str)| format!("{server}/{tool}");
        let message = match first {
            Some(first) => {
                format!(
                    "`{}` and `{}` are both `{spelt}` on {}",
                    name(pairs[first]),
                    name(pairs[second]),
                    adapter.title
                )
            }
            None => format!("`{}` is `{spelt}` on {}, which is a tool of its own", name(pairs[second]), adapter.title),
        };
        sink.push(
            Diagnostic::new(Code::NameCollision, message)
                .at_opt(all[second].2, if first.is_some() { "second" } else { "" })
                .also(first.and_then(|first| all[first].2), "first")
                .help("rename one of the servers"),
        );
    }
}

/// Servers of which all tools would start alike.
fn servers(adapter: &Adapter, policy: &Policy, sink: &mut Sink) {
    let mut servers: IndexMap<String, &Server> = IndexMap::new();
    for server in policy.given_on(&adapter.id) {
        // Without a tool the name is what all tools of the server start with.
        let Ok(spelt) = names::tool(&adapter.names.tool, &server.name, "") else { continue };
        if let Some(first) = servers.insert(spelt.clone(), server) {
            sink.push(
                Diagnostic::new(
                    Code::NameCollision,
                    format!("servers `{}` and `{}` are both `{spelt}…` on {}", first.name, server.name, adapter.title),
                )
                .at_opt(server.span, "second")
                .also(first.span, "first")
                .help("rename one of the servers"),
            );
        }
    }
}

/// Reports tools of servers behind the gateway that it would show under one name.
pub fn check_gateway(policy: &Policy, sink: &mut Sink) {
    let mut seen: BTreeMap<String, (String, Option<Span>)> = policy
        .tools
        .values()
        .map(|tool| (tool.name.clone(), (format!("the composed tool `{}`", tool.name), tool.span)))
        .collect();
    for (name, server, tool) in gateway::names(&policy.servers, &policy.tools, &|server| policy.through(server, &[])) {
        let span = server.tools.get(tool).and_then(|class| class.span);
        let own = format!("`{}/{tool}`", server.name);
        if let Some((first, place)) = seen.get(&name) {
            sink.push(
                Diagnostic::new(Code::NameCollision, format!("{first} and {own} are both `{name}` in the gateway"))
                    .at_opt(span, "second")
                    .also(*place, "first")
                    .help("rename one of the servers"),
            );
        }
        seen.insert(name, (own, span));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load::load;
    use crate::system::memory::Memory;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
        /// Names of the letters that hosts join, split and replace at.
        #[test]
        fn two_tools_never_become_one_without_a_word(
            tools in prop::collection::btree_set(("[aB_-]{1,4}", "[aB_./:-]{1,4}|[a_]{58,64}"), 2..12),
        ) {
            let adapters = load(&Memory::new(), None, &mut Sink::new()).adapters;
            let pairs: Vec<(&str, &str)> = tools.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            for adapter in adapters.values() {
                let found = clashes(&adapter.names, &[], &pairs);
                for naming in std::iter::once(&adapter.names.tool).chain(&adapter.names.list) {
                    for (second, two) in pairs.iter().enumerate() {
                        let Ok(name) = names::tool(naming, two.0, two.1) else { continue };
                        prop_assert!(naming.max.is_none_or(|max| name.chars().count() <= max));
                        let twin = pairs[..second].iter().any(|one| names::tool(naming, one.0, one.1).as_ref() == Ok(&name));
                        let told = found.iter().any(|c| c.second == second);
                        prop_assert!(!twin || told, "{}: {two:?} is not told of", adapter.id);
                    }
                }
            }
        }
    }

    #[test]
    fn a_tool_of_the_hosts_own_is_a_twin_too() {
        let adapters = load(&Memory::new(), None, &mut Sink::new()).adapters;
        let names = &adapters["opencode"].names;
        assert_eq!(
            clashes(names, &["todo_write"], &[("todo", "write"), ("a", "b_c"), ("a_b", "c")]),
            [
                Clash { spelt: "todo_write".into(), first: None, second: 0 },
                Clash { spelt: "a_b_c".into(), first: Some(1), second: 2 },
            ]
        );
    }
}
