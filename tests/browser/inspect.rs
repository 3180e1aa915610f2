//! Looking: nothing else is offered, nothing else is possible, nothing changes, and lists are short.

use serde_json::json;

use super::place::Place;
use super::web;

const LOOKING: &[&str] = &[
    "browser_inspect_console",
    "browser_inspect_find",
    "browser_inspect_page",
    "browser_inspect_request",
    "browser_inspect_requests",
    "browser_inspect_tabs",
    "browser_wait_for",
    "read_artifact",
];

#[test]
fn who_may_only_look_is_offered_nothing_else_and_reaches_nothing_else() {
    let Some(place) = Place::pinned() else { return };
    let all: Vec<String> = place.serve(Some("writer")).tools().into_iter().map(|(name, _)| name).collect();
    let mut gateway = place.serve(Some("looker"));
    let tools = gateway.tools();
    assert_eq!(tools.keys().collect::<Vec<_>>(), LOOKING);
    for (name, tool) in &tools {
        let hints = &tool["annotations"];
        assert_eq!((&hints["readOnlyHint"], &hints["destructiveHint"]), (&json!(true), &json!(false)), "{name}");
        assert!(tool["inputSchema"]["properties"].get("filename").is_none(), "{name}");
    }
    let reason = json!({ "escalation_reason": "network-body", "escalation_note": "Only this one reads bodies." });
    assert!(!gateway.call("browser_inspect_tabs", reason).failed);
    let before = place.sent();
    let forged = all.iter().map(String::as_str).filter(|name| !LOOKING.contains(name));
    let mut tried = 0;
    for name in forged.chain(["browser_evaluate", "browser_run_code_unsafe", "playwright/browser_click"]) {
        let answer = gateway.call(name, json!({ "url": "about:blank", "target": "body", "scale": "css" }));
        assert!(answer.failed && answer.text.contains("there is no tool"), "{name}: {}", answer.written);
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
    for (name, arguments) in [
        ("browser_inspect_page", json!({ "filename": "x.yml" })),
        ("browser_inspect_console", json!({ "filename": "x.log" })),
        ("browser_inspect_requests", json!({ "filename": "x.log" })),
        ("browser_inspect_tabs", json!({ "action": "new" })),
        ("browser_inspect_tabs", json!({ "index": 0 })),
    ] {
        let answer = gateway.call(name, arguments);
        assert!(answer.failed && answer.text.contains("unknown argument"), "{name}: {}", answer.written);
    }
    assert_eq!(place.sent(), before, "the server saw none of it");
}

#[test]
fn looking_changes_no_file_of_the_working_folder() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(None));
    gateway.open(&format!("{pages}/busy"));
    gateway.good("browser_wait_for", json!({ "text": "done" }));
    let (before, seen) = (place.files(), place.untracked());
    for (name, arguments) in [
        ("browser_inspect_page", json!({})),
        ("browser_inspect_page", json!({ "target": "h1", "depth": 2 })),
        ("browser_inspect_find", json!({ "text": "Busy" })),
        ("browser_inspect_console", json!({ "level": "debug", "all": true })),
        ("browser_inspect_requests", json!({ "static": true })),
        ("browser_inspect_request", json!({ "index": 1 })),
        ("browser_inspect_tabs", json!({})),
        ("browser_wait_for", json!({ "time": 0.1 })),
    ] {
        let answer = gateway.good(name, arguments);
        assert!(!answer.text.is_empty(), "{name}");
    }
    assert!(place.files() == before);
    assert_eq!(place.untracked(), seen);
}

#[test]
fn logs_are_cut_by_entries_and_bodies_are_kept() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("tester")));
    gateway.open(&format!("{pages}/busy"));
    gateway.good("browser_wait_for", json!({ "text": "done" }));
    let whole = |answer: &super::gateway::Answer| {
        std::fs::read_to_string(place.root().join(answer.artifact()["path"].as_str().unwrap())).unwrap()
    };
    let console = gateway.good("browser_inspect_console", json!({ "level": "info" }));
    let shown = console.text.matches("entry ").count();
    assert!(shown > 10 && shown <= 20 && console.text.contains("[truncated: 20 of"), "{}", console.text);
    assert_eq!(whole(&console).matches("entry ").count(), 200);
    let requests = gateway.good("browser_inspect_requests", json!({}));
    let shown = requests.text.matches("[GET]").count();
    assert!(shown > 10 && shown <= 20, "{}", requests.text);
    assert_eq!(whole(&requests).matches("/data/").count(), 60);
    let one = gateway.good("browser_inspect_requests", json!({ "filter": "/data/59$" }));
    assert!(one.text.matches("[GET]").count() == 1 && one.notes.is_null(), "a filter needs no cut: {}", one.text);
    let first = gateway.good("browser_inspect_requests", json!({ "filter": "/data/0$" }));
    let number = first.text.lines().find_map(|line| line.split_once(". [GET]")?.0.parse::<u64>().ok()).unwrap();
    let body = gateway.good("browser_inspect_request", json!({ "index": number, "part": "response-body" }));
    assert!(body.notes["truncated"] == true && body.written.len() < 16 << 10, "{}", body.written.len());
    assert!(whole(&body).contains("11998, 11999]"), "the whole body is there");
}
