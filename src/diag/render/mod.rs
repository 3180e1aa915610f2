//! Output formats. Each is a function of the same diagnostics and sources, and nothing else.

mod cover;
mod github;
mod human;
mod json;
mod sarif;

use super::{Diagnostic, SourceMap, Span};

/// How diagnostics are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people: the source with the offending text underlined.
    #[default]
    Human,
    /// A JSON array.
    Json,
    /// GitHub workflow commands, which become annotations of a pull request.
    Github,
    /// A SARIF 2.1.0 log.
    Sarif,
}

/// How the human format looks. The other formats ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether terminal colours are written.
    pub colour: bool,
    /// Columns of the terminal; longer source lines are cut around the offending text.
    pub width: usize,
}

impl Default for Look {
    /// Plain ASCII at a fixed width: the same bytes on every machine.
    fn default() -> Self {
        Self { colour: false, width: 140 }
    }
}

/// Renders all `diagnostics` in the order given. Ends with a newline unless there is nothing to say in
/// a format that has no frame (human, GitHub).
pub fn render<'a>(
    format: Format,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    sources: &SourceMap,
    look: Look,
) -> String {
    let all: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let (all, sources) = cover::covered(&all, sources);
    let all: Vec<&Diagnostic> = all.iter().map(AsRef::as_ref).collect();
    match format {
        Format::Human => human::render(&all, &sources, look),
        Format::Json => json::render(&all, &sources),
        Format::Github => github::render(&all, &sources),
        Format::Sarif => sarif::render(&all, &sources),
    }
}

/// A span as other programs take it. Lines and columns count from 1, columns in Unicode code points;
/// the end is exclusive.
struct Place<'a> {
    path: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'a str,
}

fn place(span: Span, sources: &SourceMap) -> Place<'_> {
    let (line, column) = sources.line_col(span);
    let (end_line, end_column) = sources.line_col_at(span.source, span.end.max(span.start));
    Place { path: &sources.get(span.source).path, line, column, end_line, end_column, text: sources.slice(span) }
}

/// The path a diagnostic is filed under: that of the underlined text, else the one it names.
fn path_of<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Option<&'a str> {
    match &diagnostic.primary {
        Some(label) => Some(&sources.get(label.span.source).path),
        None => diagnostic.path.as_deref(),
    }
}

/// The path a diagnostic names beside the text it underlines (an output that a source would break).
fn concerned<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Option<&'a str> {
    diagnostic.path.as_deref().filter(|path| path_of(diagnostic, sources) != Some(path))
}

/// Everything said beside the message, one line each: for formats that have one text per finding.
fn remarks(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<String> {
    let label = diagnostic.primary.iter().filter(|l| !l.text.is_empty()).map(|l| l.text.clone());
    let concerned = concerned(diagnostic, sources).map(|path| format!("concerns {path}"));
    let notes = diagnostic.notes.iter().map(|note| format!("note: {note}"));
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    label.chain(concerned).chain(notes).chain(help).collect()
}

#[cfg(test)]
mod tests;
