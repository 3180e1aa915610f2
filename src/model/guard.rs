//! The compiled file that the guard reads before every call: small, and nothing in it has to be looked up.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Where it stands.
pub const FILE: &str = ".rolecast/guard.json";
/// Name of the lock that vouches for it, in the folder of the policy.
pub const LOCK_NAME: &str = "rolecast.lock";
/// The version this program writes, and the only one it reads.
pub const VERSION: u32 = 2;

/// Parts of what the guard says, by which a refusal is told from every other one.
pub mod words {
    /// Starts every refusal; hosts put the command that refuses around it.
    pub const REFUSED: &str = "rolecast: ";
    /// A copy of the conversation.
    pub const WHOLE: &str = "the whole conversation";
    /// An agent that is none of the repository's.
    pub const FOREIGN: &str = "may only start the repository's own roles";
    /// The compiled file is edited.
    pub const EDITED: &str = "is not what was rendered";
    /// There is no such program.
    pub const MISSING: &str = "not on the PATH";
}

/// Everything that a decision needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Compiled {
    /// [`VERSION`].
    pub version: u32,
    /// The lock that vouches for this file, relative to the root.
    pub lock: String,
    /// Whether roles are held to their grants.
    pub roles: bool,
    /// Whether a copy of the history needs a written reason.
    pub history: bool,
    /// Most bytes of a delegation prompt without a reason line; `None` = not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<u64>,
    /// Most lines of a file that is read without a range; `None` = not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Whole percent of the context window at which an agent is told so, lowest first.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub context: IndexMap<Threshold, u8>,
    /// Words with which a command starts that nobody may run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<Vec<String>>,
    /// Globs that no grant of paths reaches.
    pub excluded: Vec<String>,
    /// Fields that only one host sends, and the host, whether it is selected or not.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub signs: IndexMap<String, String>,
    /// By id.
    pub hosts: IndexMap<String, Host>,
}

/// One host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Host {
    /// How it is told of a refusal.
    pub answer: Answer,
    /// Tools as its hooks spell them.
    pub tools: IndexMap<String, Tool>,
    /// Names that it gives its tools when it runs hooks of another host's file; one name may stand for several.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub borrowed: IndexMap<String, Vec<String>>,
    /// Roles as it spells them.
    pub roles: IndexMap<String, Role>,
    /// How full the context of its agents is; `None` = its hooks are not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// When an agent is to change what it does, by how full its context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// It stops gathering.
    CloseDiscovery,
    /// It starts no more agents.
    StopDelegating,
    /// It hands off.
    HandOff,
}

/// How full an agent's context is, by the transcript that the host keeps: lines of JSON, of which the last one
/// with figures counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Usage {
    /// Field of what a hook is told with the path of the transcript.
    pub transcript: String,
    /// Path of a sub-agent's transcript, of `{transcript}` (that path without its ending) and `{agent}` (its id);
    /// omitted = a sub-agent's hook is told of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<String>,
    /// JSON pointers whose figures together are the tokens that the last request and its answer take.
    pub used: Vec<String>,
    /// JSON pointer to the size of the window in tokens; omitted = by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// JSON pointer to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Windows in tokens by model, as globs; the first that fits counts. Of another model nothing is said.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, u64>,
}

/// How a host is told of a refusal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Exit code 2; the model is told what stands on standard error.
    #[default]
    Stderr,
    /// A JSON object with `permissionDecision` and its reason; exit code 0.
    Decision,
}

/// What a tool is called with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tool {
    /// What one would use it for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// Argument with the path that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Argument with a patch that names its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Argument with a shell line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Argument with an address that is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Argument with the path that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// Arguments any of which makes it the read of a part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub range: Vec<String>,
    /// It starts an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn: Option<Spawn>,
}

/// How an agent is started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spawn {
    /// Argument with its name.
    pub role: String,
    /// Argument with its task.
    pub prompt: String,
    /// Arguments without which it is given the history, with their values.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub fresh: IndexMap<String, String>,
    /// Names of agents that are given it always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
}

/// One role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Role {
    /// What it may do.
    pub grants: IndexMap<String, Scope>,
    /// Whether it has the written reason to be given the history.
    #[serde(default)]
    pub history: bool,
}

/// The scope of a grant; empty = none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scope {
    /// Globs of paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// Prefixes of commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
    /// Names of hosts in lower case; with `*.` in front those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domains: Option<Vec<String>>,
}

/// The text of a refusal for [`Answer::Decision`].
pub fn decision(reason: &str) -> String {
    // The one place is that of a host's own hooks, the other that of hooks it takes from another host's file.
    serde_json::json!({
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    })
    .to_string()
}
