//! What a host loads by itself, and the files that may carry our text to it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::FrontMatter;
use crate::model::scalar::EvidenceKind;

/// One instruction file the host takes by itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Read {
    /// Path, or a glob with `*` and `**`.
    pub file: String,
    /// When; default `start`.
    #[serde(default)]
    pub load: Load,
    /// Not read when one of these exists.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Read only when this entry of ours names it: `OUTPUT:/json/pointer`.
    pub needs: Option<String>,
    /// Read only under this condition.
    #[serde(rename = "if")]
    pub condition: Option<String>,
    /// Who is given it; default both.
    #[serde(default = "everyone")]
    pub agents: Vec<Agent>,
    /// Front-matter key that narrows the file to paths.
    pub scope_key: Option<String>,
    /// Not the whole file: this key in it.
    pub key: Option<String>,
}

fn everyone() -> Vec<Agent> {
    vec![Agent::Main, Agent::Roles]
}

/// Main agent or sub-agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// The agent a person talks to.
    Main,
    /// Sub-agents.
    Roles,
}

/// When a file is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// At the start of a session.
    #[default]
    Start,
    /// When something below its folder is touched.
    Touched,
    /// Only its name is listed.
    Listed,
    /// At the start without a scope, else when a file matches.
    StartOrMatch,
    /// At the start without a scope, else only listed with its pattern.
    StartOrListed,
    /// On the way from the root to the working folder.
    CwdChain,
}

/// Inclusion of one file by another.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Import {
    /// The line that includes; `{path}` is relative to the including file.
    pub write: String,
    /// How many levels are followed.
    pub depth: u32,
    /// What a file does that arrives by itself too.
    pub same_file: Repeat,
}

/// Whether the same thing arrives once or each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Once.
    Once,
    /// Each time.
    #[default]
    Again,
}

/// A file that may carry our text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Carrier {
    /// Path; `{rule}` for one file a rule.
    pub file: String,
    /// What it may carry.
    pub kinds: Vec<CarrierKind>,
    /// Block in a file that may be the user's, or a whole file of ours; default block.
    #[serde(default)]
    pub own: CarrierOwn,
    /// Template of a whole file; it sees `card` or `rule`.
    pub template: Option<String>,
    /// How the host reads the front matter of that, when it does so line by line; omitted = as YAML, or there is none.
    pub front_matter: Option<FrontMatter>,
    /// The text goes into this `entries` output instead of a text file.
    pub output: Option<String>,
}

/// What a carrier may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CarrierKind {
    /// The text shared by all hosts: rules that are always on, and the trigger lines.
    Shared,
    /// Rules for paths.
    Paths,
    /// The host's own text. Where no read of the host takes the file, an import line brings it.
    Card,
    /// Lines that include the files with the shared text or the card.
    Import,
}

/// How a carrier is owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CarrierOwn {
    /// Between our markers.
    #[default]
    Block,
    /// The whole file.
    Whole,
}

/// What a sub-agent starts with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Subagents {
    /// Whether it is given the instruction files.
    pub inherit: Inherit,
    /// What it sees of the conversation when nothing is said.
    pub history: History,
    /// Who is given the history of a host that starts agents without it; omitted = nothing is known of that but for
    /// the repository's roles, which are not.
    pub copies: Option<Copies>,
    /// How a parent starts a role.
    pub call: Call,
}

/// Whether a sub-agent is given the instruction files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// Yes.
    Instructions,
    /// No: the role's body carries the rules.
    Nothing,
    /// Not known: the role's body carries them, and they may arrive twice.
    Unknown,
}

/// What a sub-agent sees of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// Nothing but the packet.
    Fresh,
    /// All of it.
    Full,
}

/// Agents that are given the history.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Copies {
    /// Names of agents that are given it always.
    #[serde(default)]
    pub agents: Vec<String>,
    /// These are all: no agent under another name is given it, and no call can ask for it.
    #[serde(default)]
    pub all: bool,
    /// How that is known; default the file's.
    pub evidence: Option<EvidenceKind>,
}

/// How a parent starts a role.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its argument with the role's name.
    pub role: String,
    /// Its argument with the packet.
    pub prompt: String,
    /// Arguments always given.
    #[serde(default)]
    pub extra: IndexMap<String, String>,
}

/// Files of another host that this one takes as its own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Borrow {
    /// What the files are.
    pub what: Borrowed,
    /// Which files.
    pub file: String,
    /// Whether this host's own file of the same name wins.
    pub loses_to_own: bool,
    /// Only under this condition.
    #[serde(rename = "if")]
    pub condition: Option<String>,
}

/// What is borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Borrowed {
    /// Role files.
    Roles,
    /// Server configuration.
    Servers,
    /// Hooks.
    Hooks,
}
