//! All sets of the shipped hosts in an empty repository.

use rolecast::model::adapter::Adapter;
use rolecast::plan::delivery::{Finding, How, Own, Part, ScopedRoute, plan};

use crate::fixtures::{adapter, assert_exactly_once, input, paths, planned, rules, shipped};

fn sets(adapters: &[Adapter]) -> impl Iterator<Item = Vec<&Adapter>> {
    (1..1_usize << adapters.len())
        .map(|mask| adapters.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, a)| a).collect())
}

fn set<'a>(adapters: &'a [Adapter], ids: &[&str]) -> Vec<&'a Adapter> {
    adapters.iter().filter(|a| ids.contains(&a.id.as_str())).collect()
}

#[test]
fn every_text_comes_exactly_once_on_every_set() {
    let (adapters, rules) = (shipped(), rules());
    for hosts in sets(&adapters) {
        let input = input(&hosts, &rules, &[]);
        assert_exactly_once(&input, &planned(&input));
    }
}

#[test]
fn the_order_of_selection_decides_nothing() {
    let (adapters, rules) = (shipped(), rules());
    for hosts in sets(&adapters) {
        let forward = plan(&input(&hosts, &rules, &[]));
        let mut reversed: Vec<&Adapter> = hosts.clone();
        reversed.reverse();
        let backward = plan(&input(&reversed, &rules, &[]));
        let bare = |f: &rolecast::plan::delivery::PlannedFile| (f.path.clone(), f.own.clone(), f.parts.clone());
        assert_eq!(
            forward.files.iter().map(bare).collect::<Vec<_>>(),
            backward.files.iter().map(bare).collect::<Vec<_>>()
        );
        let mut back = backward.hosts;
        back.reverse();
        assert_eq!(forward.hosts, back);
    }
}

#[test]
fn one_host_gets_one_file_of_its_own() {
    let (adapters, rules) = (shipped(), rules());
    let plan = planned(&input(&set(&adapters, &["claude-code"]), &rules, &[]));
    assert_eq!(paths(&plan), ["CLAUDE.md", ".claude/rules/web.md", ".claude/rules/api.md"]);
    assert_eq!(plan.files[0].parts, [Part::Shared, Part::Card { host: "claude-code".into() }]);
    assert!(plan.findings.is_empty(), "{:#?}", plan.findings);
}

#[test]
fn a_second_host_moves_the_text_to_the_file_both_know() {
    let (adapters, rules) = (shipped(), rules());
    let plan = planned(&input(&set(&adapters, &["claude-code", "codex"]), &rules, &[]));
    assert_eq!(paths(&plan)[..3], [".codex/config.toml", "AGENTS.md", "CLAUDE.md"]);
    assert_eq!(plan.files[1].parts, [Part::Shared]);
    let line = Part::Import { line: "@AGENTS.md".into(), target: "AGENTS.md".into() };
    assert_eq!(plan.files[2].parts, [line, Part::Card { host: "claude-code".into() }]);
}

#[test]
fn a_host_that_reads_the_others_file_moves_the_card_out_of_its_way() {
    let (adapters, rules) = (shipped(), rules());
    let plan = planned(&input(&set(&adapters, &["claude-code", "copilot"]), &rules, &[]));
    assert!(!paths(&plan).contains(&"CLAUDE.md") && !paths(&plan).contains(&".claude/rolecast.md"), "{plan:#?}");
    let own = plan.files.iter().find(|f| f.path == ".claude/CLAUDE.md").unwrap();
    let line = Part::Import { line: "@../AGENTS.md".into(), target: "AGENTS.md".into() };
    assert_eq!(own.parts, [line, Part::Card { host: "claude-code".into() }]);
    assert_eq!(*own.hosts, ["claude-code"]);
}

/// Cursor reads every file that Claude Code does, but does not follow import lines.
#[test]
fn a_host_that_reads_all_of_the_others_files_sees_import_lines_only() {
    let (adapters, rules) = (shipped(), rules());
    for others in [&["cursor"][..], &["copilot", "cursor"], &["codex", "cursor", "gemini-cli"]] {
        let ids = [&["claude-code"], others].concat();
        let plan = planned(&input(&set(&adapters, &ids), &rules, &[]));
        assert!(!paths(&plan).contains(&"CLAUDE.md"), "{plan:#?}");
        let stub = plan.files.iter().find(|f| f.path == ".claude/CLAUDE.md").unwrap();
        let line = |line: &str, target: &str| Part::Import { line: line.into(), target: target.into() };
        assert_eq!(
            stub.parts,
            [line("@../AGENTS.md", "AGENTS.md"), line("@rolecast.md", ".claude/rolecast.md")],
            "{ids:?}"
        );
        assert_eq!(*stub.hosts, ["claude-code", "cursor"]);
        let card = plan.files.iter().find(|f| f.path == ".claude/rolecast.md").unwrap();
        assert_eq!(card.parts, [Part::Card { host: "claude-code".into() }]);
        assert_eq!(card.own, Own::Whole { host: "claude-code".into(), template: Some("card.md".into()) });
        assert_eq!(*card.hosts, ["claude-code"]);
        let route = plan.hosts.iter().find(|h| h.host == "claude-code").unwrap().card.clone().unwrap();
        assert_eq!(route.how, How::Imported { by: ".claude/CLAUDE.md".into() });
    }
}

#[test]
fn no_set_gives_a_host_the_card_of_another() {
    let (adapters, rules) = (shipped(), rules());
    for hosts in sets(&adapters) {
        let plan = planned(&input(&hosts, &rules, &[]));
        let bad = plan.findings.iter().find(|f| !matches!(f, Finding::Perhaps { .. }));
        assert_eq!(bad, None, "{:?}", hosts.iter().map(|h| &h.id).collect::<Vec<_>>());
    }
}

#[test]
fn all_share_one_home_and_have_a_card_each() {
    let (adapters, rules) = (shipped(), rules());
    let hosts: Vec<&Adapter> = adapters.iter().collect();
    let plan = planned(&input(&hosts, &rules, &[]));
    assert_eq!(
        paths(&plan)[..9],
        [
            ".claude/CLAUDE.md",
            ".claude/rolecast.md",
            ".codex/config.toml",
            ".cursor/rules/rolecast-host.mdc",
            ".gemini/rolecast.md",
            ".github/copilot-instructions.md",
            ".opencode/rolecast.md",
            "AGENTS.md",
            "QWEN.md",
        ]
    );
    let gemini = plan.hosts.iter().find(|h| h.host == "gemini-cli").unwrap();
    let switched: Vec<&str> = gemini.switches.iter().map(|s| s.file.as_str()).collect();
    assert_eq!(switched, [".gemini/rolecast.md", "AGENTS.md"]);
    assert!(matches!(gemini.shared.as_ref().unwrap().how, How::Switched { .. }));
    // Reads the shared file by itself, and its own only when a setting names it.
    let opencode = plan.hosts.iter().find(|h| h.host == "opencode").unwrap();
    assert_eq!(opencode.shared.as_ref().unwrap().how, How::Direct);
    let switched: Vec<&str> = opencode.switches.iter().map(|s| s.file.as_str()).collect();
    assert_eq!(switched, [".opencode/rolecast.md"]);
    let scoped: Vec<&str> = paths(&plan).into_iter().skip(9).collect();
    assert_eq!(
        scoped,
        [".claude/rules/web.md", ".claude/rules/api.md", ".cursor/rules/web.mdc", ".cursor/rules/api.mdc"],
        "one folder serves two hosts"
    );
    let lines: Vec<ScopedRoute> = gemini.scoped.iter().map(|s| s.main).collect();
    assert_eq!(lines, [ScopedRoute::CardLine, ScopedRoute::CardLine, ScopedRoute::None]);
    assert!(!plan.findings.iter().any(|f| !matches!(f, Finding::Perhaps { .. })), "{:#?}", plan.findings);
}

#[test]
fn a_host_that_takes_no_file_tells_its_roles_and_changes_nothing_for_others() {
    let (adapters, rules) = (shipped(), rules());
    let deaf = adapter("tsuka");
    for mut hosts in sets(&adapters) {
        let alone = planned(&input(&hosts, &rules, &[]));
        hosts.push(&deaf);
        let both = plan(&input(&hosts, &rules, &[]));
        assert_eq!(paths(&both), paths(&alone));
        assert_eq!(both.hosts[..alone.hosts.len()], alone.hosts[..]);
        assert_eq!(both.findings.len(), alone.findings.len() + 1);
        assert!(both.findings.contains(&Finding::MainUntold { host: "tsuka".into() }), "{:#?}", both.findings);
        let told = both.hosts.last().unwrap();
        for (rule, arrives) in rules.iter().zip(&told.arrivals) {
            assert_eq!((arrives.main.max, arrives.roles.min, arrives.roles.max), (0, 1, 1), "{}", rule.id);
        }
    }
}
