//! Diagnostics as GitHub workflow commands.

use super::super::{Diagnostic, Severity, SourceMap};
use super::{path_of, place, remarks};
use crate::text::encoding::visible;

/// One command a line.
pub(super) fn render(diagnostics: &[&Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| command(diagnostic, sources)).collect()
}

fn command(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    if let Some(path) = path_of(diagnostic, sources) {
        properties.push(format!("file={}", property(&visible(path))));
    }
    if let Some(label) = &diagnostic.primary {
        let at = place(label.span, sources);
        properties.push(format!("line={},col={}", at.line, at.column));
    }
    properties.push(format!("title={}", property(diagnostic.code.id())));
    let mut lines = vec![diagnostic.message.clone()];
    lines.extend(remarks(diagnostic, sources));
    format!("::{level} {}::{}\n", properties.join(","), data(&visible(&lines.join("\n"))))
}

/// Escapes the text of a command; `%` first, or the others would be escaped twice.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
