//! The texts diagnostics point into.

/// Index of a source in its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A byte range of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path as printed: relative to the root with `/`, or `<builtin>/…` for what the program carries.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Every text read by `load`, in reading order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a text and returns its id.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Source { path: path.into(), text: text.into() });
        id
    }

    /// The source of an id handed out by [`Self::add`].
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// Every id in reading order.
    pub fn ids(&self) -> impl Iterator<Item = SourceId> + use<> {
        (0..u32::try_from(self.sources.len()).unwrap_or(u32::MAX)).map(SourceId)
    }

    /// The text a span underlines.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn line_col(&self, span: Span) -> (usize, usize) {
        self.line_col_at(span.source, span.start)
    }

    /// Line and column of one byte of a source, both from 1. The column counts Unicode code points; a
    /// byte order mark counts as nothing, as no editor shows it.
    pub fn line_col_at(&self, source: SourceId, offset: u32) -> (usize, usize) {
        let text = &self.get(source).text;
        let start = text.floor_char_boundary(offset as usize);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before[line_start..].trim_start_matches('\u{feff}');
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// All sources in reading order.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }
}
