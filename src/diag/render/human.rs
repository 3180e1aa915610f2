//! Diagnostics for people, in the look of the Rust compiler. The only module that names the snippet
//! crate.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::super::{Diagnostic, Label, Severity, SourceId, SourceMap};
use super::{Look, concerned};
use crate::text::encoding::visible;

/// One block per diagnostic, separated by empty lines.
pub(super) fn render(diagnostics: &[&Diagnostic], sources: &SourceMap, look: Look) -> String {
    let renderer = if look.colour { Renderer::styled() } else { Renderer::plain() }.term_width(look.width);
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        // Without line numbers the renderer leaves no margin; the arrow belongs below the others.
        let margin = if diagnostic.primary.is_none() && diagnostic.secondary.is_empty() { " " } else { "" };
        for (number, line) in renderer.render(&[group(diagnostic, sources)]).lines().enumerate() {
            text.push_str(if number == 0 { "" } else { margin });
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code.id());
    let mut group = Group::with_title(title);
    for (source, labels) in by_source(diagnostic) {
        group = group.element(snippet(source, &labels, sources));
    }
    if let (None, Some(path)) = (&diagnostic.primary, &diagnostic.path) {
        group = group.element(Origin::path(visible(path)));
    }
    if let Some(path) = concerned(diagnostic, sources) {
        group = group.element(Level::NOTE.message(format!("concerns {}", visible(path))));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(visible(note)));
    }
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(visible(help))),
        None => group,
    }
}

/// Labels by source in the order of first mention, the primary's source first.
fn by_source(diagnostic: &Diagnostic) -> Vec<(SourceId, Vec<(&Label, AnnotationKind)>)> {
    let mut files: Vec<(SourceId, Vec<(&Label, AnnotationKind)>)> = Vec::new();
    let primary = diagnostic.primary.iter().map(|label| (label, AnnotationKind::Primary));
    let secondary = diagnostic.secondary.iter().map(|label| (label, AnnotationKind::Context));
    for (label, kind) in primary.chain(secondary) {
        match files.iter_mut().find(|(source, _)| *source == label.span.source) {
            Some((_, labels)) => labels.push((label, kind)),
            None => files.push((label.span.source, vec![(label, kind)])),
        }
    }
    files
}

fn snippet<'a>(
    id: SourceId,
    labels: &[(&'a Label, AnnotationKind)],
    sources: &'a SourceMap,
) -> Snippet<'a, Annotation<'a>> {
    let source = sources.get(id);
    // A byte order mark would be printed as a character and shift the underline.
    let shift = source.text.len() - source.text.trim_start_matches('\u{feff}').len();
    let text = &source.text[shift..];
    let at = |offset: u32| text.floor_char_boundary((offset as usize).saturating_sub(shift));
    let annotations = labels.iter().map(|(label, kind)| {
        let start = at(label.span.start);
        let annotation = kind.span(start..at(label.span.end).max(start));
        if label.text.is_empty() { annotation } else { annotation.label(visible(&label.text)) }
    });
    Snippet::source(text).path(visible(&source.path)).annotations(annotations)
}
