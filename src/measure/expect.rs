//! Expectations of the policy (`acceptance`) on sessions.

use super::event::AgentKey;
use super::format::{Fact, Format};
use super::found::{Found, Record};
use super::sessions::{Figure, Session};
use super::tally::Counted;
use crate::model::policy::Acceptance;

/// How an expectation came out: its name, and for each session its number and what became of the keys.
pub type Expected<'e> = (&'e str, &'e [(usize, Vec<Outcome>)]);

/// How one key of an expectation came out on one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The key; of calls outside of the grants with the role.
    pub key: String,
    /// What is allowed at most.
    pub most: u64,
    /// What was.
    pub was: Verdict,
    /// By what that is known, where the logs alone do not tell.
    pub by: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Not more than is allowed.
    Held(u64),
    /// More: how many, and the first records.
    Broken(u64, Vec<Record>),
    /// The logs do not tell; that is no pass.
    NotRecorded(&'static str),
}

impl Outcome {
    /// Whether it held.
    pub const fn held(&self) -> bool {
        matches!(self.was, Verdict::Held(_))
    }
}

/// Holds a session against an expectation.
pub fn expect(acceptance: &Acceptance, session: &Session<'_, '_>) -> Vec<Outcome> {
    let mut all = Vec::new();
    let mut put = |key: &str, most: Option<u64>, figure: &dyn Fn() -> Figure| {
        if let Some(most) = most {
            let Figure { found, unknown, by } = figure();
            let was = match unknown {
                _ if found.count > most => Verdict::Broken(found.count, found.records),
                Some(what) => Verdict::NotRecorded(what),
                None => Verdict::Held(found.count),
            };
            all.push(Outcome { key: key.to_owned(), most, was, by });
        }
    };
    let a = acceptance;
    let most = |key: &Option<crate::yaml::Sp<u64>>| key.as_ref().map(|k| k.value);
    put("docs-calls", most(&a.docs_calls), &|| calls(session, |c| &c.knowledge.docs));
    put("memory-calls", most(&a.memory_calls), &|| calls(session, |c| &c.knowledge.memory));
    put("taxonomy-calls", most(&a.taxonomy_calls), &|| calls(session, |c| &c.knowledge.taxonomy));
    put("full-history-agents", most(&a.full_history_agents), &|| session.full_history());
    put("inline-base64", most(&a.inline_base64), &|| inline(session));
    put("results-over-limit", most(&a.results_over_limit), &|| over_limit(session));
    put("unrecorded-escalations", most(&a.unrecorded_escalations), &|| escalations(session));
    put("avoidable-compactions", most(&a.avoidable_compactions), &|| session.avoidable());
    for (role, bound) in &a.out_of_grant_calls {
        let key = format!("out-of-grant-calls.{}", role.value);
        put(&key, Some(bound.value), &|| outside(session, &role.value));
    }
    all
}

/// The gateway's own log has only the calls that go through it.
const PART: &str = "calls that do not go through the gateway";

fn calls<'p>(session: &Session<'_, 'p>, of: impl for<'c> Fn(&'c Counted<'p>) -> &'c Found) -> Figure {
    session.figure(session.sum(of), (session.format == Format::Gateway).then_some(PART))
}

fn inline(session: &Session<'_, '_>) -> Figure {
    let stored: u64 = session.working().map(|(_, c)| c.stored.0).sum();
    session.figure(session.sum(|c| &c.inline), (stored > 0).then_some("whether media of the log went to the model"))
}

fn over_limit(session: &Session<'_, '_>) -> Figure {
    let unsized_results = session.working().any(|(_, c)| c.unsized_results > 0);
    session.figure(session.sum(|c| &c.over_limit), unsized_results.then_some("the size of a result"))
}

fn escalations(session: &Session<'_, '_>) -> Figure {
    let unknown = session.working().any(|(_, c)| c.escalations_unknown > 0);
    let what = "the arguments of a specialist's first call";
    session.figure(session.sum(|c| &c.escalations), unknown.then_some(what))
}

/// Calls of one role outside of its grants, refused ones too: the agent asked for what its role is not for.
fn outside(session: &Session<'_, '_>, role: &str) -> Figure {
    let mut found = Found::default();
    let is =
        |(_, counted): &&(&AgentKey, &Counted<'_>)| counted.known.role.as_deref().is_some_and(|own| same(own, role));
    let mut any = false;
    for (_, counted) in session.working().filter(is) {
        any = true;
        found.join(&counted.outside);
        found.join(&counted.outside_refused);
    }
    let nameless =
        |(_, counted): &(&AgentKey, &Counted<'_>)| counted.known.role.is_none() && counted.known.history != Some(true);
    let unknown = if any && !session.format.records(Fact::Refusals) {
        Some("calls of sub-agents that were refused")
    } else {
        session.subs().any(nameless).then_some("the role of a sub-agent")
    };
    session.figure(found, unknown)
}

/// Hosts put `-` for `_`, or the other way round.
fn same(spelt: &str, role: &str) -> bool {
    let fold = |c: char| if c == '-' { '_' } else { c };
    spelt.chars().map(fold).eq(role.chars().map(fold))
}
