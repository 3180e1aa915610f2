//! The files we write, and what a person does after.

use schemars::JsonSchema;
use serde::Deserialize;

use super::FrontMatter;
use crate::text::json::Refused;

/// A file, or a family of files, that we write.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Output {
    /// One file for each.
    pub each: Option<Each>,
    /// Path; `{name}` with `each`.
    pub file: String,
    /// Ownership.
    pub own: OutputOwn,
    /// Template below `templates/HOST/`. That of an `entries` output yields a JSON document whose leaves
    /// are the entries we own, and may be omitted when knobs and switches are all of it. An empty result
    /// is no file.
    pub template: Option<String>,
    /// What the host's reader of this file does not take of JSON with comments; omitted = nothing is known of it.
    pub json: Option<JsonReader>,
    /// How the host reads the front matter, when it does so line by line; omitted = as YAML, or there is none.
    pub front_matter: Option<FrontMatter>,
    /// Pointers owned as one value though they have children; `*` stands for any key.
    #[serde(default)]
    pub atomic: Vec<String>,
    /// The same for values of which the order of keys decides.
    #[serde(default)]
    pub ordered: Vec<String>,
}

/// How a host reads a JSON file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct JsonReader {
    /// What it does not take.
    pub without: Vec<Loose>,
    /// What it does with a file that has it: a clause after the name of the host.
    #[serde(rename = "else")]
    pub otherwise: String,
}

/// What some readers of JSON take and others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Loose {
    /// Comments.
    Comments,
    /// A comma with nothing after it.
    TrailingCommas,
    /// A byte order mark.
    ByteOrderMark,
}

impl JsonReader {
    /// The same for who reads the text.
    pub fn refused(&self) -> Refused {
        Refused {
            comments: self.without.contains(&Loose::Comments),
            commas: self.without.contains(&Loose::TrailingCommas),
            mark: self.without.contains(&Loose::ByteOrderMark),
        }
    }
}

/// What an output is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Each role.
    Role,
}

/// How an output is owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputOwn {
    /// The whole file.
    Whole,
    /// Single entries of a JSON, JSONC or TOML file.
    Entries,
}

/// What a person does after a render.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ByHand {
    /// When one of these outputs changed.
    pub after: Vec<String>,
    /// What to do.
    pub step: String,
}
