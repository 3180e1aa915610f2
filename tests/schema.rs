//! The checked-in JSON Schemas: current, valid, and of one mind with the parser.

use std::path::PathBuf;

use rolecast::diag::SourceId;
use rolecast::model::{
    adapter::Adapter, evidence::EvidenceFile, policy::PolicyFile, role::RoleFile, rule::RuleFile, scenario::Scenario,
};
use rolecast::{schema, yaml};
use serde_json::Value;

fn schema_of(name: &str) -> Value {
    let all = schema::all();
    let (_, text) = all.iter().find(|(found, _)| *found == name).unwrap();
    serde_json::from_str(text).unwrap()
}

fn parses(name: &str, text: &str) -> bool {
    let id = SourceId(0);
    match name {
        "policy" => yaml::parse::<PolicyFile>(text, id, 0).is_ok(),
        "role" => yaml::parse::<RoleFile>(text, id, 0).is_ok(),
        "rule" => yaml::parse::<RuleFile>(text, id, 0).is_ok(),
        "adapter" => yaml::parse::<Adapter>(text, id, 0).is_ok(),
        "evidence" => yaml::parse::<EvidenceFile>(text, id, 0).is_ok(),
        "scenario" => yaml::parse::<Scenario>(text, id, 0).is_ok(),
        other => panic!("no such schema: {other}"),
    }
}

#[test]
fn the_schemas_in_the_repository_are_current() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, text) in schema::all() {
        let path = folder.join(format!("{name}.schema.json"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(on_disk == text, "{name}.schema.json is not current: run `UPDATE=1 cargo test --test schema`");
    }
}

#[test]
fn every_schema_is_a_valid_schema_with_descriptions() {
    for (name, _) in schema::all() {
        let schema = schema_of(name);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert!(schema["title"].as_str().unwrap().starts_with("rolecast "), "{name}");
        for (key, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}: `{key}` has no description");
        }
    }
}

#[test]
fn schema_and_parser_agree() {
    for (name, text, fine) in [
        ("scenario", "title: t\nprompt: p", true),
        ("scenario", "title: t\nprompt: p\nexpect: { sub-agents: 0 }", false),
        ("scenario", "title: t\nprompt: p\noutcome: { sub-agents: 0, answer: [x] }", true),
        ("scenario", "prompt: p", false),
        ("evidence", "host: h", true),
        ("evidence", "{}", false),
        (
            "evidence",
            "host: h\nroles: [{ role: r, form: f, version: '1.0', date: '2026-11-30', tools: [], offered: { verdict: held, seen: x } }]",
            true,
        ),
        ("evidence", "host: h\nrules: [{ to: main, version: '1.0', date: '2026-13-30', lines: [] }]", false),
        (
            "evidence",
            "host: h\nrules: [{ to: main, version: '1.0', date: '2026-12-30', lines: [{ verdict: fine, about: [], claim: c, seen: s }] }]",
            false,
        ),
        ("policy", "{}", true),
        ("policy", "version: 1\nhosts: { codex: {} }\nextends: [builtin]\n", true),
        ("policy", "budgets: { tool-result: { target: 12KiB, limit: 32KiB }, search: { target: 20 } }", true),
        ("policy", "context: { hand-off: 75% }", true),
        ("policy", "servers: { s: { command: npx, env: { T: { env: T } }, timeout: { call: 9 }, via: auto } }", true),
        (
            "policy",
            "tools: { t: { description: d, primitive: s/p, bind: { q: { constant: x } }, confers: [docs.search] } }",
            true,
        ),
        ("policy", "hots: {}", false),
        ("policy", "hosts: [codex]", false),
        ("policy", "hosts: { codex: { x: 1 } }", false),
        ("policy", "budgets: { tool-result: { target: 12KB } }", false),
        ("policy", "budgets: { search: { target: -1 } }", false),
        ("policy", "context: { hand-off: many }", false),
        ("policy", "context: { hand-off: 101% }", false),
        ("policy", "context: { hand-off: 0% }", false),
        ("policy", "servers: { s: { env: { T: secret } } }", false),
        ("policy", "servers: { s: { env: { T: { env: A, literal: b } } } }", false),
        ("policy", "tools: { t: { description: d } }", false),
        ("role", "description: d\ngrants: { repo.edit: { paths: [a] } }\ndeny: { shell.run: enforced }\n", true),
        ("role", "grants: {}", false),
        ("role", "description: d\ndeny: { shell.run: hard }\n", false),
        ("role", "description: d\nmodel: huge\n", false),
        ("rule", "title: t", true),
        ("rule", "title: t\nactivation: { on-demand: now }\naudience: [main, roles]\n", true),
        ("rule", "title: t\nactivation: { paths: [a] }\n", true),
        ("rule", "title: t\nactivation: always\n", true),
        ("rule", "title: t\nactivation: paths\n", false),
        ("rule", "title: t\nactivation: { paths: [a], on-demand: b }\n", false),
        ("rule", "title: t\naudience: main\n", false),
        ("adapter", "id: x", false),
    ] {
        let value: Value = yaml::parse(text, SourceId(0), 0).unwrap();
        let validator = jsonschema::validator_for(&schema_of(name)).unwrap();
        assert_eq!((validator.is_valid(&value), parses(name, text)), (fine, fine), "{name}: {text}");
    }
}
