//! Diagnostics as a SARIF 2.1.0 log for code scanning.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Code, Diagnostic, Label, SourceMap, catalogue};
use super::{path_of, place, remarks};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Stands for the root of the checkout; the consumer knows where that is.
const ROOT: &str = "%SRCROOT%";

/// One log with one run. Columns count Unicode code points, and the log says so.
pub(super) fn render(diagnostics: &[&Diagnostic], sources: &SourceMap) -> String {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
    let results: Vec<Value> = diagnostics.iter().map(|diagnostic| result(diagnostic, sources)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rolecast", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn rule(code: Code) -> Value {
    let explanation = code.explanation().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let explanation = explanation.trim();
    json!({
        "id": code.id(),
        "shortDescription": { "text": code.title() },
        "fullDescription": { "text": explanation },
        "help": { "text": format!("{explanation}\n\n{}", catalogue::address(code)), "markdown": explanation },
        "defaultConfiguration": { "level": code.severity().word() },
    })
}

fn result(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let mut lines = vec![diagnostic.message.clone()];
    lines.extend(remarks(diagnostic, sources));
    let location = match &diagnostic.primary {
        Some(label) => Some(physical(label, sources)),
        None => path_of(diagnostic, sources).map(|path| json!({ "artifactLocation": artifact(path) })),
    };
    let locations: Vec<Value> = location.into_iter().map(|at| json!({ "physicalLocation": at })).collect();
    let mut result = json!({
        "ruleId": diagnostic.code.id(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == diagnostic.code),
        "level": diagnostic.severity.word(),
        "message": { "text": lines.join("\n") },
        "locations": locations,
    });
    if !diagnostic.secondary.is_empty() {
        result["relatedLocations"] =
            diagnostic.secondary.iter().enumerate().map(|(id, l)| related(id, l, sources)).collect();
    }
    result
}

fn related(id: usize, label: &Label, sources: &SourceMap) -> Value {
    let mut location = json!({ "id": id, "physicalLocation": physical(label, sources) });
    if !label.text.is_empty() {
        location["message"] = json!({ "text": label.text });
    }
    location
}

fn physical(label: &Label, sources: &SourceMap) -> Value {
    let at = place(label.span, sources);
    json!({
        "artifactLocation": artifact(at.path),
        "region": {
            "startLine": at.line, "startColumn": at.column, "endLine": at.end_line, "endColumn": at.end_column,
            "snippet": { "text": at.text },
        },
    })
}

/// What the program carries itself (`<builtin>/…`) is no file of the checkout.
fn artifact(path: &str) -> Value {
    if path.starts_with('<') { json!({ "uri": uri(path) }) } else { json!({ "uri": uri(path), "uriBaseId": ROOT }) }
}

/// A relative reference: everything but unreserved characters and `/` percent-encoded, so that neither
/// a colon makes a scheme nor a `?` a query.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
