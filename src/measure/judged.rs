//! What the policy says of a single event, for those who want every one.

use super::budget::Charge;
use super::judge::Tool;

/// What was found of one event when it was counted.
#[derive(Debug, Clone, Default)]
pub struct Judged<'p> {
    /// The tool of a call, a result, a review or an approval.
    pub tool: Option<Tool<'p>>,
    /// Whether the call is outside of what its agent's role is granted; `None` = the policy does not know the role.
    pub outside: Option<bool>,
    /// Why; on the call only.
    pub reason: Option<String>,
    /// A documentation, memory or taxonomy call before the agent's first work.
    pub early: bool,
    /// A specialist's first call without a reason.
    pub unrecorded: bool,
    /// The call was refused.
    pub refused: bool,
    /// The call started an agent.
    pub started: bool,
    /// The result has more text than the target.
    pub over_target: bool,
    /// The result has more text than the limit.
    pub over_limit: bool,
    /// What it cost of a budget in things, or of that for packets.
    pub charge: Option<Charge>,
    /// Digest of the arguments of a call of the gateway's.
    pub digest: Option<String>,
    /// Media that the model was sent over the limit.
    pub media_over_limit: u64,
    /// Thresholds that the request crossed.
    pub crossed: Vec<&'static str>,
}
