//! Holds the declared servers against what they really offer: what they say of their tools, what the policy says of
//! them, and what they said when somebody last looked.

#[cfg(feature = "gateway")]
mod ask;
mod checks;
pub mod contract;
mod cost;
pub mod effect;
pub mod finding;
pub mod pins;
mod report;
pub mod saved;
pub mod schema;
mod suggest;
mod words;

#[cfg(feature = "gateway")]
use std::path::Path;
#[cfg(feature = "gateway")]
use std::time::Duration;

use indexmap::IndexMap;

use crate::compile::Compiled;
use crate::diag::{Code, Severity};
use crate::mcp::{Failed, Problem};
#[cfg(feature = "gateway")]
use crate::mcp::{Launch, Limits};
use crate::model::policy as model;
use crate::plan::Plan;
use crate::resolve::Policy;
use crate::sync::pins::Pins;

use checks::Subject;
use contract::Contract;
pub use cost::{BYTES_PER_TOKEN, HostCost, tokens};
pub use finding::Finding;
pub use report::{Report, ServerReport, count};
pub use suggest::Suggestion;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A person interrupted.
    #[error("interrupted; every server that was started is ended")]
    Interrupted,
    /// There is nothing to hold servers against.
    #[error("the policy was not compiled")]
    NotCompiled,
    /// The surroundings.
    #[error("cannot start: {0}")]
    Io(#[from] std::io::Error),
}

/// What came of asking one server.
pub type Answer = (String, Result<Contract, Failed>);

/// The servers as they are declared, the last layer's word for each.
pub fn declared(compiled: &Compiled) -> IndexMap<String, &model::Server> {
    let layers = compiled.loaded.layers.iter().flat_map(|layer| &layer.policy.servers);
    layers.flatten().map(|(name, server)| (name.value.clone(), server)).collect()
}

/// Starts or reaches the servers called `names`, one after the other declared, and asks for their tools. `variable` tells
/// the user's environment, `say` is told what came.
///
/// # Errors
/// A person interrupted. That a server gives no answer is no error but a result.
#[cfg(feature = "gateway")]
pub fn ask(
    compiled: &Compiled,
    names: &[String],
    root: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Answer>, Error> {
    let declared = declared(compiled);
    let asked = names.iter().filter_map(|name| {
        let server = declared.get(name)?;
        let limits = limits(server);
        Some(ask::Asked { name: name.clone(), launch: Launch::of(name, server, root, variable), limits })
    });
    let asked = asked.collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answers = runtime.block_on(ask::all(asked, say));
    answers.ok_or(Error::Interrupted)
}

#[cfg(feature = "gateway")]
fn limits(server: &model::Server) -> Limits {
    let seconds = |value: &Option<crate::yaml::Sp<u64>>| value.as_ref().map(|s| Duration::from_secs(s.value));
    let own = server.timeout.as_ref();
    let usual = Limits::default();
    let list = own.and_then(|t| seconds(&t.list));
    Limits {
        start: list.unwrap_or(usual.start),
        list: list.unwrap_or(usual.list),
        call: own.and_then(|t| seconds(&t.call)).unwrap_or(usual.call),
        ..usual
    }
}

/// Judges the answers of servers.
///
/// # Errors
/// The policy was not compiled.
pub fn judge(compiled: &Compiled, answers: Vec<Answer>, pins: &Pins) -> Result<Report, Error> {
    let (Some(policy), Some(plan)) = (&compiled.policy, &compiled.plan) else { return Err(Error::NotCompiled) };
    let declared = declared(compiled);
    let mut report = Report::default();
    for (name, answer) in answers {
        let Some(raw) = declared.get(&name) else { continue };
        report.servers.push(match answer {
            Ok(contract) => judged(compiled, policy, plan, raw, contract, pins),
            Err(failed) => silent(policy, &name, failed),
        });
    }
    Ok(report)
}

fn judged(
    compiled: &Compiled,
    policy: &Policy,
    plan: &Plan,
    raw: &model::Server,
    contract: Contract,
    pins: &Pins,
) -> ServerReport {
    let subject = Subject {
        contract: &contract,
        raw,
        server: policy.servers.get(&contract.server),
        policy,
        loaded: &compiled.loaded,
        plan,
    };
    let costs = cost::hosts(&subject);
    let mut findings = checks::all(&subject);
    findings.extend(cost::check(&subject, &costs));
    let pin = pins::of(&contract);
    match pins.get(&contract.server) {
        Some(was) => findings.extend(pins::changed(&contract.server, was, &pin)),
        None => {
            let message = "nothing is pinned, so that a change would not be noticed";
            let finding = Finding::new(Code::ContractUnpinned, &contract.server, message).at(subject.span());
            findings.push(finding.fix(format!("rolecast audit {} --accept", contract.server)));
        }
    }
    let suggestion = suggest::all(&subject);
    ServerReport {
        name: contract.server.clone(),
        contract: Some(contract),
        findings,
        costs,
        pin: Some(pin),
        suggestion,
    }
}

fn silent(policy: &Policy, name: &str, failed: Failed) -> ServerReport {
    let span = policy.servers.get(name).and_then(|server| server.span);
    let mut message = failed.problem.to_string();
    if !failed.stderr.is_empty() {
        let tail: Vec<&str> = failed.stderr.lines().rev().take(12).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        message.push_str("; its last words:\n");
        message.push_str(&tail.join("\n"));
    }
    let finding = Finding::new(Code::ServerSilent, name, message).at(span);
    let finding = match &failed.problem {
        Problem::MissingVariable(variable) => finding.fix(format!("set `{variable}` where the audit runs")),
        _ => finding,
    };
    ServerReport {
        name: name.to_owned(),
        contract: None,
        findings: vec![finding],
        costs: Vec::new(),
        pin: None,
        suggestion: Suggestion::default(),
    }
}

impl Report {
    /// Whether anything found must not stay.
    pub fn failed(&self) -> bool {
        self.findings().any(|finding| finding.severity == Severity::Error)
    }
}
