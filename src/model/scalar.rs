//! Single values with a form of their own: sizes, percentages, grades.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

pub use crate::text::bytes::ByteSize;

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl schemars::JsonSchema for ByteSize {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByteSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number of bytes: `900`, `12KiB`, `2MiB`.",
            "type": ["string", "integer"],
            "pattern": "^[0-9]+ ?(B|KiB|MiB|GiB)?$"
        })
    }
}

/// A share of the context window, in whole percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u8);

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.strip_suffix('%')
            .and_then(|digits| digits.trim().parse::<u8>().ok())
            .filter(|n| (1..=100).contains(n))
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is not a percentage from 1% to 100%")))
    }
}

impl schemars::JsonSchema for Percent {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percent".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "Whole percent of the context window.", "type": "string", "pattern": "^([1-9][0-9]?|100) ?%$" })
    }
}

/// How hard a limit is, weakest first so that `>=` reads "at least as hard as".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// Only text asks for it.
    Advised,
    /// A person is asked each time.
    Prompted,
    /// The model does not see the tool, but a forged call would run.
    Hidden,
    /// A hook or gateway of ours refuses.
    Guarded,
    /// The host removes or refuses.
    Enforced,
}

impl Guarantee {
    /// The word in policies and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Advised => "advised",
            Self::Prompted => "prompted",
            Self::Hidden => "hidden",
            Self::Guarded => "guarded",
            Self::Enforced => "enforced",
        }
    }
}

/// How a fact about a host is known, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// Read in the vendor's documentation.
    Docs,
    /// Read in the program's source.
    Source,
    /// Run on the real program.
    Ran,
}

impl EvidenceKind {
    /// The word in adapters and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Source => "source",
            Self::Ran => "ran",
        }
    }
}

/// What can go wrong when a capability is misused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Reads what the repository or a public source shows.
    Safe,
    /// Changes the repository, or reads what is not public.
    Restricted,
    /// Runs code, or changes something outside the repository.
    Dangerous,
}

impl Risk {
    /// The word in policies and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Restricted => "restricted",
            Self::Dangerous => "dangerous",
        }
    }
}
