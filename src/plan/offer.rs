//! What a host can give a role in one form: its own tools and the policy's servers, as selectors.

use std::sync::Arc;

use crate::diag::{Code, Diagnostic};
use crate::model::adapter::{Adapter, Approval, Form, List, ListMcp, Sense, Verdict};
use crate::model::scalar::{EvidenceKind, Risk};
use crate::resolve::policy::{Policy, Server};
use crate::resolve::{CapSet, Catalogue};

use super::names::{self, NameProblem};
use super::search::Selector;
use super::servers;

/// Name of the condition that a server of the policy is configured on the host.
pub const SERVER_CONFIGURED: &str = "server-configured";

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The host.
    Native,
    /// A server of the policy.
    Mcp {
        /// The server.
        server: String,
        /// As the server calls it.
        tool: String,
    },
}

/// A tool that a word brings or removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// As the model sees it.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What one would use it for.
    pub covers: CapSet,
    /// All it makes possible.
    pub confers: CapSet,
    /// How it is known that the host has it; none = as the rest of the adapter.
    pub evidence: Option<EvidenceKind>,
    /// Conditions under which it is there at all.
    pub conditions: Vec<String>,
    /// What happens before a call, beside the role's list; only of a server's tool.
    pub approval: Option<Approval>,
    /// The tools that are to be preferred to it, as the model sees them; none = it is no legacy.
    pub successors: Vec<String>,
}

impl Tool {
    /// Whether a person is asked before each call.
    pub fn asks(&self) -> bool {
        self.approval.as_ref().is_some_and(|a| a.verdict == Verdict::Ask)
    }
}

/// One word of a role's list with its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What the search sees.
    pub selector: Selector,
    /// The tools.
    pub tools: Vec<Arc<Tool>>,
}

/// Everything one form can offer, the same for every role.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The words of the list, native first, in the adapter's order.
    pub words: Vec<Word>,
    /// What the search sees of each word.
    pub selectors: Vec<Selector>,
    /// One selector for each native tool, where the list is also written as one that only informs.
    pub inform: Vec<Selector>,
    /// Tools no word reaches.
    pub fixed: Vec<Arc<Tool>>,
    /// Whether the role keeps servers of the session that the policy cannot see.
    pub session_servers: bool,
}

/// What a native tool of the adapter covers and confers; inert tools nothing.
pub fn native(adapter: &Adapter, name: &str, catalogue: &Catalogue) -> Tool {
    let set = |caps: &[String]| -> CapSet { caps.iter().filter_map(|c| catalogue.find(c)).collect() };
    let (covers, confers) = adapter.tools.get(name).map_or((CapSet::EMPTY, CapSet::EMPTY), |t| {
        let covers = set(&t.covers);
        (covers, covers.union(set(&t.confers)))
    });
    let conditions = adapter.tools.get(name).map_or_else(Vec::new, |t| t.conditions.clone());
    let evidence = adapter.tools.get(name).and_then(|t| t.evidence);
    Tool {
        name: name.to_owned(),
        origin: Origin::Native,
        covers,
        confers,
        evidence,
        conditions,
        approval: None,
        successors: Vec::new(),
    }
}

/// The list of a form, its own or that of the form whose files it uses.
pub fn list<'a>(adapter: &'a Adapter, form: &'a Form) -> Option<&'a List> {
    form.list.as_ref().or_else(|| adapter.forms.get(form.same_as.as_ref()?)?.list.as_ref())
}

/// Builds the offer of a form.
pub fn offer(adapter: &Adapter, form: &Form, list: &List, policy: &Policy) -> Offer {
    let catalogue = &policy.catalogue;
    let mut words: Vec<Word> = Vec::new();
    if list.selectors.is_empty() {
        words.extend(
            adapter
                .tools
                .keys()
                .filter(|t| !form.residue.contains(t))
                .map(|name| word(name.clone(), vec![native(adapter, name, catalogue)])),
        );
    } else {
        words.extend(
            list.selectors
                .iter()
                .map(|(name, tools)| word(name.clone(), tools.iter().map(|t| native(adapter, t, catalogue)).collect())),
        );
    }
    let mut fixed: Vec<Arc<Tool>> = form.residue.iter().map(|t| Arc::new(native(adapter, t, catalogue))).collect();
    if list.sense == Sense::Deny {
        let reached =
            |name: &String| list.selectors.values().any(|tools| tools.contains(name)) || form.residue.contains(name);
        fixed.extend(adapter.tools.keys().filter(|t| !reached(t)).map(|t| Arc::new(native(adapter, t, catalogue))));
    }
    let session_servers = list.mcp == ListMcp::Session;
    let mcp = mcp(adapter, policy);
    if session_servers {
        fixed.extend(mcp.into_iter().map(|(_, tool)| Arc::new(tool)));
    } else {
        words.extend(mcp.into_iter().map(|(spelt, tool)| word(spelt, vec![tool])));
    }
    let selectors = words.iter().map(|w| w.selector.clone()).collect();
    let each = |name: &String| native(adapter, name, catalogue);
    let inform = adapter
        .tools
        .keys()
        .filter(|_| list.inform)
        .map(each)
        .map(|t| word(t.name.clone(), vec![t]).selector)
        .collect();
    Offer { words, selectors, inform, fixed, session_servers }
}

fn word(name: String, tools: Vec<Tool>) -> Word {
    let all = |f: fn(&Tool) -> CapSet| tools.iter().fold(CapSet::EMPTY, |set, t| set.union(f(t)));
    let selector = Selector { word: name, covers: all(|t| t.covers), confers: all(|t| t.confers) };
    Word { selector, tools: tools.into_iter().map(Arc::new).collect() }
}

/// Successors as the model sees them.
fn successors(adapter: &Adapter, places: &[(String, String)]) -> Vec<String> {
    places.iter().filter_map(|(server, tool)| names::tool(&adapter.names.tool, server, tool).ok()).collect()
}

/// The tools of the policy's servers with their spelling in a list; those the host cannot name are left out.
fn mcp(adapter: &Adapter, policy: &Policy) -> Vec<(String, Tool)> {
    // A server that is written is there by the render; what is left are the host's own terms.
    let mut conditions = if servers::written(adapter) { Vec::new() } else { vec![SERVER_CONFIGURED.to_owned()] };
    conditions.extend(adapter.mcp.iter().flat_map(|m| m.conditions.clone()));
    let approval = |server: &Server, own: Risk| {
        let mcp = adapter.mcp.as_ref()?;
        servers::approval(mcp, servers::counts(mcp, server, own)).cloned()
    };
    let mut tools = Vec::new();
    for server in policy.given_on(&adapter.id) {
        for (name, class) in &server.tools {
            let list = adapter.names.list.as_ref().unwrap_or(&adapter.names.tool);
            if let (Ok(seen), Ok(spelt)) =
                (names::tool(&adapter.names.tool, &server.name, name), names::tool(list, &server.name, name))
            {
                let origin = Origin::Mcp { server: server.name.clone(), tool: name.clone() };
                tools.push((
                    spelt,
                    Tool {
                        name: seen,
                        origin,
                        covers: class.covers,
                        confers: class.confers,
                        evidence: None,
                        conditions: conditions.clone(),
                        approval: approval(server, class.risk),
                        successors: successors(adapter, &class.successors),
                    },
                ));
            }
        }
    }
    tools
}

/// The diagnostic for a name that a host would not take as it is.
pub fn unusable(name: &str, problem: &NameProblem, adapter: &Adapter) -> Diagnostic {
    Diagnostic::new(Code::NameUnusable, format!("`{name}` cannot be used on {}", adapter.title))
        .note(why_unusable(problem, adapter))
        .help("use a shorter or plainer name")
}

/// Why a host would not take a name as it is.
pub fn why_unusable(problem: &NameProblem, adapter: &Adapter) -> String {
    match problem {
        NameProblem::Refused { character } => format!("{} does not take `{character}` in a name", adapter.title),
        NameProblem::Cut { max, length } => {
            format!("{} cuts names at {max} characters; this one has {length}", adapter.title)
        }
        NameProblem::ServerSplit { character } => {
            format!("{} splits names at `{character}`, so that a server's name may not have it", adapter.title)
        }
    }
}
