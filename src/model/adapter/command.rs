//! What refuses a command that nobody may run.
//!
//! There is no guarantee in it: whoever has a shell has a way around every rule about its lines, so that the ledger
//! says `advised` of each of them, whatever the mechanism.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::scalar::EvidenceKind;

/// What refuses a command that the policy forbids; both omitted = only text does.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Commands {
    /// Rules of the host's own.
    pub rules: Option<CommandRules>,
    /// The guard, asked by the host's hooks.
    pub guard: Option<CommandClaim>,
    /// What `rolecast run` adds to the command that starts a role; the forms that it starts, and no others.
    pub launch: Option<CommandClaim>,
}

/// Rules of the host's own about commands.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CommandRules {
    /// The output whose template writes them.
    pub output: String,
    /// Most words of a command that can be said; omitted = any number.
    pub most_words: Option<usize>,
    /// Where an agent's own list of rules would open what the session's shut, the same is written in it too.
    pub in_lists: Option<InLists>,
    /// On what this rests.
    pub claim: CommandClaim,
}

/// Patterns of a command in a role's list of ordered rules.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InLists {
    /// The word of the list.
    pub word: String,
    /// Patterns that are denied behind it, with `{command}`.
    pub patterns: Vec<String>,
}

/// What is known of a mechanism.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CommandClaim {
    /// How it is known; default the file's.
    pub evidence: Option<EvidenceKind>,
    /// Under which conditions.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
    /// What still gets through, besides what gets through everywhere.
    pub hole: Option<String>,
}
