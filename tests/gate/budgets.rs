//! One number, every place: a budget that changes changes wherever it stands, in the unit of each place.

use std::collections::BTreeMap;

use crate::support::{HOSTS, Node, POLICY, Project, smallest};

/// Texts of what was rendered for all hosts with these budgets.
fn rendered(budgets: &str) -> BTreeMap<String, String> {
    let project = Project::of(&HOSTS);
    if !budgets.is_empty() {
        project.write(POLICY, format!("{}budgets:\n  {budgets}\n", smallest(&HOSTS)));
    }
    project.render();
    project.clean();
    let texts = project.tree().into_iter().filter(|(path, _)| !path.starts_with("shared-agent-rules/"));
    texts
        .filter_map(|(path, node)| match node {
            Node::File(bytes) => Some((path, String::from_utf8(bytes).unwrap())),
            _ => None,
        })
        .collect()
}

/// The budget's change does to every file what the replacements do, and each of them is found in `files`.
#[track_caller]
fn changes(budget: &str, replacements: &[(&str, &str, &[&str])]) {
    let (before, after) = (rendered(""), rendered(budget));
    for (old, new, files) in replacements {
        for file in *files {
            assert!(before[*file].contains(old), "`{old}` is not in {file}:\n{}", before[*file]);
            assert!(after[*file].contains(new), "`{new}` is not in {file} with {budget}:\n{}", after[*file]);
        }
    }
    assert!(before.keys().eq(after.keys()));
    for (path, text) in &before {
        let expected = replacements.iter().fold(text.clone(), |text, (old, new, _)| text.replace(old, new));
        assert_eq!(after[path], expected, "{path} with {budget}");
        for (old, _, _) in replacements {
            assert!(!after[path].contains(old), "`{old}` is still in {path} with {budget}");
        }
    }
}

/// Files that carry the shared text: the file of all hosts, and the bodies of roles where nothing is inherited.
const SHARED: [&str; 3] = ["AGENTS.md", ".github/agents/docs_writer.agent.md", ".github/agents/reviewer.agent.md"];
const TABLE: &str = ".rolecast/rules/budgets.md";

#[test]
fn tool_result_in_text_and_in_the_setting_of_each_host() {
    // Characters for a host that spills to a file, from the target; tokens of four bytes with a fifth of slack for
    // one that cuts, from the limit: floor(17 * 1024 / 4 / 1.21).
    changes(
        "tool-result: { target: 7KiB, limit: 17KiB }",
        &[
            ("12 KiB per tool result (never over 32 KiB)", "7 KiB per tool result (never over 17 KiB)", &SHARED),
            ("| one tool result | 12 KiB | 32 KiB |", "| one tool result | 7 KiB | 17 KiB |", &[TABLE]),
            ("\"maxToolResultTokens\": 9362", "\"maxToolResultTokens\": 4973", &[".tsuka/config.json"]),
            ("\"bashOutputMaxChars\": 12288", "\"bashOutputMaxChars\": 7168", &[".claude/settings.json"]),
            (
                "\"truncateToolOutputThreshold\": 11930",
                "\"truncateToolOutputThreshold\": 6959",
                &[".gemini/settings.json"],
            ),
            (
                "\"truncateToolOutputThreshold\": 12288",
                "\"truncateToolOutputThreshold\": 7168",
                &[".qwen/settings.json"],
            ),
            ("\"max_bytes\": 11930", "\"max_bytes\": 6959", &["opencode.json"]),
            ("tool_output_token_limit = 6770", "tool_output_token_limit = 3596", &[".codex/config.toml"]),
        ],
    );
}

#[test]
fn a_setting_stays_within_what_its_host_takes() {
    let texts = rendered("tool-result: { target: 1KiB, limit: 2KiB }");
    // The host takes no less than 4000; the ledger says so.
    assert!(texts[".claude/settings.json"].contains("\"bashOutputMaxChars\": 4000"));
    assert!(texts[".gemini/settings.json"].contains("\"truncateToolOutputThreshold\": 994"));
    assert!(texts[".codex/config.toml"].contains("tool_output_token_limit = 423"));
    assert!(texts["opencode.json"].contains("\"max_bytes\": 994"));
}

#[test]
fn search() {
    changes(
        "search: { target: 13, limit: 77 }",
        &[
            ("First pass: 20 search results", "First pass: 13 search results", &SHARED),
            (
                "| results of one repository search | 20 | 100 |",
                "| results of one repository search | 13 | 77 |",
                &[TABLE],
            ),
            (
                "at most 20 results in a first pass",
                "at most 13 results in a first pass",
                &[
                    ".claude/agents/explorer.md",
                    ".codex/agents/explorer.toml",
                    ".cursor/agents/explorer.md",
                    ".gemini/agents/explorer.md",
                    ".github/agents/explorer.agent.md",
                ],
            ),
        ],
    );
}

#[test]
fn file_read() {
    changes(
        "file-read: { target: 217 }",
        &[
            ("300 lines of a file", "217 lines of a file", &SHARED),
            ("| lines of the first read of a file | 300 |", "| lines of the first read of a file | 217 |", &[TABLE]),
            (
                "at most 300 lines at first",
                "at most 217 lines at first",
                &[".claude/agents/explorer.md", ".codex/agents/explorer.toml"],
            ),
        ],
    );
}

#[test]
fn knowledge_search() {
    changes(
        "knowledge-search: { target: 6 }",
        &[
            ("10 documentation or memory results", "6 documentation or memory results", &SHARED),
            ("documentation or memory search | 10 |", "documentation or memory search | 6 |", &[TABLE]),
        ],
    );
}

#[test]
fn browser_log() {
    changes(
        "browser-log: { target: 14 }",
        &[
            (
                "at most 20 entries",
                "at most 14 entries",
                &[
                    ".rolecast/rules/browser-routing.md",
                    ".claude/agents/browser_tester.md",
                    ".gemini/agents/browser_tester.md",
                ],
            ),
            ("| console or network entries | 20 |", "| console or network entries | 14 |", &[TABLE]),
        ],
    );
}

#[test]
fn delegation_packet() {
    changes(
        "delegation-packet: { target: 9KiB }",
        &[
            ("| packet for another agent | 16 KiB |", "| packet for another agent | 9 KiB |", &[TABLE]),
            ("Keep it within 16 KiB", "Keep it within 9 KiB", &[".rolecast/rules/delegation.md"]),
        ],
    );
}

#[test]
fn inline_media() {
    changes(
        "inline-media: { limit: 133KiB }",
        &[
            ("up to 256 KiB decoded", "up to 133 KiB decoded", &SHARED),
            ("only when asked for | | 256 KiB |", "only when asked for | | 133 KiB |", &[TABLE]),
        ],
    );
}

#[test]
fn instructions_is_a_measure_of_what_is_rendered_and_stands_in_no_text() {
    assert_eq!(rendered("instructions: { target: 11KiB, limit: 29KiB }"), rendered(""));
    let project = Project::of(&HOSTS);
    project.write(POLICY, format!("{}budgets:\n  instructions: {{ target: 1KiB, limit: 20KiB }}\n", smallest(&HOSTS)));
    project.run(&["render"]).exits(0).says(&["instructions-over-target", "1 KiB"]);
    project.write(POLICY, format!("{}budgets:\n  instructions: {{ target: 1KiB, limit: 2KiB }}\n", smallest(&HOSTS)));
    project.untouched(&["render"], 3).says(&["instructions-over-limit", "2 KiB", "bytes"]);
    project.untouched(&["check"], 3);
}

#[test]
fn a_limit_that_is_inherited_is_never_loosened() {
    for budget in [
        "tool-result: { limit: 33KiB }",
        "search: { limit: 101 }",
        "inline-media: { limit: 1MiB }",
        "instructions: { limit: 33KiB }",
    ] {
        let project = Project::of(&["codex"]);
        project.append(POLICY, &format!("budgets:\n  {budget}\n"));
        project.untouched(&["render"], 3).says(&["loosens-inherited", "policy.yaml:5:"]);
    }
}

#[test]
fn thresholds_of_the_context_stand_nowhere() {
    for (path, text) in rendered("") {
        for figure in ["50%", "65%", "75%", "50 %", "65 %", "75 %"] {
            assert!(!text.contains(figure), "{figure} in {path}: no model of these hosts sees the figure");
        }
    }
}

#[test]
fn codex_takes_thirty_two_kibibytes_of_instructions_and_no_more() {
    let project = Project::of(&["codex"]);
    project.write("AGENTS.md", "a".repeat(31 * 1024));
    project.untouched(&["render"], 3).says(&["host-limit", "32768", "bytes"]);
    project.write("AGENTS.md", "a".repeat(27 * 1024));
    project.render();
    project.clean();
}
