//! A store against what it promises: above all, that a filter hides everything else completely.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Document, Loaded, Store, StoreFile, call};
use crate::primitives::Wanted;
use crate::primitives::embed::{Embedder, Program};

fn file(folder: &Path, name: &str) -> StoreFile {
    let path = folder.join(format!("{name}.sqlite"));
    StoreFile { path, name: name.to_owned(), embedder: Embedder::BuiltIn, results: (10, 50) }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn document(id: &str, text: &str, metadata: &Value) -> Document {
    Document { id: id.to_owned(), text: text.to_owned(), metadata: object(metadata) }
}

fn filled(folder: &Path, documents: &[Document]) -> Store {
    let mut store = Store::open_or_make(file(folder, "s"), &Wanted::default()).unwrap();
    store.put(documents, false).unwrap();
    store
}

fn ask(store: &mut Store, tool: &str, arguments: &Value) -> Value {
    call(store, tool, &object(arguments)).unwrap()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

const TEXTS: [&str; 6] = [
    "Regolamento per il rimborso delle spese di viaggio",
    "Il bando finanzia progetti di efficienza energetica",
    "Come si presenta la domanda di rimborso?",
    "Delibera sulla mensa scolastica",
    "Spese ammissibili del bando: personale e viaggi",
    "Orari della biblioteca",
];

fn some() -> Vec<Document> {
    let metadata = [
        json!({ "tenant": "a", "kind": "act", "year": 2024 }),
        json!({ "tenant": "a", "kind": "call", "call": { "id": "b1", "open": true } }),
        json!({ "tenant": "a", "kind": "faq", "tags": ["money", "travel"] }),
        json!({ "tenant": "b", "kind": "act", "year": 2024 }),
        json!({ "tenant": "b", "kind": "call", "call": { "id": "b2", "open": true } }),
        json!({ "tenant": "b", "kind": "faq", "tags": ["books"] }),
    ];
    let one = |(n, (text, metadata)): (usize, (&&str, &Value))| document(&format!("d{n}"), text, metadata);
    TEXTS.iter().zip(&metadata).enumerate().map(one).collect()
}

#[test]
fn words_and_their_forms_are_found_and_the_best_is_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let answer = ask(&mut store, "semantic_search", &json!({ "query": "rimborsi viaggio" }));
    assert_eq!(ids(&answer)[0], "d0", "{answer}");
    assert_eq!(answer["searched"], 6);
    let answer =
        ask(&mut store, "semantic_search", &json!({ "query": "rimborso", "filter": { "kind": "faq" }, "limit": 1 }));
    assert_eq!(ids(&answer), ["d2"]);
    assert!(answer["results"][0]["metadata"].get("kind").is_none(), "what was filtered by is not said: {answer}");
    assert_eq!(answer["results"][0]["metadata"]["tenant"], "a");
}

#[test]
fn filters_are_exact_nested_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let mut list = |filter: Value| {
        let answer = ask(&mut store, "metadata_filter", &json!({ "filter": filter }));
        ids(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(list(json!({ "year": 2024 })), ["d0", "d3"]);
    assert_eq!(list(json!({ "year": "2024" })), ["d0", "d3"], "a number equals its text");
    assert_eq!(list(json!({ "call": { "id": "b1", "open": true } })), ["d1"]);
    assert_eq!(list(json!({ "tags": "money" })), ["d2"], "any item of a list");
    assert_eq!(list(json!({ "tags": ["money", "books"], "tenant": "b" })), ["d5"]);
    assert_eq!(list(json!({ "tenant": "A" })), Vec::<String>::new(), "case counts");
    assert_eq!(list(json!({ "tenant": "a' or '1'='1" })), Vec::<String>::new());
}

#[test]
fn a_search_sees_what_others_wrote_since_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let ask_it = json!({ "query": "mensa scolastica" });
    let before = ask(&mut store, "semantic_search", &ask_it);
    assert_eq!(
        (ids(&before)[0], &ask(&mut store, "semantic_search", &ask_it)),
        ("d3", &before),
        "what is kept is the same"
    );
    let mut other = Store::open(file(folder.path(), "s"), &Wanted::default()).unwrap();
    other.put(&[document("d3", "Altro testo", &json!({})), document("d9", "Mensa", &json!({}))], false).unwrap();
    let after = ask(&mut store, "semantic_search", &ask_it);
    assert_eq!((ids(&after)[0], &after["searched"]), ("d9", &json!(7)));
    assert_eq!(after, ask(&mut other, "semantic_search", &ask_it));
    // Also what none of ours would do.
    let strange = rusqlite::Connection::open(folder.path().join("s.sqlite")).unwrap();
    strange.execute("update items set vector = zeroblob(2048) where id = 'd9'", []).unwrap();
    assert_eq!(ask(&mut store, "semantic_search", &ask_it)["results"][0]["similarity"], 0.0);
}

#[test]
fn lists_go_on_where_they_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let first = ask(&mut store, "metadata_filter", &json!({ "filter": { "tenant": "a" }, "limit": 2 }));
    assert_eq!((ids(&first), &first["next"], &first["matching"]), (vec!["d0", "d1"], &json!("d1"), &json!(3)));
    let rest = ask(&mut store, "metadata_filter", &json!({ "filter": { "tenant": "a" }, "limit": 2, "after": "d1" }));
    assert_eq!((ids(&rest), rest.get("next")), (vec!["d2"], None));
}

#[test]
fn metadata_tell_their_keys_and_values_within_a_filter() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let keys = ask(&mut store, "metadata_keys", &json!({ "filter": { "tenant": "b" } }));
    let named: Vec<&str> = keys["keys"].as_array().unwrap().iter().map(|k| k["key"].as_str().unwrap()).collect();
    assert_eq!(named, ["call.id", "call.open", "kind", "tags", "year"], "the key that is filtered by is not told");
    let values = ask(&mut store, "metadata_keys", &json!({ "key": "call.id", "filter": { "tenant": "b" } }));
    assert_eq!(values["values"], json!([{ "value": "b2", "documents": 1 }]));
    let bound = ask(&mut store, "metadata_keys", &json!({ "key": "tenant", "filter": { "tenant": "b" } }));
    assert_eq!(bound["values"], json!([]));
}

#[test]
fn a_conversation_is_its_owners_and_keeps_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    for (owner, text) in [("ann", "the code is blue"), ("bob", "the code is red"), ("ann", "we meet on Monday")] {
        ask(&mut store, "memory_add", &json!({ "conversation": "c", "owner": owner, "text": text }));
    }
    let last = ask(&mut store, "memory_add", &json!({ "conversation": "c", "text": "nobody's", "speaker": "tool" }));
    assert_eq!(last, json!({ "turn": 1 }), "places are counted for each owner");
    let list = ask(&mut store, "memory_list", &json!({ "conversation": "c", "owner": "ann", "limit": 1 }));
    let monday = json!({ "turn": 2, "speaker": "user", "text": "we meet on Monday" });
    assert_eq!(list, json!({ "turns": [monday], "earlier": 2 }));
    let before = ask(&mut store, "memory_list", &json!({ "conversation": "c", "owner": "ann", "before": 2 }));
    assert_eq!(before["turns"][0]["text"], "the code is blue");
    let found = ask(&mut store, "memory_search", &json!({ "conversation": "c", "owner": "ann", "query": "code red" }));
    assert!(!found.to_string().contains("red"), "{found}");
    assert_eq!(found["results"][0]["text"], "the code is blue");
    let nobody = ask(&mut store, "memory_list", &json!({ "conversation": "c" }));
    assert_eq!(nobody["turns"].as_array().unwrap().len(), 1);
    let documents = ask(&mut store, "semantic_search", &json!({ "query": "code blue Monday" }));
    assert_eq!(documents["searched"], 6, "turns are no documents");
}

#[test]
fn a_load_replaces_removes_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    let new = [document("d0", "Nuovo testo", &json!({})), document("d9", "Altro", &json!({}))];
    assert_eq!(store.put(&new, false).unwrap(), Loaded { added: 1, replaced: 1, removed: 0 });
    assert!(
        !ids(&ask(&mut store, "semantic_search", &json!({ "query": "regolamento rimborso spese" }))).contains(&"d0")
    );
    let bad = [document("d9", "x", &json!({})), document("d8", "x", &json!({ "a.b": 1 }))];
    assert!(store.put(&bad, true).unwrap_err().contains("`d8`"));
    assert_eq!(ask(&mut store, "semantic_search", &json!({ "query": "altro" }))["searched"], 7);
    assert_eq!(store.put(&new, true).unwrap(), Loaded { added: 0, replaced: 2, removed: 5 });
    assert_eq!(ids(&ask(&mut store, "semantic_search", &json!({ "query": "nuovo" }))), ["d0"]);
    drop(store);
    let mut again = Store::open(file(folder.path(), "s"), &Wanted::default()).unwrap();
    assert_eq!(ask(&mut again, "semantic_search", &json!({ "query": "altro" }))["searched"], 2);
}

#[test]
fn no_query_is_read_as_a_language() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = filled(folder.path(), &some());
    for query in [
        "\"",
        "'",
        "*",
        "rimborso*",
        "rimborso OR mensa",
        "NEAR(bando spese)",
        "text:mensa",
        "-mensa",
        "^mensa",
        "(",
        ")",
        "a AND",
        "NOT",
        "'; drop table items; --",
        "\0",
        "%",
        "😀",
        "{x y}: z",
        "+ - \\",
    ] {
        let answer =
            call(&mut store, "semantic_search", &object(&json!({ "query": query, "filter": { "tenant": "a" } })));
        let answer = answer.unwrap_or_else(|why| panic!("{query}: {why}"));
        assert_eq!(answer["searched"], 3, "{query}");
        assert!(ids(&answer).iter().all(|id| ["d0", "d1", "d2"].contains(id)), "{query}: {answer}");
    }
    let or = ask(&mut store, "semantic_search", &json!({ "query": "text NEAR OR AND NOT", "limit": 1 }));
    assert!(or["results"].is_array());
}

#[test]
fn a_store_of_another_embedder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), &some()));
    let other = |script: &str, name: &str| {
        let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        Embedder::Program(Box::new(Program::new(name, words, Vec::new(), folder.path().to_owned())))
    };
    let open = |store: &str, embedder| {
        Store::open_or_make(StoreFile { embedder, ..file(folder.path(), store) }, &Wanted::default())
    };
    let said = open("s", other("exit", "m")).err().unwrap();
    assert!(
        said.contains("made with the embedder `built-in:words-and-forms-1`") && said.contains("`program:m`"),
        "{said}"
    );
    if !cfg!(unix) {
        return;
    }
    let answering = |vector: &str| format!("while read -r l; do echo '{{\"vectors\":[{vector}]}}'; done");
    let mut made = open("t", other(&answering("[1,0,0]"), "m")).unwrap();
    made.put(&[document("a", "x", &json!({}))], false).unwrap();
    drop(made);
    let search = |embedder| {
        let mut store = open("t", embedder).unwrap();
        call(&mut store, "semantic_search", &object(&json!({ "query": "x" })))
    };
    assert!(search(other(&answering("[1,0,0]"), "m")).is_ok());
    assert!(search(other(&answering("[1,0]"), "m")).unwrap_err().contains("2 numbers"));
    assert!(search(other(&answering("[0,1,0]"), "m")).unwrap_err().contains("not the one that made it"));
}

#[test]
fn what_is_no_store_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(file(folder.path(), "s"), &Wanted::default()).err().unwrap();
    assert!(open().contains("is not there"));
    std::fs::write(folder.path().join("s.sqlite"), "").unwrap();
    assert!(open().contains("is empty"));
    std::fs::write(folder.path().join("s.sqlite"), "x".repeat(5000)).unwrap();
    assert!(open().contains("is no store"));
    let other = rusqlite::Connection::open(folder.path().join("o.sqlite")).unwrap();
    other.execute_batch("create table t (a)").unwrap();
    assert!(Store::open(file(folder.path(), "o"), &Wanted::default()).err().unwrap().contains("not one of ours"));
}

fn arbitrary() -> impl Strategy<Value = Vec<Document>> {
    let word = prop::sample::select(vec!["bando", "spese", "viaggio", "rimborso", "mensa", "regolamenti", "è", "42"]);
    let text = prop::collection::vec(word, 1..12).prop_map(|words| words.join(" "));
    let tenant = prop::sample::select(vec![
        json!("a"),
        json!("b"),
        json!(["a", "b"]),
        json!("A"),
        json!("a "),
        json!({ "a": "a" }),
    ]);
    let row = (text, tenant, prop::bool::ANY);
    prop::collection::vec(row, 1..24).prop_map(|rows| {
        let one = |(n, (text, tenant, faq)): (usize, (String, Value, bool))| {
            let metadata = json!({ "filter": { "tenant": tenant }, "kind": if faq { "faq" } else { "act" } });
            document(&format!("d{n:02}"), &text, &metadata)
        };
        rows.into_iter().enumerate().map(one).collect()
    })
}

/// The rows of tenant `a`, by another way than the store's.
fn mine(document: &Document) -> bool {
    let tenant = &document.metadata["filter"]["tenant"];
    *tenant == "a" || tenant.as_array().is_some_and(|all| all.contains(&json!("a")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// With a filter, every answer, to its scores, is what a store with nothing else in it gives: there is nothing of
    /// the others to be seen, not even by how often they say a word.
    #[test]
    fn a_filter_hides_all_else_completely(
        documents in arbitrary(),
        query in "(bando|spese|viaggi|rimborso|mensa|NEAR|\\*| |\"|OR|42){1,6}",
        limit in 1_u64..30,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let own: Vec<Document> = documents.iter().filter(|d| mine(d)).cloned().collect();
        let mut whole = filled(folder.path(), &documents);
        let mut alone = Store::open_or_make(file(folder.path(), "alone"), &Wanted::default()).unwrap();
        alone.put(&own, false).unwrap();
        let filter = json!({ "filter": { "tenant": "a" } });
        // What was read for others is of no consequence, nor is how few are wanted.
        let all = ask(&mut whole, "semantic_search", &json!({ "query": query, "limit": 50 }));
        let few = ask(&mut whole, "semantic_search", &json!({ "query": query, "limit": limit }));
        let most = usize::try_from(limit).unwrap().min(ids(&all).len());
        prop_assert_eq!(&ids(&few)[..], &ids(&all)[..most]);
        for (tool, arguments) in [
            ("semantic_search", json!({ "query": query, "limit": limit, "filter": filter })),
            ("metadata_filter", json!({ "limit": limit, "filter": filter })),
            ("metadata_keys", json!({ "limit": limit, "filter": filter })),
            ("metadata_keys", json!({ "key": "kind", "filter": filter })),
            ("metadata_keys", json!({ "key": "filter.tenant", "filter": filter })),
        ] {
            let with_others = ask(&mut whole, tool, &arguments);
            prop_assert_eq!(&with_others, &ask(&mut alone, tool, &arguments), "{}", tool);
            for row in with_others["results"].as_array().into_iter().flatten() {
                let id = row["id"].as_str().unwrap();
                prop_assert!(own.iter().any(|d| d.id == id), "{} is another's", id);
                prop_assert!(row["metadata"].get("filter").is_none(), "the bound value shows: {}", row);
            }
        }
    }
}
