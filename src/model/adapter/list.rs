//! A role's list of tools, its rules, and what narrows the tools that are kept.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Claim;
use crate::model::capability::ScopeKind;

/// How tools are chosen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct List {
    /// Whether one writes what may, or what goes.
    pub sense: Sense,
    /// What one can write, and the tools each word brings (`allow`) or removes (`deny`); omitted = one
    /// word for each tool.
    #[serde(default)]
    pub selectors: IndexMap<String, Vec<String>>,
    /// Whether single MCP tools can be written.
    pub mcp: ListMcp,
    /// The same plan is also written as an allow list that the host is not known to obey.
    #[serde(default)]
    pub inform: bool,
    /// How verdicts are written; with `sense: rules` and only there.
    pub rules: Option<Rules>,
    /// Words of an allow list for a role that keeps none, where the host reads an empty list as everything.
    /// Each is an inert tool that no sub-agent of the host is given.
    #[serde(default)]
    pub empty: Vec<String>,
    /// What the list holds.
    pub claim: Claim,
}

/// The sense of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// What is written is what the role has.
    Allow,
    /// What is written is taken away.
    Deny,
    /// Each word gets a verdict, or one for each pattern of what its tools are called with; all else is denied.
    Rules,
}

/// How a list of ordered verdicts is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rules {
    /// Which of several rules that fit decides.
    pub order: RuleOrder,
    /// What stands for every tool, and for everything that a tool is called with.
    pub every: String,
    /// How the host spells verdicts.
    pub verdicts: VerdictWords,
    /// Rules written behind those of a word that is kept.
    #[serde(default)]
    pub after: Vec<After>,
}

/// Which of several rules that fit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleOrder {
    /// The last one: what is denied stands first, exceptions behind it.
    LastMatch,
}

/// How a host spells verdicts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VerdictWords {
    /// The call runs.
    pub allow: String,
    /// A person is asked.
    pub ask: String,
    /// The call is refused.
    pub deny: String,
}

impl VerdictWords {
    /// The spelling of a verdict.
    pub fn spell(&self, verdict: Verdict) -> &str {
        match verdict {
            Verdict::Allow => &self.allow,
            Verdict::Ask => &self.ask,
            Verdict::Deny => &self.deny,
        }
    }
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// A rule written behind those of a word: a default of the host that the word would undo, or a tool that hides
/// under the word.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct After {
    /// The word.
    pub word: String,
    /// What its tools are called with, in the host's own pattern language.
    pub pattern: String,
    /// What happens then.
    pub verdict: Verdict,
    /// Not written for a role that is granted this capability.
    pub unless: Option<String>,
    /// Tools of the word all of whose calls fit the pattern.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Whether a list reaches MCP tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListMcp {
    /// Single tools can be written; what is not written is absent.
    Single,
    /// The role keeps every server of the session.
    Session,
}

/// A mechanism that narrows kept tools.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Narrow {
    /// Which mechanism.
    pub by: Mechanism,
    /// What it narrows.
    pub scope: ScopeKind,
    /// The tools it can see.
    pub tools: Vec<String>,
    /// How its patterns of paths are written; needed by `rules` in the role's own list, and by what is given to a
    /// process that `rolecast run` starts (`launch`).
    pub globs: Option<GlobDialect>,
    /// A link in a folder inside of a scope is followed out of it: a hole that the claim tells, and that the
    /// verifier does not hold against it.
    #[serde(default)]
    pub follows_links: bool,
    /// What it holds.
    pub claim: Claim,
}

/// How a host writes patterns of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GlobDialect {
    /// `*` stands for any text, `/` too; `?` for any one character; the rest for itself.
    Flat,
    /// As in `.gitignore`, from the root: `*` and `?` stop at `/`, `**` crosses.
    Git,
    /// Whole folders by their names, and single files where something is shut: `docs` for `docs/**`. What is no
    /// whole folder cannot be opened, and no pattern can be shut.
    Folder,
    /// A regular expression for a path below the root, in which no `"` fits.
    Regex,
}

/// Ways to narrow a kept tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Rules of the host: patterns in the role's own list, which then has `sense: rules`, or what `launch` gives the
    /// process.
    Rules,
    /// Our hook program.
    Guard,
    /// The operating system's sandbox.
    Sandbox,
    /// Our MCP server.
    Gateway,
}
