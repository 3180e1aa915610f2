//! `shared-agent-rules/scenarios/*.yaml`: a task that `eval` gives to a host with the user's model, the repository it is
//! done in, and what must come of it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Acceptance, Map};
use crate::yaml::Sp;

/// A scenario; its name is the file's.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// What it is about, in one line.
    pub title: String,
    /// What the host is asked.
    pub prompt: Sp<String>,
    /// The repository that it works in.
    #[serde(default)]
    pub repository: Repository,
    /// Servers that are there to be used or left alone, played by this program.
    #[serde(default)]
    pub servers: Map<PlayedServer>,
    /// What the log of the session must show: the keys of `acceptance`.
    #[serde(default)]
    pub expect: Acceptance,
    /// What else must come of it.
    #[serde(default)]
    pub outcome: OutcomeWanted,
}

/// A repository made for a scenario.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Repository {
    /// A folder of this repository, relative to its root, that is copied.
    pub folder: Option<Sp<String>>,
    /// Files by path, with their texts.
    #[serde(default)]
    pub files: Map<String>,
}

/// A server with answers that are always the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlayedServer {
    /// Its tools.
    pub tools: IndexMap<String, PlayedTool>,
}

/// A tool of such a server. What it is for is told to the host and to the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlayedTool {
    /// What it says of itself.
    pub description: String,
    /// Capabilities of the policy.
    pub confers: Vec<String>,
    /// Arguments, all of them texts and none needed, with their descriptions.
    #[serde(default)]
    pub arguments: IndexMap<String, String>,
    /// What it answers.
    pub answer: String,
}

/// What must come of a run besides what its log shows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OutcomeWanted {
    /// Sub-agents that are started, at most.
    pub sub_agents: Option<Sp<u64>>,
    /// Tools that must be called, as globs over `SERVER/TOOL` or the host's own name.
    #[serde(default)]
    pub uses: Vec<Sp<String>>,
    /// Globs; of each some file must be made, changed or removed.
    #[serde(default)]
    pub changed: Vec<Sp<String>>,
    /// Globs; no file that they match may be made, changed or removed.
    #[serde(default)]
    pub unchanged: Vec<Sp<String>>,
    /// Texts that the last answer must have, in any case of letters.
    #[serde(default)]
    pub answer: Vec<Sp<String>>,
}
