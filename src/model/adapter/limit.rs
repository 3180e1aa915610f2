//! Sizes a host cuts at, and the settings that carry a budget.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Claim;
use crate::model::scalar::EvidenceKind;

/// A size the host cuts, drops or refuses at.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limit {
    /// Of what.
    pub what: LimitOf,
    /// How much.
    pub max: u64,
    /// In which unit.
    pub unit: Unit,
    /// What happens over it.
    pub over: Over,
    /// Evidence; default the file's.
    pub evidence: Option<EvidenceKind>,
}

/// What a limit is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOf {
    /// All start-up instruction files together.
    Instructions,
    /// One role's body.
    RoleBody,
    /// One description.
    Description,
    /// One tool name.
    ToolName,
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Unit {
    Bytes,
    Chars,
    Tokens,
    Lines,
    Items,
}

impl Unit {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Chars => "characters",
            Self::Tokens => "tokens",
            Self::Lines => "lines",
            Self::Items => "items",
        }
    }
}

/// What a host does over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Takes the first part.
    Cut,
    /// Ignores the whole.
    Drop,
    /// Stops.
    Refuse,
    /// Says so.
    Warn,
}

/// A setting that carries a budget: `value = clamp(floor(budget / bytes-per-unit / slack))`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Knob {
    /// The tools whose results it bounds.
    pub family: Family,
    /// `NAME.target` or `NAME.limit`. A cap that spills to a file takes the target, one that only cuts the limit.
    pub budget: String,
    /// Where: `OUTPUT:/json/pointer`.
    pub set: String,
    /// Unit of the setting.
    pub unit: Unit,
    /// Bytes in one unit; default 1.
    pub bytes_per_unit: Option<f64>,
    /// How far the host goes over its own figure; default 1.
    pub slack: Option<f64>,
    /// Least and greatest value the host takes.
    pub clamp: Option<(u64, u64)>,
    /// What the setting holds.
    pub claim: Claim,
}

/// Families of tools with a bound of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Commands.
    Shell,
    /// MCP servers.
    Mcp,
    /// Every tool.
    All,
}

impl Family {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Mcp => "mcp",
            Self::All => "all",
        }
    }
}

/// Who gets to see the context figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Meter {
    /// Thresholds are rendered only for `model`.
    pub reader: MeterReader,
    /// Where the figure stands.
    pub r#where: String,
}

/// Who gets to see the context figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterReader {
    /// The model itself.
    Model,
    /// A hook, which can inject it.
    Hook,
    /// Only a person.
    Human,
}
