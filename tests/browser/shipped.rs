//! What the composition says, and how it gets into a policy.

use rolecast::diag::Sink;
use rolecast::system::memory::Memory;
use serde_json::Value;

use super::place::Place;

fn resolved(policy: &str) -> (rolecast::resolve::Policy, Sink) {
    let system = Memory::new().with("shared-agent-rules/policy.yaml", policy);
    let mut sink = Sink::new();
    let loaded = rolecast::load::load(&system, Some("shared-agent-rules"), &mut sink);
    (rolecast::resolve::resolve(&loaded, &[], &mut sink), sink)
}

const ONE_LINE: &str = "version: 1\nhosts: { claude-code: {} }\nextends: [builtin, builtin/playwright]\n";

#[test]
fn it_is_there_for_whoever_names_it_and_for_nobody_else() {
    let (policy, sink) = resolved(ONE_LINE);
    assert!(!sink.has_errors());
    assert!(policy.servers.contains_key("playwright") && policy.gateway.is_some());
    let (policy, _) = resolved("version: 1\nhosts: { claude-code: {} }\nextends: [builtin]\n");
    assert!(policy.servers.is_empty() && policy.tools.is_empty() && policy.gateway.is_none());
    let (_, sink) = resolved("version: 1\nhosts: { claude-code: {} }\nextends: [builtin/playwrite]\n");
    assert!(sink.has_errors());
}

#[test]
fn a_policy_changes_something_of_it_and_keeps_the_rest() {
    let changed = format!("{ONE_LINE}servers:\n  playwright: {{ enabled: false }}\ntools: {{}}\n");
    let (policy, _) = resolved(&changed);
    assert!(!policy.servers.contains_key("playwright"));
    let changed = format!(
        "{ONE_LINE}servers:\n  playwright:\n    env: {{ PLAYWRIGHT_MCP_SANDBOX: {{ literal: \"false\" }} }}\n    tools: {{ browser_drop: {{ confers: [browser.script] }} }}\n"
    );
    let (policy, sink) = resolved(&changed);
    assert!(!sink.has_errors());
    let server = &policy.servers["playwright"];
    assert_eq!((server.env.len(), server.tools.len()), (1, 56));
}

#[test]
fn names_are_short_enough_and_successors_are_there() {
    let (policy, _) = resolved(ONE_LINE);
    let own = policy.tools.keys().map(String::as_str);
    for name in own.chain(policy.servers["playwright"].tools.keys().map(String::as_str)) {
        assert!(name.len() <= 40, "{name}");
    }
    let system = Memory::new().with("shared-agent-rules/policy.yaml", ONE_LINE);
    let loaded = rolecast::load::load(&system, Some("shared-agent-rules"), &mut Sink::new());
    let servers = loaded.layers.iter().filter_map(|layer| layer.policy.servers.as_ref());
    let tools = servers.flat_map(|servers| servers["playwright"].tools.values());
    let successors: Vec<&str> = tools
        .filter_map(|tool| tool.legacy.as_ref())
        .flat_map(|l| l.superseded_by.iter().map(|s| s.as_str()))
        .collect();
    assert_eq!(successors.len(), 12);
    assert!(successors.iter().all(|name| policy.tools.contains_key(*name)), "{successors:?}");
}

/// From one line to pinned tools, as the documentation says it.
#[test]
fn it_is_pinned_and_all_its_tools_are_classified() {
    let Some(place) = Place::new() else { return };
    assert_eq!(place.run(&["render", "--quiet"]).0, 0);
    let (_, list) = place.run(&["serve", "--role", "tester", "--list", "--verbose"]);
    assert!(list.contains("`rolecast audit playwright --accept` does") && !list.contains("browser_click("), "{list}");
    let (code, report) = place.run(&["audit", "playwright", "--format", "json", "--quiet"]);
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {report}"));
    let findings = report["servers"][0]["findings"].as_array().unwrap();
    let codes: Vec<&str> = findings.iter().filter_map(|finding| finding["code"].as_str()).collect();
    assert_eq!(code, 0, "{report:#}");
    let wrong = ["tool-unclassified", "tool-gone", "legacy-tool"];
    assert!(!codes.iter().any(|code| wrong.contains(code)), "{codes:?}");
    assert_eq!(place.run(&["audit", "playwright", "--accept", "--quiet"]).0, 0);
    let (code, said) = place.run(&["check"]);
    assert_eq!(code, 0, "{said}");
    let (_, list) = place.run(&["serve", "--role", "tester", "--list", "--verbose"]);
    assert!(list.contains("browser_click(") && list.contains("browser_inspect_page("), "{list}");
    let (code, said) = place.run(&["audit", "playwright", "--verbose"]);
    assert!(code == 0 && !said.contains("contract-"), "{said}");
}
