//! The ledger of commands that nobody may run.

use indexmap::IndexSet;

use crate::model::adapter::{Adapter, CommandClaim, CommandRules};
use crate::model::scalar::Guarantee;
use crate::resolve::Policy;
use crate::resolve::commands::Forbidden;

use super::ledger::{LimitedBy, Line, State, Subject};

/// What no mechanism sees, because what runs is only known when it does.
const AROUND: &str = "no rule about lines sees a command inside of `bash -c`, a script or another program";

/// The host's own rules, where they can say the command.
pub fn rules<'a>(adapter: &'a Adapter, forbidden: &Forbidden) -> Option<&'a CommandRules> {
    let fits = |rules: &&CommandRules| rules.most_words.is_none_or(|most| forbidden.words.len() <= most);
    adapter.commands.rules.as_ref().filter(fits)
}

/// Whether something but text refuses the command in a session without a role.
pub fn refused(adapter: &Adapter, policy: &Policy, forbidden: &Forbidden) -> bool {
    rules(adapter, forbidden).is_some() || guard(adapter, policy).is_some()
}

fn guard<'a>(adapter: &'a Adapter, policy: &Policy) -> Option<&'a CommandClaim> {
    adapter.commands.guard.as_ref().filter(|_| policy.settings.guard.commands)
}

/// One line for each command. Whoever has a shell has a way around, so that none is more than `advised`.
pub fn lines(adapter: &Adapter, policy: &Policy) -> Vec<Line> {
    policy.settings.forbidden.iter().map(|forbidden| line(adapter, policy, forbidden)).collect()
}

fn line(adapter: &Adapter, policy: &Policy, forbidden: &Forbidden) -> Line {
    let mut claims: Vec<&CommandClaim> = Vec::new();
    let mut reasons = Vec::new();
    let mut told = |claim, what: String| {
        claims.push(claim);
        let hole = claim.hole.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
        reasons.push(format!("{what}{hole}"));
    };
    if let Some(rules) = rules(adapter, forbidden) {
        let file = adapter.outputs.get(&rules.output).map_or("", |o| o.file.as_str());
        told(&rules.claim, format!("rules in `{file}` refuse it"));
    }
    if let Some(claim) = guard(adapter, policy) {
        told(claim, "the guard refuses it where a line is sure to run it".to_owned());
    }
    if let Some(claim) = &adapter.commands.launch {
        told(claim, "`rolecast run` starts roles with a rule that refuses it".to_owned());
    }
    let text = match (reasons.is_empty(), adapter.carriers.is_empty()) {
        (true, true) => "text only, which its roles carry and its main agent is not given".to_owned(),
        (true, false) => "text only: the host is given nothing that would refuse it".to_owned(),
        (false, _) => format!("{}; {AROUND}", reasons.join("; ")),
    };
    let conditions: IndexSet<&String> = claims.iter().flat_map(|c| &c.conditions).collect();
    Line {
        host: adapter.id.clone(),
        subject: Subject::Command { command: forbidden.command() },
        state: State::Denied,
        limited_by: Some(LimitedBy::Command),
        guarantee: Some(Guarantee::Advised),
        evidence: claims.first().and_then(|c| c.evidence).unwrap_or(adapter.evidence.by),
        version: adapter.evidence.version.clone(),
        date: adapter.evidence.date.clone(),
        conditions: conditions.into_iter().cloned().collect(),
        reason: text,
        lowered: None,
        measured: Vec::new(),
    }
}
