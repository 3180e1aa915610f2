//! Texts that look like templates and are none.

use crate::diag::{Code, Diagnostic, Sink, SourceId, Span};

/// What only our templates begin an expression with.
const OURS: &[&str] = &["budgets.", "policy.", "role.", "block host_note"];

/// Warns of the first expression of ours in a text that is no template; `at` is where the text starts.
pub(super) fn check(body: &str, source: SourceId, at: u32, what: &str, sink: &mut Sink) {
    let open = body.match_indices("{{").chain(body.match_indices("{%"));
    let ours = open.map(|(start, _)| start).filter(|start| {
        let inner = body[start + 2..].trim_start_matches('-').trim_start();
        OURS.iter().any(|word| inner.starts_with(word))
    });
    let Some(start) = ours.min() else { return };
    let line = body[start..].lines().next().unwrap_or("");
    let length = line.find(['}']).map_or(line.len(), |end| (end + 2).min(line.len()));
    let length = body[start..].floor_char_boundary(length);
    let offset = |n: usize| at.saturating_add(u32::try_from(n).unwrap_or(0));
    sink.push(
        Diagnostic::new(Code::TemplateOff, format!("{what} is no template: agents would read these braces"))
            .at(Span { source, start: offset(start), end: offset(start + length) }, "printed as it stands")
            .help("add `template: true` to the front matter"),
    );
}
