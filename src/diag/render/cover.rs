//! Secrets are not printed: whoever reads a report may not be who may read them.

use std::borrow::Cow;

use super::super::{Code, Diagnostic, Label, SourceMap};
use crate::text::secret;

/// Diagnostics and sources with secrets covered, at equal places; as they are where there is none.
pub(super) fn covered<'a>(
    diagnostics: &[&'a Diagnostic],
    sources: &'a SourceMap,
) -> (Vec<Cow<'a, Diagnostic>>, Cow<'a, SourceMap>) {
    let all: Vec<Cow<'a, Diagnostic>> = diagnostics.iter().map(|d| diagnostic(d)).collect();
    if all.is_empty() {
        return (all, Cow::Borrowed(sources));
    }
    let texts: Vec<String> = sources.ids().map(|id| secret::covered(&sources.get(id).text)).collect();
    let hidden: Vec<&Label> =
        diagnostics.iter().filter(|d| d.code == Code::LiteralSecret).filter_map(|d| d.primary.as_ref()).collect();
    if hidden.is_empty() && sources.ids().zip(&texts).all(|(id, text)| sources.get(id).text == *text) {
        return (all, Cow::Borrowed(sources));
    }
    let mut map = SourceMap::default();
    for (id, text) in sources.ids().zip(texts) {
        let mut bytes = text.into_bytes();
        for label in hidden.iter().filter(|l| l.span.source == id) {
            if let Some(place) = bytes.get_mut(label.span.start as usize..label.span.end as usize) {
                secret::cover(place);
            }
        }
        // Spans end between characters, so that what is covered is whole characters.
        map.add(sources.get(id).path.clone(), String::from_utf8(bytes).unwrap_or_default());
    }
    (all, Cow::Owned(map))
}

fn diagnostic(own: &Diagnostic) -> Cow<'_, Diagnostic> {
    let texts = std::iter::once(&own.message).chain(&own.notes).chain(&own.help);
    let texts = texts.chain(own.primary.iter().chain(&own.secondary).map(|l| &l.text));
    if texts.into_iter().all(|text| secret::covered(text) == *text) {
        return Cow::Borrowed(own);
    }
    let mut out = own.clone();
    let words = [&mut out.message].into_iter().chain(&mut out.notes).chain(&mut out.help);
    for text in words.chain(out.primary.iter_mut().chain(&mut out.secondary).map(|l| &mut l.text)) {
        *text = secret::covered(text);
    }
    Cow::Owned(out)
}
