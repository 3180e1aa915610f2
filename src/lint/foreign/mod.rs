//! Files that are not ours and undo lazy discovery: texts that hosts load at every start and that demand
//! documentation, memory or taxonomy tools there, and hooks that do so.

mod files;
mod hooks;
mod phrases;
#[cfg(test)]
mod tests;
mod text;

use std::ops::Range;

use crate::diag::{Code, Diagnostic, SourceMap, Span};

pub use files::{Candidate, What, candidates};

/// Judges one file; `sources` gets its text when there is something to show.
pub fn judge(candidate: &Candidate, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let (found, message, label) = match &candidate.what {
        What::Text => (
            text::demands(&candidate.text),
            "a text that is loaded at every start demands documentation, memory or taxonomy tools",
            "demanded before any task needs it",
        ),
        What::Hooks { events } => (
            hooks::demands(&candidate.path, &candidate.text, events),
            "a hook calls on documentation, memory or taxonomy tools at every start of a session",
            "runs before any task needs it",
        ),
    };
    if found.is_empty() {
        return Vec::new();
    }
    let source = sources.add(candidate.path.clone(), candidate.text.clone());
    let span = |at: Range<usize>| Span { source, start: offset(at.start), end: offset(at.end) };
    found
        .into_iter()
        .map(|at| {
            Diagnostic::new(Code::ForeignSessionStart, message)
                .at(span(at), label)
                .help("let the task decide: remove it, or say for which tasks it is needed")
        })
        .collect()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
