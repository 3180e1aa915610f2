//! Which way each host has to a server.

use crate::diag::Sink;
use crate::load::load;
use crate::resolve::policy::{Policy, Reach};
use crate::resolve::resolve;
use crate::system::memory::Memory;

const ALL: &[&str] = &["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];

fn policy(hosts: &[&str], server: &str) -> Policy {
    let hosts: Vec<String> = hosts.iter().map(|host| format!("{host}: {{}}")).collect();
    let text = format!("version: 1\nhosts: {{ {} }}\nservers:\n  tracker: {server}\n", hosts.join(", "));
    let role = "---\ndescription: Reads.\ngrants: { ticket.read: {}, repo.diff: {} }\n---\nYou read.\n";
    let system = Memory::new().with("p/policy.yaml", text).with("p/roles/reader.md", role);
    let mut sink = Sink::new();
    let loaded = load(&system, Some("p"), &mut sink);
    let policy = resolve(&loaded, &[], &mut sink);
    assert!(!sink.has_errors(), "{:?}", sink.iter().collect::<Vec<_>>());
    policy
}

/// The hosts that have the server through the gateway.
fn through(policy: &Policy) -> Vec<&str> {
    let gateway = |host: &&String| policy.route_of(host, "tracker").is_some_and(|route| route.gateway);
    policy.hosts.iter().filter(gateway).map(String::as_str).collect()
}

fn args(policy: &Policy, host: &str) -> Vec<Vec<String>> {
    let one = |server: &crate::resolve::policy::Server| match &server.reach {
        Reach::Program { args, .. } => args.iter().map(|arg| arg.text.clone()).collect(),
        Reach::Address(url) => vec![url.text.clone()],
    };
    policy.on[host].gateways.iter().map(one).collect()
}

const READS: &str = "tools: { get: { confers: [ticket.read] } }";

#[test]
fn auto_takes_the_gateway_where_an_entry_has_no_list_of_tools() {
    let auto = policy(ALL, &format!("{{ command: t, risk: safe, {READS} }}"));
    assert_eq!(through(&auto), ["cursor", "tsuka"]);
    assert!(auto.on["claude-code"].gateways.is_empty(), "nothing is to be had through it there");
    let direct = policy(ALL, &format!("{{ command: t, via: direct, {READS} }}"));
    assert!(through(&direct).is_empty());
    let gateway = policy(ALL, &format!("{{ command: t, via: gateway, {READS} }}"));
    assert_eq!(through(&gateway), ALL);
}

#[test]
fn auto_takes_the_gateway_for_what_an_entry_cannot_say() {
    let renamed = format!("{{ command: t, env: {{ T_TOKEN: {{ env: T_ACCESS }} }}, {READS} }}");
    assert_eq!(through(&policy(&["claude-code", "codex"], &renamed)), ["codex"]);
    let remote = format!("{{ url: \"https://t.example.org/mcp\", {READS} }}");
    assert_eq!(through(&policy(&["opencode", "tsuka"], &remote)), ["tsuka"]);
    let bounded = "{ command: t, tools: { list: { confers: [ticket.read], bounds: { limit-argument: max } } } }";
    assert_eq!(through(&policy(&["claude-code", "codex"], bounded)), ["claude-code", "codex"]);
}

#[test]
fn an_entry_names_every_host_that_reads_it_and_no_other() {
    let both = policy(&["claude-code", "copilot", "qwen-code"], &format!("{{ command: t, via: gateway, {READS} }}"));
    let shared = vec![["serve", "--host", "claude-code", "--host", "copilot"].map(str::to_owned).to_vec()];
    assert_eq!((args(&both, "claude-code"), args(&both, "copilot")), (shared.clone(), shared));
    assert_eq!(args(&both, "qwen-code"), [["serve", "--host", "qwen-code"].map(str::to_owned).to_vec()]);
}

#[test]
fn one_risk_for_a_whole_entry_splits_the_gateway() {
    let mixed =
        "{ command: t, risk: safe, tools: { get: { confers: [ticket.read] }, note: { confers: [memory.write] } } }";
    let mixed = policy(&["tsuka"], mixed);
    let entries: Vec<(&str, Vec<&str>)> = mixed.on["tsuka"]
        .gateways
        .iter()
        .map(|entry| (entry.name.as_str(), entry.tools.keys().map(String::as_str).collect()))
        .collect();
    let safe = vec!["docs_validate", "get", "read_artifact", "repo_diff", "repo_log", "repo_show"];
    assert_eq!(entries, [("rolecast-safe", safe), ("rolecast-restricted", vec!["note", "read_artifact"])]);
    assert_eq!(args(&mixed, "tsuka")[1], ["serve", "--host", "tsuka", "--risk", "restricted"].map(str::to_owned));
}
