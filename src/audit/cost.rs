//! What the definitions and instructions of servers cost in every session.

use serde_json::json;

use super::checks::Subject;
use super::contract::Tool;
use super::finding::Finding;
use crate::diag::Code;
use crate::model::adapter::{Adapter, ListMcp};
use crate::plan::offer::{self, Origin};
use crate::plan::{HostPlan, names};
use crate::resolve::policy::Budget;

/// Bytes that are counted as one token.
pub const BYTES_PER_TOKEN: u64 = 4;

/// The cost of one server on one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCost {
    /// The host.
    pub host: String,
    /// Tools and bytes of all definitions.
    pub tools: (usize, u64),
    /// Bytes of the server's instructions.
    pub instructions: u64,
    /// Role → tools and bytes that it is given in the form with the most.
    pub roles: Vec<(String, usize, u64)>,
}

impl HostCost {
    /// Bytes of everything.
    pub const fn bytes(&self) -> u64 {
        self.tools.1 + self.instructions
    }
}

/// Tokens that bytes are estimated at.
pub const fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// What a definition costs under the name that a host gives it: name, description and schema of the input.
pub fn definition(tool: &Tool, name: &str) -> u64 {
    let schema = tool.raw.get("inputSchema").cloned().unwrap_or_else(|| json!({}));
    json!({ "name": name, "description": tool.description(), "inputSchema": schema }).to_string().len() as u64
}

/// The cost on every selected host.
pub fn hosts(subject: &Subject<'_>) -> Vec<HostCost> {
    let each = subject.plan.hosts.iter();
    each.filter_map(|plan| Some(on(subject, plan, subject.loaded.adapters.get(&plan.host)?))).collect()
}

fn on(subject: &Subject<'_>, plan: &HostPlan, adapter: &Adapter) -> HostCost {
    let server = subject.name();
    let spelt =
        |tool: &Tool| names::tool(&adapter.names.tool, server, &tool.name).unwrap_or_else(|_| tool.name.clone());
    let sized: Vec<(String, u64)> =
        subject.contract.tools.iter().map(|tool| (spelt(tool), definition(tool, &spelt(tool)))).collect();
    let sum = |keep: &dyn Fn(&str) -> bool| {
        let kept: Vec<u64> = sized.iter().filter(|(name, _)| keep(name)).map(|(_, bytes)| *bytes).collect();
        (kept.len(), kept.iter().sum::<u64>())
    };
    let mut roles = Vec::new();
    for role in &plan.roles {
        let each = role.forms.iter().map(|form| {
            let list = adapter.forms.get(&form.form).and_then(|shape| offer::list(adapter, shape));
            // Where single tools cannot be listed a role keeps all of them, classified or not.
            if list.is_some_and(|list| list.mcp == ListMcp::Session) {
                return sum(&|_| true);
            }
            let ours = |name: &str| {
                form.tools.iter().any(|tool| {
                    tool.name == name && matches!(&tool.origin, Origin::Mcp { server: of, .. } if of == server)
                })
            };
            sum(&ours)
        });
        let (count, bytes) = each.max_by_key(|(_, bytes)| *bytes).unwrap_or_default();
        roles.push((role.role.clone(), count, bytes));
    }
    let instructions = subject.contract.instructions.as_ref().map_or(0, |text| text.len() as u64);
    HostCost { host: plan.host.clone(), tools: sum(&|_| true), instructions, roles }
}

/// A finding where the cost is over what always-on text may have.
pub fn check(subject: &Subject<'_>, costs: &[HostCost]) -> Option<Finding> {
    let Some(Budget::Size(size)) = subject.policy.settings.budgets.get("instructions") else { return None };
    let target = size.target?.0;
    let most = costs.iter().map(HostCost::bytes).max().filter(|bytes| *bytes > target)?;
    let message = format!(
        "its definitions and instructions cost up to {most} bytes (~{} tokens) in every session that has it; always-on text may have {target}",
        tokens(most)
    );
    let finding = Finding::new(Code::DefinitionsCost, subject.name(), message).at(subject.span());
    Some(finding.fix("give it to the roles that need it, tool by tool"))
}
