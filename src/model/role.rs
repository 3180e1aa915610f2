//! `roles/*.md`: front matter of a role.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{ContextChoice, Map};
use super::scalar::Guarantee;
use crate::yaml::Sp;

/// Front matter of a role file; the body is the role's prompt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RoleFile {
    /// When to delegate to this role; one line.
    pub description: Sp<String>,
    /// What the role may do; everything else is denied.
    #[serde(default)]
    pub grants: Map<Grant>,
    /// What must be absent, and how hard.
    #[serde(default)]
    pub deny: Map<Sp<Guarantee>>,
    /// Host → capability pattern → reason, for denials a host cannot hold.
    #[serde(default)]
    pub waive: Map<Map<Sp<String>>>,
    /// Which model; default `inherit`.
    pub model: Option<Sp<ModelChoice>>,
    /// How much history the role is given; default the policy's.
    pub context: Option<Sp<ContextChoice>>,
    /// Why the role needs the whole history; required with `context: full`.
    pub context_reason: Option<Sp<String>>,
    /// When the role must stop and report.
    #[serde(default)]
    pub stop: Vec<Sp<String>>,
    /// Whether the body is a template.
    pub template: Option<Sp<bool>>,
}

/// The scope of a grant; empty = unscoped.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Grant {
    /// Globs of repository paths.
    pub paths: Option<Vec<Sp<String>>>,
    /// Command prefixes.
    pub commands: Option<Vec<Sp<String>>>,
    /// Host names.
    pub domains: Option<Vec<Sp<String>>>,
}

/// A class of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelChoice {
    /// Cheap and quick.
    Fast,
    /// In between.
    Balanced,
    /// The best there is.
    Strong,
    /// The parent's.
    Inherit,
}

impl ModelChoice {
    /// The word in roles and adapters.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Strong => "strong",
            Self::Inherit => "inherit",
        }
    }
}
