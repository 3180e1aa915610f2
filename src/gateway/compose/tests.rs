//! What a role is shown, and what a call of it sends.

use serde_json::{Map, Value, json};

use super::*;
use crate::diag::Diagnostic;
use crate::load;
use crate::resolve;
use crate::system::memory::Memory;

/// A primitive as a server of documents says it, with a nested, open filter.
pub(super) fn search() -> Value {
    json!({
        "name": "semantic_search",
        "description": "Semantic search over every document.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "description": "What to look for." },
                "filter": { "type": "object", "properties": { "tenant": { "type": "string" } } },
                "limit": { "type": "integer", "minimum": 1 },
                "cursor": { "type": "string" },
                "mode": { "enum": ["fast", "exact", "drop_index"], "type": "string" },
                "shape": { "anyOf": [{ "$ref": "#/definitions/Shape" }, { "type": "null" }] },
            },
            "required": ["query"],
            "definitions": { "Shape": { "type": "string", "maxLength": 3 }, "Unused": { "type": "string" } },
        },
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    })
}

fn asked<'a>(policy: &'a Policy, role: Option<&'a Role>) -> Asked<'a> {
    Asked { policy, role, hosts: &[], risk: None }
}

/// One tool that does everything.
fn tabs() -> Value {
    json!({
        "name": "tabs",
        "description": "List, create, close or select a tab.",
        "inputSchema": {
            "type": "object",
            "properties": { "action": { "type": "string", "enum": ["list", "new", "close"] }, "index": { "type": "number" } },
            "required": ["action"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true },
    })
}

pub(super) const HEAD: &str = "version: 1
hosts: { claude-code: {} }
budgets: { knowledge-search: { target: 10, limit: 40 } }
servers:
  knowledge:
    command: knowledge-server
    via: gateway
    tools:
      tabs: { confers: [browser.interact] }
runtime:
  tenant_id: argument
";

/// The three tools of one primitive.
pub(super) const THREE: &str = "tools:
  search_call_documents:
    description: Search the documents of one call.
    primitive: knowledge/semantic_search
    arguments:
      call_id: { type: string, description: Id of the call }
      query: { type: string, description: Question in plain words }
    bind: { query: { argument: query }, filter.call: { argument: call_id }, filter.kind: { constant: call } }
    confers: [docs.search]
  search_body_acts:
    description: Search the acts of the user's own body.
    primitive: knowledge/semantic_search
    arguments: { query: { type: string } }
    bind: { query: { argument: query }, filter.tenant: { runtime: tenant_id } }
    confers: [docs.search]
  search_faq:
    description: Search the FAQ.
    primitive: knowledge/semantic_search
    arguments: { query: { type: string, description: Question in plain words } }
    bind: { query: { argument: query }, filter.doc_type: { constant: faq } }
    confers: [docs.search]
";

pub(super) fn policy(text: &str) -> (resolve::Policy, Vec<Diagnostic>) {
    let role = "---\ndescription: Reads.\ngrants: { docs.search: {}, repo.diff: {} }\n---\nYou read.\n";
    let scoped =
        "---\ndescription: Edits.\ngrants: { repo.edit: { paths: [\"docs/**\"] }, repo.read: {} }\n---\nYou edit.\n";
    let system = Memory::new()
        .with("shared-agent-rules/policy.yaml", text)
        .with("shared-agent-rules/roles/reader.md", role)
        .with("shared-agent-rules/roles/editor.md", scoped);
    let mut sink = Sink::new();
    let loaded = load::load(&system, Some("shared-agent-rules"), &mut sink);
    let policy = resolve::resolve(&loaded, &[], &mut sink);
    (policy, sink.iter().cloned().collect::<Vec<_>>())
}

pub(super) fn definitions() -> Definitions {
    let mut definitions = Definitions::default();
    definitions.add("knowledge", [search(), tabs()]);
    definitions
}

pub(super) fn exposed(text: &str, role: Option<&str>) -> (Exposure, Vec<Diagnostic>) {
    let (policy, found) = policy(text);
    assert!(found.is_empty(), "{found:#?}");
    let role = role.map(|id| policy.roles.iter().find(|r| r.id == id).unwrap());
    let mut sink = Sink::new();
    let exposure = expose(&asked(&policy, role), &definitions(), &mut sink);
    (exposure, sink.iter().cloned().collect::<Vec<_>>())
}

pub(super) fn tool<'a>(exposure: &'a Exposure, name: &str) -> &'a Exposed {
    exposure.tools.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("{name}: {:?}", exposure.withheld))
}

pub(super) fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

pub(super) fn runtime(name: &str) -> Result<String, String> {
    if name == "tenant_id" { Ok("acme".to_owned()) } else { Err("not set".to_owned()) }
}

/// What is sent for what a model sends.
fn sent(tool: &Exposed, given: Value) -> Result<Value, Refusal> {
    tool.plan.apply(arguments(given), &runtime).map(|call| Value::Object(call.arguments))
}

fn messages(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|d| format!("{}: {}", d.code.id(), d.message)).collect()
}

#[test]
fn three_tools_of_one_primitive_send_their_filters_and_show_only_their_arguments() {
    let (exposure, found) = exposed(&format!("{HEAD}{THREE}"), Some("reader"));
    assert!(found.is_empty(), "{found:#?}");
    let names: Vec<&str> = exposure.tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "read_artifact",
            "repo_diff",
            "repo_log",
            "repo_show",
            "search_body_acts",
            "search_call_documents",
            "search_faq"
        ]
    );
    let call = tool(&exposure, "search_call_documents");
    let got = sent(call, json!({ "query": "deadline", "call_id": "7" })).unwrap();
    assert_eq!(got, json!({ "query": "deadline", "filter": { "call": "7", "kind": "call" } }));
    let acts = tool(&exposure, "search_body_acts");
    assert_eq!(sent(acts, json!({ "query": "x" })).unwrap(), json!({ "query": "x", "filter": { "tenant": "acme" } }));
    let faq = tool(&exposure, "search_faq");
    assert_eq!(sent(faq, json!({ "query": "x" })).unwrap(), json!({ "query": "x", "filter": { "doc_type": "faq" } }));
    for name in ["search_body_acts", "search_faq"] {
        let shown = Value::Object(tool(&exposure, name).input_schema.clone());
        let text = shown.to_string();
        assert!(!text.contains("filter") && !text.contains("tenant") && !text.contains("\"faq\""), "{text}");
        assert_eq!((&shown["additionalProperties"], &shown["required"]), (&json!(false), &json!(["query"])));
        assert_eq!(shown["$schema"], "http://json-schema.org/draft-07/schema#");
    }
    assert_eq!(faq.input_schema["properties"]["query"]["minLength"], 1);
    assert_eq!(acts.input_schema["properties"]["query"]["description"], "What to look for.");
    assert_eq!(faq.hints, Hints { read_only: true, destructive: false, idempotent: true, open_world: true });
}

#[test]
fn each_of_the_three_tools_is_at_most_ten_lines() {
    let starts: Vec<usize> =
        THREE.lines().enumerate().filter(|(_, l)| l.ends_with(':') && l.starts_with("  s")).map(|(n, _)| n).collect();
    assert_eq!(starts.len(), 3);
    let ends = starts.iter().skip(1).copied().chain([THREE.lines().count()]);
    assert!(starts.iter().zip(ends).all(|(start, end)| end - start <= 10));
}

#[test]
fn a_missing_value_of_the_run_time_is_named_and_nothing_is_guessed() {
    let (exposure, _) = exposed(&format!("{HEAD}{THREE}"), None);
    let acts = tool(&exposure, "search_body_acts");
    let refused = acts.plan.apply(arguments(json!({ "query": "x" })), &|_| Err("not given".to_owned())).unwrap_err();
    assert!(refused.to_string().contains("`tenant_id` of the run time, which is missing: not given"), "{refused}");
}

#[test]
fn lists_constants_of_every_kind_defaults_and_enum_subsets_are_sent() {
    let (exposure, found) = exposed(
        &format!(
            "{HEAD}tools:
  s:
    description: d
    primitive: knowledge/semantic_search
    arguments:
      q: {{ type: string }}
      mode: {{ type: string, enum: [fast, exact], default: fast }}
      shape: {{ type: string, required: false }}
    bind:
      query: {{ argument: q }}
      mode: {{ argument: mode }}
      shape: {{ argument: shape }}
      filter.tags: {{ list: [{{ constant: public }}, {{ argument: q }}, {{ runtime: tenant_id }}] }}
      filter.years: {{ constant: [2025, 2026] }}
      filter.deep.draft: {{ constant: false }}
    confers: [docs.search]
"
        ),
        None,
    );
    assert!(found.is_empty(), "{found:#?}");
    let s = tool(&exposure, "s");
    let wanted = json!({
        "query": "x", "mode": "fast",
        "filter": { "tags": ["public", "x", "acme"], "years": [2025, 2026], "deep": { "draft": false } },
    });
    assert_eq!(sent(s, json!({ "q": "x" })).unwrap(), wanted);
    assert_eq!(sent(s, json!({ "q": "x", "mode": "exact", "shape": "abc" })).unwrap()["shape"], "abc");
    assert!(matches!(sent(s, json!({ "q": "x", "mode": "drop_index" })), Err(Refusal::Invalid(_))));
    assert!(matches!(sent(s, json!({ "q": "x", "shape": "abcd" })), Err(Refusal::Invalid(_))));
    assert_eq!(s.input_schema["properties"]["mode"]["enum"], json!(["fast", "exact"]));
    assert!(s.input_schema.get("definitions").is_none(), "{:?}", s.input_schema);
}

#[test]
fn a_constant_makes_a_wide_tool_honestly_narrow() {
    let narrow = "tools:
  tabs_list:
    description: List the tabs.
    primitive: knowledge/tabs
    bind: { action: { constant: list } }
    confers: [browser.inspect]
    hints: { read-only: true }
";
    let (exposure, found) = exposed(&format!("{HEAD}{narrow}"), None);
    assert!(found.is_empty(), "{found:#?}");
    let list = tool(&exposure, "tabs_list");
    assert_eq!(list.hints, Hints { read_only: true, destructive: false, idempotent: true, open_world: true });
    assert_eq!(sent(list, json!({})).unwrap(), json!({ "action": "list" }));
    assert!(matches!(sent(list, json!({ "action": "close" })), Err(Refusal::Unknown { .. })));
    let wide = tool(&exposure, "tabs");
    assert_eq!(wide.hints, Hints { read_only: false, destructive: true, idempotent: false, open_world: true });
    assert_eq!(
        sent(wide, json!({ "action": "close", "index": "2" })).unwrap(),
        json!({ "action": "close", "index": 2 })
    );
    assert!(matches!(sent(wide, json!({ "action": "close", "x": 1 })), Err(Refusal::Unknown { .. })));
}

#[test]
fn hints_of_a_server_raise_and_never_lower() {
    let claim = |bind: &str, confers: &str| {
        let tool = format!(
            "tools:\n  t:\n    description: d\n    primitive: knowledge/tabs\n    arguments: {{ a: {{ type: string }}, i: {{ type: number, required: false }} }}\n    bind: {{ action: {{ argument: a }}, {bind} }}\n    confers: [{confers}]\n    hints: {{ read-only: true }}\n"
        );
        messages(&exposed(&format!("{HEAD}{tool}"), None).1)
    };
    let all = claim("index: { argument: i }", "browser.inspect");
    assert_eq!(
        all,
        ["composed-tool: its server says that it is not read-only, and nothing of it is bound or left out"]
    );
    let changes = claim("index: { argument: i }", "browser.interact");
    assert_eq!(changes, ["composed-tool: it confers what changes something, and so it is not read-only"]);
}

#[test]
fn the_number_of_results_gets_the_budgets_target_and_its_limit() {
    let text = |arguments: &str, bind: &str| {
        format!(
            "{HEAD}tools:\n  s:\n    description: d\n    primitive: knowledge/semantic_search\n    arguments: {{ q: {{ type: string }}{arguments} }}\n    bind: {{ query: {{ argument: q }}{bind} }}\n    confers: [docs.search]\n    bounds: {{ limit-argument: limit, cursor-argument: cursor }}\n"
        )
    };
    let (hidden, found) = exposed(&text("", ""), None);
    assert!(found.is_empty(), "{found:#?}");
    let s = tool(&hidden, "s");
    assert_eq!(sent(s, json!({ "q": "x" })).unwrap(), json!({ "query": "x", "limit": 10 }));
    assert_eq!((s.bounds.entries, s.bounds.entries_limit, s.bounds.narrow.clone()), (Some(10), Some(40), None));
    let (shown, found) = exposed(
        &text(
            ", n: { type: integer, required: false, default: 10 }, c: { type: string, required: false }",
            ", limit: { argument: n }, cursor: { argument: c }",
        ),
        None,
    );
    assert!(found.is_empty(), "{found:#?}");
    let s = tool(&shown, "s");
    assert_eq!(
        sent(s, json!({ "q": "x", "n": 40, "c": "p2" })).unwrap(),
        json!({ "query": "x", "limit": 40, "cursor": "p2" })
    );
    assert!(matches!(sent(s, json!({ "q": "x", "n": 41 })), Err(Refusal::Invalid(_))));
    assert_eq!(s.plan.apply(arguments(json!({ "q": "x", "n": 3 })), &runtime).unwrap().entries, Some(3));
    assert_eq!((s.bounds.narrow.as_deref(), s.bounds.cursor.as_deref()), (Some("n"), Some("c")));
}

#[test]
fn what_a_primitive_does_not_allow_is_reported_where_it_is_written() {
    let one = |primitive: &str, arguments: &str, bind: &str| {
        let text = format!(
            "{HEAD}tools:\n  t:\n    description: d\n    primitive: {primitive}\n    arguments: {{ {arguments} }}\n    bind: {{ {bind} }}\n    confers: [docs.search]\n"
        );
        let (exposure, found) = exposed(&text, None);
        assert!(found.iter().all(|d| d.primary.is_some()), "{found:#?}");
        assert!(found.is_empty() != exposure.withheld.iter().any(|w| w.name == "t"));
        messages(&found)
    };
    let q = "q: { type: string }";
    let query = "query: { argument: q }";
    assert_eq!(
        one("knowledge/semantic_searc", q, query),
        ["composed-primitive: server `knowledge` has no tool `semantic_searc`"]
    );
    assert_eq!(
        one("knowledge/semantic_search", "", "mode: { constant: fast }"),
        ["composed-unbound: the parameter `query` of `knowledge/semantic_search` is required and bound to nothing"]
    );
    assert_eq!(
        one("knowledge/semantic_search", "q: { type: string, required: false }", query),
        [
            "composed-unbound: the parameter `query` of `knowledge/semantic_search` is required, and the argument it is bound to may be left out"
        ]
    );
    assert_eq!(
        one("knowledge/semantic_search", q, &format!("{query}, querry: {{ constant: x }}")),
        ["composed-binding: the primitive `knowledge/semantic_search` has no parameter `querry`"]
    );
    assert_eq!(
        one("knowledge/semantic_search", "q: { type: integer }", query),
        ["composed-argument: the primitive takes string here, not integer"]
    );
    assert_eq!(
        one(
            "knowledge/semantic_search",
            "q: { type: string }, m: { type: string, enum: [fast, slow] }",
            &format!("{query}, mode: {{ argument: m }}")
        ),
        ["composed-argument: the primitive does not take `slow`; it takes fast, exact, drop_index"]
    );
    assert_eq!(one("knowledge/semantic_search", q, &format!("{query}, mode: {{ constant: slow }}")).len(), 1);
    assert!(one("knowledge/semantic_search", q, query).is_empty());
}

#[test]
fn a_schema_that_cannot_be_taken_apart_is_refused() {
    let (policy, found) = policy(&format!("{HEAD}{THREE}"));
    assert!(found.is_empty());
    for (key, value) in [
        ("oneOf", json!([{ "required": ["a"] }])),
        ("$schema", json!("http://example.org/dialect")),
        ("type", json!(["object", "null"])),
        ("dependentRequired", json!({ "query": ["limit"] })),
    ] {
        let mut raw = search();
        raw["inputSchema"][key] = value;
        let mut definitions = Definitions::default();
        definitions.add("knowledge", [raw]);
        let mut sink = Sink::new();
        let exposure = expose(&asked(&policy, None), &definitions, &mut sink);
        assert!(!exposure.tools.iter().any(|t| t.name == "search_faq"), "{key}");
        assert!(
            messages(&sink.iter().cloned().collect::<Vec<_>>()).iter().all(|m| m.contains("cannot be narrowed")),
            "{key}"
        );
    }
    let mut raw = search();
    raw["inputSchema"]["properties"]["query"] = json!({ "$ref": "https://example.org/q.json" });
    let mut definitions = Definitions::default();
    definitions.add("knowledge", [raw]);
    let mut sink = Sink::new();
    assert!(!expose(&asked(&policy, None), &definitions, &mut sink).tools.iter().any(|t| t.name == "search_faq"));
}

#[test]
fn a_role_is_shown_what_its_grants_cover_and_nothing_else() {
    let names = |role| -> Vec<String> {
        exposed(&format!("{HEAD}{THREE}"), role).0.tools.into_iter().map(|t| t.name).collect()
    };
    assert!(names(Some("editor")).is_empty(), "{:?}", names(Some("editor")));
    assert!(names(None).contains(&"tabs".to_owned()) && !names(Some("reader")).contains(&"tabs".to_owned()));
    let dangerous = "  tabs_run:\n    description: d\n    primitive: knowledge/tabs\n    bind: { action: { constant: list } }\n    confers: [browser.script]\n";
    let (exposure, _) = exposed(&format!("{HEAD}{THREE}{dangerous}"), None);
    assert!(exposure.withheld.iter().any(|w| w.name == "tabs_run" && w.why.contains("dangerous")));
    let scoped = "  edit:\n    description: d\n    primitive: knowledge/tabs\n    bind: { action: { constant: list } }\n    confers: [repo.edit]\n";
    let (exposure, _) = exposed(&format!("{HEAD}{THREE}{scoped}"), Some("editor"));
    assert!(exposure.withheld.iter().any(|w| w.name == "edit" && w.why.contains("only within a scope")));
}

#[test]
fn nothing_is_shown_of_a_server_of_which_nothing_is_pinned() {
    let (policy, _) = policy(&format!("{HEAD}{THREE}"));
    let mut sink = Sink::new();
    let exposure = expose(&asked(&policy, None), &Definitions::default(), &mut sink);
    assert!(exposure.tools.iter().all(|t| matches!(t.origin, Origin::Own(_))));
    assert!(exposure.withheld.iter().all(|w| w.why.starts_with("nothing is pinned of server `knowledge`")));
    assert!(sink.iter().cloned().collect::<Vec<_>>().is_empty());
}

#[test]
fn tools_of_two_servers_with_one_name_are_told_apart() {
    let second = HEAD.replace(
        "runtime:",
        "  other:\n    command: x\n    via: gateway\n    tools: { tabs: { confers: [browser.interact] } }\nruntime:",
    );
    let (policy, found) = policy(&second);
    assert!(found.is_empty(), "{found:#?}");
    let mut definitions = definitions();
    definitions.add("other", [tabs()]);
    let exposure = expose(&asked(&policy, None), &definitions, &mut Sink::new());
    let names: Vec<&str> = exposure.tools.iter().map(|t| t.name.as_str()).filter(|n| n.contains("tabs")).collect();
    assert_eq!(names, ["knowledge_tabs", "other_tabs"]);
}

#[test]
fn a_part_by_risk_has_what_has_it_and_what_gives_answers_back() {
    let (policy, _) = policy(&format!("{HEAD}{THREE}"));
    let names = |risk| {
        let asked = Asked { policy: &policy, role: None, hosts: &[], risk: Some(risk) };
        let tools = expose(&asked, &definitions(), &mut Sink::new()).tools;
        tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(names(Risk::Restricted), ["read_artifact", "tabs"]);
    assert_eq!(names(Risk::Dangerous), ["read_artifact"]);
    let safe = names(Risk::Safe);
    assert!(safe.contains(&"search_faq".to_owned()) && safe.contains(&"read_artifact".to_owned()), "{safe:?}");
    assert!(!safe.contains(&"tabs".to_owned()), "{safe:?}");
}

#[test]
fn a_host_that_has_a_server_itself_is_not_shown_it_again() {
    let text = HEAD
        .replace("hosts: { claude-code: {} }", "hosts: { claude-code: {}, cursor: {} }")
        .replace("    via: gateway\n", "");
    let (policy, _) = policy(&text);
    let shown = |hosts: &[String]| {
        let asked = Asked { policy: &policy, role: None, hosts, risk: None };
        expose(&asked, &definitions(), &mut Sink::new()).tools.iter().any(|tool| tool.name == "tabs")
    };
    let host = |id: &str| [id.to_owned()];
    assert!(!shown(&host("claude-code")), "Claude Code is given the server itself");
    assert!(shown(&host("cursor")) && shown(&[]));
}
