//! What a comparison found, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::diag::render::{Format, Look, render};
use crate::diag::{Code, Diagnostic, Sink, SourceMap, Span};
use crate::sync::diff::unified;
use crate::sync::{Change, Comparison};

use super::exit::Exit;
use super::ui::Ui;

/// Prints a comparison in the format asked for and says how the command ends.
///
/// Diagnostics of the compilation belong to the result of the formats for programs.
pub fn report(comparison: &Comparison, mut sink: Sink, sources: &SourceMap, ui: &Ui) -> Exit {
    let mut shown = std::borrow::Cow::Borrowed(sources);
    let spotted: Vec<Diagnostic> = comparison.changes.iter().flat_map(|change| spotted(change, &mut shown)).collect();
    let sources = shown.as_ref();
    for diagnostic in spotted {
        sink.push(diagnostic);
    }
    match ui.format {
        Format::Human => {
            ui.diagnostics(&sink, sources);
            ui.result(&human(comparison));
            for note in &comparison.notes {
                ui.say(&format!("note: {}: {}", note.path, note.text));
            }
        }
        Format::Json => ui.result(&json(comparison, &sink, sources)),
        Format::Github | Format::Sarif => {
            let mut all = sink;
            for diagnostic in diagnostics(comparison) {
                all.push(diagnostic);
            }
            ui.diagnostics(&all, sources);
        }
    }
    exit(comparison)
}

/// The code that a comparison ends with.
pub fn exit(comparison: &Comparison) -> Exit {
    if !comparison.problems.is_empty() {
        Exit::Environment
    } else if comparison.changes.is_empty() {
        Exit::Clean
    } else {
        Exit::Drift
    }
}

/// Leaves of a refused render what stands in its way, as far as people are told.
pub fn in_the_way(mut comparison: Comparison, ui: &Ui) -> Comparison {
    if ui.format == Format::Human {
        comparison.changes.retain(|change| !change.conflicts.is_empty());
    }
    comparison
}

/// Causes, remedies and diffs, file by file.
pub fn human(comparison: &Comparison) -> String {
    let mut out = String::new();
    for problem in &comparison.problems {
        let _ = writeln!(out, "{}: {}", problem.path, problem.message);
    }
    // Digests say nothing that the diff of an output does not say better.
    let outputs = comparison.changes.iter().any(|change| !change.own);
    for change in &comparison.changes {
        out.push_str(&one(change, !(change.own && outputs)));
    }
    out
}

fn one(change: &Change, with_diff: bool) -> String {
    let mut out = String::new();
    let mut remedies: Vec<&str> = Vec::new();
    for cause in &change.causes {
        let _ = writeln!(out, "{}: {cause}", change.path);
        if !remedies.contains(&cause.remedy()) {
            remedies.push(cause.remedy());
        }
    }
    // A conflict that `--force` settles is a cause said again.
    for conflict in change.conflicts.iter().filter(|c| !c.forceable || change.causes.is_empty()) {
        let _ = writeln!(out, "{}: {conflict}", change.path);
    }
    for remedy in remedies {
        let _ = writeln!(out, "  {remedy}");
    }
    if with_diff {
        out.push_str(&unified(change));
    }
    out
}

fn json(comparison: &Comparison, sink: &Sink, sources: &SourceMap) -> String {
    let found = render(Format::Json, sink.sorted(sources), sources, Look::default());
    let changes: Vec<Value> = comparison
        .changes
        .iter()
        .map(|change| {
            json!({
                "path": change.path,
                "causes": change.causes.iter().map(|c| json!({
                    "id": c.id(), "message": c.to_string(), "pointer": c.pointer(), "remedy": c.remedy(),
                })).collect::<Vec<_>>(),
                "conflicts": change.conflicts.iter().map(|c| json!({ "message": c.message, "forceable": c.forceable })).collect::<Vec<_>>(),
                "sources": change.sources,
                "diff": unified(change),
            })
        })
        .collect();
    let value = json!({
        "clean": comparison.is_clean() && !sink.has_errors(),
        "changes": changes,
        "problems": comparison.problems.iter().map(|p| json!({ "path": p.path, "message": p.message })).collect::<Vec<_>>(),
        "notes": comparison.notes.iter().map(|n| json!({ "path": n.path, "text": n.text })).collect::<Vec<_>>(),
        "diagnostics": serde_json::from_str::<Value>(&found).unwrap_or_default(),
    });
    format!("{value:#}\n")
}

/// What a host could not read in a file of the user, where it stands.
fn spotted(change: &Change, sources: &mut std::borrow::Cow<'_, SourceMap>) -> Vec<Diagnostic> {
    let text = change.before.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let conflicts = change.conflicts.iter().filter(|c| !c.spots.is_empty());
    let (Some(text), Some(_)) = (text, conflicts.clone().next()) else { return Vec::new() };
    let source = sources.to_mut().add(change.path.clone(), text);
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    conflicts
        .map(|conflict| {
            let mut labels = conflict
                .spots
                .iter()
                .map(|(at, what)| (Span { source, start: offset(at.start), end: offset(at.end) }, what.as_str()));
            let first = labels.next();
            let d = Diagnostic::new(Code::OutputConflict, conflict.message.clone());
            let d = d.at_opt(first.map(|(span, _)| span), first.map_or("", |(_, what)| what));
            let d = labels.fold(d, |d, (span, what)| d.also(Some(span), what));
            conflict
                .notes
                .iter()
                .cloned()
                .fold(d, Diagnostic::note)
                .help("take out what is underlined; a render stops here and writes nothing before")
        })
        .collect()
}

fn diagnostics(comparison: &Comparison) -> Vec<Diagnostic> {
    let problems = comparison.problems.iter().map(|p| {
        Diagnostic::new(Code::OutputBlocked, p.message.clone())
            .path(p.path.clone())
            .help("move it out of the way; nothing is written before")
    });
    let changes = comparison.changes.iter().flat_map(|change| {
        let causes = change.causes.iter().map(|cause| {
            let sources = change.sources.iter().take(3).map(|s| format!("made of `{s}`"));
            let d = Diagnostic::new(Code::Drift, cause.to_string()).path(change.path.clone()).help(cause.remedy());
            sources.fold(d, Diagnostic::note)
        });
        let conflicts = change.conflicts.iter().filter(|c| c.spots.is_empty()).map(|c| {
            let d = Diagnostic::new(Code::OutputConflict, c.message.clone()).path(change.path.clone());
            d.help(if c.forceable {
                "a render stops here and writes nothing, unless it is told `--force`"
            } else {
                "a render stops here and writes nothing until this is out of the way"
            })
        });
        causes.chain(conflicts).collect::<Vec<_>>()
    });
    problems.chain(changes).collect()
}
