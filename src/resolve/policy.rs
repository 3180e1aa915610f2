//! The policy as the planner sees it: every name resolved, every default in place.

use indexmap::IndexMap;

use super::capabilities::{CapId, CapSet, Catalogue};
use super::commands::Forbidden;
use super::composed::{Bounds, Composed, RuntimeSources};
use super::primitives::Primitive;
use super::route::OnHost;
use crate::diag::{SourceId, Span};
use crate::model::evidence::EvidenceFile;
use crate::model::policy::{Acceptance, ContextChoice, EscalationReason, PacketPart, Via};
use crate::model::role::ModelChoice;
use crate::model::scalar::{ByteSize, Guarantee, Percent, Risk};

/// A policy for a set of hosts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Every capability there is.
    pub catalogue: Catalogue,
    /// Selected hosts in the order of the adapters' names.
    pub hosts: Vec<String>,
    /// Enabled MCP servers by name.
    pub servers: IndexMap<String, Server>,
    /// What each selected host is given of them.
    pub on: IndexMap<String, OnHost>,
    /// The gateway of all hosts together, when something is to be had only through it.
    pub gateway: Option<Server>,
    /// Primitives of this program itself by name.
    pub primitives: IndexMap<String, Primitive>,
    /// Composed tools by name.
    pub tools: IndexMap<String, Composed>,
    /// Where values of the run time come from.
    pub runtime: RuntimeSources,
    /// Roles by id.
    pub roles: Vec<Role>,
    /// Rules in the order they are printed.
    pub rules: Vec<Rule>,
    /// Budgets, thresholds, routing.
    pub settings: Settings,
    /// The folder of the policy itself, relative to the root, with its lock.
    pub dir: String,
    /// Folders, relative to the root, that hold the policy's sources and its lock.
    pub folders: Vec<String>,
    /// Named expectations on a session.
    pub acceptance: IndexMap<String, Acceptance>,
    /// What was seen of each selected host, that which counts first in front.
    pub evidence: IndexMap<String, Vec<HostEvidence>>,
}

/// What was seen of a host, and by whom.
#[derive(Debug, Clone)]
pub struct HostEvidence {
    /// The file.
    pub path: String,
    /// Whether the program carries it.
    pub shipped: bool,
    /// What was seen.
    pub seen: EvidenceFile,
}

impl Policy {
    /// The servers of the policy, and the gateway.
    pub fn offered(&self) -> impl Iterator<Item = &Server> {
        self.servers.values().chain(&self.gateway)
    }
}

/// A canonical sub-agent.
#[derive(Debug, Clone)]
pub struct Role {
    /// File name without ending.
    pub id: String,
    /// Its file.
    pub source: SourceId,
    /// When to delegate to it.
    pub description: String,
    /// Where the description stands.
    pub description_span: Option<Span>,
    /// What it may do, in the order written.
    pub grants: IndexMap<CapId, GrantScope>,
    /// What must be absent.
    pub deny: Vec<Deny>,
    /// Host → waivers.
    pub waive: IndexMap<String, Vec<Waiver>>,
    /// Class of model.
    pub model: ModelChoice,
    /// How much history it is given.
    pub context: ContextChoice,
    /// When to stop.
    pub stop: Vec<String>,
    /// The prompt as written.
    pub body: String,
    /// Where the prompt starts in its file, in bytes.
    pub body_at: u32,
    /// Whether the prompt is a template.
    pub template: bool,
}

impl Role {
    /// What is granted, as a set.
    pub fn granted(&self) -> CapSet {
        self.grants.keys().copied().collect()
    }
}

/// The scope of one grant.
#[derive(Debug, Clone, Default)]
pub struct GrantScope {
    /// Where the grant is written.
    pub span: Option<Span>,
    /// Globs of repository paths; `None` = all.
    pub paths: Option<Vec<String>>,
    /// Command prefixes; `None` = all.
    pub commands: Option<Vec<String>>,
    /// Host names; `None` = all.
    pub domains: Option<Vec<String>>,
}

impl GrantScope {
    /// Whether anything narrows the grant.
    pub const fn scoped(&self) -> bool {
        self.paths.is_some() || self.commands.is_some() || self.domains.is_some()
    }
}

/// What must be absent with at least a guarantee.
#[derive(Debug, Clone)]
pub struct Deny {
    /// As written: a capability or `family.*`.
    pub pattern: String,
    /// Where.
    pub span: Option<Span>,
    /// The capabilities it means.
    pub caps: CapSet,
    /// How hard.
    pub at_least: Guarantee,
}

/// A denial that a host need not hold.
#[derive(Debug, Clone)]
pub struct Waiver {
    /// As written.
    pub pattern: String,
    /// Where.
    pub span: Option<Span>,
    /// The capabilities it means.
    pub caps: CapSet,
    /// Why.
    pub reason: String,
}

/// When a rule is before the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleActivation {
    /// Always.
    Always,
    /// When files that match are touched.
    Paths(Vec<String>),
    /// When the agent follows the trigger line.
    OnDemand(String),
}

/// A text agents follow.
#[derive(Debug, Clone)]
pub struct Rule {
    /// File name without ending.
    pub id: String,
    /// Its file.
    pub source: SourceId,
    /// Heading.
    pub title: String,
    /// When.
    pub activation: RuleActivation,
    /// Whether the main agent is meant.
    pub main: bool,
    /// Whether sub-agents are meant.
    pub roles: bool,
    /// The text as written.
    pub body: String,
    /// Where the text starts in its file, in bytes.
    pub body_at: u32,
    /// Whether the text is a template.
    pub template: bool,
}

/// The block of a rule's template that depends on the host.
pub const NOTE_BLOCK: &str = "host_note";

impl Rule {
    /// Whether the rule has something to say about each host.
    pub fn has_note(&self) -> bool {
        self.template && self.body.contains(NOTE_BLOCK)
    }
}

/// An MCP server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Name.
    pub name: String,
    /// Where the server is declared.
    pub span: Option<Span>,
    /// Risk of what is not classified.
    pub risk: Risk,
    /// How it is reached.
    pub reach: Reach,
    /// How agents reach it.
    pub via: Via,
    /// Its environment.
    pub env: IndexMap<String, Value>,
    /// Headers of its requests.
    pub headers: IndexMap<String, Value>,
    /// Time-out of a call.
    pub call: Timeout,
    /// Time-out of the start, with the list of tools.
    pub list: Timeout,
    /// Tools that are classified, by the server's own names.
    pub tools: IndexMap<String, ServerTool>,
}

impl Server {
    /// Whether a host of which nothing is known is given it: a tool of it is named, and not only for the gateway.
    pub fn given(&self) -> bool {
        !self.tools.is_empty() && self.via != Via::Gateway
    }
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Reach {
    /// By a program of this machine.
    Program {
        /// The program.
        command: Text,
        /// Its arguments.
        args: Vec<Text>,
    },
    /// By its address.
    Address(Text),
}

/// A text of a server with its place.
#[derive(Debug, Clone)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it is written.
    pub span: Option<Span>,
}

/// A value of the environment or a header.
#[derive(Debug, Clone)]
pub enum Value {
    /// That of a variable of the user.
    Variable(Text),
    /// `Bearer`, a space, and that of a variable.
    Bearer(Text),
    /// Written down, and no secret.
    Literal(Text),
}

/// A time-out.
#[derive(Debug, Clone, Copy)]
pub struct Timeout {
    /// Seconds.
    pub seconds: u64,
    /// Where it is written; `None` = the default.
    pub span: Option<Span>,
}

/// A classified tool of a server.
#[derive(Debug, Clone)]
pub struct ServerTool {
    /// Where it is written.
    pub span: Option<Span>,
    /// The greatest risk of what it confers, and no less than the server's.
    pub risk: Risk,
    /// What one would use it for.
    pub covers: CapSet,
    /// All it makes possible.
    pub confers: CapSet,
    /// What the gateway does with calls and results.
    pub bounds: Bounds,
    /// The tools that are to be preferred to it, each with its server; none = it is no legacy.
    pub successors: Vec<(String, String)>,
}

/// A budget in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// What to aim at.
    pub target: Option<ByteSize>,
    /// What is never passed.
    pub limit: Option<ByteSize>,
}

/// A budget in things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// What to aim at.
    pub target: Option<u64>,
    /// What is never passed.
    pub limit: Option<u64>,
}

/// One budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// In bytes.
    Size(Size),
    /// In results, lines or entries.
    Count(Count),
}

impl Budget {
    /// The figure called `target` or `limit`, as a plain number (bytes or things).
    pub fn figure(&self, which: &str) -> Option<u64> {
        match (self, which) {
            (Self::Size(s), "target") => s.target.map(|b| b.0),
            (Self::Size(s), "limit") => s.limit.map(|b| b.0),
            (Self::Count(c), "target") => c.target,
            (Self::Count(c), "limit") => c.limit,
            _ => None,
        }
    }
}

/// Everything of the policy that is a number or a choice.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// By name, in the order of the schema; only those the policy sets.
    pub budgets: IndexMap<&'static str, Budget>,
    /// `close-discovery`, `stop-delegating`, `hand-off`; only those set.
    pub context: IndexMap<&'static str, Percent>,
    /// Order of browsers: `host` or a server's name.
    pub browser_order: Vec<String>,
    /// Needs that justify the specialist.
    pub escalate_for: Vec<EscalationReason>,
    /// Whether the specialist's first call must say why.
    pub record_reason: bool,
    /// What may be loaded at the start.
    pub session_start: Vec<CapId>,
    /// Steps into documentation.
    pub docs_steps: Vec<CapId>,
    /// Steps into memory.
    pub memory_steps: Vec<CapId>,
    /// Default history of roles.
    pub delegation_context: Option<ContextChoice>,
    /// What the guard looks at.
    pub guard: Guarding,
    /// Commands that nobody may run.
    pub forbidden: Vec<Forbidden>,
    /// Whether the gateway writes down the values of arguments.
    pub record_values: bool,
    /// Parts of a packet.
    pub packet: Vec<PacketPart>,
}

/// What the guard looks at before a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarding {
    /// What roles are granted.
    pub roles: bool,
    /// Whether an agent is handed the history without a reason.
    pub history: bool,
    /// The size of delegation prompts.
    pub packets: bool,
    /// First reads of long files.
    pub reads: bool,
    /// Thresholds that are passed.
    pub context: bool,
    /// Commands that nobody may run.
    pub commands: bool,
}

impl Default for Guarding {
    fn default() -> Self {
        Self { roles: true, history: true, packets: true, reads: true, context: true, commands: true }
    }
}
