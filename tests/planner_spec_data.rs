//! The hand-written expectations of `tests/planner-spec/` speak of tools, words and capabilities that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use indexmap::IndexMap;
use rolecast::diag::SourceId;
use rolecast::model::adapter::{Adapter, ListMcp};
use rolecast::model::capability::BUILTIN;
use rolecast::model::scalar::{EvidenceKind, Guarantee};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const HOSTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];
const ROLES: [&str; 5] = ["docs_writer", "explorer", "reviewer", "implementer", "browser_tester"];

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Spec {
    subagent: IndexMap<String, Expected>,
    main: Option<Main>,
    process: Option<Main>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Main {
    like: String,
    every_role: IndexMap<String, Line>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Expected {
    list: Option<Vec<String>>,
    removed: Option<Vec<String>>,
    #[serde(default)]
    inform: Vec<String>,
    lines: IndexMap<String, Line>,
    rest: Line,
}

impl Expected {
    fn line(&self, capability: &str) -> &Line {
        let family = capability.split('.').next().unwrap();
        self.lines.get(capability).or_else(|| self.lines.get(&format!("{family}.*"))).unwrap_or(&self.rest)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Line {
    state: State,
    by: Option<Limit>,
    guarantee: Option<Guarantee>,
    evidence: Option<EvidenceKind>,
    conditions: Option<Vec<String>>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    waived: bool,
    #[serde(default)]
    servers: bool,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum State {
    Granted,
    Denied,
    Unreachable,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Limit {
    Absence,
    Path,
}

fn parse<T: DeserializeOwned>(path: &str) -> T {
    let text = fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    rolecast::yaml::parse(&text, SourceId(0), 0).unwrap_or_else(|d| panic!("{path}: {d:?}"))
}

fn pairs() -> impl Iterator<Item = (&'static str, Spec, Adapter)> {
    HOSTS.into_iter().map(|h| (h, parse(&format!("tests/planner-spec/{h}.yaml")), parse(&format!("adapters/{h}.yaml"))))
}

#[test]
fn every_host_expects_something_of_every_role() {
    for (host, spec, _) in pairs() {
        assert_eq!(spec.subagent.keys().map(String::as_str).collect::<Vec<_>>(), ROLES, "{host}");
        for form in [&spec.main, &spec.process].into_iter().flatten() {
            assert!(form.like == "subagent" && !form.every_role.is_empty(), "{host}");
        }
    }
}

#[test]
fn expected_words_are_words_of_the_host_and_bring_the_expected_tools() {
    for (host, spec, adapter) in pairs() {
        let list = adapter.forms["subagent"].list.as_ref().unwrap();
        let brings = |word: &String| match list.selectors.is_empty() {
            true => vec![word.clone()],
            false => list.selectors.get(word).unwrap_or_else(|| panic!("{host}: word {word}")).clone(),
        };
        for (role, expected) in &spec.subagent {
            let all: BTreeSet<String> = adapter.tools.keys().cloned().collect();
            let kept: BTreeSet<String> = match (&expected.list, &expected.removed) {
                (Some(words), None) => words.iter().flat_map(brings).collect(),
                (None, Some(words)) => {
                    let gone: BTreeSet<String> = words.iter().flat_map(brings).collect();
                    all.difference(&gone).cloned().collect()
                }
                _ => panic!("{host}: {role}: either a list or what is removed"),
            };
            let residue = adapter.forms["subagent"].residue.iter().cloned();
            let offered: BTreeSet<String> = kept.iter().cloned().chain(residue).collect();
            for capability in BUILTIN.iter().map(|b| b.name) {
                let line = expected.line(capability);
                let confers = |tool: &&String| {
                    adapter.tools.get(*tool).is_some_and(|t| t.covers.iter().chain(&t.confers).any(|c| c == capability))
                };
                let by: BTreeSet<&String> = offered.iter().filter(confers).collect();
                let named: BTreeSet<&String> = line.tools.iter().collect();
                assert!(named.is_empty() || named == by, "{host}: {role}: {capability}: {named:?} and {by:?}");
                let absent = line.state == State::Unreachable || line.by == Some(Limit::Absence);
                let by_server = matches!(list.mcp, ListMcp::Session);
                assert!(absent == (by.is_empty() && !by_server), "{host}: {role}: {capability}: {by:?}");
            }
            assert!(expected.inform.iter().all(|t| kept.contains(t)), "{host}: {role}: inform");
        }
    }
}

#[test]
fn expected_lines_are_complete_in_themselves() {
    let known: BTreeSet<_> = BUILTIN.iter().map(|b| b.name).collect();
    for (host, spec, adapter) in pairs() {
        let main = spec.main.iter().chain(&spec.process).flat_map(|m| m.every_role.iter());
        let lines = spec.subagent.values().flat_map(|e| e.lines.iter()).chain(main);
        for (capability, line) in lines {
            let family = capability.strip_suffix(".*").is_some_and(|f| known.iter().any(|k| k.starts_with(f)));
            assert!(family || known.contains(capability.as_str()), "{host}: {capability}");
            check(host, line, &adapter);
        }
        spec.subagent.values().for_each(|e| check(host, &e.rest, &adapter));
    }
}

fn check(host: &str, line: &Line, adapter: &Adapter) {
    let limited = line.by.is_some() || line.state == State::Denied;
    assert_eq!(limited, line.guarantee.is_some(), "{host}: a limit has a guarantee");
    assert!(line.state == State::Denied || !(line.waived || line.servers), "{host}: only a denial is waived");
    let absent = line.by == Some(Limit::Absence);
    assert_eq!(
        absent,
        line.evidence.is_some() && line.conditions.is_some(),
        "{host}: absence names its evidence and conditions"
    );
    for condition in line.conditions.iter().flatten() {
        assert!(adapter.conditions.contains_key(condition), "{host}: {condition}");
    }
}
