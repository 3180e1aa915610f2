//! Servers on each host against entries, rules and ledger lines that were worked out by hand.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rolecast::compile::{Compiled, compile};
use rolecast::diag::{Sink, SourceId};
use rolecast::plan::ledger::Subject;
use rolecast::plan::narrow::Said;
use rolecast::render::artifact::{Content, EntryKind};
use rolecast::system::memory::Memory;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Spec {
    entries: IndexMap<String, Value>,
    elements: IndexMap<String, Vec<String>>,
    lines: IndexMap<String, IndexMap<String, String>>,
    role: IndexMap<String, Value>,
}

const ROLE: &str = "---\ndescription: Closes tickets.\ngrants: { ticket.read: {}, ticket.write: {}, docs.search: {} }\n---\nClose them.\n";

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/servers-spec/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn compiled(hosts: &str) -> Compiled {
    let policy = read("policy").replace("{ HOST: {} }", hosts);
    let system =
        Memory::new().with("shared-agent-rules/policy.yaml", policy).with("shared-agent-rules/roles/closer.md", ROLE);
    let mut sink = Sink::new();
    let compiled = compile(&system, Some("shared-agent-rules"), &[], &mut sink);
    let found: Vec<String> = sink.iter().map(|d| format!("{}: {}", d.code.id(), d.message)).collect();
    assert!(!sink.has_errors(), "{found:#?}");
    compiled
}

/// What is written: values by file and pointer, and lists of elements by the same.
fn written(compiled: &Compiled) -> (BTreeMap<String, Value>, BTreeMap<String, Vec<String>>) {
    let (mut values, mut lists) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
    for artifact in &compiled.rendered.as_ref().unwrap().artifacts {
        let Content::Entries(entries) = &artifact.content else { continue };
        for entry in entries {
            let place = format!("{}:/{}", artifact.path, entry.path.join("/"));
            match entry.kind {
                EntryKind::Value => {
                    values.insert(place, entry.value.clone());
                }
                EntryKind::Element => lists.entry(place).or_default().push(entry.value.as_str().unwrap().to_owned()),
            }
        }
    }
    (values, lists)
}

#[test]
fn servers_are_written_and_claimed_as_each_host_takes_them() {
    for host in ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code"] {
        let spec: Spec = rolecast::yaml::parse(&read(host), SourceId(0), 0).unwrap();
        let compiled = compiled(&format!("{{ {host}: {{}} }}"));
        let (values, lists) = written(&compiled);
        for (place, want) in &spec.entries {
            let found = values.get(place).unwrap_or_else(|| panic!("{host}: nothing at {place}: {values:#?}"));
            assert_eq!(found, want, "{host} {place}");
            // The order of keys counts where a map is a list of rules.
            if place.ends_with("/permission") {
                assert_eq!(found.to_string(), want.to_string(), "{host} {place}");
            }
        }
        assert_eq!(values.len(), spec.entries.len(), "{host}: {:?}", values.keys());
        for (place, want) in &spec.elements {
            assert_eq!(lists.get(place), Some(want), "{host} {place}");
        }
        assert_eq!(lists.len(), spec.elements.len(), "{host}: {lists:?}");
        ledger(&compiled, host, &spec);
        role(&compiled, host, &spec);
    }
}

fn ledger(compiled: &Compiled, host: &str, spec: &Spec) {
    let lines = &compiled.plan.as_ref().unwrap().ledger.lines;
    for (subject, want) in &spec.lines {
        let (server, tool) = subject.split_once('/').unwrap();
        let about = |s: &Subject| *s == Subject::Server { server: server.into(), tool: tool.into() };
        let line = lines.iter().find(|l| about(&l.subject)).unwrap_or_else(|| panic!("{host}: no line for {subject}"));
        let found = serde_json::to_value(line).unwrap();
        for (key, own) in
            [("state", "state"), ("by", "limited-by"), ("guarantee", "guarantee"), ("evidence", "evidence")]
        {
            assert_eq!(found[own], want.get(key).map_or(Value::Null, |w| json!(w)), "{host} {subject}: {key}");
        }
    }
    assert!(!lines.iter().any(|l| matches!(&l.subject, Subject::Server { server, .. } if server == "off")), "{host}");
}

fn role(compiled: &Compiled, host: &str, spec: &Spec) {
    let plan = &compiled.plan.as_ref().unwrap().hosts[0].roles[0].forms[0];
    for (key, want) in &spec.role {
        let found = match key.as_str() {
            "list" => json!(plan.list),
            "permissions" => {
                let said = |said: &Said| if let Said::Always(verdict) = said { verdict.clone() } else { String::new() };
                json!(plan.permissions.iter().map(|p| [p.word.clone(), said(&p.said)]).collect::<Vec<_>>())
            }
            capability => {
                let about =
                    Subject::Role { role: "closer".into(), form: plan.form.clone(), capability: capability.into() };
                let lines = &compiled.plan.as_ref().unwrap().ledger.lines;
                let line = lines.iter().find(|l| l.subject == about).unwrap_or_else(|| panic!("{host} {capability}"));
                let found = serde_json::to_value(line).unwrap();
                let keys =
                    [("state", "state"), ("by", "limited-by"), ("guarantee", "guarantee"), ("evidence", "evidence")];
                let named = keys.into_iter().filter(|(_, own)| !found[*own].is_null());
                Value::Object(named.map(|(key, own)| (key.to_owned(), found[own].clone())).collect())
            }
        };
        assert_eq!(found, *want, "{host} {key}");
    }
}

#[test]
fn a_file_of_two_hosts_has_one_entry_with_what_both_want() {
    let (values, _) = written(&compiled("{ claude-code: {}, copilot: {} }"));
    let entry = &values[".mcp.json:/mcpServers/tracker"];
    assert_eq!(entry["tools"], json!(["get", "draft", "close"]));
    assert_eq!(entry["timeout"], json!(30000));
    assert!(!values.keys().any(|k| k.starts_with(".github/mcp.json")), "{:?}", values.keys());
}
