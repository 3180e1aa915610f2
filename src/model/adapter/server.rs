//! How a host takes MCP servers.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Claim;
use super::limit::Unit;
use super::list::Verdict;
use crate::model::scalar::{EvidenceKind, Guarantee};

/// How the host takes MCP servers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mcp {
    /// The output that the servers stand in; omitted = servers are not written for this host.
    pub output: Option<String>,
    /// Transports it has.
    pub transports: Vec<Transport>,
    /// How a text of an entry names a variable of the user's environment, with `{name}`; omitted = no text can.
    pub reference: Option<String>,
    /// What in a text the host takes for a reference, so that no text may have it for itself.
    #[serde(default)]
    pub special: Vec<String>,
    /// How the environment of a program names the user's variables; default by `reference`.
    #[serde(default)]
    pub env: Passing,
    /// The same for the headers of a remote server.
    #[serde(default)]
    pub headers: Passing,
    /// Which variables of the session reach a program without being named; omitted = none is known to.
    pub inherits: Option<Inherits>,
    /// The time-outs of an entry; omitted = it has none.
    pub timeout: Option<EntryTimeout>,
    /// What holds that an agent has no tool of a server but those the policy names; omitted = nothing does.
    pub unnamed: Option<Claim>,
    /// What happens before a call of a tool that the policy names, by the tool's risk.
    #[serde(default)]
    pub approval: Approvals,
    /// How much of a server's answer is shown whole; omitted = nothing is known that shows less than budgets allow.
    pub reply: Option<Reply>,
    /// Forms of a role that have a gateway of their own; elsewhere all agents share the one of the session.
    #[serde(default)]
    pub per_role: IndexMap<String, PerRole>,
    /// Conditions under which a server that is written is connected, and a role has the tools that its list names.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
}

impl Mcp {
    /// A variable as a text of an entry names it.
    pub fn refer(&self, variable: &str) -> Option<String> {
        self.reference.as_ref().map(|r| r.replace("{name}", variable))
    }

    /// Whether a program finds a variable of the session under its own name although nothing names it.
    pub fn inherited(&self, variable: &str) -> bool {
        let name = variable.to_ascii_uppercase();
        self.inherits.as_ref().is_some_and(|all| !all.except.iter().any(|part| name.contains(part.as_str())))
    }
}

/// Variables that programs inherit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Inherits {
    /// All but those with one of these in their names, in capitals.
    pub except: Vec<String>,
}

/// The size of an answer over which the host shows less of it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reply {
    /// How much.
    pub max: u64,
    /// In which unit.
    pub unit: Unit,
    /// How it is known; default the file's.
    pub evidence: Option<EvidenceKind>,
}

impl Reply {
    /// Bytes that are no more in any text: a character has at least one, and so has a token.
    pub const fn bytes(&self) -> u64 {
        self.max
    }
}

/// How a form of a role is given a gateway of its own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PerRole {
    /// What its entry is called, with `{role}`, in which `_` becomes `-`; omitted = as that of the session, which is
    /// started for the role.
    pub name: Option<String>,
    /// What holds that the role has no tool of it but those that are planned.
    pub claim: Claim,
}

impl PerRole {
    /// The name of the entry for a role.
    pub fn entry(&self, role: &str) -> Option<String> {
        self.name.as_ref().map(|name| name.replace("{role}", &role.replace('_', "-")))
    }
}

/// How an entry hands a variable of the user's environment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Passing {
    /// A text refers to it.
    #[default]
    Reference,
    /// A list of names: the receiver sees the variable under the name the user has it under.
    SameName,
    /// A map of names to names.
    AnyName,
    /// Not at all.
    Nothing,
}

/// The time-outs of an entry.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EntryTimeout {
    /// Their unit.
    pub unit: TimeUnit,
    /// What they bound.
    pub bounds: Vec<Bounded>,
    /// Whether each has a figure of its own; otherwise one figure, that of a call, bounds all of it.
    #[serde(default)]
    pub apart: bool,
}

impl EntryTimeout {
    /// Seconds in the unit.
    pub const fn figure(&self, seconds: u64) -> u64 {
        match self.unit {
            TimeUnit::Ms => seconds.saturating_mul(1000),
            TimeUnit::S => seconds,
        }
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum TimeUnit {
    Ms,
    S,
}

/// What a time-out bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bounded {
    /// One call of a tool.
    Call,
    /// The start, with the list of tools.
    List,
}

/// What happens before a call, by risk. An omitted one is the host's own behaviour, of which nothing is known.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Approvals {
    /// One for a whole server: the greatest risk of its tools counts for each of them.
    #[serde(default)]
    pub whole: bool,
    /// Of a tool that confers only safe capabilities.
    pub safe: Option<Approval>,
    /// Of a tool that confers a restricted one.
    pub restricted: Option<Approval>,
    /// Of a tool that confers a dangerous one.
    pub dangerous: Option<Approval>,
}

/// What happens before a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Approval {
    /// What the templates are given to write of such a tool; omitted = nothing is written, the host does it by itself.
    pub word: Option<String>,
    /// What happens.
    pub verdict: Verdict,
    /// How hard, where a person is asked or the call refused.
    pub guarantee: Option<Guarantee>,
    /// How it is known; default the file's.
    pub evidence: Option<EvidenceKind>,
    /// Under which conditions.
    #[serde(default, rename = "if")]
    pub conditions: Vec<String>,
    /// When it is otherwise.
    pub hole: Option<String>,
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
