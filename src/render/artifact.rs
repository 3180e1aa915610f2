//! What a render wants to be on disk.

use serde_json::Value;

use crate::text::json::Refused;

/// One output: a path, what is ours in it, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Relative to the root, `/` between parts.
    pub path: String,
    /// What is ours.
    pub content: Content,
    /// Sources this was made of, for "caused by" lines: policy paths, most specific first.
    pub sources: Vec<String>,
    /// Hosts that need it, in the order of selection.
    pub hosts: Vec<String>,
    /// The host whose reader takes less than JSON with comments.
    pub reader: Option<Reader>,
}

/// A host that reads a JSON file more narrowly than editors do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// What it refuses.
    pub refused: Refused,
    /// What it does with a file that has it, as a sentence.
    pub otherwise: String,
}

/// What is ours in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// The whole file.
    Whole(String),
    /// The text between our markers; the rest is the user's. No trailing newline.
    Block(String),
    /// Single entries of a JSON, JSONC or TOML file (by the path's ending).
    Entries(Vec<Entry>),
}

/// One value we own in a file of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Keys from the top of the document.
    pub path: Vec<String>,
    /// Which value there.
    pub kind: EntryKind,
    /// The value.
    pub value: Value,
    /// What an equal or different value of the user means.
    pub policy: EntryPolicy,
}

/// Which value an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// The value at the path.
    Value,
    /// An element, found by its value, of the list at the path.
    Element,
}

/// How a different value of the user at the path of an entry is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryPolicy {
    /// A conflict: the render refuses.
    Exact,
    /// The same, and another order of keys is another value.
    Ordered,
    /// A number where the user may be tighter: a smaller one is kept with a note, a greater one is drift.
    AtMost,
}
