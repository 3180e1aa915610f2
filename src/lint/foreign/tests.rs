use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::diag::Sink;
use crate::load;
use crate::system::memory::Memory;
use crate::text::block;

/// The lines underlined in a text.
fn shown(text: &str, what: What) -> Vec<String> {
    shown_at("x", text, what)
}

fn shown_at(path: &str, text: &str, what: What) -> Vec<String> {
    let mut sources = SourceMap::default();
    let candidate = Candidate { path: path.to_owned(), text: text.to_owned(), what };
    let found = judge(&candidate, &mut sources);
    found.iter().map(|d| sources.slice(d.primary.as_ref().unwrap().span).to_owned()).collect()
}

fn flagged(text: &str) -> bool {
    !shown(text, What::Text).is_empty()
}

#[test]
fn demands_at_the_start_are_found() {
    for text in [
        "At the start of every session, search memory for context.",
        "ALWAYS start by calling `search_memory`.",
        "Before doing anything, call list_docs and read the result.",
        "Before you start any task, query the knowledge base.",
        "At the beginning of each new conversation you MUST load the taxonomy.",
        "On session start: load all memories with `mcp__memory__read_graph`.",
        "Always first search the documentation.",
        "First thing: read ALL memory bank files.",
        "Your first action must be to call `memory_search`.",
        "Start every session with a search: use memory_search.",
        "When a new session starts, consult the docs catalogue.",
        "Before every response, check your memories for facts\nabout the user.",
        "In each session, read the full documentation.",
        "At the start of every task, call `memory_dump(agent=\"x\")`.",
        "- Read Memory Bank at start of every task (per AGENTS.md).",
    ] {
        assert!(flagged(text), "{text}");
    }
}

#[test]
fn texts_that_demand_nothing_of_the_kind_are_left_alone() {
    for text in [
        "At the start of every session, load local governance only.",
        "Do not search memory at the start of a session.",
        "Before doing anything, never call `search_memory` unless the task needs continuity.",
        "Search memory when the task continues earlier work.",
        "At the start of each session, read docs/ARCHITECTURE.md.",
        "At the start of every session the server will load user memory into its cache.",
        "Before doing anything with buffers, check memory usage and memory limits.",
        "At session start the allocator maps virtual memory.",
        "The session starts with an empty catalog; users browse the catalog.",
        "First run the tests, then search the docs for broken links.",
        "Before starting work on billing, search the knowledge base for its rules.",
        "If a session starts without context, search memory.",
        "Read memory.md at the start of every session.",
        "Always start by running `cargo test`.",
        "The list_docs endpoint returns all documents.",
        "```\nAt the start of every session, search memory.\n```",
        "Before any browser work, read the browser rule.",
        "# Every session\n\nThe memory model is described in docs.\n",
        "This file is loaded at the start of every session; the docs list all commands.",
        "At the start of every session, pull the next earnings date (see [the tool documentation](https://x.example/docs)).",
        "Instructions in the skill file they load at session start. See the wiki.",
    ] {
        assert!(!flagged(text), "{text}");
    }
}

#[test]
fn a_heading_or_a_lead_holds_for_the_list_below_it() {
    let text = "# Mine\n\n## Session start\n\n1. Load memory\n2. Run the tests\n3. Then call `list_docs`.\n\n## Later\n\n- Search memory\n";
    assert_eq!(shown(text, What::Text), ["1. Load memory", "3. Then call `list_docs`."]);
    let text = "At the start of every session:\n\n- read README.md\n- search the knowledge base\n\nSearch memory late.\n\n- search memory\n";
    assert_eq!(shown(text, What::Text), ["- search the knowledge base"]);
}

#[test]
fn our_own_block_and_front_matter_are_not_the_users_words() {
    let demand = "At the start of every session, search memory.";
    let ours = block::put("# Mine\n", demand).unwrap();
    assert!(!flagged(&ours));
    assert_eq!(shown(&format!("{ours}\n{demand}\n"), What::Text), [demand]);
    assert!(!flagged(&format!("---\ndescription: {demand}\n---\nText\n")));
}

#[test]
fn hooks_of_the_named_events_only() {
    let events = What::Hooks { events: vec!["SessionStart".to_owned()] };
    let file = |event: &str, command: &str| {
        format!(
            "{{ // mine\n \"hooks\": {{ \"{event}\": [{{ \"matcher\": \"memory\", \"hooks\": [{{ \"type\": \"command\", \"command\": \"{command}\" }}] }}] }} }}"
        )
    };
    for command in [
        "node hooks/load-memory.js",
        "echo 'Search the knowledge base first'",
        "kb list-docs --all",
        "./get_taxonomy.sh",
    ] {
        assert_eq!(shown(&file("SessionStart", command), events.clone()), [format!("\"{command}\"")], "{command}");
        assert!(shown(&file("Stop", command), events.clone()).is_empty());
    }
    for command in ["./setup.sh", "git status", "node --max-old-space-size=4096 check-memory-usage.js", "npm run docs"]
    {
        assert!(shown(&file("SessionStart", command), events.clone()).is_empty(), "{command}");
    }
    assert!(shown("{ not json", events).is_empty());
}

#[test]
fn hooks_in_toml_in_every_way_to_write_them() {
    let events = What::Hooks { events: vec!["SessionStart".to_owned()] };
    for text in [
        "[[hooks.SessionStart]]\nmatcher = \"memory\"\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"load-memory\"\n",
        "[hooks]\nSessionStart = [{ hooks = [{ command = \"load-memory\" }] }]\nStop = [{ command = \"list-memory\" }]\n",
        "hooks = { SessionStart = [{ command = \"load-memory\" }] }\n",
    ] {
        assert_eq!(shown_at("config.toml", text, events.clone()), ["\"load-memory\""], "{text}");
    }
    assert!(shown_at("config.toml", "[mcp_servers.memory]\ncommand = \"search-memory\"\n", events.clone()).is_empty());
    assert!(shown_at("config.toml", "= broken", events).is_empty());
}

#[test]
fn the_shipped_texts_demand_nothing() {
    for folder in ["shared-agent-rules", "roles", "templates"] {
        for (name, text) in load::builtin::files(folder) {
            assert_eq!(shown(text, What::Text), Vec::<String>::new(), "{folder}/{name}");
        }
    }
}

#[test]
fn files_of_selected_hosts_are_found_and_ours_left_out() {
    let adapters = load::load(&Memory::new(), None, &mut Sink::new()).adapters;
    let all: Vec<String> = adapters.keys().cloned().collect();
    let mut system = Memory::new().with("README.md", "x").with("sub/AGENTS.md", "x").with("AGENTS.md", "x");
    let mut watched = BTreeSet::new();
    for adapter in adapters.values() {
        // Plugins instead of hooks, or neither.
        let none = ["opencode", "tsuka"].contains(&adapter.id.as_str());
        assert_eq!(adapter.session_start_hooks.is_empty(), none, "{}", adapter.id);
        for hook in &adapter.session_start_hooks {
            let path = hook.file.replace('*', "a");
            system = system.with(&path, "{}");
            watched.insert(path);
        }
    }
    let none = BTreeSet::new();
    let found = candidates(&system, &adapters, &all, &none);
    let of =
        |what: fn(&What) -> bool| found.iter().filter(|c| what(&c.what)).map(|c| c.path.clone()).collect::<Vec<_>>();
    assert_eq!(of(|w| matches!(w, What::Text)), ["AGENTS.md"]);
    assert_eq!(of(|w| matches!(w, What::Hooks { .. })), watched.into_iter().collect::<Vec<_>>());
    let ours = BTreeSet::from(["AGENTS.md".to_owned()]);
    assert!(candidates(&system, &adapters, &all, &ours).iter().all(|c| c.path != "AGENTS.md"));
    assert!(candidates(&system, &adapters, &[], &none).is_empty());
}

proptest! {
    /// Whatever stands in a text, places are whole lines of it, and our own block adds none.
    #[test]
    fn places_are_lines_of_the_users_text(parts in prop::collection::vec(prop_oneof![
        Just("At the start of every session, search memory".to_owned()),
        Just("## On session start".to_owned()),
        Just("- load the taxonomy: ".to_owned()),
        Just("```".to_owned()),
        Just("---".to_owned()),
        Just("\u{feff}".to_owned()),
        "[ü.?!:# ’_*1-]{0,6}",
        Just("\n".to_owned()),
        Just("\r\n\r\n".to_owned()),
    ], 0..14)) {
        let text: String = parts.concat();
        let found = shown(&text, What::Text);
        for line in &found {
            prop_assert!(text.lines().any(|l| l.trim() == line), "{line:?}");
        }
        if let Ok(with) = block::put(&text, "At the start of every session, search memory.") {
            prop_assert_eq!(shown(&with, What::Text), found);
        }
    }
}
