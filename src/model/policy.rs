//! `shared-agent-rules/*.yaml`: one document whose sections may stand in several files.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::capability::ScopeKind;
use super::commands::Commands;
use super::composed::{ComposedTool, RuntimeSource, ToolBounds};
use super::primitives::PrimitiveSource;
use super::scalar::{ByteSize, Percent, Risk};
use crate::yaml::Sp;

/// A map in the order it was written, with the place of every key.
pub type Map<V> = IndexMap<Sp<String>, V>;

/// The policy document.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyFile {
    /// Version of the schema; 1.
    pub version: Option<Sp<u64>>,
    /// The hosts this repository is used with.
    pub hosts: Option<Map<HostChoice>>,
    /// Policies to start from: `builtin`, `builtin/playwright`, or a folder inside the root.
    pub extends: Option<Vec<Sp<String>>>,
    /// What not to inherit: `roles/NAME` or `rules/NAME`.
    pub without: Option<Vec<Sp<String>>>,
    /// Where roles, adapters and templates stand, relative to the root.
    pub layout: Option<Layout>,
    /// Sizes and counts.
    pub budgets: Option<Budgets>,
    /// When an agent should stop gathering, delegating, working.
    pub context: Option<Context>,
    /// Which browser for what.
    pub browser: Option<Browser>,
    /// What may be looked up when.
    pub discovery: Option<Discovery>,
    /// How work is handed to another agent.
    pub delegation: Option<Delegation>,
    /// What the guard looks at before a tool runs.
    pub guard: Option<Guard>,
    /// Commands of every agent.
    pub commands: Option<Commands>,
    /// What the gateway writes down of calls.
    pub record: Option<Recording>,
    /// MCP servers.
    pub servers: Option<Map<Server>>,
    /// Primitives of this program itself: stores and web interfaces that tools are made from.
    pub primitives: Option<Map<PrimitiveSource>>,
    /// Tools composed from primitives, and programs as tools.
    pub tools: Option<Map<ComposedTool>>,
    /// Where values of the run time come from; never from a model.
    pub runtime: Option<Map<RuntimeSource>>,
    /// Capabilities beyond the built-in ones.
    pub capabilities: Option<Map<CustomCapability>>,
    /// Named expectations on a session.
    pub acceptance: Option<Map<Acceptance>>,
}

/// Options of one selected host; none yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HostChoice {}

/// Folders relative to the root.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Layout {
    /// Role files.
    pub roles: Option<Sp<String>>,
    /// Adapters of further hosts.
    pub adapters: Option<Sp<String>>,
    /// Templates of those hosts.
    pub templates: Option<Sp<String>>,
}

/// Sizes and counts, each with a target for the first pass and, where it makes sense, a hard limit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budgets {
    /// Bytes of one tool result.
    pub tool_result: Option<Sp<SizeBudget>>,
    /// Results of one search of the repository.
    pub search: Option<Sp<CountBudget>>,
    /// Lines of a first read.
    pub file_read: Option<Sp<CountBudget>>,
    /// Results of a first documentation or memory search.
    pub knowledge_search: Option<Sp<CountBudget>>,
    /// Console or network entries.
    pub browser_log: Option<Sp<CountBudget>>,
    /// Bytes of a delegation packet.
    pub delegation_packet: Option<Sp<SizeBudget>>,
    /// Decoded bytes of media sent inline.
    pub inline_media: Option<Sp<SizeBudget>>,
    /// Bytes of always-on text per host.
    pub instructions: Option<Sp<SizeBudget>>,
}

/// A budget in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeBudget {
    /// What to aim at.
    pub target: Option<Sp<ByteSize>>,
    /// What is never passed.
    pub limit: Option<Sp<ByteSize>>,
}

/// A budget in things (results, lines, entries).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CountBudget {
    /// What to aim at.
    pub target: Option<Sp<u64>>,
    /// What is never passed.
    pub limit: Option<Sp<u64>>,
}

/// Shares of the context window at which to change behaviour.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Context {
    /// No more discovery.
    pub close_discovery: Option<Sp<Percent>>,
    /// No more delegation.
    pub stop_delegating: Option<Sp<Percent>>,
    /// Hand the work off.
    pub hand_off: Option<Sp<Percent>>,
}

/// Which browser for what.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Browser {
    /// Order of preference: `host`, or a server's name.
    pub order: Option<Sp<Vec<Sp<String>>>>,
    /// The needs that justify the specialist.
    pub escalate_for: Option<Sp<Vec<Sp<EscalationReason>>>>,
    /// Whether the specialist's first call in a session must say why.
    pub record_reason: Option<Sp<bool>>,
}

/// A need that the host's own browser may not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EscalationReason {
    /// Scripted runs that must repeat exactly.
    DeterministicAutomation,
    /// Saved cookies and local storage.
    StorageState,
    /// Bodies of network requests.
    NetworkBody,
    /// Traces.
    Tracing,
    /// The browser's debugging protocol.
    Cdp,
    /// Pages built of old frames.
    LegacyIframe,
    /// The host manages no browser.
    NoHostBrowser,
}

impl EscalationReason {
    /// The word in the policy.
    pub const fn key(self) -> &'static str {
        match self {
            Self::DeterministicAutomation => "deterministic-automation",
            Self::StorageState => "storage-state",
            Self::NetworkBody => "network-body",
            Self::Tracing => "tracing",
            Self::Cdp => "cdp",
            Self::LegacyIframe => "legacy-iframe",
            Self::NoHostBrowser => "no-host-browser",
        }
    }

    /// What the reason is called in text.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::DeterministicAutomation => "deterministic automation",
            Self::StorageState => "storage state",
            Self::NetworkBody => "network bodies",
            Self::Tracing => "tracing",
            Self::Cdp => "the browser debugging protocol",
            Self::LegacyIframe => "legacy iframes",
            Self::NoHostBrowser => "no host browser",
        }
    }
}

/// What may be looked up when; steps are capabilities.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Discovery {
    /// What may be loaded before a task needs it.
    pub session_start: Option<Sp<Vec<Sp<String>>>>,
    /// Steps into documentation, cheapest first.
    pub docs: Option<Sp<Vec<Sp<String>>>>,
    /// Steps into memory, cheapest first.
    pub memory: Option<Sp<Vec<Sp<String>>>>,
}

/// What the guard looks at before and after a tool runs; each is on unless it is switched off.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Guard {
    /// Holds roles to the scopes of their grants, and away from the policy and what is rendered from it.
    pub roles: Option<Sp<bool>>,
    /// Refuses to hand the whole conversation to an agent whose role has no reason for it.
    pub history: Option<Sp<bool>>,
    /// Refuses a delegation prompt over `budgets.delegation-packet` without a reason line.
    pub packets: Option<Sp<bool>>,
    /// Answers a read without range of a file over `budgets.file-read` with the range to use.
    pub reads: Option<Sp<bool>>,
    /// Tells an agent once of each threshold of `context` that it passes.
    pub context: Option<Sp<bool>>,
    /// Refuses, to every agent, the commands of `commands.forbid`.
    pub commands: Option<Sp<bool>>,
}

/// What the gateway writes down of a call beside its name, the names of its arguments and a digest of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recording {
    /// The values of the arguments, with what looks like a secret covered; default: false.
    pub values: Option<Sp<bool>>,
}

/// How much of the conversation a sub-agent is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContextChoice {
    /// Only the packet.
    Minimal,
    /// The whole history.
    Full,
}

/// How work is handed to another agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Delegation {
    /// Default of every role.
    pub context: Option<Sp<ContextChoice>>,
    /// Parts of a packet, in order.
    pub packet: Option<Sp<Vec<Sp<PacketPart>>>>,
}

/// A part of a delegation packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum PacketPart {
    Objective,
    Scope,
    VerifiedFacts,
    Constraints,
    Capabilities,
    Validation,
    StopConditions,
}

impl PacketPart {
    /// What the part is called in text.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Objective => "objective",
            Self::Scope => "scope",
            Self::VerifiedFacts => "verified facts",
            Self::Constraints => "constraints",
            Self::Capabilities => "capabilities",
            Self::Validation => "validation",
            Self::StopConditions => "stop conditions",
        }
    }
}

/// An MCP server. One that an extended policy declares may be named without `command` and `url`: then it keeps
/// everything of it that is not written here.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Server {
    /// Program of a stdio server.
    pub command: Option<Sp<String>>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<Sp<String>>,
    /// Environment of the server: references only.
    #[serde(default)]
    pub env: Map<EnvValue>,
    /// Address of a remote server.
    pub url: Option<Sp<String>>,
    /// Headers of a remote server: references only.
    #[serde(default)]
    pub headers: Map<EnvValue>,
    /// The least risk of its tools; omitted = each has the risk of what it confers.
    pub risk: Option<Sp<Risk>>,
    /// Time-outs.
    pub timeout: Option<Timeouts>,
    /// Default true.
    pub enabled: Option<Sp<bool>>,
    /// What each tool confers; a tool not named here is not granted to any agent.
    #[serde(default)]
    pub tools: Map<ServerTool>,
    /// How roles reach it; default `auto`.
    pub via: Option<Sp<Via>>,
    /// Texts of this server that look like secrets and are none, each with the reason.
    #[serde(default)]
    pub not_secret: Map<Sp<String>>,
}

/// A value that is not written down.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "EnvValue")]
pub enum EnvValue {
    /// Name of an environment variable of the user.
    Env(Sp<String>),
    /// The same for a bearer token, only in the header `Authorization`: `Bearer`, a space, and its value.
    Bearer(Sp<String>),
    /// A literal that is no secret.
    Literal(Sp<String>),
}

crate::yaml::alternatives!(EnvValue);

/// Time-outs in seconds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Timeouts {
    /// One tool call; default 60.
    pub call: Option<Sp<u64>>,
    /// The start, with the list of tools; default 60.
    pub list: Option<Sp<u64>>,
}

/// How roles reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Through the gateway.
    Gateway,
    /// As the host's own server.
    Direct,
    /// Gateway wherever narrowing would otherwise be only text.
    Auto,
}

/// What a server's tool confers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerTool {
    /// All that having the tool makes possible.
    pub confers: Vec<Sp<String>>,
    /// What one would use it for; default: all it confers.
    pub covers: Option<Vec<Sp<String>>>,
    /// What the gateway does with calls and results of it.
    pub bounds: Option<ToolBounds>,
    /// The tool stays because something still needs it; others are to be preferred.
    pub legacy: Option<Legacy>,
}

/// A tool that others supersede.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Legacy {
    /// Its successors: composed tools, tools of the same server, or `SERVER/TOOL`.
    pub superseded_by: Vec<Sp<String>>,
}

/// A capability that is not built in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CustomCapability {
    /// Its risk.
    pub risk: Sp<Risk>,
    /// One sentence.
    pub title: Sp<String>,
    /// What a grant may be scoped by.
    pub scope: Option<Sp<ScopeKind>>,
}

/// Upper bounds on what a session did; counts.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Acceptance {
    /// Calls of `docs.*`.
    pub docs_calls: Option<Sp<u64>>,
    /// Calls of `memory.*`.
    pub memory_calls: Option<Sp<u64>>,
    /// Calls of `*.taxonomy`.
    pub taxonomy_calls: Option<Sp<u64>>,
    /// Agents started with the whole history.
    pub full_history_agents: Option<Sp<u64>>,
    /// Media that went inline.
    pub inline_base64: Option<Sp<u64>>,
    /// Tool results over the limit.
    pub results_over_limit: Option<Sp<u64>>,
    /// Specialist browser use without a reason.
    pub unrecorded_escalations: Option<Sp<u64>>,
    /// Compactions that a smaller result would have avoided.
    pub avoidable_compactions: Option<Sp<u64>>,
    /// Calls outside the grants, per role.
    #[serde(default)]
    pub out_of_grant_calls: Map<Sp<u64>>,
}
