//! What is counted of one agent.

use std::collections::BTreeMap;

use crate::measure::budget::Spent;
use crate::measure::context::Context;
use crate::measure::event::{Agent, At, Place};
use crate::measure::found::Found;
use crate::measure::judge::Tool;
use crate::measure::spread::Spread;

/// One agent.
#[derive(Default)]
pub struct Counted<'p> {
    /// What is known of it.
    pub known: Agent,
    /// First and last moment.
    pub first: Option<String>,
    /// Last moment.
    pub last: Option<String>,
    /// Requests, context, compactions.
    pub context: Context,
    /// By tool.
    pub tools: BTreeMap<String, ToolCount>,
    /// Calls by capability of the tool; a tool for several counts for each.
    pub capabilities: BTreeMap<String, u64>,
    /// Calls of tools of which nothing is known.
    pub unclassified: Found,
    /// Text of results that the model saw.
    pub results: Spread,
    /// Results whose size the log does not have.
    pub unsized_results: u64,
    /// Results whose raw size is more than what the model saw.
    pub cut: u64,
    /// Bytes that tools gave, where recorded.
    pub raw: u64,
    /// Results with a recorded raw size, and how many of them may have been more.
    pub raw_known: (u64, u64),
    /// Results over the target, and of those over the limit.
    pub over_target: Found,
    /// Results over the limit.
    pub over_limit: Found,
    /// The other budgets.
    pub budgets: BTreeMap<&'static str, Spent>,
    /// Calls of tools that run programs: what these search and read is not seen.
    pub programs: u64,
    /// Requests by model, where that is recorded.
    pub models: BTreeMap<String, u64>,
    /// Media that the model was sent, as base64.
    pub inline: Found,
    /// Bytes of that.
    pub inline_bytes: u64,
    /// Media of which the log does not say whether the model was sent them: count, bytes.
    pub stored: (u64, u64),
    /// Calls that the role is not granted and that ran or may have.
    pub outside: Found,
    /// The same, refused by the host, a rule or a person.
    pub outside_refused: Found,
    /// Knowledge calls.
    pub knowledge: Knowledge,
    /// Specialist browser without a reason.
    pub escalations: Found,
    /// Specialist calls whose arguments are not in the log.
    pub escalations_unknown: u64,
    /// Judgements of the host's reviewer, by tool.
    pub reviews: BTreeMap<String, u64>,
    /// Decisions about calls: tool, who, whether granted → how many, and whether it was a person.
    pub approvals: BTreeMap<(String, String, bool), (u64, Option<bool>)>,
    /// Where the agent is first mentioned.
    pub at: At,
    /// Records that repeat others.
    pub copied: u64,
    /// Records of unknown kinds.
    pub unknown: BTreeMap<String, u64>,
    /// Records that cannot be read.
    pub damaged: Found,
    /// The log ends within a record.
    pub unfinished: bool,
    /// Calls.
    pub calls: u64,
    /// Calls that started an agent.
    pub started: u64,
    /// Calls without a result yet: the tool, where, whether outside of the grants.
    pub(super) open: BTreeMap<String, (Tool<'p>, At, bool)>,
    /// There was work on the task.
    pub(super) worked: bool,
    /// There was a call of a specialist browser.
    pub(super) escalated: bool,
}

/// Calls of documentation and memory tools.
#[derive(Default)]
pub struct Knowledge {
    /// Of `docs.*`.
    pub docs: Found,
    /// Of `memory.*`.
    pub memory: Found,
    /// Of `*.taxonomy`.
    pub taxonomy: Found,
    /// Of all these, those before the agent's first work.
    pub before: Found,
}

/// One tool.
#[derive(Default)]
pub struct ToolCount {
    /// Calls.
    pub calls: u64,
    /// Of those, within a script.
    pub nested: u64,
    /// That failed.
    pub failed: u64,
    /// Of which the log does not say how they ended.
    pub unsaid: u64,
    /// That were refused.
    pub refused: u64,
    /// Text that the model saw of its results.
    pub results: Spread,
    /// Base64 of media it was sent.
    pub media: Spread,
    /// Bytes of arguments.
    pub arguments: Spread,
}

impl Counted<'_> {
    /// Whether it is the main agent, as far as is known.
    pub fn main(&self) -> bool {
        matches!(self.known.place, None | Some(Place::Main))
    }
}
