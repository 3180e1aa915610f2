//! How a host spells names.

use schemars::JsonSchema;
use serde::Deserialize;

/// How the host spells names.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Names {
    /// A role.
    pub role: Naming,
    /// A server's tool as the model sees it; placeholders `{server}` and `{tool}`.
    pub tool: Naming,
    /// The same in a role's list; default as the model sees it.
    pub list: Option<Naming>,
}

/// One spelling.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Naming {
    /// How the parts are joined: `mcp__{server}__{tool}`.
    pub join: String,
    /// Characters kept, as ranges: `A-Za-z0-9_-`.
    pub keep: String,
    /// What stands for every other character; omitted = such a name is refused.
    pub replace: Option<String>,
    /// Characters a server's name may not have.
    pub server_without: Option<String>,
    /// Longest name in characters.
    pub max: Option<usize>,
}
