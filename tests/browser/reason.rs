//! The specialist says why it is needed before anything else, once a session, and the record has it.

use serde_json::json;

use super::place::Place;

fn reason() -> serde_json::Value {
    json!({ "escalation_reason": "tracing", "escalation_note": "A trace of the failure is wanted." })
}

#[test]
fn the_first_call_of_a_session_says_why_and_the_record_has_it() {
    let Some(place) = Place::pinned() else { return };
    let before = place.sent();
    let mut gateway = place.serve(Some("tester"));
    for arguments in [
        json!({}),
        json!({ "escalation_reason": "tracing" }),
        json!({ "escalation_note": "It is wanted." }),
        json!({ "escalation_reason": "tracing", "escalation_note": "  " }),
        json!({ "escalation_reason": "habit", "escalation_note": "It is wanted." }),
    ] {
        let answer = gateway.call("browser_inspect_tabs", arguments);
        assert!(answer.failed && answer.text.contains("escalation_reason"), "{}", answer.text);
    }
    let refused = gateway.call("browser_inspect_tabs", json!({})).text;
    for need in ["deterministic-automation", "storage-state", "network-body", "cdp", "legacy-iframe", "no-host-browser"]
    {
        assert!(refused.contains(need), "{refused}");
    }
    assert_eq!(place.sent(), before, "the server was not even started");
    gateway.good("browser_inspect_tabs", reason());
    gateway.good("browser_inspect_tabs", json!({}));
    gateway.good("browser_inspect_page", json!({}));
    let sent = place.sent();
    assert!(sent.contains("browser_snapshot") && !sent.contains("escalation") && !sent.contains("trace of"), "{sent}");
    let record = place.record();
    let reasons: Vec<_> = record.iter().filter_map(|line| line.get("reason")).collect();
    assert_eq!(reasons, [&json!({ "need": "tracing", "note": "A trace of the failure is wanted." })]);
    assert_eq!(record.iter().filter(|line| line["outcome"] == "refused").count(), 6);
}

#[test]
fn each_session_says_it_for_itself_and_two_first_calls_do_not_help_each_other() {
    let Some(place) = Place::pinned() else { return };
    let mut one = place.serve(Some("tester"));
    let bare = || ("browser_inspect_tabs", json!({}));
    let both = one.at_once(&[bare(), bare()]);
    assert!(both.iter().all(|answer| answer.failed), "{both:?}");
    let both = one.at_once(&[("browser_inspect_tabs", reason()), ("browser_inspect_page", reason())]);
    assert!(both.iter().all(|answer| !answer.failed), "{both:?}");
    let mut other = place.serve(Some("tester"));
    assert!(other.call("browser_inspect_tabs", json!({})).failed, "another session has said nothing");
    assert!(!one.call("browser_inspect_tabs", json!({})).failed);
}
