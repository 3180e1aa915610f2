//! Whose bytes: what a render writes, keeps, refuses and deletes.

mod sync_support;

use proptest::prelude::*;
use rolecast::render::artifact::Artifact;
use rolecast::sync::{Options, render};
use rolecast::system::fault::{Fault, Faulty};
use rolecast::system::memory::Memory;
use rolecast::text::block::{BEGIN, END};
use serde_json::json;
use sync_support::*;

fn lock(memory: &Memory) -> String {
    memory.text("shared-agent-rules/rolecast.lock").unwrap()
}

fn plan() -> Vec<Artifact> {
    vec![
        whole(".claude/agents/docs.md", "agent\n"),
        block("AGENTS.md", "rules"),
        entries("settings.json", vec![value("hooks.start", json!({"run": "x"})), element("deny", json!("Bash"))]),
        entries(".codex/config.toml", vec![value("mcp_servers.play", json!({"command": "npx"}))]),
    ]
}

#[test]
fn a_first_render_into_an_empty_repository_is_clean_after() {
    let memory = Memory::new();
    let applied = write(&plan(), &memory);
    assert_eq!(applied.written, [".claude/agents/docs.md", ".codex/config.toml", "AGENTS.md", "settings.json"]);
    assert_clean(&plan(), &memory);
    assert_eq!(memory.text("AGENTS.md").unwrap(), format!("{BEGIN}\nrules\n{END}\n"));
    assert_eq!(memory.text(".codex/config.toml").unwrap(), "[mcp_servers.play]\ncommand = \"npx\"\n");
    assert_eq!(memory.text("shared-agent-rules/rolecast.journal"), None);
    assert_eq!(write(&plan(), &memory), Default::default());
}

#[test]
fn dropping_everything_leaves_the_repository_as_it_was() {
    let settings = "{\n\t// mine\n\t\"model\": \"x\",\n\t\"hooks\": {}\n}\n";
    let memory = Memory::new().with("AGENTS.md", "# Mine\r\n").with("settings.json", settings).with("README.md", "hi");
    let before = memory.snapshot();
    write(&plan(), &memory);
    assert_ne!(memory.text("settings.json").unwrap(), settings);
    let applied = write(&[], &memory);
    assert_eq!(applied.deleted, [".claude/agents/docs.md", ".codex/config.toml"]);
    assert!(lock(&memory).contains("\"owned\": []"));
    let mut after = memory.snapshot();
    after.retain(|path, _| !path.starts_with("shared-agent-rules"));
    assert_eq!(after, before);
}

#[test]
fn a_moved_policy_is_stale_and_a_hand_edit_is_refused_until_forced() {
    let memory = Memory::new();
    write(&[whole("a.md", "one\n"), block("AGENTS.md", "one")], &memory);
    let plan = [whole("a.md", "two\n"), block("AGENTS.md", "two")];
    assert_eq!(causes(&check(&plan, &memory))[..2], ["AGENTS.md: stale", "a.md: stale"]);
    write(&plan, &memory);
    let edited = memory.copy().with("a.md", "mine\n").with("AGENTS.md", format!("{BEGIN}\nmine\n{END}\n"));
    let before = edited.snapshot();
    let comparison = refused(&plan, &edited);
    assert_eq!(causes(&comparison), ["AGENTS.md: edited", "a.md: edited"]);
    assert!(comparison.conflicts().all(|(_, conflict)| conflict.forceable));
    assert_eq!(edited.snapshot(), before);
    render(&plan, &edited, &forced()).1.unwrap();
    assert_clean(&plan, &edited);
    assert_eq!(edited.snapshot(), memory.snapshot());
}

#[test]
fn a_file_of_the_user_is_refused_when_it_differs_and_adopted_when_equal() {
    let memory = Memory::new().with("a.md", "mine\n");
    assert_eq!(causes(&refused(&[whole("a.md", "ours\n")], &memory))[0], "a.md: unowned");
    let memory = Memory::new().with("a.md", "ours\r\n");
    assert_eq!(write(&[whole("a.md", "ours\n")], &memory).written, Vec::<String>::new());
    assert_clean(&[whole("a.md", "ours\n")], &memory);
    assert_eq!(memory.text("a.md").unwrap(), "ours\r\n");
    write(&[], &memory);
    assert_eq!(memory.text("a.md"), None);
}

#[test]
fn one_conflict_anywhere_writes_nothing_at_all() {
    let memory = Memory::new().with("z.md", "mine\n");
    let before = memory.snapshot();
    refused(&[whole("a.md", "ours\n"), whole("z.md", "ours\n")], &memory);
    assert_eq!(memory.snapshot(), before);
}

#[test]
fn an_orphan_goes_only_unchanged() {
    let memory = Memory::new();
    write(&[whole("r/a.md", "a\n"), whole("r/b.md", "b\n"), block("C.md", "c")], &memory);
    let memory = memory.with("r/b.md", "mine\n").with("C.md", format!("{BEGIN}\nmine\n{END}\n"));
    assert_eq!(causes(&check(&[], &memory))[..3], ["C.md: orphan-edited", "r/a.md: orphaned", "r/b.md: orphan-edited"]);
    write(&[], &memory);
    assert_eq!((memory.text("r/a.md"), memory.text("r/b.md").as_deref()), (None, Some("mine\n")));
    assert_eq!(causes(&check(&[], &memory)), ["C.md: orphan-edited", "r/b.md: orphan-edited"]);
    render(&[], &memory, &forced()).1.unwrap();
    assert_clean(&[], &memory);
    assert_eq!(memory.text("r/b.md").as_deref(), Some("mine\n"));
}

#[test]
fn directories_left_empty_go_and_others_stay() {
    let memory = Memory::new().with("keep/mine.md", "m");
    write(&[whole("keep/a.md", "a\n"), whole("go/deep/b.md", "b\n")], &memory);
    write(&[], &memory);
    let paths: Vec<String> = memory.snapshot().into_keys().filter(|path| !path.starts_with("shared")).collect();
    assert_eq!(paths, ["keep", "keep/mine.md"]);
}

#[test]
fn entries_tell_missing_stale_edited_and_orphaned_apart() {
    let memory = Memory::new().with("s.json", "{\n  \"mine\": 1\n}\n");
    let first = [entries(
        "s.json",
        vec![value("a", json!(1)), value("b", json!(1)), value("c", json!(1)), element("l", json!("x"))],
    )];
    write(&first, &memory);
    let second = [entries(
        "s.json",
        vec![value("a", json!(2)), value("b", json!(1)), value("d", json!(1)), element("l", json!("y"))],
    )];
    assert_eq!(
        causes(&check(&second, &memory))[..5],
        [
            "s.json: entry-orphaned c",
            "s.json: entry-orphaned l",
            "s.json: entry-stale a",
            "s.json: entry-missing d",
            "s.json: entry-missing l"
        ]
    );
    write(&second, &memory);
    assert_eq!(
        memory.text("s.json").unwrap(),
        "{\n  \"mine\": 1,\n  \"a\": 2,\n  \"b\": 1,\n  \"l\": [\"y\"],\n  \"d\": 1\n}\n"
            .replace("[\"y\"]", "[\n    \"y\"\n  ]")
    );
    let edited = memory.text("s.json").unwrap().replace("\"b\": 1", "\"b\": 7");
    let memory = memory.with("s.json", &edited);
    assert_eq!(causes(&refused(&second, &memory)), ["s.json: entry-edited b"]);
    assert_eq!(
        causes(&check(&[entries("s.json", vec![value("a", json!(2))])], &memory))[0],
        "s.json: entry-orphan-edited b"
    );
}

#[test]
fn a_foreign_value_at_our_key_is_refused_and_forced() {
    for (user, entry) in [
        ("{\"a\": 2}", value("a", json!(1))),
        ("{\"a\": \"text\"}", value("a.b", json!(1))),
        ("{\"a\": \"text\"}", element("a", json!(1))),
        ("{\"a\": null}", value("a.b", json!(1))),
    ] {
        let memory = Memory::new().with("s.json", user);
        let plan = [entries("s.json", vec![entry])];
        let comparison = refused(&plan, &memory);
        assert!(comparison.conflicts().all(|(_, conflict)| conflict.forceable));
        assert_eq!(memory.text("s.json").unwrap(), user);
        render(&plan, &memory, &forced()).1.unwrap();
        assert_clean(&plan, &memory);
    }
}

#[test]
fn what_cannot_be_read_is_refused_even_with_force() {
    for (path, text, plan) in [
        ("s.json", "{'a': 1}", entries("s.json", vec![value("b", json!(1))])),
        ("s.json", "{\"a\": 1, \"a\": 1}", entries("s.json", vec![value("b", json!(1))])),
        ("s.toml", "a = 1\na = 2\n", entries("s.toml", vec![value("b", json!(1))])),
        ("A.md", BEGIN, block("A.md", "x")),
        ("A.md", "```\nopen", block("A.md", "```\nx\n```")),
    ] {
        let memory = Memory::new().with(path, text);
        let (comparison, result) = render(&[plan], &memory, &forced());
        assert!(result.is_err(), "{text}");
        assert!(comparison.conflicts().all(|(_, conflict)| !conflict.forceable));
        assert_eq!(memory.text(path).unwrap(), text);
    }
}

#[test]
fn a_tighter_number_of_the_user_is_kept_and_a_looser_one_is_drift() {
    let plan = [entries("s.json", vec![at_most("max", json!(100))])];
    let memory = Memory::new().with("s.json", "{\"max\": 50}");
    write(&plan, &memory);
    let comparison = check(&plan, &memory);
    assert!(comparison.is_clean());
    assert_eq!(comparison.notes[0].text, "`max` is 50, tighter than the policy's 100: kept");
    write(&[], &memory);
    assert_eq!(memory.text("s.json").unwrap(), "{\"max\": 50}");
    let memory = Memory::new().with("s.json", "{\"max\": 500}");
    assert_eq!(causes(&check(&plan, &memory))[0], "s.json: entry-loose max");
    write(&plan, &memory);
    assert_eq!(memory.text("s.json").unwrap(), "{\"max\": 100}");
    let higher = [entries("s.json", vec![at_most("max", json!(200))])];
    assert_eq!(causes(&check(&higher, &memory))[0], "s.json: entry-stale max");
}

#[test]
fn artifacts_of_one_file_merge_unless_they_disagree() {
    let both =
        |second| [entries("s.json", vec![value("a", json!(1))]), entries("s.json", vec![value("a", json!(1)), second])];
    let memory = Memory::new();
    write(&both(value("b", json!(2))), &memory);
    assert_eq!(memory.text("s.json").unwrap(), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
    for clash in [value("a", json!(2)), value("a.b", json!(2)), element("a", json!(2))] {
        let comparison = refused(&both(clash), &Memory::new());
        assert_eq!(comparison.problems[0].path, "s.json");
    }
    assert!(!refused(&[whole("a", "x"), whole("a", "y")], &Memory::new()).problems.is_empty());
    assert!(!refused(&[whole("a", "x"), whole("a/b", "y")], &Memory::new()).problems.is_empty());
}

#[test]
fn a_lost_or_conflicted_lock_is_rebuilt_by_adoption() {
    let memory = Memory::new().with("AGENTS.md", "# Mine\n");
    write(&plan(), &memory);
    let good = lock(&memory);
    for broken in [None, Some(format!("<<<<<<< HEAD\n{good}=======\n{good}>>>>>>> x\n")), Some("{".to_owned())] {
        let tree = memory.copy();
        match &broken {
            None => rolecast::system::Writer::remove_file(&tree, "shared-agent-rules/rolecast.lock").unwrap(),
            Some(text) => {
                tree.put("shared-agent-rules/rolecast.lock", rolecast::system::memory::Node::File(text.clone().into()))
            }
        }
        let want = if broken.is_none() { "lock-missing" } else { "lock-damaged" };
        assert_eq!(causes(&check(&plan(), &tree)), [format!("shared-agent-rules/rolecast.lock: {want}")]);
        assert_eq!(write(&plan(), &tree).written, Vec::<String>::new());
        assert_clean(&plan(), &tree);
        assert_eq!(tree.text("AGENTS.md"), memory.text("AGENTS.md"));
    }
}

#[test]
fn a_host_filter_writes_less_and_forgets_nothing() {
    let mut other = whole("b.md", "b\n");
    other.hosts = vec!["two".into()];
    let plan = [whole("a.md", "a\n"), other];
    let memory = Memory::new();
    let hosts = ["one".to_owned()];
    let only = Options { hosts: Some(&hosts), ..options() };
    assert_eq!(render(&plan, &memory, &only).1.unwrap().written, ["a.md"]);
    assert_eq!(causes(&check(&plan, &memory))[0], "b.md: missing");
    write(&plan, &memory);
    let full = lock(&memory);
    assert_eq!(render(&plan, &memory, &only).1.unwrap(), Default::default());
    assert_eq!(lock(&memory), full);
}

#[test]
fn a_whole_file_may_become_a_block_or_entries_and_back() {
    let memory = Memory::new();
    for plan in [
        vec![whole("A.md", "one\n"), whole("s.json", "{}\n")],
        vec![block("A.md", "two"), entries("s.json", vec![value("a", json!(1))])],
        vec![whole("A.md", "three\n"), whole("s.json", "{\"b\": 1}\n")],
    ] {
        write(&plan, &memory);
        assert_clean(&plan, &memory);
    }
    write(&[block("A.md", "x")], &memory);
    let memory = memory.copy().with("A.md", format!("mine\n\n{BEGIN}\nx\n{END}\n"));
    refused(&[whole("A.md", "one\n")], &memory);
}

#[test]
fn line_ends_count_only_when_asked() {
    let memory = Memory::new();
    let plan = [whole("a.md", "a\nb\n")];
    write(&plan, &memory);
    let memory = memory.with("a.md", "\u{feff}a\r\nb\r\n");
    assert_clean(&plan, &memory);
    let strict = Options { strict_eol: true, ..options() };
    let (comparison, result) = render(&plan, &memory, &strict);
    assert_eq!(causes(&comparison), ["a.md: line-endings"]);
    result.unwrap();
    assert_eq!(memory.text("a.md").unwrap(), "a\nb\n");
    let crlf = Memory::new().with("a.md", "a\r\nb\r\n");
    write(&plan, &crlf);
    write(&[whole("a.md", "a\nc\n")], &crlf);
    assert_eq!(crlf.text("a.md").unwrap(), "a\r\nc\r\n");
}

#[test]
fn sections_of_the_lock_that_others_keep_stay() {
    let memory = Memory::new();
    write(&plan(), &memory);
    let pinned = lock(&memory).replace("\n  ]\n}", "\n  ],\n  \"later\": {\n    \"x\": 1\n  }\n}");
    let memory = memory.with("shared-agent-rules/rolecast.lock", &pinned);
    assert_clean(&plan(), &memory);
    write(&[whole("a.md", "a\n")], &memory);
    assert!(lock(&memory).contains("\"later\": {\n    \"x\": 1\n  }"));
}

#[test]
fn pins_that_are_lost_with_a_damaged_lock_are_not_lost_without_a_word() {
    let memory = Memory::new();
    write(&plan(), &memory);
    assert!(check(&plan(), &memory).notes.is_empty());
    let damaged = lock(&memory).replace("\n  ]\n}", "\n  ],\n  \"pins\": {\n<<<<<<< HEAD\n");
    let memory = memory.with("shared-agent-rules/rolecast.lock", &damaged);
    let comparison = check(&plan(), &memory);
    assert!(comparison.notes.iter().any(|note| note.text.contains("pins")), "{:?}", comparison.notes);
}

#[test]
fn a_file_that_broke_after_we_left_it_blocks_nothing() {
    let memory = Memory::new().with("s.json", "{\"x\": 1}");
    write(&[entries("s.json", vec![value("a", json!(1))])], &memory);
    let memory = memory.with("s.json", "{\"x\": 1, ");
    assert_eq!(causes(&check(&[], &memory)), ["s.json: orphan-edited"]);
    render(&[], &memory, &forced()).1.unwrap();
    assert_clean(&[], &memory);
    assert_eq!(memory.text("s.json").unwrap(), "{\"x\": 1, ");
}

#[test]
fn a_filter_does_not_leave_half_of_an_interrupted_render() {
    let mut other = whole("b.md", "b\n");
    other.hosts = vec!["two".into()];
    let plan = [whole("a.md", "a\n"), other];
    let hosts = ["one".to_owned()];
    let only = Options { hosts: Some(&hosts), ..options() };
    for at in 0..12 {
        let memory = Memory::new();
        let _ = render(&plan, &Faulty::new(&memory, Fault::Crash, at), &options());
        let begun = memory.text("shared-agent-rules/rolecast.journal").is_some();
        render(&plan, &memory, &only).1.unwrap();
        assert_eq!(memory.text("b.md").is_some(), begun, "{at}");
        write(&[], &memory);
        assert_eq!(memory.text("b.md"), None);
    }
}

fn any_artifacts() -> impl Strategy<Value = Vec<Artifact>> {
    let one = prop_oneof![
        ("[ab]", "[a-z\n]{0,6}").prop_map(|(name, text)| whole(&format!("w/{name}.md"), &text)),
        ("[ab]", "[a-z]{0,4}(\n[a-z]{1,3})?").prop_map(|(name, text)| block(&format!("{name}.md"), &text)),
        (prop_oneof![Just("s.json"), Just("t/s.toml")], "[a-c](\\.[a-c])?", 0..4, any::<bool>()).prop_map(
            |(path, at, n, list)| {
                let at = if list { format!("l{at}") } else { format!("v{at}") };
                entries(path, vec![if list { element(&at, json!(n)) } else { value(&at, json!(n)) }])
            }
        ),
    ];
    prop::collection::vec(one, 0..7).prop_map(|all| {
        // Plans that contradict themselves are refused elsewhere.
        let mut kept: Vec<Artifact> = Vec::new();
        for artifact in all {
            kept.push(artifact);
            if !check(&kept, &Memory::new()).problems.is_empty() {
                kept.pop();
            }
        }
        kept
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_sequence_of_renders_is_clean_after_each_and_leaves_the_users_bytes(plans in prop::collection::vec(any_artifacts(), 1..4)) {
        let users = [
            ("a.md", "# mine\n\ntext"),
            ("s.json", "{\r\n\t\"x\": [1, 2], // c\r\n}\r\n"),
            ("t/s.toml", "# c\nx = 1\n\n[y]\nz = 2 # d\n"),
        ];
        let mut memory = Memory::new();
        for (path, text) in users {
            memory = memory.with(path, text);
        }
        let before = memory.snapshot();
        for plan in &plans {
            write(plan, &memory);
            let comparison = check(plan, &memory);
            prop_assert!(comparison.is_clean(), "{:?}", causes(&comparison));
        }
        write(&[], &memory);
        let mut after = memory.snapshot();
        after.retain(|path, _| !path.starts_with("shared-agent-rules"));
        prop_assert_eq!(after, before);
    }
}
