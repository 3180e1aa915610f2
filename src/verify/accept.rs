//! A report as evidence that the ledger reads, and its text.

use std::fmt::Write as _;

use crate::model::evidence::{
    BudgetsSeen, Day, EvidenceFile, GuardSeen, Holds, Offered, RoleSeen, RulesSeen, Seen, Verdict,
};
use crate::model::scalar::Guarantee;
use crate::plan::evidence::{claim, scope};
use crate::plan::ledger::{Ledger, Line, State, Subject};
use crate::plan::role::RolePlan;
use crate::plan::{HostPlan, Plan};
use crate::resolve::Policy;
use crate::text::encoding;
use crate::yaml::Sp;

use super::report::{About, Finding, HostReport};

/// Most characters of what was seen that are kept.
const MAX_SEEN: usize = 240;

/// What a host's report is held against.
pub struct Accept<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its plan, with the ledger that was tried.
    pub plan: &'a Plan,
    /// The roles that were run; none = all.
    pub roles: &'a [String],
    /// Today.
    pub day: &'a Day,
}

impl Accept<'_> {
    /// The evidence of a host from now on; `None` = it was not run, or does not say what version it is. Records of
    /// `kept` stay where only some roles were run.
    pub fn evidence(&self, report: &HostReport, kept: Option<&EvidenceFile>) -> Option<EvidenceFile> {
        let version = report.version.as_deref().filter(|_| report.not_verified.is_none())?;
        let host = self.plan.hosts.iter().find(|h| h.host == report.host)?;
        let evals = kept.map(|k| k.evals.clone()).unwrap_or_default();
        let kept = kept.filter(|_| !self.roles.is_empty());
        let mut file = EvidenceFile { host: Sp::bare(report.host.clone()), evals, ..EvidenceFile::default() };
        for plan in forms(host) {
            let old =
                kept.and_then(|k| k.roles.iter().find(|r| r.role.value == plan.role && r.form.value == plan.form));
            file.roles.extend(self.role(report, version, plan).or_else(|| old.cloned()));
        }
        file.guard = self.guard(report, version).or_else(|| kept.and_then(|k| k.guard.clone()));
        if self.roles.is_empty() {
            self.others(report, version, &mut file);
        } else if let Some(kept) = kept {
            file.rules.clone_from(&kept.rules);
            file.budgets.clone_from(&kept.budgets);
        }
        Some(file)
    }

    fn role(&self, report: &HostReport, version: &str, plan: &RolePlan) -> Option<RoleSeen> {
        let tools = report
            .findings
            .iter()
            .find(|f| matches!(&f.about, About::Tools { role, form } if *role == plan.role && *form == plan.form))?;
        let own: Vec<(&Line, &Finding)> = self
            .lines(report)
            .filter(|(l, _)| matches!(&l.subject, Subject::Role { role, form, .. } if *role == plan.role && *form == plan.form))
            .collect();
        // The list of tools is one mechanism: that a call outside of it was refused speaks for all that it leaves out.
        let sampled = own.iter().any(|(line, f)| f.verdict == Verdict::Held && !f.listed && refuses(line));
        let role = self.policy.roles.iter().find(|r| r.id == plan.role)?;
        let mut lines = Vec::new();
        for (line, finding) in own {
            let Subject::Role { capability, .. } = &line.subject else { continue };
            let verdict = if finding.listed && !sampled { Verdict::Untried } else { finding.verdict };
            add(&mut lines, capability, line, finding, verdict, scope(self.policy, role, capability));
        }
        Some(RoleSeen {
            role: Sp::bare(plan.role.clone()),
            form: Sp::bare(plan.form.clone()),
            version: version.to_owned(),
            date: self.day.clone(),
            tools: plan.tools.iter().map(|t| t.name.clone()).collect(),
            offered: Offered { verdict: tools.verdict, seen: plain(&tools.seen), unknown: tools.unknown.clone() },
            lines,
        })
    }

    fn guard(&self, report: &HostReport, version: &str) -> Option<GuardSeen> {
        let lines: Vec<Seen> = report.findings.iter().filter_map(guarding).collect();
        let (version, date) = (version.to_owned(), self.day.clone());
        (!lines.is_empty()).then_some(GuardSeen { version, date, lines })
    }

    fn others(&self, report: &HostReport, version: &str, file: &mut EvidenceFile) {
        for (line, finding) in self.lines(report) {
            match &line.subject {
                Subject::Rule { rule, to } => {
                    let at = place(
                        &mut file.rules,
                        |r| r.to.value == *to,
                        || RulesSeen {
                            to: Sp::bare(to.clone()),
                            version: version.to_owned(),
                            date: self.day.clone(),
                            lines: Vec::new(),
                        },
                    );
                    add(&mut at.lines, rule, line, finding, finding.verdict, &[]);
                }
                Subject::Budget { budget, family } => {
                    let at = place(
                        &mut file.budgets,
                        |b| b.family.value == *family,
                        || BudgetsSeen {
                            family: Sp::bare(family.clone()),
                            version: version.to_owned(),
                            date: self.day.clone(),
                            lines: Vec::new(),
                        },
                    );
                    add(&mut at.lines, budget, line, finding, finding.verdict, &[]);
                }
                // Servers are not tried, and of commands others are tried than those that are forbidden.
                Subject::Role { .. } | Subject::Server { .. } | Subject::Command { .. } => {}
            }
        }
    }

    /// Findings about lines, with the lines.
    fn lines<'r>(&'r self, report: &'r HostReport) -> impl Iterator<Item = (&'r Line, &'r Finding)> {
        let Ledger { lines } = &self.plan.ledger;
        report.findings.iter().filter_map(move |finding| {
            let About::Line(subject) = &finding.about else { return None };
            Some((lines.iter().find(|l| l.host == report.host && l.subject == *subject)?, finding))
        })
    }
}

fn forms(host: &HostPlan) -> impl Iterator<Item = &RolePlan> {
    host.roles.iter().flat_map(|r| &r.forms)
}

fn refuses(line: &Line) -> bool {
    let hard = |g: Guarantee| matches!(g, Guarantee::Prompted | Guarantee::Guarded | Guarantee::Enforced);
    line.state == State::Denied && line.guarantee.is_some_and(hard)
}

/// The record for which `is` holds, made when there is none.
fn place<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    &mut all[at]
}

fn add(lines: &mut Vec<Seen>, about: &str, line: &Line, finding: &Finding, verdict: Verdict, scope: &[String]) {
    let claim = claim(line);
    let seen = brief(&finding.seen, verdict);
    // A budget that does not hold is a text.
    let holds = finding.holds.or_else(|| (verdict == Verdict::Broken).then_some(Holds::Advised));
    let same = |s: &Seen| {
        s.verdict.value == verdict && s.claim == claim && s.scope == scope && s.holds == holds && s.seen == seen
    };
    let group = place(lines, same, || Seen {
        verdict: Sp::bare(verdict),
        about: Vec::new(),
        claim: claim.clone(),
        scope: scope.to_vec(),
        holds,
        seen: seen.clone(),
    });
    group.about.push(Sp::bare(about.to_owned()));
}

/// What was found of a thing that the guard does for everybody.
fn guarding(finding: &Finding) -> Option<Seen> {
    let About::Guard { what } = &finding.about else { return None };
    Some(Seen {
        verdict: Sp::bare(finding.verdict),
        about: vec![Sp::bare(what.clone())],
        claim: finding.claim.clone(),
        scope: Vec::new(),
        holds: (finding.verdict == Verdict::Broken).then_some(Holds::Advised),
        seen: brief(&finding.seen, finding.verdict),
    })
}

/// In which words a call was refused is worth reading only where something is wrong.
fn brief(seen: &str, verdict: Verdict) -> String {
    let brief = seen.split(": \"").next().filter(|_| verdict == Verdict::Held);
    plain(brief.unwrap_or(seen))
}

/// What was seen without paths of this machine, in one line of visible characters.
fn plain(seen: &str) -> String {
    let mut text = seen.to_owned();
    for range in encoding::hidden(seen).into_iter().rev() {
        text.replace_range(range, "");
    }
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = text.split_whitespace().map(without_path).collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_SEEN) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default()),
        None => words,
    }
}

/// A word up to the absolute path in it.
fn without_path(word: &str) -> String {
    let opens = |at: usize| {
        word.get(..at).is_some_and(|before| {
            before.ends_with(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '*'))
        })
    };
    let unix = word.match_indices('/').map(|(at, _)| at).find(|at| *at == 0 || opens(*at));
    let drive = word.find(":\\").map(|at| at.saturating_sub(1));
    let Some(at) = unix.into_iter().chain(drive).min() else { return word.to_owned() };
    let path = word.get(at..).unwrap_or_default();
    if path.chars().filter(|c| matches!(c, '/' | '\\')).count() < 2 {
        return word.to_owned();
    }
    let end = path.find(['"', '\'', '`', ')', ',', ';', '<', '>']).unwrap_or(path.len());
    let rest = path.get(end..).unwrap_or_default();
    format!("{}…{rest}", word.get(..at).unwrap_or_default())
}

/// The text of a file of evidence for a host called `title`.
pub fn text(file: &EvidenceFile, title: &str) -> String {
    let mut out = format!(
        "# What `rolecast verify --accept` and `rolecast eval --accept` saw of {}. Written by these commands; do not edit.\nhost: {}\n",
        plain(title),
        quoted(&file.host)
    );
    section(&mut out, "roles", file.roles.is_empty());
    for seen in &file.roles {
        let _ = writeln!(out, "  - role: {}\n    form: {}", quoted(&seen.role), quoted(&seen.form));
        when(&mut out, &seen.version, &seen.date);
        let _ = writeln!(out, "    tools: {}", listed(&seen.tools));
        let Offered { verdict, seen: what, unknown } = &seen.offered;
        let unknown = if unknown.is_empty() { String::new() } else { format!(", unknown: {}", listed(unknown)) };
        let _ = writeln!(out, "    offered: {{ verdict: {}, seen: {}{unknown} }}", verdict.word(), quoted(what));
        lines(&mut out, &seen.lines);
    }
    section(&mut out, "rules", file.rules.is_empty());
    for seen in &file.rules {
        let _ = writeln!(out, "  - to: {}", quoted(&seen.to));
        when(&mut out, &seen.version, &seen.date);
        lines(&mut out, &seen.lines);
    }
    section(&mut out, "budgets", file.budgets.is_empty());
    for seen in &file.budgets {
        let _ = writeln!(out, "  - family: {}", quoted(&seen.family));
        when(&mut out, &seen.version, &seen.date);
        lines(&mut out, &seen.lines);
    }
    if let Some(seen) = &file.guard {
        out.push_str("guard:\n");
        when(&mut out, &seen.version, &seen.date);
        lines(&mut out, &seen.lines);
    }
    section(&mut out, "evals", file.evals.is_empty());
    for seen in &file.evals {
        let _ = writeln!(out, "  - scenario: {}", quoted(&seen.scenario));
        when(&mut out, &seen.version, &seen.date);
        let _ = writeln!(out, "    model: {}\n    told: {}", quoted(&seen.model), quoted(&seen.told));
        let _ = writeln!(out, "    runs: {}\n    passed: {}\n    keys:", seen.runs, seen.passed);
        for key in &seen.keys {
            let _ = writeln!(out, "      - {{ key: {}, held: {} }}", quoted(&key.key), key.held);
        }
    }
    out
}

fn section(out: &mut String, name: &str, empty: bool) {
    if !empty {
        let _ = writeln!(out, "{name}:");
    }
}

fn when(out: &mut String, version: &str, date: &Day) {
    let _ = writeln!(out, "    version: {}\n    date: {}", quoted(version), quoted(date.as_str()));
}

fn lines(out: &mut String, all: &[Seen]) {
    section(out, "    lines", all.is_empty());
    for seen in all {
        let about: Vec<&str> = seen.about.iter().map(|a| a.value.as_str()).collect();
        let _ = writeln!(out, "      - verdict: {}\n        about: {}", seen.verdict.word(), listed(&about));
        let _ = writeln!(out, "        claim: {}", quoted(&seen.claim));
        if !seen.scope.is_empty() {
            let _ = writeln!(out, "        scope: {}", listed(&seen.scope));
        }
        if let Some(holds) = seen.holds {
            let _ = writeln!(out, "        holds: {}", holds.word());
        }
        let _ = writeln!(out, "        seen: {}", quoted(&seen.seen));
    }
    if all.is_empty() {
        let _ = writeln!(out, "    lines: []");
    }
}

fn listed(words: &[impl AsRef<str>]) -> String {
    format!("[{}]", words.iter().map(|w| quoted(w.as_ref())).collect::<Vec<_>>().join(", "))
}

/// Quoted unless it can only be read as a text: a JSON string is a YAML one.
fn quoted(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let plain = text.contains(['.', '_', '-', '/'])
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(word);
    if plain {
        return text.to_owned();
    }
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let letters = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic());
    if letters && !reserved.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
