//! `adapters/*.yaml`: what one host loads, offers and can hold, as data.
//!
//! Absence is an omitted key. Everything that promises something carries a claim: a guarantee, its
//! evidence, the condition under which it holds and the hole that stays. Lists and maps keep the order
//! of the file, which is the order of emission.

mod list;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

pub use super::driver::{Acknowledge, Attempt, Digest, Driver, Nested, Never, Program, Protocol, ToolCall};
use super::role::ModelChoice;
use super::scalar::{EvidenceKind, Guarantee};

pub use list::*;

/// One host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Adapter {
    /// Name in policies; equal to the file's name.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// What the facts below were established on.
    pub evidence: Evidence,
    /// Paths whose existence tells that a repository is used with this host.
    #[serde(default)]
    pub detect: Vec<String>,
    /// Conditions that claims name.
    #[serde(default)]
    pub conditions: IndexMap<String, Condition>,
    /// Facts: every instruction file the host takes by itself, also those we never write.
    #[serde(default)]
    pub reads: Vec<Read>,
    /// How one instruction file includes another; omitted = not at all.
    pub import: Option<Import>,
    /// Whether files with identical bytes are sent once; default each.
    #[serde(default)]
    pub same_bytes: Repeat,
    /// Ours: files that may carry text to this host.
    #[serde(default)]
    pub carriers: Vec<Carrier>,
    /// What a sub-agent starts with.
    pub subagents: Subagents,
    /// Sizes the host cuts, drops or refuses at.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// How the host spells names.
    pub names: Names,
    /// Every native tool that confers something.
    pub tools: IndexMap<String, Tool>,
    /// Native tools that confer none of the capabilities.
    #[serde(default)]
    pub inert: Vec<String>,
    /// The shapes a role can take.
    pub forms: IndexMap<String, Form>,
    /// Files of other hosts that this one takes as its own.
    #[serde(default)]
    pub borrows: Vec<Borrow>,
    /// How the host takes MCP servers.
    pub mcp: Option<Mcp>,
    /// Settings that carry a budget.
    #[serde(default)]
    pub knobs: Vec<Knob>,
    /// Who gets to see the context figure.
    pub meter: Meter,
    /// The browser the host manages; omitted = none.
    pub browser: Option<HostBrowser>,
    /// What a role's model choice prints.
    pub models: IndexMap<ModelChoice, IndexMap<String, String>>,
    /// Facts: files, as globs, that the host takes as its configuration, roles, hooks or plugins. No grant of
    /// paths reaches them, on no selected host.
    #[serde(default)]
    pub configuration: Vec<String>,
    /// The files we write.
    pub outputs: IndexMap<String, Output>,
    /// What a person does after a render, keyed by output.
    #[serde(default)]
    pub by_hand: Vec<ByHand>,
    /// Facts: JSON and TOML files below the root whose hooks the host runs at the start of a session.
    #[serde(default)]
    pub session_start_hooks: Vec<SessionStartHooks>,
    /// How the program is run against a scripted model; omitted = it cannot be.
    pub verify: Option<Driver>,
}

/// A file with hooks, under `hooks` and the name of an event.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SessionStartHooks {
    /// Path, or a glob with `*`.
    pub file: String,
    /// Names of the events that mean the start of a session.
    pub events: Vec<String>,
}

/// What the facts were established on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evidence {
    /// Registry package of the program.
    pub package: Option<String>,
    /// Version looked at.
    pub version: String,
    /// Day, `YYYY-MM-DD`.
    pub date: String,
    /// The kind of evidence where a claim names none.
    pub by: EvidenceKind,
}

/// A condition of claims.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Condition {
    /// What must be so.
    pub means: String,
    /// What happens otherwise.
    #[serde(rename = "else")]
    pub otherwise: String,
    /// How to bring it about.
    pub how: Option<String>,
    /// Whether a role is still limited when the condition fails. `closed`: the role is not loaded or has
    /// no more tools, so that a denial under this condition still counts.
    pub fails: Fails,
}

/// What a failed condition does to limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fails {
    /// The role is not loaded, or has no more tools than planned.
    Closed,
    /// The role may have more.
    Open,
}

/// A promise.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Claim {
    /// How hard.
    pub guarantee: Guarantee,
    /// On what evidence; default the file's.
    pub evidence: Option<EvidenceKind>,
    /// Under which conditions.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
    /// What still gets through.
    pub hole: Option<String>,
}

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

/// A size the host cuts, drops or refuses at.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limit {
    /// Of what.
    pub what: LimitOf,
    /// How much.
    pub max: u64,
    /// In which unit.
    pub unit: Unit,
    /// What happens over it.
    pub over: Over,
    /// Evidence; default the file's.
    pub evidence: Option<EvidenceKind>,
}

/// What a limit is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOf {
    /// All start-up instruction files together.
    Instructions,
    /// One role's body.
    RoleBody,
    /// One description.
    Description,
    /// One tool name.
    ToolName,
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Unit {
    Bytes,
    Chars,
    Tokens,
    Lines,
    Items,
}

impl Unit {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Chars => "characters",
            Self::Tokens => "tokens",
            Self::Lines => "lines",
            Self::Items => "items",
        }
    }
}

/// What a host does over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Takes the first part.
    Cut,
    /// Ignores the whole.
    Drop,
    /// Stops.
    Refuse,
    /// Says so.
    Warn,
}

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

/// A native tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tool {
    /// What one would use it for.
    #[serde(default)]
    pub covers: Vec<String>,
    /// All that having it makes possible; what it covers is included without saying.
    #[serde(default)]
    pub confers: Vec<String>,
    /// How it is known that the host has it; default the file's.
    pub evidence: Option<EvidenceKind>,
    /// Conditions under which the host has it at all; omitted = always.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
}

/// A shape a role can take.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Form {
    /// What a person calls it.
    pub title: String,
    /// How its tools are chosen; omitted with `as`.
    pub list: Option<List>,
    /// The files of another form used another way.
    #[serde(rename = "as")]
    pub same_as: Option<String>,
    /// Tools it always has, whatever the list says.
    #[serde(default)]
    pub residue: Vec<String>,
    /// Mechanisms that narrow kept tools, best first.
    #[serde(default)]
    pub narrow: Vec<Narrow>,
    /// Outputs that make it.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// The command that starts it by hand; `{name}`.
    pub run: Option<String>,
    /// The form needs a process started with flags by us; planned only when that command is built.
    #[serde(default)]
    pub launched: bool,
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

/// A setting that carries a budget: `value = clamp(floor(budget / bytes-per-unit / slack))`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Knob {
    /// The tools whose results it bounds.
    pub family: Family,
    /// `NAME.target` or `NAME.limit`. A cap that spills to a file takes the target, one that only cuts the limit.
    pub budget: String,
    /// Where: `OUTPUT:/json/pointer`.
    pub set: String,
    /// Unit of the setting.
    pub unit: Unit,
    /// Bytes in one unit; default 1.
    pub bytes_per_unit: Option<f64>,
    /// How far the host goes over its own figure; default 1.
    pub slack: Option<f64>,
    /// Least and greatest value the host takes.
    pub clamp: Option<(u64, u64)>,
    /// What the setting holds.
    pub claim: Claim,
}

/// Families of tools with a bound of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Commands.
    Shell,
    /// MCP servers.
    Mcp,
    /// Every tool.
    All,
}

impl Family {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Mcp => "mcp",
            Self::All => "all",
        }
    }
}

/// Who gets to see the context figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Meter {
    /// Thresholds are rendered only for `model`.
    pub reader: MeterReader,
    /// Where the figure stands.
    pub r#where: String,
}

/// Who gets to see the context figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterReader {
    /// The model itself.
    Model,
    /// A hook, which can inject it.
    Hook,
    /// Only a person.
    Human,
}

/// The browser a host manages.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HostBrowser {
    /// Its name.
    pub name: String,
    /// What must be so for it to be there.
    pub needs: String,
    /// Evidence; default the file's.
    pub evidence: Option<EvidenceKind>,
}

/// A file, or a family of files, that we write.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Output {
    /// One file for each.
    pub each: Option<Each>,
    /// Path; `{name}` with `each`.
    pub file: String,
    /// Ownership.
    pub own: OutputOwn,
    /// Template below `templates/HOST/`. That of an `entries` output yields a JSON document whose leaves
    /// are the entries we own, and may be omitted when knobs and switches are all of it. An empty result
    /// is no file.
    pub template: Option<String>,
    /// Pointers owned as one value though they have children.
    #[serde(default)]
    pub atomic: Vec<String>,
}

/// What an output is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Each role.
    Role,
}

/// How an output is owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputOwn {
    /// The whole file.
    Whole,
    /// Single entries of a JSON, JSONC or TOML file.
    Entries,
}

/// What a person does after a render.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ByHand {
    /// When one of these outputs changed.
    pub after: Vec<String>,
    /// What to do.
    pub step: String,
}
