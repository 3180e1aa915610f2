//! From the policy and what upstream servers say of their tools to the list one role is shown. Pure: nothing is
//! started, read or written here.
//!
//! Closed by default. An upstream parameter that no binding names is not sent, what the model writes beside the
//! declared arguments is refused, and the arguments that reach a server are built anew from the bindings: there is
//! no path from a call's text to a bound value.

mod coerce;
mod composed;
mod definition;
mod direct;
mod extra;
mod grants;
mod hints;
mod own;
mod place;
mod plan;
mod program;
mod raw;
mod schema;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diag::Sink;
use crate::model::scalar::Risk;
use crate::resolve::composed::{Composed, Maker, Program};
use crate::resolve::policy::Server;
use crate::resolve::{CapSet, Policy, Role, gateway};

pub use definition::Definitions;
pub use hints::Hints;
pub use own::OwnTool;
pub use plan::{Call, Delivery, Plan, Refusal};
pub use raw::raw;

/// A tool as a role is shown it, and what a call of it does.
#[derive(Debug)]
pub struct Exposed {
    /// Its name.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// What the model may send.
    pub input_schema: Map<String, Value>,
    /// All four, explicit.
    pub hints: Hints,
    /// All it makes possible.
    pub confers: CapSet,
    /// The greatest risk of what it confers, and no less than its server's.
    pub risk: Risk,
    /// Who answers.
    pub origin: Origin,
    /// What its server said of it when it was looked at.
    pub raw: Option<Value>,
    /// From the model's arguments to those of the origin.
    pub plan: Plan,
    /// What bounds its results.
    pub bounds: ResultBounds,
}

impl Exposed {
    /// Names of what the model may send.
    pub fn argument_names(&self) -> impl Iterator<Item = &str> {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Who answers, as `server/tool`, or this program.
    pub fn from(&self) -> String {
        match &self.origin {
            Origin::Upstream { server, tool } => format!("{server}/{tool}"),
            Origin::Program(_) => "a program".to_owned(),
            Origin::Own(_) => "rolecast".to_owned(),
        }
    }
}

/// Who answers a call.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A tool of a server, or a primitive of this program.
    Upstream {
        /// The server, or the name in `primitives:`.
        server: String,
        /// Its tool.
        tool: String,
    },
    /// A program that is started for the call.
    Program(Arc<Program>),
    /// This program.
    Own(OwnTool),
}

/// What bounds the results of a tool beside the budget of every result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultBounds {
    /// Most entries, of a list or lines, when the call names no number itself.
    pub entries: Option<u64>,
    /// Most entries at all.
    pub entries_limit: Option<u64>,
    /// Whether lines of plain text are entries, too.
    pub lines: bool,
    /// The argument of the model that narrows a result.
    pub narrow: Option<String>,
    /// The argument of the model that continues a list.
    pub cursor: Option<String>,
    /// Whether media may be asked for inline.
    pub inline_media: bool,
}

/// A tool that is not shown, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// Its name.
    pub name: String,
    /// In one sentence.
    pub why: String,
}

/// For whom.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The role; none for the main agent.
    pub role: Option<&'a Role>,
    /// The hosts, as far as they are known.
    pub hosts: &'a [String],
    /// Only what has this risk.
    pub risk: Option<Risk>,
}

/// What one role is shown.
#[derive(Debug, Default)]
pub struct Exposure {
    /// In the order of their names.
    pub tools: Vec<Exposed>,
    /// What is not shown although the policy has it, in the order of their names.
    pub withheld: Vec<Withheld>,
}

/// The tools of `role`, or of the main agent. A composed tool that its primitive does not allow is reported and
/// withheld; the others are not concerned.
pub fn expose(asked: &Asked<'_>, definitions: &Definitions, sink: &mut Sink) -> Exposure {
    let policy = asked.policy;
    let mut exposure = Exposure::default();
    for tool in policy.tools.values() {
        let made = composed::expose(tool, policy, definitions, sink);
        admit(made, &tool.name, asked, &mut exposure);
    }
    let anywhere = |server: &Server| policy.through(server, &[]);
    let here = |server: &Server| policy.through(server, asked.hosts);
    let names = gateway::names(&policy.servers, &policy.tools, &anywhere);
    for (name, server, tool) in names.into_iter().filter(|(_, server, _)| here(server)) {
        let made = direct::expose(&name, server, tool, policy, definitions, sink);
        admit(made, &name, asked, &mut exposure);
    }
    for made in own::tools(policy, asked.role) {
        let name = made.name.clone();
        admit(Ok(made), &name, asked, &mut exposure);
    }
    exposure.tools.sort_by(|a, b| a.name.cmp(&b.name));
    exposure.withheld.sort_by(|a, b| a.name.cmp(&b.name));
    exposure
}

/// Reports every tool out of `which` that its primitive does not allow, whoever has it. Tools of servers that nothing is known
/// of are passed over.
pub fn check(policy: &Policy, definitions: &Definitions, sink: &mut Sink, which: impl Fn(&Composed) -> bool) {
    let known =
        |tool: &Composed| !matches!(tool.maker, Maker::Server) || definitions.get(&tool.server, &tool.tool).is_some();
    for tool in policy.tools.values().filter(|tool| which(tool) && known(tool)) {
        // The reports are what is wanted.
        let _ = composed::expose(tool, policy, definitions, sink);
    }
}

fn admit(made: Result<Exposed, String>, name: &str, asked: &Asked<'_>, exposure: &mut Exposure) {
    let admitted = made.and_then(|tool| grants::covered(&tool, asked.policy, asked.role).map(|()| tool));
    let admitted = admitted.and_then(|tool| grants::of_risk(tool, asked.risk));
    match admitted {
        Ok(tool) => exposure.tools.push(tool),
        Err(why) => exposure.withheld.push(Withheld { name: name.to_owned(), why }),
    }
}

#[cfg(test)]
mod adversary_tests;
#[cfg(test)]
mod tests;
