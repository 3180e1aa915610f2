//! A model that tries to reach the rows of another organisation, over a real store.

use serde_json::json;

use super::support::{Repo, answer};

/// What only rows of another organisation have in them.
const FOREIGN: [&str; 3] = ["RISERVATO", "milano", "MILANO"];

/// Parameters of calls, exactly as they are sent.
const TRICKS: &[&str] = &[
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter.ente":"comune-milano"}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter":{"ente":["comune-roma","comune-milano"]}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter":{}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter":null}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","organisation":"comune-milano"}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","ente":"comune-milano"}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","runtime":{"organisation":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","limit":500}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","fіlter":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter\u200b":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","\u0066ilter":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","FILTER":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":{"query":"RX","filter":{"ente":"comune-milano"}}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":["RX"]}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"{\"query\":\"RX\",\"filter\":{\"ente\":\"comune-milano\"}}"}}"#,
    r#"{"name":"cerca_atti_ente","arguments":"{\"query\":\"RX\",\"filter\":{\"ente\":\"comune-milano\"}}"}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX"},"_meta":{"filter":{"ente":"comune-milano"},"organisation":"comune-milano"}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","_meta":{"filter":{"ente":"comune-milano"}}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","__proto__":{"filter":{"ente":"comune-milano"}}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","constructor":{"prototype":{"ente":"comune-milano"}}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","filter":{"ente":"comune-milano"},"filter":{}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX"},"arguments":{"query":"RX","filter":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_atti_ente","arguments":{"query":"RX","query":"milano"}}"#,
    r#"{"name":"semantic_search","arguments":{"query":"RX"}}"#,
    r#"{"name":"knowledge/semantic_search","arguments":{"query":"RX"}}"#,
    r#"{"name":"knowledge_semantic_search","arguments":{"query":"RX"}}"#,
    r#"{"name":"metadata_filter","arguments":{"filter":{"ente":"comune-milano"}}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":["B-2026-01"],"query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":{"ente":"comune-milano"},"query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":{},"query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":"*","query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":"","query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":"B-2026-01' or '1'='1","query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":"B-2026-01\") or (\"1\"=\"1","query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"bando_id":null,"query":"RX"}}"#,
    r#"{"name":"cerca_documenti_bando","arguments":{"query":"RX"}}"#,
];

/// Queries that mean something to SQL or to a full-text index.
const QUERIES: &[&str] = &[
    "RISERVATO",
    "\"RISERVATO\"",
    "RISERVATO*",
    "spese OR RISERVATO",
    "NEAR(spese RISERVATO, 10)",
    "text:RISERVATO",
    "-roma",
    "^RISERVATO",
    "\" OR 1=1 --",
    "') union select text from items --",
    "*",
    "\"",
    "'",
    "%",
    "_",
    "{text}: milano",
    "spese NOT roma",
    "(spese",
    "milano/atto-77",
    "comune-milano",
    "ente:comune-milano",
    "\\",
    "piano riservato del personale",
    "incarico legale",
];

#[test]
fn no_trick_reaches_a_row_of_another_organisation() {
    let repo = Repo::filled();
    let mut host = repo.roman();
    let mut successes = 0;
    let mut answered = 0;
    for trick in TRICKS {
        let message = host.raw("tools/call", &trick.replace("RX", "RISERVATO rimborsi incarico legale"));
        // What is no message to a reader is answered with an error of the protocol.
        if message.get("error").is_none() && !answer(&message).0 {
            answered += 1;
        }
        let text = message["result"].to_string();
        // A refusal may repeat the names of arguments, which the model wrote itself; never a row.
        if text.contains("RISERVATO-MILANO") || text.contains("milano/") {
            eprintln!("{trick}\n{message}");
            successes += 1;
        }
    }
    for query in QUERIES {
        for name in ["cerca_atti_ente", "cerca_faq"] {
            let (failed, text) = host.call(name, &json!({ "query": query }));
            assert!(!failed, "{query}: {text}");
            if FOREIGN.iter().any(|word| text.contains(word)) {
                eprintln!("{name} {query}: {text}");
                successes += 1;
            }
        }
    }
    assert_eq!(successes, 0);
    assert!((4..20).contains(&answered), "{answered} of the tricks are calls that are answered");
    // The rows are there to be reached.
    let mut other = repo.serve(&["--runtime", "organisation=comune-milano"]);
    assert!(other.call("cerca_atti_ente", &json!({ "query": "RISERVATO" })).1.contains("RISERVATO-MILANO"));
}

#[test]
fn no_value_of_the_run_time_is_more_than_a_value() {
    let repo = Repo::filled();
    for value in [
        "*",
        "%",
        "comune-roma' or '1'='1",
        "[\"comune-roma\",\"comune-milano\"]",
        "{\"$ne\":\"x\"}",
        "COMUNE-ROMA",
        "comune-roma ",
    ] {
        let mut host = repo.serve(&["--runtime", &format!("organisation={value}")]);
        let ids = host.ids("cerca_atti_ente", &json!({ "query": "spese" }));
        assert!(ids.is_empty(), "{value}: {ids:?}");
    }
}
