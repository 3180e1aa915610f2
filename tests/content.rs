//! The shipped policy as content: it parses with the real types, names no host, repeats no number of
//! the budgets, and every template renders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use rolecast::diag::SourceId;
use rolecast::model::capability::BUILTIN;
use rolecast::model::policy::PolicyFile;
use rolecast::model::role::RoleFile;
use rolecast::model::rule::{Activation, RuleFile};
use rolecast::text::bytes::ByteSize;
use rolecast::yaml;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const POLICY: &str = "shared-agent-rules/policy.yaml";
const NOTE_START: &str = "{% block host_note %}\n";
const NOTE_END: &str = "{% endblock %}\n";
const ALWAYS_ON_BYTES: usize = 3 * 1024;
const HOST_NOTES_BYTES: usize = 1024;

/// Words that would tie a text to one host; the adapters' own names come on top.
const HOST_WORDS: &[&str] =
    &["claude", "anthropic", "codex", "openai", "cursor", "copilot", "github", "vs code", "gemini", "fork_turns"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Name and text of each file of a folder with this ending, by name.
fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return BTreeMap::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), read(&path)))
        .collect()
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> T {
    yaml::parse(text, SourceId(0), 0).unwrap_or_else(|d| panic!("{name}: {d:?}"))
}

/// One source with front matter.
struct Text<T> {
    name: String,
    front: T,
    raw: String,
}

impl<T> Text<T> {
    fn body(&self) -> &str {
        self.raw.split_once(NOTE_START).map_or(&self.raw, |(body, _)| body)
    }

    fn note(&self) -> Option<&str> {
        let (note, rest) = self.raw.split_once(NOTE_START)?.1.split_once(NOTE_END).unwrap();
        assert_eq!(rest, "", "{}: the host note stands last", self.name);
        Some(note)
    }
}

fn texts<T: DeserializeOwned>(folder: &str) -> Vec<Text<T>> {
    let texts: Vec<_> = files(folder, "md")
        .into_iter()
        .map(|(name, text)| {
            let (front, raw) = text.strip_prefix("---\n").and_then(|t| t.split_once("\n---\n")).unwrap();
            Text { front: parse(&name, front), name, raw: raw.to_owned() }
        })
        .collect();
    assert!(!texts.is_empty(), "{folder} is empty");
    texts
}

fn rules() -> Vec<Text<RuleFile>> {
    texts("shared-agent-rules")
}

fn roles() -> Vec<Text<RoleFile>> {
    texts("roles")
}

fn policy() -> PolicyFile {
    parse("policy", &read(&root().join(POLICY)))
}

/// Every text an agent may get to read, with its name.
fn prose() -> Vec<(String, String)> {
    let rules = rules().into_iter().map(|r| (r.name.clone(), format!("{}\n{}", *r.front.title, r.raw)));
    let roles = roles().into_iter().map(|r| {
        let stop: Vec<_> = r.front.stop.iter().map(|s| s.as_str()).collect();
        (r.name.clone(), format!("{}\n{}\n{}", *r.front.description, stop.join("\n"), r.raw))
    });
    rules.chain(roles).collect()
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let close = if rest[open..].starts_with("{{") { "}}" } else { "%}" };
        out.push_str(&rest[..open]);
        rest = &rest[open + rest[open..].find(close).unwrap() + 2..];
    }
    out + rest
}

/// Whether the pattern of a `deny` or `waive` key takes in this capability.
fn takes_in(pattern: &str, capability: &str) -> bool {
    pattern == "*"
        || pattern == capability
        || pattern
            .strip_suffix(".*")
            .is_some_and(|family| capability.strip_prefix(family).is_some_and(|rest| rest.starts_with('.')))
}

fn known(capability: &str) -> bool {
    BUILTIN.iter().any(|c| takes_in(capability, c.name))
}

/// The YAML of budgets as templates see it: underscores for hyphens, sizes printed.
fn template_budgets() -> Value {
    let document: Value = parse("policy", &read(&root().join(POLICY)));
    let printed = |value: &Value| match value.as_str() {
        Some(text) => json!(text.parse::<ByteSize>().unwrap().to_string()),
        None => value.clone(),
    };
    let budgets = document["budgets"].as_object().unwrap().iter().map(|(name, bounds)| {
        let bounds = bounds.as_object().unwrap().iter().map(|(key, v)| (key.clone(), printed(v)));
        (name.replace('-', "_"), Value::Object(bounds.collect()))
    });
    Value::Object(budgets.collect())
}

fn template_policy() -> Value {
    let policy = policy();
    let (browser, discovery) = (policy.browser.unwrap(), policy.discovery.unwrap());
    let strings = |list: &[yaml::Sp<String>]| -> Vec<String> { list.iter().map(|s| s.value.clone()).collect() };
    let needs = browser.escalate_for.unwrap();
    let packet = policy.delegation.unwrap().packet.unwrap();
    json!({
        "browser": {
            "order": strings(&browser.order.unwrap()),
            "escalate_for": needs.iter().map(|n| n.phrase()).collect::<Vec<_>>(),
            "record_reason": browser.record_reason.unwrap().value,
        },
        "discovery": {
            "session_start": strings(&discovery.session_start.unwrap()),
            "docs": strings(&discovery.docs.unwrap()),
            "memory": strings(&discovery.memory.unwrap()),
        },
        "delegation": { "packet": packet.iter().map(|p| p.phrase()).collect::<Vec<_>>() },
    })
}

fn context() -> Map<String, Value> {
    let mut context = Map::new();
    context.insert("budgets".into(), template_budgets());
    context.insert("policy".into(), template_policy());
    context
}

fn render(name: &str, source: &str, context: &Map<String, Value>) -> String {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    env.set_syntax(syntax.unwrap());
    env.render_str(source, minijinja::Value::from(minijinja::value::Serde(context)))
        .unwrap_or_else(|error| panic!("{name}: {error:#}"))
}

/// The bodies of all templated rules and roles in this context.
fn bodies(context: &Map<String, Value>) -> BTreeMap<String, String> {
    let rules = rules().into_iter().filter(|r| r.front.template.is_some());
    let roles = roles().into_iter().filter(|r| r.front.template.is_some());
    let rules = rules.map(|r| (r.name.clone(), render(&r.name, r.body(), context)));
    rules.chain(roles.map(|r| (r.name.clone(), render(&r.name, r.body(), context)))).collect()
}

fn notes(host: &Value) -> BTreeMap<String, String> {
    let mut context = context();
    context.insert("host".into(), host.clone());
    rules().iter().filter_map(|r| Some((r.name.clone(), render(&r.name, r.note()?, &context)))).collect()
}

fn host(history: &str, extra: &Value, browser: &Value) -> Value {
    json!({
        "title": "Invented",
        "browser": browser,
        "call": { "tool": "start_it", "role": "who", "prompt": "what", "extra": extra },
        "history": history,
        "meter": { "reader": "human" },
    })
}

#[test]
fn the_policy_has_every_section_it_ships_and_starts_no_server() {
    let policy = policy();
    assert_eq!(policy.version.map(|v| v.value), Some(1));
    assert!(policy.extends.is_none() && policy.servers.is_none() && policy.tools.is_none());
    assert_eq!(policy.hosts.map(|h| h.len()), Some(5));
    assert!(policy.layout.is_some() && policy.context.is_some() && policy.delegation.is_some());
    let discovery = policy.discovery.unwrap();
    for step in discovery.docs.iter().chain(&discovery.memory).flat_map(|list| list.iter()) {
        assert!(known(step), "{}", **step);
    }
    let roles: Vec<_> = roles().into_iter().map(|r| r.name).collect();
    for role in policy.acceptance.iter().flat_map(|a| a.values()).flat_map(|a| a.out_of_grant_calls.keys()) {
        assert!(roles.contains(&role.value), "{}", role.value);
    }
}

#[test]
fn no_text_names_a_host() {
    #[derive(Deserialize)]
    struct Named {
        id: String,
        title: String,
    }
    let mut words: Vec<String> = HOST_WORDS.iter().map(|w| (*w).to_owned()).collect();
    for (name, text) in files("adapters", "yaml") {
        let named: Named = parse(&name, &text);
        words.extend([named.id.to_lowercase(), named.title.to_lowercase()]);
    }
    for (name, text) in prose() {
        let text = text.to_lowercase();
        for word in &words {
            assert!(!text.contains(word), "{name} names `{word}`");
        }
    }
}

#[test]
fn numbers_stand_only_in_templates() {
    for (name, text) in prose() {
        let text = without_tags(&text);
        let number = text.split(|c: char| !c.is_alphanumeric()).find(|w| w.starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(number, None, "{name}");
    }
}

#[test]
fn every_budget_for_text_reaches_a_text_and_no_other_does() {
    for (name, bounds) in template_budgets().as_object().unwrap() {
        for bound in bounds.as_object().unwrap().keys() {
            let mut changed = context();
            changed["budgets"][name][bound] = json!("ANOTHER");
            let found = bodies(&changed).values().any(|text| text.contains("ANOTHER"));
            assert_eq!(found, name != "instructions", "{name}.{bound}");
        }
    }
}

#[test]
fn context_thresholds_stand_in_no_text() {
    for (name, text) in prose() {
        assert!(!text.contains("policy.context") && !without_tags(&text).contains('%'), "{name}");
    }
}

#[test]
fn a_text_is_a_template_exactly_when_it_has_tags() {
    let rules = rules().into_iter().map(|r| (r.name, r.front.template, r.raw));
    let roles = roles().into_iter().map(|r| (r.name, r.front.template, r.raw));
    for (name, template, raw) in rules.chain(roles) {
        let tags = raw.contains("{{") || raw.contains("{%");
        assert_eq!(template.is_some_and(|t| t.value), tags, "{name}");
    }
}

#[test]
fn bodies_follow_the_policy_and_leave_no_gap() {
    let shipped = bodies(&context());
    let mut other = context();
    other["policy"]["browser"] = json!({ "order": ["playwright"], "escalate_for": [], "record_reason": false });
    other["policy"]["discovery"] = json!({ "session_start": ["memory.search"], "docs": ["docs.search"], "memory": [] });
    other["policy"]["delegation"]["packet"] = json!(["objective"]);
    let changed = bodies(&other);
    assert!(shipped["browser-routing"].contains("host-managed browser first"));
    assert!(!changed["browser-routing"].contains("host-managed browser first"));
    assert!(shipped["browser-routing"].contains("write down which of these needs"));
    assert!(!changed["browser-routing"].contains("write down which of these needs"));
    assert!(changed["lazy-discovery"].contains("memory.search"));
    assert!(shipped["delegation"].contains("**stop conditions**: "));
    assert!(!changed["delegation"].contains("**stop conditions**"));
    for (name, text) in shipped.iter().chain(&changed) {
        assert!(
            !text.contains(" .") && !text.contains("()") && !text.contains("\n\n\n"),
            "{name}: a tag left a gap\n{text}"
        );
    }
}

#[test]
fn always_on_text_is_small() {
    let always: Vec<_> = rules()
        .into_iter()
        .filter(|r| r.front.activation.as_ref().is_none_or(|a| a.value == Activation::Always))
        .collect();
    assert!(always.iter().any(|r| r.name == "routing-core"));
    assert!(always.iter().all(|r| r.note().is_none()), "what depends on the host is the card's");
    let bytes: usize = always.iter().map(|r| r.raw.len()).sum();
    assert!(bytes <= ALWAYS_ON_BYTES, "{bytes}");
}

#[test]
fn triggers_are_one_short_line_and_bodies_start_without_a_heading() {
    for rule in rules() {
        assert!(!rule.raw.trim_start().starts_with('#'), "{}", rule.name);
        if let Some(Activation::OnDemand(trigger)) = rule.front.activation.as_deref() {
            let trigger = trigger.as_str();
            assert!(trigger.starts_with("Before ") || trigger.starts_with("When "), "{trigger}");
            assert!(trigger.chars().count() <= 100 && !trigger.contains('\n'), "{trigger}");
            assert!(!trigger.ends_with(['.', ':']), "{trigger}");
        }
    }
}

#[test]
fn host_notes_follow_the_hosts_data() {
    let fresh = notes(&host("fresh", &json!({}), &Value::Null));
    let full = notes(&host("full", &json!({ "turns": "none", "depth": "one" }), &Value::Null));
    let bare = notes(&host("full", &json!({}), &json!({ "name": "Invented Tab", "needs": "the tab is open" })));
    for notes in [&fresh, &full, &bare] {
        assert!(["`start_it`", "`who`", "`what`"].iter().all(|part| notes["delegation"].contains(part)));
        let bytes: usize = notes.values().map(String::len).sum();
        assert!(bytes <= HOST_NOTES_BYTES, "{bytes}");
    }
    assert!(full["delegation"].contains("`turns` to `none` and `depth` to `one`: it keeps this conversation out"));
    for notes in [&full, &bare] {
        assert!(notes["delegation"].contains("explicit request"));
        assert!(notes["delegation"].contains("conversation"));
    }
    assert!(!fresh["delegation"].contains("conversation") && !fresh["delegation"].contains("Each time set"));
    assert!(bare["browser-routing"].contains("Invented Tab") && bare["browser-routing"].contains("the tab is open"));
    assert!(fresh["browser-routing"].contains("no browser of its own"));
}

#[test]
fn every_role_says_what_to_do_what_to_return_and_when_to_stop() {
    for role in roles() {
        let (what, back) = role.raw.split_once("\n## What to return\n").unwrap_or_else(|| panic!("{}", role.name));
        let (opening, what) = what.split_once("\n## What to do\n").unwrap_or_else(|| panic!("{}", role.name));
        assert!(opening.trim_start().starts_with("You "), "{}", role.name);
        assert!(what.contains("\n- ") && back.contains("stopped early"), "{}", role.name);
        assert!(role.front.stop.len() >= 3 && !role.front.description.contains('\n'), "{}", role.name);
    }
}

#[test]
fn denials_meet_no_grant_and_waivers_meet_a_denial() {
    let hosts: Vec<_> =
        rolecast::load::builtin::files("adapters").filter_map(|(name, _)| name.split('.').next()).collect();
    for role in roles() {
        let (name, front) = (&role.name, &role.front);
        for capability in front.grants.keys().chain(front.deny.keys()) {
            assert!(known(capability), "{name}: {}", **capability);
        }
        for denied in front.deny.keys() {
            assert!(!front.grants.keys().any(|g| takes_in(denied, g)), "{name}: {}", **denied);
        }
        assert!(front.deny.is_empty() || !front.grants.contains_key("shell.run"), "{name}");
        for (host, waivers) in &front.waive {
            assert!(hosts.contains(&host.value.as_str()), "{name}: {}", host.value);
            for (pattern, reason) in waivers {
                assert!(front.deny.keys().any(|d| d == pattern || takes_in(pattern, d)), "{name}: {}", **pattern);
                assert!(!reason.trim().is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn roles_that_may_keep_a_shell_say_what_it_is_for() {
    for role in roles() {
        let shell_waived = role.front.waive.values().flat_map(|w| w.keys()).any(|w| takes_in(w, "shell.run"));
        assert!(!shell_waived || role.raw.contains("Where a shell is your only way to"), "{}", role.name);
    }
}

#[test]
fn roles_without_a_grant_to_write_deny_the_shell_and_every_change() {
    for role in roles() {
        let changes = ["repo.edit", "repo.create", "repo.delete"];
        let writes = role.front.grants.keys().any(|g| changes.contains(&g.as_str()));
        if !writes {
            for capability in ["shell.run", "repo.edit", "repo.create", "repo.delete"] {
                assert!(role.front.deny.contains_key(capability), "{}: {capability}", role.name);
            }
        }
    }
}
