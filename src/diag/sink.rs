//! Collects diagnostics so that a stage can report everything it found.

use super::{Diagnostic, Severity, SourceMap};

/// Where stages put what they have to say.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
}

impl Sink {
    /// An empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a diagnostic unless an equal one is there already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether the compilation must stop.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Everything, ordered by path, place and code.
    pub fn sorted(&self, sources: &SourceMap) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.diagnostics.iter().collect();
        all.sort_by(|a, b| key(a, sources).cmp(&key(b, sources)));
        all
    }

    /// Everything in the order it was found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter()
    }
}

fn key<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> (&'a str, u32, &'static str, &'a str) {
    let path = match &d.primary {
        Some(label) => sources.get(label.span.source).path.as_str(),
        None => d.path.as_deref().unwrap_or(""),
    };
    (path, d.primary.as_ref().map_or(0, |l| l.span.start), d.code.id(), d.message.as_str())
}
