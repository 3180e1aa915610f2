//! `packet check`: front matter of a delegation packet.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::ContextChoice;
use crate::yaml::Sp;

/// Front matter of a packet; what follows is what the role is told.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PacketFile {
    /// The role it is for.
    pub role: Sp<String>,
    /// How much of the conversation goes with it; default `minimal`.
    pub context: Option<Sp<ContextChoice>>,
    /// Why all of it must; required with `context: full`.
    pub context_reason: Option<Sp<String>>,
    /// Why the packet is over the target of `budgets.delegation-packet`; required when it is.
    pub over_target: Option<Sp<String>>,
}
