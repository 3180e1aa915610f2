//! The way from a model's call through a real host and the gateway to a real server, and what does not get through.

use serde_json::Value;

use super::support::{Repository, programs, said, with};

/// A server that only the gateway has; the copy that is run has the server for trials in its place.
const POLICY: &str = "servers:
  notes:
    command: notes-server
    via: gateway
    tools:
      search_notes: { confers: [memory.search] }
";

const NOTHING: Vec<String> = Vec::new();

/// Looks and asks, and changes nothing.
const LOOKER: &str = "---
description: Looks at pages.
grants: { browser.inspect: {}, docs.search: {}, repo.read: {} }
---
Look at what you are told.
";

fn repository(hosts: &[&str]) -> Repository {
    let repository = Repository::rendered(hosts, &[("looker", LOOKER)]);
    let policy = repository.read("shared-agent-rules/policy.yaml");
    repository.write("shared-agent-rules/policy.yaml", &format!("{policy}{POLICY}"));
    let rendered = repository.command(&["render"]).output().unwrap();
    assert!(rendered.status.success(), "{}", said(&rendered));
    repository
}

fn seen<'a>(report: &'a Value, capability: &str) -> Vec<&'a str> {
    let findings = report["hosts"].as_array().unwrap().iter().flat_map(|h| h["findings"].as_array().unwrap());
    let about = |f: &&Value| f["about"]["through-gateway"]["line"]["role"]["capability"] == capability;
    findings.filter(about).filter_map(|f| f["seen"].as_str()).collect()
}

/// Whether a call of what is granted is carried out, or a person would be asked first, whom nobody plays here.
#[derive(Clone, Copy, PartialEq)]
enum Granted {
    Runs,
    Asks,
}

fn gets_through(host: &str, granted: Granted) {
    let Some(bin) = programs(&format!("the gateway on {host}")) else { return };
    let repository = repository(&[host]);
    let (code, report) = repository.verify(&bin, &["--host", host, "--role", "looker"]);
    assert_eq!((with(&report, "broken"), with(&report, "unclear")), (NOTHING, NOTHING), "{report:#}");
    assert_eq!(code, 0);
    let all = |verdict: &str, lines: &[&str]| {
        let found = with(&report, verdict);
        for line in lines {
            assert!(found.contains(&format!("through the gateway, {line}")), "`{line}` is not in {verdict}: {found:?}");
        }
    };
    all("held", &["looker: tools", "server: *"]);
    all(if granted == Granted::Runs { "held" } else { "untried" }, &["looker: browser.inspect", "looker: docs.search"]);
    assert!(!seen(&report, "browser.interact").is_empty(), "{report:#}");
}

#[test]
fn a_call_gets_through_on_claude_code_and_a_forged_one_does_not() {
    gets_through("claude-code", Granted::Runs);
}

#[test]
fn a_call_gets_through_on_copilot_and_a_forged_one_does_not() {
    gets_through("copilot", Granted::Asks);
}

#[test]
fn a_call_gets_through_on_gemini_and_a_forged_one_does_not() {
    gets_through("gemini-cli", Granted::Asks);
}

#[test]
fn a_call_gets_through_on_qwen_and_a_forged_one_does_not() {
    gets_through("qwen-code", Granted::Runs);
}

#[test]
fn a_call_gets_through_on_opencode_and_a_forged_one_does_not() {
    gets_through("opencode", Granted::Runs);
}
