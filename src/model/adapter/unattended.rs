//! How the program is given a task without a person, with the user's own configuration and model.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// How `eval` starts the program: it does the task, prints its last answer on standard output, and ends.
///
/// Texts may hold `{prompt}`, `{root}` (the repository, absolute), `{run}` (a folder that is gone after the run) and, in
/// `allow` and `accept`, `{server}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Unattended {
    /// Its arguments.
    pub args: Vec<String>,
    /// Arguments behind these for each server that a scenario plays, so that nobody is asked before its tools are
    /// called; default none.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Arguments with which the program is run before, once for each such server, where one of a folder has to be approved
    /// by a person there; default none.
    #[serde(default)]
    pub accept: Vec<String>,
    /// Variables besides the user's.
    #[serde(default)]
    pub env: IndexMap<String, String>,
}
