//! The door for sources: bytes become a text of the map, or a diagnostic that shows why not.

use super::{Code, Diagnostic, Sink, SourceId, SourceMap, Span};
use crate::text::encoding::{self, Problem, ProblemKind};
use crate::text::frontmatter::{self, FrontMatter};

/// Adds the bytes read at `path`. `None` when they are no acceptable text of at most `max` bytes: the
/// reason is in `sink`, and as much of the text as can be shown in `sources`.
pub fn admit(path: &str, bytes: &[u8], max: usize, sources: &mut SourceMap, sink: &mut Sink) -> Option<SourceId> {
    match encoding::check(bytes, max) {
        Ok(text) => {
            let id = sources.add(path, text);
            for run in encoding::hidden(text) {
                sink.push(hidden_text(id, text, run));
            }
            Some(id)
        }
        Err(problem) => {
            sink.push(refused(path, bytes, problem, sources));
            None
        }
    }
}

/// Splits a Markdown source into front matter and body; why not is in `sink`.
pub fn front_matter<'a>(source: SourceId, sources: &'a SourceMap, sink: &mut Sink) -> Option<FrontMatter<'a>> {
    match frontmatter::split(&sources.get(source).text) {
        Ok(parts) => Some(parts),
        Err(problem) => {
            let help = match problem {
                frontmatter::Problem::Missing { .. } => {
                    "start with a `---` line, the keys, and another `---` line; what is no source must stand elsewhere"
                }
                frontmatter::Problem::Unterminated { .. } => "end the keys with a second `---` line",
            };
            let at = problem.at();
            let span = Span { source, start: offset(at.start), end: offset(at.end) };
            sink.push(Diagnostic::new(Code::FrontMatter, problem.to_string()).at(span, "").help(help));
            None
        }
    }
}

/// The diagnostic for a file that was not even read because it has `bytes` bytes.
pub fn too_large(path: &str, bytes: usize, max: usize) -> Diagnostic {
    Diagnostic::new(Code::Encoding, ProblemKind::TooLarge { bytes, max }.to_string()).path(path)
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn refused(path: &str, bytes: &[u8], problem: Problem, sources: &mut SourceMap) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::Encoding, problem.to_string());
    if matches!(problem.kind, ProblemKind::TooLarge { .. }) {
        return diagnostic.path(path);
    }
    let source = sources.add(path, problem.shown(bytes));
    let (start, end) = (offset(problem.offset), offset(problem.offset + problem.shown_len()));
    let diagnostic = diagnostic.at(Span { source, start, end }, "");
    match problem.kind {
        ProblemKind::Utf16 | ProblemKind::NotUtf8(_) => diagnostic.help("save the file as UTF-8"),
        _ => diagnostic,
    }
}

fn hidden_text(source: SourceId, text: &str, run: std::ops::Range<usize>) -> Diagnostic {
    let codes: Vec<String> = text[run.clone()].chars().take(4).map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let more = if text[run.clone()].chars().count() > 4 { " …" } else { "" };
    Diagnostic::new(Code::HiddenText, format!("characters that are not seen: {}{more}", codes.join(" ")))
        .at(Span { source, start: offset(run.start), end: offset(run.end) }, "")
        .help("remove them: an agent reads what a reviewer does not see")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_file_shows_the_byte_in_its_line() {
        let (mut sources, mut sink) = (SourceMap::default(), Sink::new());
        assert_eq!(admit("roles/a.md", b"---\nx: gr\xfcn\n", 100, &mut sources, &mut sink), None);
        let found = sink.iter().next().unwrap();
        let span = found.primary.as_ref().unwrap().span;
        assert_eq!((sources.slice(span), sources.line_col(span)), ("\u{fffd}", (2, 6)));
        assert_eq!(found.message, "byte 0xFC is not UTF-8");
    }

    #[test]
    fn hidden_text_is_a_warning_and_the_text_is_taken() {
        let (mut sources, mut sink) = (SourceMap::default(), Sink::new());
        assert!(admit("a.md", "a\u{202e}b".as_bytes(), 100, &mut sources, &mut sink).is_some());
        assert!(!sink.has_errors());
        assert_eq!(sink.iter().next().unwrap().message, "characters that are not seen: U+202E");
    }

    #[test]
    fn a_file_without_front_matter_says_what_to_write() {
        let (mut sources, mut sink) = (SourceMap::default(), Sink::new());
        let open = sources.add("a.md", "---\na: b\n");
        let plain = sources.add("b.md", "\u{feff}# Title\n");
        for (id, shown) in [(open, "---"), (plain, "# Title")] {
            assert!(front_matter(id, &sources, &mut sink).is_none());
            let found = sink.iter().last().unwrap();
            assert_eq!((found.code, sources.slice(found.primary.as_ref().unwrap().span)), (Code::FrontMatter, shown));
        }
        let whole = sources.add("c.md", "---\na: b\n---\nBody");
        assert_eq!(front_matter(whole, &sources, &mut sink).map(|parts| parts.body), Some("Body"));
    }
}
