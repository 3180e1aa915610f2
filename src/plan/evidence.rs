//! What was seen of a host, held against what is claimed of it: a claim that held is known from a run, one that was
//! broken is turned down to what was seen. Evidence for other tools, another scope or another claim counts for nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, Severity, Sink, Span};
use crate::model::adapter::{Adapter, Claim};
use crate::model::evidence::{Day, GuardSeen, Holds, RoleSeen, Seen, Verdict};
use crate::model::scalar::{EvidenceKind, Guarantee};
use crate::resolve::policy::{GrantScope, HostEvidence, Policy, Role};

use super::ledger::{LimitedBy, Line, Lowered, State, Subject};
use super::role::RolePlan;

/// What is claimed by a line, in words: what evidence about it must name.
pub fn claim(line: &Line) -> String {
    if let Subject::Rule { .. } = line.subject {
        return line.reason.clone();
    }
    let mut words = vec![line.state.word().to_owned()];
    words.extend(line.limited_by.map(|limit| format!("limited by {}", limit.word())));
    words.extend(line.guarantee.map(|guarantee| guarantee.word().to_owned()));
    let claim = words.join(", ");
    match line.subject {
        Subject::Budget { .. } => format!("{claim}: {}", line.reason),
        _ => claim,
    }
}

/// What a role's grant of a capability is scoped to.
pub fn scope<'a>(policy: &Policy, role: &'a Role, capability: &str) -> &'a [String] {
    let grant: Option<&GrantScope> = policy.catalogue.find(capability).and_then(|cap| role.grants.get(&cap));
    let scope = grant.and_then(|g| g.paths.as_ref().or(g.commands.as_ref()).or(g.domains.as_ref()));
    scope.map_or(&[], Vec::as_slice)
}

/// What was seen of one host.
pub struct Known<'a> {
    adapter: &'a Adapter,
    policy: &'a Policy,
    /// That which counts first in front.
    evidence: &'a [HostEvidence],
}

/// One entry, and where it comes from.
#[derive(Clone, Copy)]
struct Entry<'a> {
    version: &'a str,
    date: &'a Day,
    file: &'a HostEvidence,
    seen: &'a Seen,
}

impl<'a> Known<'a> {
    /// What the policy's evidence says of the host.
    pub fn new(adapter: &'a Adapter, policy: &'a Policy) -> Self {
        Self { adapter, policy, evidence: policy.evidence.get(&adapter.id).map_or(&[], Vec::as_slice) }
    }

    /// Whether something was seen to be broken for this role: its lines must then be looked at.
    pub fn doubts(&self, role: &str) -> bool {
        self.evidence.iter().flat_map(|e| &e.seen.roles).any(|r| r.role.value == role && doubtful(r))
            || self.guard_broken()
    }

    /// The same for rules and budgets.
    pub fn doubts_others(&self) -> bool {
        let rules = self.evidence.iter().flat_map(|e| &e.seen.rules).flat_map(|r| &r.lines);
        let budgets = self.evidence.iter().flat_map(|e| &e.seen.budgets).flat_map(|b| &b.lines);
        rules.chain(budgets).any(|l| l.verdict.value == Verdict::Broken) || self.guard_broken()
    }

    /// Holds what was seen of a role against the lines of one of its forms.
    pub fn role(&self, role: &Role, plan: &RolePlan, lines: &mut [Line], sink: &mut Sink) {
        let mut decided: BTreeSet<String> = BTreeSet::new();
        let mut offered = false;
        for file in self.evidence {
            let runs = file.seen.roles.iter();
            for seen in runs.filter(|r| r.role.value == plan.role && r.form.value == plan.form) {
                if !same(seen.tools.iter(), plan.tools.iter().map(|t| &t.name)) {
                    if !file.shipped {
                        sink.push(self.other_tools(seen));
                    }
                    continue;
                }
                if !offered && seen.offered.verdict == Verdict::Broken {
                    self.strangers(file, seen, lines, sink);
                }
                offered = true;
                let about = By { version: &seen.version, date: &seen.date, file, span: seen.role.span };
                let words = format!("role `{}` as {}", plan.role, self.title(&plan.form));
                let scope = |subject: &Subject| match subject {
                    Subject::Role { capability, .. } => scope(self.policy, role, capability),
                    _ => &[],
                };
                self.apply(&about, &seen.lines, &words, &scope, lines.iter_mut(), &mut decided, sink);
            }
        }
        self.guard(lines.iter_mut(), &mut Sink::new());
    }

    /// Holds what was seen of rules and budgets against their lines; those of other hosts are left alone.
    pub fn others(&self, lines: &mut [Line], sink: &mut Sink) {
        let none = |_: &Subject| -> &[String] { &[] };
        let mut decided: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
        for file in self.evidence {
            for seen in &file.seen.rules {
                let about = By { version: &seen.version, date: &seen.date, file, span: seen.to.span };
                let to = &seen.to.value;
                let own = lines.iter_mut().filter(|l| l.host == self.adapter.id);
                let own = own.filter(|l| matches!(&l.subject, Subject::Rule { to: t, .. } if t == to));
                let decided = decided.entry(("rules", to.clone())).or_default();
                self.apply(&about, &seen.lines, &format!("rules to {to}"), &none, own, decided, sink);
            }
            for seen in &file.seen.budgets {
                let about = By { version: &seen.version, date: &seen.date, file, span: seen.family.span };
                let family = &seen.family.value;
                let own = lines.iter_mut().filter(|l| l.host == self.adapter.id);
                let own = own.filter(|l| matches!(&l.subject, Subject::Budget { family: f, .. } if f == family));
                let decided = decided.entry(("budgets", family.clone())).or_default();
                self.apply(&about, &seen.lines, &format!("budgets on {family} results"), &none, own, decided, sink);
            }
        }
        let budgets = |l: &&mut Line| l.host == self.adapter.id && matches!(l.subject, Subject::Budget { .. });
        self.guard(lines.iter_mut().filter(budgets), sink);
    }

    #[expect(clippy::too_many_arguments, reason = "three kinds of records share one way")]
    fn apply<'l, 's>(
        &self,
        by: &By<'_>,
        all: &[Seen],
        words: &str,
        scope: &dyn Fn(&Subject) -> &'s [String],
        lines: impl Iterator<Item = &'l mut Line>,
        decided: &mut BTreeSet<String>,
        sink: &mut Sink,
    ) {
        let mut entries: BTreeMap<&str, &Seen> = BTreeMap::new();
        for seen in all {
            entries.extend(seen.about.iter().map(|name| (name.value.as_str(), seen)));
        }
        let (mut other, mut broken) = (Vec::new(), Vec::new());
        let mut doubt = false;
        for line in lines {
            let Some((name, seen)) = entries.get_key_value(subject(line)) else { continue };
            let about = seen.claim == claim(line) && same(seen.scope.iter(), scope(&line.subject).iter());
            if !about {
                other.push(*name);
                doubt |= seen.verdict.value == Verdict::Broken;
            } else if matches!(seen.verdict.value, Verdict::Held | Verdict::Broken | Verdict::Better)
                && decided.insert((*name).to_owned())
            {
                let entry = Entry { version: by.version, date: by.date, file: by.file, seen };
                if entry.put(line) {
                    broken.push(*name);
                }
            }
        }
        if !other.is_empty() && !by.file.shipped {
            sink.push(self.other_claims(by, words, &other, doubt));
        }
        if !broken.is_empty() {
            sink.push(self.broken(by, words, &broken));
        }
    }

    /// A tool of which nothing is known may do everything.
    fn strangers(&self, file: &HostEvidence, seen: &RoleSeen, lines: &mut [Line], sink: &mut Sink) {
        let by = By { version: &seen.version, date: &seen.date, file, span: seen.role.span };
        let form = self.title(&seen.form.value);
        sink.push(
            by.place(Diagnostic::new(
                Code::EvidenceBroken,
                format!("{} gave role `{}` as {form} other tools than planned", self.adapter.title, seen.role.value),
            ))
            .note(format!("on {}, {}: {}", seen.version, seen.date.as_str(), seen.offered.seen))
            .help("find out why with `rolecast verify`; render anew when the files were edited"),
        );
        if seen.offered.unknown.is_empty() {
            return;
        }
        let denied = |l: &&mut Line| l.state == State::Denied && l.limited_by == Some(LimitedBy::Absence);
        for line in lines.iter_mut().filter(denied) {
            by.lower(line, Holds::Advised, &seen.offered.seen, seen.role.span);
        }
    }

    fn title<'f>(&'f self, form: &'f str) -> &'f str {
        self.adapter.forms.get(form).map_or(form, |f| f.title.as_str())
    }

    fn other_tools(&self, seen: &RoleSeen) -> Diagnostic {
        let tools: Vec<String> = seen.tools.iter().map(|t| format!("`{t}`")).collect();
        let tools = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        let form = self.title(&seen.form.value);
        let d = Diagnostic::new(
            Code::EvidenceOutdated,
            format!("evidence of {} for role `{}` as {form} is about other tools", self.adapter.title, seen.role.value),
        )
        .at_opt(seen.role.span, "counts for nothing")
        .note(format!("it was planned with: {tools}"));
        weighed(d, doubtful(seen))
    }

    fn other_claims(&self, by: &By<'_>, words: &str, names: &[&str], doubt: bool) -> Diagnostic {
        let d = Diagnostic::new(
            Code::EvidenceOutdated,
            format!("evidence of {} for {words} is in part about another plan", self.adapter.title),
        )
        .at_opt(by.span, "counts for nothing where the claim or its scope changed")
        .note(format!("changed: {}", ticked(names)));
        weighed(d, doubt)
    }

    fn broken(&self, by: &By<'_>, words: &str, names: &[&str]) -> Diagnostic {
        by.place(Diagnostic::new(
            Code::EvidenceBroken,
            format!("{} {} was seen to break what is claimed of {words}", self.adapter.title, by.version),
        ))
        .note(format!("turned down in the ledger: {}", ticked(names)))
        .help("see `rolecast explain`; `rolecast verify --accept` looks again")
    }
}

/// When and where something was seen.
struct By<'a> {
    version: &'a str,
    date: &'a Day,
    file: &'a HostEvidence,
    span: Option<Span>,
}

impl By<'_> {
    fn place(&self, d: Diagnostic) -> Diagnostic {
        if self.span.is_some() { d.at_opt(self.span, "seen here") } else { d.path(self.file.path.clone()) }
    }

    fn lower(&self, line: &mut Line, holds: Holds, seen: &str, span: Option<Span>) {
        let most = match holds {
            Holds::Unreachable => None,
            Holds::Advised => Some(Guarantee::Advised),
            Holds::Hidden => Some(Guarantee::Hidden),
        };
        match most {
            // A claim is never raised by having been broken.
            Some(most) => line.guarantee = line.guarantee.map(|claimed| claimed.min(most)),
            None => {
                line.state = State::Unreachable;
                line.guarantee = None;
                line.limited_by = None;
            }
        }
        if holds == Holds::Advised && line.limited_by == Some(LimitedBy::Absence) {
            line.limited_by = None;
        }
        line.evidence = EvidenceKind::Ran;
        self.version.clone_into(&mut line.version);
        self.date.as_str().clone_into(&mut line.date);
        line.reason = format!("broken on {}, {}: {seen}", self.version, self.date.as_str());
        line.lowered = Some(Lowered { by: self.file.path.clone(), span });
    }
}

impl Entry<'_> {
    /// Puts what was seen into the line; whether it was turned down.
    fn put(self, line: &mut Line) -> bool {
        match self.seen.verdict.value {
            Verdict::Held => {
                if line.evidence < EvidenceKind::Ran || line.date.as_str() <= self.date.as_str() {
                    line.evidence = EvidenceKind::Ran;
                    self.version.clone_into(&mut line.version);
                    self.date.as_str().clone_into(&mut line.date);
                }
                false
            }
            // What was turned down for all lines of the role stays so.
            Verdict::Broken if line.lowered.is_none() => {
                let by = By { version: self.version, date: self.date, file: self.file, span: None };
                by.lower(line, self.seen.holds.unwrap_or(Holds::Advised), &self.seen.seen, self.seen.verdict.span);
                true
            }
            _ => false,
        }
    }
}

/// What of its kind a line is about.
fn subject(line: &Line) -> &str {
    match &line.subject {
        Subject::Role { capability, .. } => capability,
        Subject::Budget { budget, .. } => budget,
        Subject::Rule { rule, .. } => rule,
        // Nothing is recorded of servers.
        Subject::Server { tool, .. } => tool,
        // Nor of commands.
        Subject::Command { command } => command,
    }
}

fn doubtful(seen: &RoleSeen) -> bool {
    seen.offered.verdict == Verdict::Broken || seen.lines.iter().any(|l| l.verdict.value == Verdict::Broken)
}

/// What said that something is broken is not dropped without being told.
fn weighed(mut d: Diagnostic, doubt: bool) -> Diagnostic {
    if doubt {
        d.severity = Severity::Warning;
        d = d.note("it said that something is broken, which may still be so");
    }
    d.help("run `rolecast verify --accept` to try the plan as it is now")
}

/// Whether the same names are in both, in whatever order.
fn same<'a>(a: impl Iterator<Item = &'a String>, b: impl Iterator<Item = &'a String>) -> bool {
    a.collect::<BTreeSet<_>>() == b.collect::<BTreeSet<_>>()
}

fn ticked(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

#[path = "evidence_guard.rs"]
mod guard;

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
