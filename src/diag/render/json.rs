//! Diagnostics as JSON for other programs.

use serde_json::{Value, json};

use super::super::{Diagnostic, SourceMap, catalogue};
use super::{concerned, path_of, place};

/// A pretty-printed array with one object per diagnostic. Every key is always there; what does not
/// apply is `null` or empty. Columns count Unicode code points from 1, ends are exclusive.
pub(super) fn render(diagnostics: &[&Diagnostic], sources: &SourceMap) -> String {
    let all: Vec<Value> = diagnostics.iter().map(|diagnostic| object(diagnostic, sources)).collect();
    format!("{:#}\n", Value::Array(all))
}

fn object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let at = diagnostic.primary.as_ref().map(|label| place(label.span, sources));
    let labels: Vec<Value> = diagnostic
        .primary
        .iter()
        .chain(&diagnostic.secondary)
        .map(|label| {
            let at = place(label.span, sources);
            json!({
                "path": at.path, "line": at.line, "column": at.column, "endLine": at.end_line, "endColumn": at.end_column,
                "text": at.text, "label": label.text,
            })
        })
        .collect();
    json!({
        "code": diagnostic.code.id(),
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "path": path_of(diagnostic, sources),
        "line": at.as_ref().map(|at| at.line),
        "column": at.as_ref().map(|at| at.column),
        "endLine": at.as_ref().map(|at| at.end_line),
        "endColumn": at.as_ref().map(|at| at.end_column),
        "text": at.as_ref().map(|at| at.text),
        "concerns": concerned(diagnostic, sources),
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "docs": catalogue::address(diagnostic.code),
    })
}
