//! Where a host keeps what happened in its sessions, and in which form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The logs of a host's sessions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sessions {
    /// Which reader reads them.
    pub format: LogFormat,
    /// Folders of the user's, all that exist are looked into.
    #[serde(default)]
    pub folders: Vec<SessionFolder>,
    /// What a person does where the host keeps them in a form that is not read, such as a database.
    pub by_hand: Option<String>,
    /// Evidence; default the file's.
    pub evidence: Option<crate::model::scalar::EvidenceKind>,
}

/// A folder of the user's.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SessionFolder {
    /// Variable of the environment that names the host's folder.
    pub env: Option<String>,
    /// The host's folder below the user's home, where that variable is not set.
    pub home: Option<String>,
    /// The folder with the logs, within the host's.
    pub below: String,
    /// A glob that the files match, relative to it; default: all files of logs.
    pub files: Option<String>,
    /// Only on this system: `linux`, `macos` or `windows`.
    pub os: Option<String>,
}

/// A kind of log. Which host writes which is said by the adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Lines `{timestamp, type, payload}`, one file a thread.
    Rollout,
    /// Lines linked by `parentUuid` whose messages have blocks of content.
    Transcript,
    /// A header with `projectHash`, then messages that are written again as they grow.
    Chat,
    /// One document `{info, messages}`, one a session.
    Export,
    /// Lines linked by `parentUuid` whose messages have parts.
    Chain,
    /// Lines `{type: "family.event", data}`, all agents in one file.
    Events,
    /// What the gateway of this program writes.
    Gateway,
}
