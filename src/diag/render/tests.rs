//! Every format on the same few diagnostics.

use super::*;
use crate::diag::{Code, Severity};

/// Underlines the first `needle` of a source.
fn span(sources: &SourceMap, id: crate::diag::SourceId, needle: &str) -> Span {
    let start = sources.get(id).text.find(needle).unwrap();
    Span { source: id, start: start as u32, end: (start + needle.len()) as u32 }
}

fn samples() -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let role = sources.add("roles/docs, writer.md", "---\ndescription: \"größer 日本 👍\" # x\ngrants:\n  repo.raed: {}\n---\n");
    let policy = sources.add("shared-agent-rules/policy.yaml", "\u{feff}version: 1\ncapabilities:\n  repo.note: {}\n");
    let diagnostics = vec![
        Diagnostic::new(Code::UnknownKey, "unknown capability `repo.raed`")
            .at(span(&sources, role, "repo.raed"), "no such capability")
            .also(Some(span(&sources, role, "grants")), "granted here")
            .also(Some(span(&sources, policy, "repo.note")), "the policy adds only this one")
            .note("capabilities are `family.verb`")
            .help("did you mean `repo.read`?"),
        Diagnostic { severity: Severity::Warning, ..Diagnostic::new(Code::InvalidValue, "100% odd\nsecond line") }
            .at(span(&sources, role, "👍"), "after wide characters")
            .path("AGENTS.md"),
        Diagnostic::new(Code::InvalidValue, "escape \u{1b}[31m and \u{202e} stay visible")
            .at(span(&sources, policy, "version"), ""),
        Diagnostic::new(Code::MissingKey, "output differs").path(".claude/a b:c%.md").help("run `rolecast render`"),
        Diagnostic { severity: Severity::Note, ..Diagnostic::new(Code::MissingKey, "nothing to point at") },
    ];
    (sources, diagnostics)
}

fn rendered(format: Format) -> String {
    let (sources, diagnostics) = samples();
    render(format, &diagnostics, &sources, Look::default())
}

#[test]
fn people_see_the_source_with_the_text_underlined() {
    insta::assert_snapshot!(rendered(Format::Human), @"");
}

#[test]
fn colour_changes_no_character_of_the_text() {
    let (sources, diagnostics) = samples();
    let coloured = render(Format::Human, &diagnostics, &sources, Look { colour: true, width: 140 });
    assert!(coloured.contains("\u{1b}["));
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    let trimmed: String = stripped.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(trimmed, rendered(Format::Human));
}

#[test]
fn programs_get_every_fact_as_json() {
    insta::assert_snapshot!(rendered(Format::Json), @"");
}

#[test]
fn json_of_nothing_is_an_empty_array() {
    assert_eq!(render(Format::Json, [], &SourceMap::default(), Look::default()), "[]\n");
    assert_eq!(render(Format::Human, [], &SourceMap::default(), Look::default()), "");
}

#[test]
fn github_commands_escape_what_would_end_a_field() {
    insta::assert_snapshot!(rendered(Format::Github), @"");
}

#[test]
fn sarif_results_point_to_their_places() {
    let log: serde_json::Value = serde_json::from_str(&rendered(Format::Sarif)).unwrap();
    insta::assert_snapshot!(format!("{:#}", log["runs"][0]["results"]), @"");
}

#[test]
fn the_sarif_log_is_valid_against_the_standard() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sarif-2.1.0.json");
    let schema: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let empty = render(Format::Sarif, [], &SourceMap::default(), Look::default());
    for text in [rendered(Format::Sarif), empty] {
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }
    let mut broken: serde_json::Value = serde_json::from_str(&rendered(Format::Sarif)).unwrap();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken), "the schema must be able to refuse");
}
