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
    let role = sources
        .add("roles/docs, writer.md", "---\ndescription: \"größer 日本 👍\" # x\ngrants:\n  repo.raed: {}\n---\n");
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
        Diagnostic::new(Code::MissingKey, "output differs").path(".alpha/a b:c%.md").help("run `rolecast render`"),
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
    insta::assert_snapshot!(rendered(Format::Human), @r#"
    error[unknown-key]: unknown capability `repo.raed`
     --> roles/docs, writer.md:4:3
      |
    3 | grants:
      | ------ granted here
    4 |   repo.raed: {}
      |   ^^^^^^^^^ no such capability
      |
     ::: shared-agent-rules/policy.yaml:3:3
      |
    3 |   repo.note: {}
      |   --------- the policy adds only this one
      |
      = note: capabilities are `family.verb`
      = help: did you mean `repo.read`?

    warning[invalid-value]: 100% odd
                            second line
     --> roles/docs, writer.md:2:25
      |
    2 | description: "größer 日本 👍" # x
      |                           ^^ after wide characters
      |
      = note: concerns AGENTS.md

    error[invalid-value]: escape \u{1b}[31m and \u{202e} stay visible
     --> shared-agent-rules/policy.yaml:1:1
      |
    1 | version: 1
      | ^^^^^^^

    error[missing-key]: output differs
     --> .alpha/a b:c%.md
      = help: run `rolecast render`

    note[missing-key]: nothing to point at
    "#);
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
    let all: serde_json::Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 5);
    insta::assert_snapshot!(format!("{:#}", all[0]), @r#"
    {
      "code": "unknown-key",
      "severity": "error",
      "message": "unknown capability `repo.raed`",
      "path": "roles/docs, writer.md",
      "line": 4,
      "column": 3,
      "endLine": 4,
      "endColumn": 12,
      "text": "repo.raed",
      "concerns": null,
      "labels": [
        {
          "path": "roles/docs, writer.md",
          "line": 4,
          "column": 3,
          "endLine": 4,
          "endColumn": 12,
          "text": "repo.raed",
          "label": "no such capability"
        },
        {
          "path": "roles/docs, writer.md",
          "line": 3,
          "column": 1,
          "endLine": 3,
          "endColumn": 7,
          "text": "grants",
          "label": "granted here"
        },
        {
          "path": "shared-agent-rules/policy.yaml",
          "line": 3,
          "column": 3,
          "endLine": 3,
          "endColumn": 12,
          "text": "repo.note",
          "label": "the policy adds only this one"
        }
      ],
      "notes": [
        "capabilities are `family.verb`"
      ],
      "help": "did you mean `repo.read`?",
      "docs": "docs/diagnostics.md#unknown-key"
    }
    "#);
    insta::assert_snapshot!(format!("{:#}", all[3]), @r#"
    {
      "code": "missing-key",
      "severity": "error",
      "message": "output differs",
      "path": ".alpha/a b:c%.md",
      "line": null,
      "column": null,
      "endLine": null,
      "endColumn": null,
      "text": null,
      "concerns": null,
      "labels": [],
      "notes": [],
      "help": "run `rolecast render`",
      "docs": "docs/diagnostics.md#missing-key"
    }
    "#);
}

#[test]
fn json_of_nothing_is_an_empty_array() {
    assert_eq!(render(Format::Json, [], &SourceMap::default(), Look::default()), "[]\n");
    assert_eq!(render(Format::Human, [], &SourceMap::default(), Look::default()), "");
}

#[test]
fn github_commands_escape_what_would_end_a_field() {
    insta::assert_snapshot!(rendered(Format::Github), @r"
    ::error file=roles/docs%2C writer.md,line=4,col=3,title=unknown-key::unknown capability `repo.raed`%0Ano such capability%0Anote: capabilities are `family.verb`%0Ahelp: did you mean `repo.read`?
    ::warning file=roles/docs%2C writer.md,line=2,col=25,title=invalid-value::100%25 odd%0Asecond line%0Aafter wide characters%0Aconcerns AGENTS.md
    ::error file=shared-agent-rules/policy.yaml,line=1,col=1,title=invalid-value::escape \u{1b}[31m and \u{202e} stay visible
    ::error file=.alpha/a b%3Ac%25.md,title=missing-key::output differs%0Ahelp: run `rolecast render`
    ::notice title=missing-key::nothing to point at
    ");
}

#[test]
fn sarif_results_point_to_their_places() {
    let log: serde_json::Value = serde_json::from_str(&rendered(Format::Sarif)).unwrap();
    let results = &log["runs"][0]["results"];
    insta::assert_snapshot!(format!("{:#}", results[0]), @r#"
    {
      "ruleId": "unknown-key",
      "ruleIndex": 1,
      "level": "error",
      "message": {
        "text": "unknown capability `repo.raed`\nno such capability\nnote: capabilities are `family.verb`\nhelp: did you mean `repo.read`?"
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "roles/docs%2C%20writer.md",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 4,
              "startColumn": 3,
              "endLine": 4,
              "endColumn": 12,
              "snippet": {
                "text": "repo.raed"
              }
            }
          }
        }
      ],
      "relatedLocations": [
        {
          "id": 0,
          "physicalLocation": {
            "artifactLocation": {
              "uri": "roles/docs%2C%20writer.md",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 3,
              "startColumn": 1,
              "endLine": 3,
              "endColumn": 7,
              "snippet": {
                "text": "grants"
              }
            }
          },
          "message": {
            "text": "granted here"
          }
        },
        {
          "id": 1,
          "physicalLocation": {
            "artifactLocation": {
              "uri": "shared-agent-rules/policy.yaml",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 3,
              "startColumn": 3,
              "endLine": 3,
              "endColumn": 12,
              "snippet": {
                "text": "repo.note"
              }
            }
          },
          "message": {
            "text": "the policy adds only this one"
          }
        }
      ]
    }
    "#);
    insta::assert_snapshot!(format!("{:#}", results[3]), @r#"
    {
      "ruleId": "missing-key",
      "ruleIndex": 3,
      "level": "error",
      "message": {
        "text": "output differs\nhelp: run `rolecast render`"
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": ".alpha/a%20b%3Ac%25.md",
              "uriBaseId": "%SRCROOT%"
            }
          }
        }
      ]
    }
    "#);
}

#[test]
fn the_sarif_log_is_valid_against_the_standard() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sarif-2.1.0.json");
    let mut schema: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    // The standard's pattern for a property we do not write has a stray bracket that makes it no valid
    // regular expression.
    for object in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][object]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
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

proptest::proptest! {
    /// Whatever the texts of the user are, every format keeps its frame.
    #[test]
    fn hostile_texts_break_no_frame(
        path in "[a-z:,%?#\u{1b}\n\r ü/\u{202e}]{1,12}",
        text in "[a-z:,%\u{1b}\n\r\tü\u{0}\u{202e}日]{0,30}",
        message in "[a-z:,%\u{1b}\n\r ü\u{202e}]{1,20}",
        start in 0_u32..40,
        length in 0_u32..40,
    ) {
        let mut sources = SourceMap::default();
        let source = sources.add(path.clone(), text);
        let diagnostics = [
            Diagnostic::new(Code::InvalidValue, message.clone())
                .at(Span { source, start, end: start + length }, message.clone())
                .help(message.clone()),
            Diagnostic::new(Code::InvalidValue, message).path(path.clone()),
        ];
        let all = |format| render(format, &diagnostics, &sources, Look::default());
        proptest::prop_assert_eq!(all(Format::Github).lines().filter(|line| line.starts_with("::error ")).count(), 2);
        proptest::prop_assert_eq!(all(Format::Github).lines().count(), 2);
        let obeyed = all(Format::Human).contains(['\u{1b}', '\u{202e}', '\r']);
        proptest::prop_assert!(!obeyed);
        let json: serde_json::Value = serde_json::from_str(&all(Format::Json)).unwrap();
        proptest::prop_assert_eq!(&json[1]["path"], &path);
        let sarif: serde_json::Value = serde_json::from_str(&all(Format::Sarif)).unwrap();
        let location = &sarif["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"];
        let uri = location["uri"].as_str().unwrap();
        proptest::prop_assert!(uri.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b)), "{}", uri);
    }
}
