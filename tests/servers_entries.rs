//! Servers in files of the user: whatever the user has there, and whatever the policy goes through, every foreign
//! byte stays.

mod sync_support;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use rolecast::compile::{Compiled, compile};
use rolecast::diag::Sink;
use rolecast::render::artifact::Artifact;
use rolecast::system::System;
use rolecast::system::memory::Memory;
use sync_support::{assert_clean, causes, check, refused, write};

/// The file of each host with servers, and a comment where the format takes one.
const FILES: [(&str, &str); 6] = [
    ("claude-code", ".mcp.json"),
    ("codex", ".codex/config.toml"),
    ("cursor", ".cursor/mcp.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("opencode", "opencode.json"),
    ("qwen-code", ".qwen/settings.json"),
];

fn artifacts(host: &str, servers: &BTreeSet<usize>, call: u64) -> Vec<Artifact> {
    let mut policy = format!("version: 1\nhosts: {{ {host}: {{}} }}\nguard: {{ history: false }}\n");
    if !servers.is_empty() {
        policy.push_str("servers:\n");
    }
    for server in servers {
        let reach = if server % 2 == 0 { "command: run\n    args: [x, x]" } else { "url: https://example.org/mcp" };
        let _ = writeln!(
            policy,
            "  s{server}:\n    {reach}\n    via: direct\n    timeout: {{ call: {call} }}\n    tools: {{ look: {{ confers: [docs.search] }}, change: {{ confers: [ticket.write] }} }}"
        );
    }
    let system = Memory::new().with("shared-agent-rules/policy.yaml", policy);
    let mut sink = Sink::new();
    let compiled: Compiled = compile(&system, Some("shared-agent-rules"), &[], &mut sink);
    assert!(!sink.has_errors(), "{:?}", sink.iter().map(|d| &d.message).collect::<Vec<_>>());
    compiled.rendered.unwrap().artifacts
}

/// A file of the user with servers of theirs.
fn theirs(host: &str, count: usize, tight: bool) -> String {
    let root = if host == "opencode" { "mcp" } else { "mcpServers" };
    if host == "codex" {
        let mut text = "# mine\nmodel = \"m\"\n".to_owned();
        for n in 0..count {
            let _ = write!(text, "\n[mcp_servers.mine{n}] # keep {n}\ncommand = 'run' \nargs = [ \"a\" , # one\n]\n");
        }
        return text;
    }
    let servers: Vec<String> =
        (0..count).map(|n| format!("\"mine{n}\": {{ \"command\": \"run\", \"args\": [ ] }}")).collect();
    // What a host's reader of JSON refuses nobody has in the file.
    let (comments, comma) = match host {
        "claude-code" | "copilot" => (false, ""),
        "gemini-cli" | "qwen-code" => (true, ""),
        _ => (true, ","),
    };
    let note = |text: &'static str| if comments { text } else { "" };
    let joined = servers.join(&if tight { ",".to_owned() } else { format!(",{}\n    ", note(" // keep")) });
    let mine = note("// mine\n");
    match (count, tight) {
        (0, true) => "{\"a\":1}".to_owned(),
        (0, false) => format!("{mine}{{\n  \"{root}\": {{}}{comma}\n}}\n"),
        (_, true) => format!("{{\"a\":1,\"{root}\":{{{joined}}}}}"),
        (_, false) => {
            let end = note(" // end");
            format!("{mine}{{\n  \"inputs\": [ 1 ],\n  \"{root}\": {{\n    {joined}\n  }}{end}\n}}\n")
        }
    }
}

fn text(system: &Memory, path: &str) -> String {
    String::from_utf8(system.read(path, 1 << 20).unwrap()).unwrap()
}

fn servers() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0usize..4, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn servers_come_and_go_and_every_byte_of_the_user_is_as_before(
        host in 0..FILES.len(), first in servers(), second in servers(), count in 0usize..3, tight in any::<bool>(), call in 1u64..90,
    ) {
        let (host, path) = FILES[host];
        let user = theirs(host, count, tight);
        let system = Memory::new().with(path, user.clone());
        for (servers, call) in [(&first, 60), (&second, call), (&first, call)] {
            let wanted = artifacts(host, servers, call);
            write(&wanted, &system);
            assert_clean(&wanted, &system);
            let now = text(&system, path);
            for foreign in user.split(['\n', '{', '}']).map(str::trim).filter(|line| line.contains("mine") || line.contains("keep")) {
                prop_assert!(now.contains(foreign.trim_end_matches(',')), "`{}` is gone from\n{}", foreign, now);
            }
            for server in 0..4 {
                let there = now.contains(&format!("s{server}\"")) || now.contains(&format!("mcp_servers.s{server}]"));
                prop_assert_eq!(there, servers.contains(&server), "s{} in\n{}", server, &now);
            }
        }
        write(&artifacts(host, &BTreeSet::new(), 60), &system);
        prop_assert_eq!(text(&system, path), user);
    }
}

#[test]
fn a_server_of_the_user_under_our_name_is_a_conflict() {
    let system =
        Memory::new().with(".cursor/mcp.json", "{ \"mcpServers\": { \"s0\": { \"command\": \"theirs\" } } }\n");
    let comparison = refused(&artifacts("cursor", &BTreeSet::from([0]), 60), &system);
    assert!(
        causes(&comparison).contains(&".cursor/mcp.json: entry-edited mcpServers.s0".to_owned()),
        "{:?}",
        causes(&comparison)
    );
    assert!(text(&system, ".cursor/mcp.json").contains("theirs"));
}

#[test]
fn a_server_that_left_the_policy_stays_when_somebody_edited_it() {
    let system = Memory::new();
    write(&artifacts("cursor", &BTreeSet::from([0, 1]), 60), &system);
    let edited = text(&system, ".cursor/mcp.json").replace("\"run\"", "\"mine\"");
    let system = system.with(".cursor/mcp.json", edited);
    let left = artifacts("cursor", &BTreeSet::from([1]), 60);
    let found = causes(&check(&left, &system));
    assert!(found.contains(&".cursor/mcp.json: entry-orphan-edited mcpServers.s0".to_owned()), "{found:?}");
    write(&left, &system);
    assert!(text(&system, ".cursor/mcp.json").contains("\"mine\""));
    write(&artifacts("cursor", &BTreeSet::new(), 60), &system);
    assert!(!text(&system, ".cursor/mcp.json").contains("\"s1\""));
}

#[test]
fn rules_in_another_order_are_other_rules() {
    let system = Memory::new();
    let wanted = artifacts("opencode", &BTreeSet::from([0]), 60);
    write(&wanted, &system);
    let own = text(&system, "opencode.json");
    let (deny, allow) = ("\"s0_*\": \"deny\"", "\"s0_look\": \"allow\"");
    let turned = own.replace(deny, "X").replace(allow, deny).replace('X', allow);
    assert_ne!(turned, own);
    let system = system.with("opencode.json", turned);
    assert!(!check(&wanted, &system).is_clean());
    write(&wanted, &system);
    assert_clean(&wanted, &system);
    let now = text(&system, "opencode.json");
    assert!(now.find(deny).unwrap() < now.find(allow).unwrap(), "{now}");
}
