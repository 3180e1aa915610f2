//! The same findings in every format, from the real program: the same codes at the same places, and what other
//! programs read is valid.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Code, path, line and column of a finding; line and column are 0 where there is nothing to underline.
type Found = BTreeSet<(String, String, u64, u64)>;

/// A repository with findings of several codes: with and without a place, with a second place, in front matter.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("policy.yaml", "version: 1\nhosts: { claude-kode: {} }\nbudgets:\n  search: { target: 100, limit: 20 }\n"),
        (
            "web.md",
            "---\ntitle: Gr\u{f6}\u{df}e \u{1f600}\nactivation: { paths: [\"/a b\"] }\n---\nAt most {{ budgets.search.target }}.\n",
        ),
        (
            "roles/Writer.md",
            "---\ndescription: Writes.\ngrants: { shell.run: {} }\ndeny: { shell.*: enforced }\n---\nYou write.\n",
        ),
    ];
    for (name, text) in files {
        let path = folder.path().join("shared-agent-rules").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn check(root: &Path, format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .args(["check", "--format", format])
        .current_dir(root)
        .env_remove("GITHUB_ACTIONS")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{format}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn from_json(output: &str) -> Found {
    let value: Value = serde_json::from_str(output).unwrap();
    let all = value.as_array().or_else(|| value["diagnostics"].as_array()).unwrap();
    let number = |v: &Value| v.as_u64().unwrap_or(0);
    all.iter().map(|d| (text(&d["code"]), text(&d["path"]), number(&d["line"]), number(&d["column"]))).collect()
}

fn from_sarif(output: &str) -> Found {
    let value: Value = serde_json::from_str(output).unwrap();
    let results = value["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().map(|result| {
        let at = &result["locations"][0]["physicalLocation"];
        let number = |key: &str| at["region"][key].as_u64().unwrap_or(0);
        (text(&result["ruleId"]), text(&at["artifactLocation"]["uri"]), number("startLine"), number("startColumn"))
    });
    found.collect()
}

fn from_github(output: &str) -> Found {
    let found = output.lines().filter_map(|line| {
        let (head, _) = line.strip_prefix("::")?.split_once("::")?;
        let (_, properties) = head.split_once(' ')?;
        let get = |key: &str| properties.split(',').find_map(|p| p.strip_prefix(key)?.strip_prefix('='));
        let number = |key: &str| get(key).and_then(|n| n.parse().ok()).unwrap_or(0);
        Some((get("title")?.to_owned(), get("file").unwrap_or("").to_owned(), number("line"), number("col")))
    });
    found.collect()
}

/// From `error[CODE]: …` and the arrow below it.
fn from_human(output: &str) -> Found {
    let lines: Vec<&str> = output.lines().collect();
    let found = lines.windows(2).filter_map(|pair| {
        let (_, rest) = pair[0].split_once('[').filter(|(level, _)| matches!(*level, "error" | "warning" | "note"))?;
        let (code, _) = rest.split_once("]: ")?;
        let place = pair[1].trim_start().strip_prefix("--> ").unwrap_or("");
        let mut parts = place.rsplitn(3, ':');
        let (column, line, path) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        Some(match (path, line.and_then(|l| l.parse().ok()), column.parse().ok()) {
            (Some(path), Some(line), Some(column)) => (code.to_owned(), path.to_owned(), line, column),
            _ => (code.to_owned(), place.to_owned(), 0, 0),
        })
    });
    found.collect()
}

#[test]
fn every_format_reports_the_same_codes_at_the_same_places() {
    let folder = repository();
    let json = from_json(&check(folder.path(), "json"));
    let codes: BTreeSet<&str> = json.iter().map(|(code, ..)| code.as_str()).collect();
    let expected = ["budget-order", "deny-meets-grant", "glob-invalid", "role-name", "template-off", "unknown-host"];
    assert_eq!(codes, BTreeSet::from(expected));
    assert_eq!(from_sarif(&check(folder.path(), "sarif")), json);
    assert_eq!(from_github(&check(folder.path(), "github")), json);
    let human = Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .args(["check", "--color", "never"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(from_human(&String::from_utf8(human.stderr).unwrap()), json);
}

#[test]
fn the_sarif_log_of_a_real_run_is_valid_against_the_standard() {
    let folder = repository();
    let schema = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sarif-2.1.0.json")).unwrap();
    let mut schema: Value = serde_json::from_slice(&schema).unwrap();
    // The standard's pattern for a property we do not write is no valid regular expression.
    for object in ["run", "toolComponent"] {
        schema["definitions"][object]["properties"]["language"].as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let log: Value = serde_json::from_str(&check(folder.path(), "sarif")).unwrap();
    let errors: Vec<String> = validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
}
