//! From a probe over records to what was seen, without any program.

use serde_json::Value;

use crate::diag::Sink;
use crate::load::load;
use crate::model::adapter::Adapter;
use crate::system::memory::Memory;
use crate::verify::model::{Answer, Call, Input};
use crate::verify::probe::{ROLE, Subject, UNTOUCHED, probe};

use super::*;

fn adapter(id: &str) -> Adapter {
    load(&Memory::new(), None, &mut Sink::new()).adapters.swap_remove(id).unwrap()
}

fn subject(main: bool) -> Subject {
    Subject {
        name: "some_role".into(),
        file: "roles/some_role.toml".into(),
        text: "name".into(),
        main,
        scopes: indexmap::IndexMap::new(),
        kept: vec![("AGENTS.md".into(), "A line.\n".into())],
        touched: vec!["docs/x.md".into()],
        over: None,
    }
}

fn recorded(adapter: &Adapter, rule: &str, tools: &[&str], results: &[String]) -> Recorded {
    let digest = Digest {
        tools: tools.iter().map(|t| (*t).to_owned()).collect(),
        users: vec![rule.to_owned()],
        results: results.to_vec(),
        ..Digest::default()
    };
    let answer = Answer { rule: Some(rule.to_owned()), ..Answer::default() };
    let wire = Wire::Answer(adapter.verify.as_ref().unwrap().protocol);
    Recorded { wire, path: String::new(), stray: None, headers: vec![], bytes: 7, digest, body: Value::Null, answer }
}

/// The calls of a rule's script, in order.
fn calls(probe: &Probe, rule: &str) -> Vec<Call> {
    let rule = probe.script.rules.iter().find(|r| r.name == rule).unwrap();
    rule.steps.iter().flat_map(|s| s.calls.clone()).collect()
}

#[test]
fn each_try_is_answered_by_the_result_of_its_own_call() {
    for id in ["claude-code", "codex", "copilot", "gemini-cli", "opencode", "qwen-code"] {
        let adapter = adapter(id);
        let driver = adapter.verify.as_ref().unwrap();
        let probe = probe(&adapter, driver, &subject(false), "/root", "http://model");
        let calls = calls(&probe, ROLE);
        assert_eq!(probe.tries.len(), driver.attempts.len());
        for tried in &probe.tries {
            let tool = &driver.attempts[tried.attempt].call.tool;
            let call = &calls[tried.result];
            let inside = matches!(&call.input, Input::Text(script) if script.contains(&format!("tools.{tool}(")));
            assert!(call.name == *tool || inside, "{id}: {tool} is answered by {call:?}");
        }
        let text = format!("{calls:?}");
        for placeholder in [
            "{root}", "{new}", "{old}", "{own}", "{kept}", "{line}", "{probe}", "{spawn}", "{tool}", "{args}", "{name}",
        ] {
            assert!(!text.contains(placeholder), "{id}: {placeholder} in {text}");
        }
    }
}

#[test]
fn the_parent_of_a_child_with_its_history_is_not_taken_for_the_role() {
    let adapter = adapter("codex");
    let probe = probe(&adapter, adapter.verify.as_ref().unwrap(), &subject(false), "/root", "http://model");
    let forked = Digest { tools: vec!["exec".into()], users: vec![MAIN.into(), ROLE.into()], ..Digest::default() };
    assert_eq!(probe.script.answer(&forked, "").rule.as_deref(), Some(MAIN));
}

#[test]
fn tools_inside_another_one_are_offered_and_a_try_without_its_result_is_not_answered() {
    let adapter = adapter("codex");
    let driver = adapter.verify.as_ref().unwrap();
    let probe = probe(&adapter, driver, &subject(false), "/root", "http://model");
    let dir = tempfile::tempdir().unwrap();
    for file in &probe.files {
        std::fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(file), UNTOUCHED).unwrap();
    }
    std::fs::create_dir_all(dir.path().join("roles")).unwrap();
    std::fs::write(dir.path().join("roles/some_role.toml"), "name").unwrap();
    std::fs::write(dir.path().join("AGENTS.md"), "A line.\n").unwrap();
    let listed = "Script completed\nWall time 0.1 seconds\nOutput:\n\napply_patch\nclock__curr_time".to_owned();
    let results = [listed, "ERR tools.exec_command is not a function".to_owned()];
    let records = [
        recorded(&adapter, ROLE, &["exec", "wait"], &results[..1]),
        recorded(&adapter, ROLE, &["exec", "wait"], &results),
        recorded(&adapter, ROLE, &["exec", "wait"], &[]),
    ];
    let seen = observe(driver, &probe, &records, dir.path());
    assert_eq!(seen.offered, ["exec", "wait", "apply_patch", "clock.curr_time"]);
    assert!(seen.tried[0].refused && !seen.tried[0].effect);
    assert!(seen.tried[1..].iter().all(|t| t.answer.is_none() && !t.effect), "{:?}", seen.tried);
    std::fs::remove_file(dir.path().join(&probe.files[0])).unwrap();
    let seen = observe(driver, &probe, &records, dir.path());
    assert_eq!(seen.tried.iter().filter(|t| t.effect).count(), 1);
}

#[test]
fn a_role_that_is_the_main_agent_has_no_parent() {
    let adapter = adapter("copilot");
    let driver = adapter.verify.as_ref().unwrap();
    let probe = probe(&adapter, driver, &subject(true), "/root", "http://model");
    let dir = tempfile::tempdir().unwrap();
    let seen = observe(driver, &probe, &[recorded(&adapter, MAIN, &["view"], &[])], dir.path());
    assert_eq!((seen.main, seen.offered, seen.flood), (None, vec!["view".to_owned()], None));
    assert!(seen.role.is_some());
}

#[test]
fn a_flood_is_known_by_its_head_and_by_its_end() {
    assert!(counts_up("Output:\n1\n2\n3\n4\n... cut"));
    assert!(counts_up("The whole is in /tmp/x\n49997\n49998\n49999\n50000"));
    assert!(!counts_up("error 1\n2 of 3\n4\n5\n6 lines"));
}
