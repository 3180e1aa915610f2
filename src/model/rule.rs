//! `shared-agent-rules/*.md`: front matter of a rule.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::Sp;

/// Front matter of a rule file; the body is the rule's text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RuleFile {
    /// Heading of the rule.
    pub title: Sp<String>,
    /// When the text must be before the agent; default `always`.
    pub activation: Option<Sp<Activation>>,
    /// Who it is for; default both.
    pub audience: Option<Sp<Vec<Sp<Audience>>>>,
    /// Position among the rules; lower first, default 50, ties by name.
    pub order: Option<Sp<u64>>,
    /// Whether the body is a template.
    pub template: Option<Sp<bool>>,
}

/// When a rule is before the agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "Activation")]
pub enum Activation {
    /// From the start of every session.
    Always,
    /// When files that match are touched.
    Paths(Vec<Sp<String>>),
    /// When the agent follows the trigger line.
    OnDemand(Sp<String>),
}

crate::yaml::alternatives!(Activation);

/// Who reads a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// The agent a person talks to.
    Main,
    /// Sub-agents.
    Roles,
}
