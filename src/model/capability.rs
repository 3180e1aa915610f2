//! The capability vocabulary: host-agnostic verbs with a risk and, for some, a scope.

use super::scalar::Risk;

/// What a grant of a capability may be narrowed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeKind {
    /// Globs of repository paths.
    Paths,
    /// Command prefixes.
    Commands,
    /// Host names.
    Domains,
}

impl ScopeKind {
    /// The key in a grant.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::Commands => "commands",
            Self::Domains => "domains",
        }
    }
}

/// One built-in capability.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// `family.verb`.
    pub name: &'static str,
    /// Its risk.
    pub risk: Risk,
    /// What a grant may be scoped by.
    pub scope: Option<ScopeKind>,
    /// One sentence.
    pub title: &'static str,
    /// Whether an MCP server that we cannot see may bring it. Everything but the editing of our own
    /// policy files can be offered by some server.
    pub via_mcp: bool,
}

const fn cap(name: &'static str, risk: Risk, scope: Option<ScopeKind>, title: &'static str) -> Builtin {
    Builtin { name, risk, scope, title, via_mcp: true }
}

use Risk::{Dangerous, Restricted, Safe};
use ScopeKind::{Commands, Domains, Paths};

/// The built-in vocabulary in the order reports print it.
pub const BUILTIN: &[Builtin] = &[
    cap("repo.read", Safe, None, "read files of the repository"),
    cap("repo.search", Safe, None, "search names and contents of the repository"),
    cap("repo.diff", Safe, None, "see what changed: diffs, log, one commit"),
    cap("repo.edit", Restricted, Some(Paths), "change existing files"),
    cap("repo.create", Restricted, Some(Paths), "create files"),
    cap("repo.delete", Restricted, Some(Paths), "delete files"),
    cap("docs.validate", Safe, None, "check links, anchors and headings of documentation"),
    cap("shell.run", Dangerous, Some(Commands), "run shell commands"),
    cap("runtime.run", Dangerous, None, "run the application or a development server"),
    cap("web.fetch", Restricted, Some(Domains), "fetch a web address"),
    cap("web.search", Safe, None, "search the web"),
    cap("browser.inspect", Safe, None, "navigate and read pages, console and network lists"),
    cap("browser.capture", Restricted, None, "take screenshots, traces and recordings"),
    cap("browser.interact", Restricted, None, "click, type and submit in a page"),
    cap("browser.script", Dangerous, None, "run script in a page or against the browser"),
    cap("docs.search", Safe, None, "search a documentation service"),
    cap("docs.taxonomy", Safe, None, "list a documentation service's catalogue"),
    cap("docs.exhaustive", Safe, None, "read a documentation service exhaustively"),
    cap("docs.write", Restricted, None, "write to a documentation service"),
    cap("memory.search", Safe, None, "search a memory service"),
    cap("memory.read", Safe, None, "read one memory"),
    cap("memory.taxonomy", Safe, None, "list a memory service's structure or status"),
    cap("memory.write", Restricted, None, "write a memory"),
    cap("ticket.read", Safe, None, "read tickets"),
    cap("ticket.write", Dangerous, None, "change or create tickets"),
    cap("db.read", Restricted, None, "query a database"),
    cap("db.write", Dangerous, None, "change a database"),
    cap("agent.spawn", Restricted, None, "start another agent"),
    cap("user.ask", Safe, None, "ask the user a question"),
    cap("plan.track", Safe, None, "keep a task list"),
    cap("skill.use", Safe, None, "load a skill"),
    cap("image.view", Safe, None, "look at an image file"),
    cap("mcp.resources", Restricted, None, "list and read MCP resources"),
    cap("history.read", Restricted, None, "read other sessions' history"),
    Builtin {
        name: "policy.edit",
        risk: Dangerous,
        scope: None,
        title: "change the policy, its lock and the files rendered from it",
        via_mcp: false,
    },
];
