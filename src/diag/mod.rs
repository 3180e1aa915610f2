//! What rolecast has to say about its input, as data. Every output format renders this one value.

pub mod catalogue;
pub mod codes;
pub mod intake;
pub mod render;
pub mod sink;
pub mod source;

pub use codes::Code;
pub use sink::Sink;
pub use source::{SourceId, SourceMap, Span};

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; never changes the exit code.
    Note,
    /// Something is probably wrong; the compilation goes on.
    Warning,
    /// The compilation stops at the end of the stage.
    Error,
}

impl Severity {
    /// The word printed before the message.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place in a source with the words printed beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where; an empty range points between two characters.
    pub span: Span,
    /// What is said of that place; may be empty.
    pub text: String,
}

/// One problem. Wording: lower case, no final stop, the user's text in backticks, no Rust names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable identity, `kebab-case`; the catalogue explains each.
    pub code: Code,
    /// Default level of the code unless raised.
    pub severity: Severity,
    /// One line: what is wrong.
    pub message: String,
    /// The offending text itself.
    pub primary: Option<Label>,
    /// Further places: the rule that makes it wrong, the first of two twins.
    pub secondary: Vec<Label>,
    /// A path that matters when there is no text to underline (an output, a directory).
    pub path: Option<String>,
    /// Facts that do not belong to a place.
    pub notes: Vec<String>,
    /// What to do about it; can be pasted where that is possible.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of `code` at its default severity.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            path: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// Underlines the offending text.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// Underlines the offending text when its place is known (built-in values have none).
    #[must_use]
    pub fn at_opt(self, span: Option<Span>, text: impl Into<String>) -> Self {
        match span {
            Some(span) => self.at(span, text),
            None => self,
        }
    }

    /// Adds a second place.
    #[must_use]
    pub fn also(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        if let Some(span) = span {
            self.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// Names the path concerned.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" when one of `candidates` is near to `written`; otherwise lists them when
    /// they are few.
    #[must_use]
    pub fn suggest<'a>(self, written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = candidates.into_iter().collect();
        match crate::text::suggest::nearest(written, names.iter().copied()) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None if !names.is_empty() && names.len() <= 24 => self.help(format!("known names: {}", names.join(", "))),
            None => self,
        }
    }
}
