//! How a host takes MCP servers.

use schemars::JsonSchema;
use serde::Deserialize;

/// How the host takes MCP servers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mcp {
    /// Transports it has.
    pub transports: Vec<Transport>,
    /// Conditions under which a role has a server's tools that its list names.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
}

/// An MCP transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Transport {
    Stdio,
    Http,
    Sse,
}
