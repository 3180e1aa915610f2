//! What is claimed, on what evidence and under which conditions.

use serde::Serialize;

use super::measured::Measured;
use crate::diag::Span;
use crate::model::capability::ScopeKind;
use crate::model::scalar::{EvidenceKind, Guarantee};

/// Every claim of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// In the order host, subject.
    pub lines: Vec<Line>,
}

/// One claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Line {
    /// The host.
    pub host: String,
    /// Of what.
    pub subject: Subject,
    /// Whether the subject can do it.
    pub state: State,
    /// What limits it; `None` = nothing does.
    pub limited_by: Option<LimitedBy>,
    /// How hard that limit is; `None` where there is no limit.
    pub guarantee: Option<Guarantee>,
    /// How it is known.
    pub evidence: EvidenceKind,
    /// On which version of the host.
    pub version: String,
    /// When that was looked at.
    pub date: String,
    /// Names of the conditions under which it holds.
    pub conditions: Vec<String>,
    /// Why, and what still gets through.
    pub reason: String,
    /// By what evidence the claim was turned down; `None` = it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// How often real models kept to it; empty = that was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
}

/// Evidence that turned a claim down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lowered {
    /// The file.
    pub by: String,
    /// Where in it; the program's own have no places.
    #[serde(skip)]
    pub span: Option<Span>,
}

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A role in one form, and a capability.
    Role {
        /// Id.
        role: String,
        /// Form of the adapter.
        form: String,
        /// Capability.
        capability: String,
    },
    /// A budget on a family of tools.
    Budget {
        /// Name.
        budget: String,
        /// `shell`, `mcp` or `all`.
        family: String,
    },
    /// A tool of a server, in a session without a role.
    Server {
        /// Name.
        server: String,
        /// As the server calls it; `*` = every tool that the policy does not name.
        tool: String,
    },
    /// A command that nobody may run.
    Command {
        /// The words it starts with.
        command: String,
    },
    /// The way of a rule to an agent.
    Rule {
        /// Id.
        rule: String,
        /// `main` or `roles`.
        to: String,
    },
}

/// Whether the subject can do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Yes.
    Granted,
    /// It is not to.
    Denied,
    /// It is granted, and there is no tool for it.
    Unreachable,
}

impl State {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Denied => "denied",
            Self::Unreachable => "unreachable",
        }
    }
}

/// What limits a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// No tool of the subject does it.
    Absence,
    /// Only some paths.
    Path,
    /// Only some commands.
    Command,
    /// Only some domains.
    Domain,
    /// A person is asked.
    Approval,
    /// A size or a count.
    Size,
}

impl LimitedBy {
    /// What a scope of this kind limits by.
    pub const fn of(kind: ScopeKind) -> Self {
        match kind {
            ScopeKind::Paths => Self::Path,
            ScopeKind::Commands => Self::Command,
            ScopeKind::Domains => Self::Domain,
        }
    }

    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Absence => "absence",
            Self::Path => "path",
            Self::Command => "command",
            Self::Domain => "domain",
            Self::Approval => "approval",
            Self::Size => "size",
        }
    }
}
