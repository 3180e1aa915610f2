//! Promises, and what they rest on.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::scalar::{EvidenceKind, Guarantee};

/// What the facts were established on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evidence {
    /// Registry package of the program.
    pub package: Option<String>,
    /// Version looked at.
    pub version: String,
    /// Day, `YYYY-MM-DD`.
    pub date: String,
    /// The kind of evidence where a claim names none.
    pub by: EvidenceKind,
}

/// A condition of claims.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Condition {
    /// What must be so.
    pub means: String,
    /// What happens otherwise.
    #[serde(rename = "else")]
    pub otherwise: String,
    /// How to bring it about.
    pub how: Option<String>,
    /// Whether a role is still limited when the condition fails. `closed`: the role is not loaded or has
    /// no more tools, so that a denial under this condition still counts.
    pub fails: Fails,
}

/// What a failed condition does to limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fails {
    /// The role is not loaded, or has no more tools than planned.
    Closed,
    /// The role may have more.
    Open,
}

/// A promise.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Claim {
    /// How hard.
    pub guarantee: Guarantee,
    /// On what evidence; default the file's.
    pub evidence: Option<EvidenceKind>,
    /// Under which conditions.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
    /// What still gets through.
    pub hole: Option<String>,
}
