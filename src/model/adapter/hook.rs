//! What a host's hooks are told before a tool runs.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Claim;
pub use crate::model::guard::Answer;
use crate::model::guard::Usage;
use crate::model::scalar::EvidenceKind;
use crate::text::glob;

/// How the guard is asked. What is sent is told by its shape; this says what the names in it mean.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hook {
    /// How the host is told of a refusal, so that the model gets the reason.
    #[serde(default)]
    pub answer: Answer,
    /// The tools that can be seen, as the hook spells them.
    pub tools: IndexMap<String, HookTool>,
    /// Names that the host gives its tools when it runs the hooks of another host's file → tools of the hook that
    /// it may mean.
    #[serde(default)]
    pub borrowed: IndexMap<String, Vec<String>>,
    /// Whether a main agent that is started as a role is named too.
    #[serde(default)]
    pub mains: bool,
    /// Whether it is not told which agent calls: then only what is refused to everybody can be, and no role is held.
    #[serde(default)]
    pub nameless: bool,
    /// Field that no other host sends: by it the guard tells this host where it runs the hooks of another one's file.
    pub sign: Option<String>,
    /// What the command prints when nothing is refused; omitted = nothing.
    pub pass: Option<String>,
    /// Variable of the environment with the folder of the project; omitted = the hook runs in it.
    pub root: Option<String>,
    /// How a hook after a call can tell the model how full its context is; omitted = it is not told, or the model
    /// does not get what it says.
    pub context: Option<HookContext>,
    /// What holds of that a call is refused for everybody: copies of the history, long packets, first reads of long
    /// files; omitted = nothing was tried.
    pub everybody: Option<Claim>,
}

/// A hook that runs after a call, and whose words the model gets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookContext {
    /// Where the figures stand.
    pub usage: HookUsage,
    /// What holds of it.
    pub claim: Claim,
}

/// How full an agent's context is, by the transcript that the host keeps: lines of JSON, of which the last one
/// with figures counts; or by what a hook is told itself.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookUsage {
    /// Field of what a hook is told with the path of the transcript; omitted = the figures stand beside it, and the
    /// pointers lead to them there.
    pub transcript: Option<String>,
    /// Path of a sub-agent's transcript, of `{transcript}` (that path without its ending) and `{agent}` (its id);
    /// omitted = a sub-agent's hook is told of its own.
    pub agents: Option<String>,
    /// JSON pointers whose figures together are the tokens that the last request and its answer take.
    pub used: Vec<String>,
    /// JSON pointer to the size of the window in tokens; omitted = by the model, as in `windows`.
    pub window: Option<String>,
    /// JSON pointer to the model.
    pub model: Option<String>,
}

impl HookUsage {
    /// As the guard is given it.
    pub fn compiled(&self, windows: Option<&Windows>) -> Usage {
        let by_model = windows.filter(|_| self.window.is_none() && self.model.is_some());
        Usage {
            transcript: self.transcript.clone(),
            agents: self.agents.clone(),
            used: self.used.clone(),
            window: self.window.clone(),
            model: self.model.clone(),
            windows: by_model.map(|w| w.models.clone()).unwrap_or_default(),
        }
    }
}

/// Sizes of the context, as far as the program itself names them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Windows {
    /// Tokens by model, as globs; the first that fits counts. Of another model nothing is said.
    pub models: IndexMap<String, u64>,
    /// How they are known; default the file's.
    pub evidence: Option<EvidenceKind>,
}

impl Windows {
    /// The size for a model; `None` = it is not named.
    pub fn of(&self, model: &str) -> Option<u64> {
        glob::first(&self.models, model).copied()
    }
}

/// What a tool is called with. The tool that starts agents needs nothing here: `subagents` says it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookTool {
    /// The tool, as in `tools`; default the same name.
    pub is: Option<String>,
    /// Argument with the path that is written.
    pub path: Option<String>,
    /// Argument with a patch that names its files.
    pub patch: Option<String>,
    /// Argument with a shell line.
    pub command: Option<String>,
    /// Argument with an address that is fetched.
    pub url: Option<String>,
    /// Argument with the path that is read.
    pub read: Option<String>,
    /// Argument with the task of the agent that it starts; omitted = as `subagents` says.
    pub prompt: Option<String>,
    /// Arguments any of which makes it the read of a part.
    #[serde(default)]
    pub range: Vec<String>,
}

impl Hook {
    /// Whether the guard sees what `tool` does within a scope of that kind.
    pub fn sees(&self, tool: &str, kind: crate::model::capability::ScopeKind) -> bool {
        use crate::model::capability::ScopeKind;
        let is = |(name, hook): (&String, &HookTool)| {
            hook.is.as_ref().unwrap_or(name) == tool
                && match kind {
                    ScopeKind::Paths => hook.path.is_some() || hook.patch.is_some(),
                    ScopeKind::Commands => hook.command.is_some(),
                    ScopeKind::Domains => hook.url.is_some(),
                }
        };
        self.tools.iter().any(is)
    }
}
