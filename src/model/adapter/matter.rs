//! How a host reads front matter that it does not take for YAML.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// How a host reads the front matter of a file line by line. Everything that is rendered there is held against this:
/// such readers take what they do not understand for something else, without a word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FrontMatter {
    /// What happens to quotes around a value.
    pub quotes: Quotes,
    /// Whether `---` ends the front matter only as a line of its own; default so.
    #[serde(default)]
    pub fence: Fence,
    /// Every key that is rendered, and what the host makes of it; all others it ignores.
    pub keys: IndexMap<String, LineKey>,
}

/// A key of front matter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LineKey {
    /// What the host takes it for.
    pub is: LineValue,
    /// What it must be read as: a value of the template, as in `role.description`. Omitted = whatever is rendered.
    pub from: Option<String>,
}

/// What a host takes a key for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineValue {
    /// The rest of the line.
    Text,
    /// `true` or `false`; any other word is no `true`.
    Flag,
    /// Names with commas between them on one line; a YAML list is read as none.
    Commas,
    /// The `- ` lines below it, or names with commas between them; a list in brackets is read with its brackets.
    Items,
}

/// What happens to quotes around a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quotes {
    /// They are part of it.
    Kept,
    /// They are taken away.
    Stripped,
}

/// What ends front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fence {
    /// A line `---`.
    #[default]
    Line,
    /// `---` anywhere, in a value too.
    Anywhere,
}
