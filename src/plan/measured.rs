//! Behaviour that was measured with real models (`eval`), put beside what is only advised. It never raises a guarantee.

use std::fmt::Write as _;

use serde::Serialize;

use super::ledger::{Line, Subject};
use crate::diag::{Code, Diagnostic, Severity, Sink};
use crate::model::evidence::{EvidenceFile, ScenarioSeen};
use crate::model::scalar::Guarantee;
use crate::resolve::policy::{Policy, RuleActivation};
use crate::text::digest::digest;

/// How often a line was kept to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The scenario.
    pub scenario: String,
    /// The key of it that speaks about the line.
    pub key: String,
    /// Runs in which that held.
    pub held: u64,
    /// All runs.
    pub runs: u64,
    /// The model.
    pub model: String,
    /// Version of the host.
    pub version: String,
    /// Day.
    pub date: String,
}

/// What a key of a scenario speaks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// A rule, as text for the main agent.
    Rule(&'static str),
    /// A budget on every family of tools.
    Budget(&'static str),
    /// All capabilities of the role that the key names behind a point.
    Role,
}

/// Which lines of the ledger each key speaks about, as far as they are only advised. A key that is not here
/// (`changed`, `answer`, …) is about the task, not about the policy.
pub const KEYS: &[(&str, &[About])] = &[
    ("docs-calls", &[About::Rule("lazy-discovery"), About::Budget("knowledge-search")]),
    ("memory-calls", &[About::Rule("lazy-discovery")]),
    ("taxonomy-calls", &[About::Rule("lazy-discovery")]),
    ("full-history-agents", &[About::Rule("delegation")]),
    ("inline-base64", &[About::Rule("tool-output"), About::Budget("inline-media")]),
    ("results-over-limit", &[About::Rule("tool-output"), About::Rule("budgets"), About::Budget("tool-result")]),
    ("unrecorded-escalations", &[About::Rule("browser-routing")]),
    ("avoidable-compactions", &[About::Rule("tool-output")]),
    ("out-of-grant-calls", &[About::Role]),
    ("sub-agents", &[About::Rule("delegation")]),
];

/// Whether `key` (`KEY` or `KEY.ROLE`) speaks about a line.
pub fn speaks(key: &str, line: &Line) -> bool {
    let (name, role) = key.split_once('.').map_or((key, None), |(name, role)| (name, Some(role)));
    let about = KEYS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, about)| about);
    let advised = line.guarantee == Some(Guarantee::Advised);
    about.iter().any(|about| match (about, &line.subject) {
        (About::Rule(id), Subject::Rule { rule, to }) => rule == id && to == "main",
        (About::Budget(id), Subject::Budget { budget, .. }) => advised && budget == id,
        (About::Role, Subject::Role { role: own, .. }) => advised && role == Some(own.as_str()),
        _ => false,
    })
}

/// Puts what was measured into the lines. What agents were told must be what they are told now.
pub fn put(policy: &Policy, lines: &mut [Line], sink: &mut Sink) {
    if policy.evidence.values().flatten().all(|e| e.seen.evals.is_empty()) {
        return;
    }
    let told = told(policy);
    for (host, files) in &policy.evidence {
        for file in files {
            for seen in &file.seen.evals {
                if seen.told == told {
                    one(host, seen, lines);
                } else if !file.shipped {
                    sink.push(outdated(host, seen));
                }
            }
        }
    }
}

fn one(host: &str, seen: &ScenarioSeen, lines: &mut [Line]) {
    for key in &seen.keys {
        for line in lines.iter_mut().filter(|l| l.host == host && speaks(&key.key.value, l)) {
            line.measured.push(Measured {
                scenario: seen.scenario.value.clone(),
                key: key.key.value.clone(),
                held: key.held,
                runs: seen.runs,
                model: seen.model.clone(),
                version: seen.version.clone(),
                date: seen.date.as_str().to_owned(),
            });
        }
    }
}

fn outdated(host: &str, seen: &ScenarioSeen) -> Diagnostic {
    let mut d = Diagnostic::new(
        Code::EvidenceOutdated,
        format!("what `{}` measured on {host} is about other rules, roles or budgets", seen.scenario.value),
    )
    .at_opt(seen.scenario.span, "counts for nothing")
    .help("run `rolecast eval --accept` to measure the policy as it is now");
    d.severity = Severity::Note;
    d
}

/// A digest of what the policy tells agents: rules, roles and budgets. Behaviour under other words is other behaviour.
pub fn told(policy: &Policy) -> String {
    let mut text = String::new();
    for rule in &policy.rules {
        let when = match &rule.activation {
            RuleActivation::Always => "always".to_owned(),
            RuleActivation::Paths(paths) => paths.join(","),
            RuleActivation::OnDemand(trigger) => trigger.clone(),
        };
        let _ = writeln!(text, "rule {} {when} {} {}\n{}", rule.id, rule.main, rule.roles, rule.body);
    }
    for role in &policy.roles {
        let grants: Vec<&str> = role.grants.keys().map(|cap| policy.catalogue.name(*cap)).collect();
        let _ = writeln!(text, "role {} {} {}\n{}", role.id, role.description, grants.join(","), role.body);
    }
    for (name, budget) in &policy.settings.budgets {
        let _ = writeln!(text, "budget {name} {:?} {:?}", budget.figure("target"), budget.figure("limit"));
    }
    digest(text.as_bytes())
}

/// The bounds, in percent, between which the share of passes lies that would be seen after very many runs, with 95 %
/// confidence (Wilson's score interval: it is right for few runs and for none or all passed).
pub fn interval(passed: u64, runs: u64) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 100.0);
    }
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (runs as f64, passed as f64 / runs as f64);
    let middle = p + Z * Z / (2.0 * n);
    let around = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    let bound = |value: f64| (value / whole * 100.0).clamp(0.0, 100.0);
    (bound(middle - around), bound(middle + around))
}

/// `18/20 (70–97 %)`.
pub fn share(passed: u64, runs: u64) -> String {
    let (low, high) = interval(passed, runs);
    format!("{passed}/{runs} ({low:.0}–{high:.0} %)")
}

/// What a file of evidence says of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rate {
    /// The scenario.
    pub scenario: String,
    /// Runs in which everything held.
    pub passed: u64,
    /// All runs.
    pub runs: u64,
    /// Bounds of the share, in percent.
    pub interval: (f64, f64),
    /// The model.
    pub model: String,
    /// Version of the host.
    pub version: String,
    /// Day.
    pub date: String,
}

impl Rate {
    /// For people.
    pub fn words(&self) -> String {
        let share = share(self.passed, self.runs);
        format!("{}: {share}, {}, on {}, {}", self.scenario, self.model, self.version, self.date)
    }
}

/// What a file of evidence says of scenarios.
pub fn rates(file: &EvidenceFile) -> impl Iterator<Item = Rate> {
    file.evals.iter().map(|s| Rate {
        scenario: s.scenario.value.clone(),
        passed: s.passed,
        runs: s.runs,
        interval: interval(s.passed, s.runs),
        model: s.model.clone(),
        version: s.version.clone(),
        date: s.date.as_str().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_books() {
        // R: prop.test(x, n, correct = FALSE)$conf.int
        for (passed, runs, low, high) in [
            (18, 20, 69.90, 97.21),
            (20, 20, 83.89, 100.0),
            (0, 20, 0.0, 16.11),
            (1, 1, 20.65, 100.0),
            (0, 1, 0.0, 79.35),
            (50, 100, 40.38, 59.62),
            (0, 0, 0.0, 100.0),
        ] {
            let (l, h) = interval(passed, runs);
            assert!((l - low).abs() < 0.01 && (h - high).abs() < 0.01, "{passed}/{runs}: {l} {h}");
        }
    }

    #[test]
    fn every_key_of_expectations_is_known_to_the_table() {
        let schema = serde_json::to_value(schemars::schema_for!(crate::model::policy::Acceptance)).unwrap();
        let known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        for key in schema["properties"].as_object().unwrap().keys() {
            assert!(known.contains(&key.as_str()), "{key}");
        }
    }
}
