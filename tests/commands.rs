//! Forbidden commands mean the same on every host whose way of matching is known.

use proptest::prelude::*;
use serde_json::Value;

use rolecast::compile::compile;
use rolecast::diag::Sink;
use rolecast::plan::ledger::{Line, Subject};
use rolecast::render::artifact::{Artifact, Content};
use rolecast::system::memory::Memory;

const HOSTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];

fn rendered(forbid: &[String]) -> (Vec<Artifact>, Vec<Line>) {
    let hosts: Vec<String> = HOSTS.iter().map(|h| format!("{h}: {{}}")).collect();
    let forbid: Vec<String> = forbid.iter().map(|f| format!("{{ run: {} }}", Value::from(f.as_str()))).collect();
    let policy =
        format!("version: 1\nhosts: {{ {} }}\ncommands: {{ forbid: [{}] }}\n", hosts.join(", "), forbid.join(", "));
    let role = "---\ndescription: Builds.\ngrants: { shell.run: {} }\n---\nBuild.\n";
    let system =
        Memory::new().with("shared-agent-rules/policy.yaml", policy).with("shared-agent-rules/roles/builder.md", role);
    let mut sink = Sink::new();
    let compiled = compile(&system, Some("shared-agent-rules"), &[], &mut sink);
    let said: Vec<String> = sink.iter().map(|d| d.message.clone()).collect();
    let artifacts = compiled.rendered.unwrap_or_else(|| panic!("{said:?}")).artifacts;
    (artifacts, compiled.plan.unwrap().ledger.lines)
}

fn entries<'a>(artifacts: &'a [Artifact], file: &str, path: &[&str]) -> Vec<&'a Value> {
    let content = artifacts.iter().filter(|a| a.path == file).map(|a| &a.content);
    let entries = content.flat_map(|c| if let Content::Entries(e) = c { e.as_slice() } else { &[] });
    entries.filter(|e| e.path == path).map(|e| &e.value).collect()
}

/// The patterns inside of `WORD(…)`.
fn inside<'a>(values: &[&'a Value], word: &str) -> Vec<&'a str> {
    let inner = |v: &'a Value| v.as_str()?.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')');
    values.iter().map(|v| inner(v).unwrap_or_else(|| panic!("{v}"))).collect()
}

/// `*` at the end stands for anything, and behind a blank for nothing too.
fn fits(pattern: &str, command: &str) -> bool {
    match pattern.strip_suffix(" *") {
        Some(words) => command == words || command.starts_with(&format!("{words} ")),
        None => command == pattern,
    }
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "-f", "a:b"]), 1..4)
        .prop_map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>())
        .prop_filter("a program", |words| !words[0].starts_with('-'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_host_refuses_what_starts_with_the_words_and_nothing_else(
        pattern in words(), star in any::<bool>(), argv in words(),
    ) {
        let run = pattern.join(" ") + if star { " *" } else { "" };
        let (artifacts, _) = rendered(&[run]);
        let (meant, command) = (argv.starts_with(&pattern), argv.join(" "));

        for file in [".claude/settings.json", ".qwen/settings.json"] {
            let rules = entries(&artifacts, file, &["permissions", "deny"]);
            prop_assert_eq!(inside(&rules, "Bash").iter().any(|p| fits(p, &command)), meant, "{}: {:?}", file, rules);
        }
        let map = entries(&artifacts, "opencode.json", &["permission"])[0];
        let bash = map["bash"].as_object().unwrap();
        prop_assert!(bash.values().all(|v| v == "deny"));
        // The exact words have a rule of their own, so that nothing depends on what a last `*` may leave out.
        let exact = |p: &str| p.strip_suffix('*').map_or(command == p, |start| command.starts_with(start));
        prop_assert_eq!(bash.keys().any(|p| exact(p)), meant, "{:?}", bash);

        let rules = entries(&artifacts, ".cursor/cli.json", &["permissions", "deny"]);
        let first = inside(&rules, "Shell").iter().any(|p| *p == argv[0]);
        prop_assert_eq!(first, meant && pattern.len() == 1, "{:?}", rules);

        let rules = artifacts.iter().find(|a| a.path == ".codex/rules/rolecast.rules").unwrap();
        let Content::Whole(text) = &rules.content else { panic!() };
        let list = text.lines().find_map(|l| l.trim().strip_prefix("pattern = ")).unwrap().trim_end_matches(',');
        let list: Vec<String> = serde_json::from_str(list).unwrap();
        prop_assert_eq!(argv.starts_with(&list), meant);
    }
}

#[test]
fn no_line_claims_more_than_text_and_each_host_has_one_for_each_command() {
    let (_, lines) = rendered(&["rm *".to_owned(), "git push --force".to_owned()]);
    for host in HOSTS {
        let own = lines.iter().filter(|l| l.host == host);
        let about: Vec<&Line> = own.filter(|l| matches!(l.subject, Subject::Command { .. })).collect();
        assert_eq!(about.len(), 2, "{host}");
        for line in about {
            assert_eq!(line.guarantee, Some(rolecast::model::scalar::Guarantee::Advised), "{line:?}");
        }
    }
}

#[test]
fn nothing_is_written_where_nothing_is_forbidden() {
    let (artifacts, lines) = rendered(&[]);
    assert!(!artifacts.iter().any(|a| a.path.ends_with(".rules") || a.path == ".cursor/cli.json"));
    assert!(entries(&artifacts, "opencode.json", &["permission"]).is_empty());
    assert!(!lines.iter().any(|l| matches!(l.subject, Subject::Command { .. })));
}

#[test]
fn no_rule_that_lets_a_command_out_of_a_sandbox_is_ever_rendered() {
    let (artifacts, _) = rendered(&["rm *".to_owned()]);
    let rules = artifacts.iter().find(|a| a.path == ".codex/rules/rolecast.rules").unwrap();
    let Content::Whole(text) = &rules.content else { panic!() };
    let decisions: Vec<&str> = text.lines().filter(|l| l.contains("decision")).map(str::trim).collect();
    assert_eq!(decisions, ["decision = \"forbidden\","]);
}
