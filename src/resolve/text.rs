//! Places of texts in sources whose values carry none.

use crate::diag::{SourceId, Span};
use crate::load::Loaded;

/// The source with this file name that was read last.
pub(super) fn source_of(loaded: &Loaded, file_name: &str) -> Option<SourceId> {
    let below = format!("adapters/{file_name}");
    let named = |path: &str| path.ends_with(&below) || path.rsplit('/').next() == Some(file_name);
    loaded.sources.ids().filter(|id| named(&loaded.sources.get(*id).path)).last()
}

/// The first place of `word` that is not part of a longer name.
pub(super) fn word(loaded: &Loaded, source: SourceId, word: &str) -> Option<Span> {
    let text = &loaded.sources.get(source).text;
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let at = text
        .match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !word.is_empty() && !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part))?;
    span(source, at, word.len())
}

/// The first line that starts with `start`, as far as that goes.
pub(super) fn line(loaded: &Loaded, source: SourceId, start: &str) -> Option<Span> {
    let text = &loaded.sources.get(source).text;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(start) {
            return span(source, at, line.trim_end().len());
        }
        at += line.len();
    }
    None
}

fn span(source: SourceId, start: usize, length: usize) -> Option<Span> {
    Some(Span { source, start: u32::try_from(start).ok()?, end: u32::try_from(start + length).ok()? })
}
