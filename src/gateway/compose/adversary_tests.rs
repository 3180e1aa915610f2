//! A model that wants to see or change what is bound. Nothing it sends may reach a bound value.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::tests::{HEAD, THREE, arguments, exposed, runtime, tool};
use super::*;

/// The tools under attack, made once.
static TOOLS: LazyLock<Exposure> = LazyLock::new(|| exposed(&format!("{HEAD}{THREE}"), Some("reader")).0);

/// What the server is sent, or nothing.
fn attack(name: &str, given: Map<String, Value>) -> Option<Map<String, Value>> {
    tool(&TOOLS, name).plan.apply(given, &runtime).ok().map(|call| call.arguments)
}

/// Whether the bound values are what the policy says, and nothing else is sent.
fn held(name: &str, sent: &Map<String, Value>) -> bool {
    let filter = match name {
        "search_body_acts" => json!({ "tenant": "acme" }),
        _ => json!({ "doc_type": "faq" }),
    };
    sent.len() == 2 && sent.contains_key("query") && sent["query"].is_string() && sent["filter"] == filter
}

#[test]
fn every_known_trick_is_refused_or_without_effect() {
    let tricks = [
        r#"{"query":"x","filter":{"tenant":"evil"}}"#,
        r#"{"query":"x","filter":null}"#,
        r#"{"query":"x","filter.tenant":"evil"}"#,
        r#"{"query":"x","filter[tenant]":"evil"}"#,
        r#"{"query":"x","tenant":"evil"}"#,
        r#"{"query":"x","tenant_id":"evil"}"#,
        r#"{"query":"x","doc_type":"evil"}"#,
        r#"{"query":"x","limit":100000}"#,
        r#"{"query":"x","mode":"drop_index"}"#,
        r#"{"query":{"filter":{"tenant":"evil"}}}"#,
        r#"{"query":["x",{"filter":1}]}"#,
        r#"{"query":"{\"query\":\"x\",\"filter\":{\"tenant\":\"evil\"}}"}"#,
        r#"{"query":"x\",\"filter\":{\"tenant\":\"evil\"},\"y\":\""}"#,
        r#"{"query":"a","query":"b","filter":{"tenant":"evil"}}"#,
        r#"{"filter":{"tenant":"evil"},"query":"x","filter":{}}"#,
        r#"{"query":"x","ﬁlter":{"tenant":"evil"}}"#,
        r#"{"query":"x","fіlter":{"tenant":"evil"}}"#,
        "{\"query\":\"x\",\"filter\u{200B}\":{\"tenant\":\"evil\"}}",
        r#"{"query":"x"," filter":{"tenant":"evil"}}"#,
        r#"{"query":"x","filter ":{"tenant":"evil"}}"#,
        r#"{"query":"x","FILTER":{"tenant":"evil"}}"#,
        r#"{"query":"x","\u0066ilter":{"tenant":"evil"}}"#,
        r#"{"query":"x","filter\u0000":{"tenant":"evil"}}"#,
        r#"{"query":"x","_meta":{"filter":{"tenant":"evil"}}}"#,
        r#"{"query":"x","__proto__":{"filter":{"tenant":"evil"}}}"#,
        r#"{"query":"x","constructor":{"prototype":{"tenant":"evil"}}}"#,
        r#"{"query":"x","arguments":{"filter":{"tenant":"evil"}}}"#,
        r#"{"query":"x","":1}"#,
        r##"{"query":"x","$ref":"#/x"}"##,
        r#"{"query":"x","delivery":"inline"}"#,
        r#"{}"#,
    ];
    let mut sent = 0;
    for name in ["search_body_acts", "search_faq"] {
        for trick in tricks {
            let given: Value = serde_json::from_str(trick).unwrap_or_else(|e| panic!("{trick}: {e}"));
            if let Some(got) = attack(name, arguments(given)) {
                sent += 1;
                assert!(held(name, &got), "{trick}: {got:?}");
            }
        }
    }
    // The tricks that only put something strange into the argument itself.
    assert_eq!(sent, 4);
}

#[test]
fn a_refusal_tells_what_is_taken_and_nothing_of_what_is_bound() {
    let (exposure, _) = exposed(&format!("{HEAD}{THREE}"), Some("reader"));
    for given in [json!({ "query": "x", "filter": {} }), json!({ "query": "x", "nonsense": {} }), json!({ "query": 5 })]
    {
        let refused = tool(&exposure, "search_body_acts").plan.apply(arguments(given.clone()), &runtime).unwrap_err();
        let text = refused.to_string();
        assert!(!text.contains("acme") && !text.contains("tenant"), "{text}");
        assert!(!text.contains("filter") || given.get("filter").is_some(), "{text}");
    }
    let of =
        |given: Value| tool(&exposure, "search_faq").plan.apply(arguments(given), &runtime).unwrap_err().to_string();
    let (bound, other) = (of(json!({ "query": "x", "filter": 1 })), of(json!({ "query": "x", "folder": 1 })));
    assert_eq!(bound.replace("filter", "folder"), other, "a bound name is refused like any other");
}

#[test]
fn a_bound_value_that_the_server_would_not_take_is_not_told() {
    let (exposure, _) = exposed(
        &format!(
            "{HEAD}tools:\n  t:\n    description: d\n    primitive: knowledge/semantic_search\n    arguments: {{ q: {{ type: string }} }}\n    bind: {{ query: {{ argument: q }}, limit: {{ runtime: tenant_id }} }}\n    confers: [docs.search]\n"
        ),
        None,
    );
    let refused = tool(&exposure, "t").plan.apply(arguments(json!({ "q": "x" })), &runtime).unwrap_err();
    assert!(matches!(refused, Refusal::Upstream(_)) && !refused.to_string().contains("acme"), "{refused}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("evil")),
    ];
    let name =
        prop_oneof!["(query|filter|tenant|doc_type|limit|mode|shape|__proto__|_meta|filter\\.tenant)", ".{0,8}",];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_arguments_at_all_reach_a_bound_value(
        fields in prop::collection::vec((prop_oneof!["(query|filter|tenant|limit)", ".{0,6}"], any_json()), 0..5),
        query in prop::option::of(".{1,9}"),
    ) {
        let mut given: Map<String, Value> = fields.into_iter().collect();
        if let Some(query) = query {
            given.insert("query".to_owned(), json!(query));
        }
        for name in ["search_body_acts", "search_faq"] {
            if let Some(sent) = attack(name, given.clone()) {
                prop_assert!(held(name, &sent), "{sent:?}");
            }
        }
    }
}
