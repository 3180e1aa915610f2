//! How a host's program is run against a scripted model on loopback, with nothing of the user's: part of
//! an adapter.
//!
//! Texts may hold `{url}` (of the model), `{home}` (an empty home folder), `{root}` (a copy of the
//! repository) and `{prompt}`; those of calls also `{new}` (a file that does not exist), `{old}` (one that
//! holds `untouched`), `{own}` (the file of the role, there called `{name}`), `{kept}` (in turn each file of
//! instructions, the policy and the lock, which holds the line `{line}` once), all relative to the root,
//! `{probe}` (an address that records who asks for it), `{spawn}` (a task for a further agent) and `{task}`
//! (the key of the role's own task). What a call mentions is what it is judged by; one that mentions nothing only by
//! its refusal.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// How the program is run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Driver {
    /// Arguments that make it print its version.
    pub version_args: Vec<String>,
    /// What it speaks to a model.
    pub protocol: Protocol,
    /// Environment; besides it there is only `PATH`, a locale, and `HOME`, `TMPDIR` below `{home}`.
    #[serde(default)]
    pub env: IndexMap<String, String>,
    /// Arguments of a run that takes `{prompt}` and ends by itself.
    pub args: Vec<String>,
    /// Files below `{home}`.
    #[serde(default)]
    pub files: IndexMap<String, String>,
    /// How the roles are acknowledged; omitted = they need not be.
    pub acknowledge: Option<Acknowledge>,
    /// Arguments that a call for a role needs besides those that every parent gives.
    #[serde(default)]
    pub spawn: IndexMap<String, Value>,
    /// What the parent calls after that, until the role has ended; omitted = the call waits.
    #[serde(default)]
    pub wait: Vec<ToolCall>,
    /// When such a call would be in vain, and what is called instead; omitted = it always comes back at once.
    pub waited: Option<Waited>,
    /// The call that a role ends with; omitted = its last text.
    pub finish: Option<ToolCall>,
    /// A call of the main agent whose shell prints the numbers from 1 on, some 300 kB, one a line, to see how
    /// much comes through.
    pub flood: Option<ToolCall>,
    /// Calls of the main agent by which budgets are tried that a hook can hold.
    #[serde(default)]
    pub budgets: Vec<BudgetTry>,
    /// A call of the main agent whose shell runs the line `{command}`; omitted = forbidden commands are not tried.
    pub shell: Option<ToolCall>,
    /// Tokens, above half of the context window and below what makes the program shorten it; omitted = what an agent is
    /// told of its context is not tried.
    pub half_full: Option<u64>,
    /// A call that reads `{old}`, to see which rules for paths come with it; omitted = none does.
    pub touch: Option<ToolCall>,
    /// Tools that stand inside another one; omitted = none do.
    pub nested: Option<Nested>,
    /// Arguments added to the command of `rolecast run`, as a user would behind `--`, for forms that it starts.
    #[serde(default)]
    pub launched: Vec<String>,
    /// What is different in a run with servers; omitted = nothing is.
    #[serde(default)]
    pub servers: Servers,
    /// Tools (globs) that this way of running never has.
    #[serde(default)]
    pub never: IndexMap<String, Never>,
    /// Parts of what the program answers when it refuses a call.
    pub refusals: Vec<String>,
    /// Calls that are tried though nobody granted them.
    pub attempts: Vec<Attempt>,
}

/// What is different in a run with servers of the repository.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Servers {
    /// Its arguments; default those of every run.
    pub args: Option<Vec<String>>,
    /// Arguments of a run before it, in which a person accepts the server `{server}`.
    pub accept: Option<Vec<String>>,
    /// Files of the home by path, written before it, as a person's consent leaves them.
    #[serde(default)]
    pub files: IndexMap<String, String>,
}

/// A protocol between hosts and models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `/responses`: items.
    Responses,
    /// `/chat/completions`: choices.
    Chat,
    /// `/messages`: content blocks.
    Messages,
    /// `:generateContent`: parts.
    Generate,
}

/// A file in which a host notes the roles that a person accepted: root → role → digest of its file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Acknowledge {
    /// The file, below `{home}`.
    pub file: String,
    /// Output whose files are accepted.
    pub output: String,
    /// How they are told apart.
    pub digest: Digest,
}

/// A digest of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Digest {
    Sha256,
}

/// A call that waits for an agent, where none is left to wait for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Waited {
    /// Words of the message to the parent that an agent has ended.
    pub ended: String,
    /// A call that changes nothing, made instead of one that would wait for its whole time.
    pub instead: ToolCall,
}

/// One call of a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolCall {
    /// The tool, as in `tools`.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: IndexMap<String, Value>,
    /// Text without a form, instead of arguments.
    pub input: Option<String>,
}

/// How a budget is tried. Besides the names of every call there are `{long}` (a text with more lines than a first read
/// takes, relative to the root), `{packet}` (a prompt over its target), `{reasoned}` (one with the line that says why)
/// and `{name}` (a role).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BudgetTry {
    /// The budget.
    pub tries: String,
    /// A call over it.
    pub over: ToolCall,
    /// The same within it, and what is called until that has ended; its first answer counts.
    pub within: Vec<ToolCall>,
}

/// A tool that holds others, which a script of the model calls.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Nested {
    /// The tool that holds them. Tools with a namespace stand beside it.
    pub tool: String,
    /// The script that prints their names, one a line.
    pub list: String,
    /// The script that calls one: `{tool}`, and `{args}` as JSON.
    pub call: String,
    /// Names in the script that `tools` spells otherwise.
    #[serde(default)]
    pub names: IndexMap<String, String>,
}

/// Why a planned tool is not offered.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Never {
    /// The reason.
    pub why: String,
    /// Only when this tool is offered; default always.
    pub beside: Option<String>,
}

/// A call that is tried.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Attempt {
    /// The capabilities that it would use.
    pub tries: Vec<String>,
    /// Calls without which it could fail for another reason.
    #[serde(default)]
    pub before: Vec<ToolCall>,
    /// The call.
    pub call: ToolCall,
}
