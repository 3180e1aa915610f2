//! What is held against what: each file one side of a contract.

mod arguments;
mod hints;
mod legacy;
mod names;
mod policy;
mod schema;
mod size;
mod text;

use super::contract::{Contract, Tool};
use super::finding::Finding;
use super::suggest;
use crate::diag::{Code, Span};
use crate::load::Loaded;
use crate::model::policy as model;
use crate::plan::Plan;
use crate::resolve::policy::{Policy, Server, ServerTool};

/// A declared server with everything there is to hold its contract against.
pub struct Subject<'a> {
    /// What it offers.
    pub contract: &'a Contract,
    /// Its declaration as written.
    pub raw: &'a model::Server,
    /// Its declaration resolved; none when it is not enabled.
    pub server: Option<&'a Server>,
    /// The policy.
    pub policy: &'a Policy,
    /// The sources.
    pub loaded: &'a Loaded,
    /// The plan.
    pub plan: &'a Plan,
}

impl<'a> Subject<'a> {
    /// The server's name.
    pub fn name(&self) -> &'a str {
        &self.contract.server
    }

    /// Where it is declared.
    pub fn span(&self) -> Option<Span> {
        self.server.and_then(|server| server.span)
    }

    /// How the policy classifies a tool.
    pub fn class(&self, tool: &str) -> Option<&'a ServerTool> {
        self.server?.tools.get(tool)
    }

    fn finding(&self, code: Code, tool: &Tool, message: impl Into<String>) -> Finding {
        let span = self.class(&tool.name).map_or(self.span(), |class| class.span);
        Finding::new(code, self.name(), message).tool(&tool.name).at(span)
    }

    /// The entry of the policy that would agree with the contract.
    fn entry(&self, tool: &Tool) -> String {
        let known = |cap: &str| self.policy.catalogue.find(cap).is_some();
        suggest::entry(self, tool).line(self.name(), &known)
    }
}

/// Everything that is wrong with one server.
pub fn all(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    arguments::check(subject, &mut found);
    text::instructions(subject, &mut found);
    names::listed(subject, &mut found);
    policy::check(subject, &mut found);
    for tool in &subject.contract.tools {
        hints::check(subject, tool, &mut found);
        schema::check(subject, tool, &mut found);
        size::check(subject, tool, &mut found);
        text::tool(subject, tool, &mut found);
    }
    size::paths(subject, &mut found);
    legacy::check(subject, &mut found);
    found
}
