//! Repositories that have instruction files of the user.

use rolecast::model::adapter::Adapter;
use rolecast::plan::delivery::{Finding, Part, UserFile, plan};

use crate::fixtures::{
    assert_exactly_once, assert_user_text_kept, file, importing, input, link, paths, planned, rules, shipped,
};

fn set<'a>(adapters: &'a [Adapter], ids: &[&str]) -> Vec<&'a Adapter> {
    adapters.iter().filter(|a| ids.contains(&a.id.as_str())).collect()
}

/// Sets of hosts, and files of the user under which nothing is lost and everything comes once.
#[test]
fn text_of_the_user_stays_and_ours_comes_once() {
    let (adapters, rules) = (shipped(), rules());
    let repositories: Vec<(&str, Vec<UserFile>)> = vec![
        ("AGENTS.md", vec![file("AGENTS.md")]),
        ("CLAUDE.md", vec![file("CLAUDE.md")]),
        ("GEMINI.md", vec![file("GEMINI.md")]),
        (".claude/CLAUDE.md", vec![file(".claude/CLAUDE.md")]),
        ("QWEN.md", vec![file("QWEN.md"), file("CONTEXT.md")]),
        ("copilot", vec![file(".github/copilot-instructions.md")]),
        ("both", vec![file("AGENTS.md"), file("CLAUDE.md")]),
        ("local", vec![file("CLAUDE.local.md"), file("AGENTS.md")]),
        (".claude and GEMINI", vec![file(".claude/CLAUDE.md"), file("GEMINI.md"), file(".cursorrules")]),
    ];
    for (name, user) in &repositories {
        for mask in 1..1_usize << adapters.len() {
            let hosts: Vec<&Adapter> =
                adapters.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, a)| a).collect();
            let input = input(&hosts, &rules, user);
            let plan = planned(&input);
            println!("{name} {:?}", hosts.iter().map(|h| &h.id).collect::<Vec<_>>());
            // Where one host can only be reached by a file that hides the user's from another, something must give:
            // it is said, not done in silence.
            let has = |path: &str| user.iter().any(|f| f.path == path);
            let hides = hosts.iter().any(|h| h.id == "opencode") && !has("AGENTS.md");
            let said = |f: &Finding| !matches!(f, Finding::Perhaps { .. } | Finding::MainOnlyReachesRoles { .. });
            if hides && (has("CLAUDE.md") || has("CONTEXT.md")) && plan.findings.iter().any(said) {
                continue;
            }
            assert_exactly_once(&input, &plan);
            assert_user_text_kept(&input, &plan);
        }
    }
}

#[test]
fn a_file_that_would_hide_the_users_includes_it() {
    let (adapters, rules, user) = (shipped(), rules(), vec![file("AGENTS.md")]);
    let plan = planned(&input(&set(&adapters, &["claude-code"]), &rules, &user));
    let own = plan.files.iter().find(|f| f.path == "CLAUDE.md").unwrap();
    assert!(own.parts.contains(&Part::Import { line: "@AGENTS.md".into(), target: "AGENTS.md".into() }), "{plan:#?}");
    assert!(!plan.findings.iter().any(|f| matches!(f, Finding::UserUnread { .. })));
}

#[test]
fn an_include_of_the_user_costs_no_second_copy() {
    let (adapters, rules) = (shipped(), rules());
    let user = vec![file("AGENTS.md"), importing("CLAUDE.md", "AGENTS.md")];
    for ids in [&["claude-code"][..], &["claude-code", "codex"], &["claude-code", "gemini-cli"]] {
        let input = input(&set(&adapters, ids), &rules, &user);
        let plan = planned(&input);
        assert_exactly_once(&input, &plan);
        assert_user_text_kept(&input, &plan);
    }
}

/// Copilot gets everything in AGENTS.md twice while the user's CLAUDE.md includes it: so the text goes elsewhere, if it can.
#[test]
fn an_include_that_repeats_a_home_is_avoided_or_reported() {
    let (adapters, rules) = (shipped(), rules());
    let user = vec![importing("CLAUDE.md", "AGENTS.md")];
    for ids in [&["copilot"][..], &["claude-code", "copilot"]] {
        let input = input(&set(&adapters, ids), &rules, &user);
        let plan = planned(&input);
        println!("{plan:#?}");
        assert_exactly_once(&input, &plan);
    }
    let both = input(&set(&adapters, &["codex", "copilot"]), &rules, &user);
    let plan = planned(&both);
    let repeated =
        plan.findings.iter().any(|f| matches!(f, Finding::Repeated { host, times: 2, .. } if host == "copilot"));
    assert!(repeated, "{plan:#?}");
}

#[test]
fn a_link_is_its_target_and_carries_nothing_else() {
    let (adapters, rules) = (shipped(), rules());
    for user in [vec![link("CLAUDE.md", "AGENTS.md")], vec![file("AGENTS.md"), link("CLAUDE.md", "AGENTS.md")]] {
        for ids in [&["claude-code"][..], &["claude-code", "codex"], &["claude-code", "copilot"], &["codex", "copilot"]]
        {
            let input = input(&set(&adapters, ids), &rules, &user);
            let plan = planned(&input);
            assert!(!paths(&plan).contains(&"CLAUDE.md"), "{plan:#?}");
            assert_exactly_once(&input, &plan);
            assert_user_text_kept(&input, &plan);
        }
    }
}

#[test]
fn a_link_the_other_way_makes_its_target_the_home() {
    let (adapters, rules) = (shipped(), rules());
    let user = vec![file("CLAUDE.md"), link("AGENTS.md", "CLAUDE.md")];
    let input = input(&set(&adapters, &["claude-code", "codex"]), &rules, &user);
    let plan = planned(&input);
    assert!(paths(&plan).contains(&"CLAUDE.md") && !paths(&plan).contains(&"AGENTS.md"), "{plan:#?}");
    assert_exactly_once(&input, &plan);
}

#[test]
fn an_override_that_hides_the_only_carrier_is_reported() {
    let (adapters, rules, user) = (shipped(), rules(), vec![file("AGENTS.override.md")]);
    let plan = planned(&input(&set(&adapters, &["codex"]), &rules, &user));
    assert!(plan.findings.iter().any(|f| matches!(f, Finding::Never { host, .. } if host == "codex")), "{plan:#?}");
}

#[test]
fn planning_again_over_our_own_files_changes_nothing() {
    let (adapters, rules) = (shipped(), rules());
    let hosts: Vec<&Adapter> = adapters.iter().collect();
    let user = vec![file("CLAUDE.md")];
    let first = plan(&input(&hosts, &rules, &user));
    assert_eq!(first, plan(&input(&hosts, &rules, &user)));
    let nested = vec![file("CLAUDE.md"), file("packages/a/AGENTS.md"), file("packages/b/CLAUDE.md")];
    assert_eq!(first, plan(&input(&hosts, &rules, &nested)), "files below the root carry nothing at the start");
}
