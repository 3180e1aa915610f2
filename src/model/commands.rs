//! `commands:` of the policy: what nobody may run.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::yaml::Sp;

/// Commands of every agent, with a role or without.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Commands {
    /// Commands that nobody may run. A policy that extends another adds to them.
    #[serde(default)]
    pub forbid: Vec<Forbid>,
}

/// A command that nobody may run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Forbid {
    /// The words a command starts with, one blank between them, as in `git push --force`. `*` as the last word says
    /// that anything may follow, which is meant without it too.
    pub run: Sp<String>,
    /// Why, in one line; agents are told.
    pub because: Option<Sp<String>>,
}
