//! `adapters/*.yaml`: what one host loads, offers and can hold, as data.
//!
//! Absence is an omitted key. Everything that promises something carries a claim: a guarantee, its
//! evidence, the condition under which it holds and the hole that stays. Lists and maps keep the order
//! of the file, which is the order of emission.

mod claim;
mod command;
mod hook;
mod launch;
mod limit;
mod list;
mod matter;
mod naming;
mod output;
mod reading;
mod server;
mod sessions;
mod unattended;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::composed::CountBudgetName;
pub use super::driver::{Acknowledge, Attempt, Digest, Driver, Nested, Never, Protocol, Servers, ToolCall};
use super::role::ModelChoice;
use super::scalar::EvidenceKind;

pub use claim::*;
pub use command::*;
pub use hook::*;
pub use launch::*;
pub use limit::*;
pub use list::*;
pub use matter::*;
pub use naming::*;
pub use output::*;
pub use reading::*;
pub use server::*;
pub use sessions::*;
pub use unattended::*;

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
    /// Facts: sizes of the context by model, for the guard and for `measure` where a log has none; omitted = the
    /// program names none.
    pub windows: Option<Windows>,
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
    /// What refuses a command that nobody may run.
    #[serde(default)]
    pub commands: Commands,
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
    /// How the guard is asked before a tool runs; omitted = it cannot tell who calls.
    pub hook: Option<Hook>,
    /// Facts: what of its own the host puts before an agent at the start, and no setting turns off: one clause each.
    #[serde(default)]
    pub at_start: Vec<String>,
    /// Facts: JSON and TOML files below the root whose hooks the host runs at the start of a session.
    #[serde(default)]
    pub session_start_hooks: Vec<SessionStartHooks>,
    /// The host's program; omitted = there is none that a terminal can start.
    pub program: Option<Program>,
    /// How the program is run against a scripted model; omitted = it cannot be.
    pub verify: Option<Driver>,
    /// Where it keeps the logs of its sessions; omitted = they are not read.
    pub sessions: Option<Sessions>,
    /// How the program is given a task with the user's own model; omitted = scenarios are not run on it.
    pub eval: Option<Unattended>,
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
    /// The budget that counts what it gives; default by what it covers.
    pub budget: Option<CountBudgetName>,
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
    /// How `rolecast run` starts it; omitted = it does not. Of several forms the first that has this is started.
    pub launch: Option<Launch>,
    /// Nothing but `rolecast run` can start it: without the flags and files of `launch` there is no such form.
    #[serde(default)]
    pub launched: bool,
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
