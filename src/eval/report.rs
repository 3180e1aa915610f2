//! What runs of a scenario came to, for people and for programs.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::judge::Was;
use super::run::Came;
use crate::model::adapter::Adapter;
use crate::plan::measured::{interval, share};

/// Failures of one key that are shown to people.
const SHOWN: usize = 3;

/// All of it.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The scenario.
    pub scenario: String,
    /// What it is about.
    pub title: String,
    /// One for each host and policy.
    pub rows: Vec<Row>,
}

/// One host under one policy.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// The host.
    pub host: String,
    /// Its name for people.
    pub title: String,
    /// What agents were told: the name of the policy.
    pub policy: String,
    /// Whether it is there to be compared with.
    pub compared: bool,
    /// Version of the host.
    pub version: Option<String>,
    /// Models, as the logs name them.
    pub models: Vec<String>,
    /// Runs that were judged.
    pub runs: u64,
    /// Runs in which every key held.
    pub passed: u64,
    /// By key.
    pub keys: IndexMap<String, Key>,
    /// Runs that say nothing, and why.
    pub silent: Vec<(u64, String)>,
}

/// One key over all runs.
#[derive(Debug, Clone, Default)]
pub struct Key {
    /// Runs in which it held.
    pub held: u64,
    /// The others: number of the run, whether that is recorded, and what was found.
    pub failed: Vec<(u64, bool, String)>,
}

impl Row {
    /// Nothing yet.
    pub fn new(adapter: &Adapter, policy: &str, version: Option<String>, compared: bool) -> Self {
        let (host, title) = (adapter.id.clone(), adapter.title.clone());
        Self { host, title, policy: policy.to_owned(), compared, version, ..Self::default() }
    }

    /// Adds a run.
    pub(super) fn add(&mut self, number: u64, came: Came) {
        let (checks, model) = match came {
            Came::Not(why) => return self.silent.push((number, why)),
            Came::Judged { checks, model } => (checks, model),
        };
        self.runs += 1;
        self.passed += u64::from(checks.iter().all(|c| c.was == Was::Held));
        for check in checks {
            let key = self.keys.entry(check.key).or_default();
            match check.was {
                Was::Held => key.held += 1,
                Was::Broken(why) => key.failed.push((number, true, why)),
                Was::NotRecorded(what) => key.failed.push((number, false, what)),
            }
        }
        self.models.extend(model.filter(|m| !self.models.contains(m)));
    }

    /// Whether every run was judged and passed.
    pub fn fine(&self) -> bool {
        self.runs > 0 && self.passed == self.runs && self.silent.is_empty()
    }

    /// The models in words.
    pub fn model(&self) -> String {
        if self.models.is_empty() { "model not recorded".to_owned() } else { self.models.join(", ") }
    }
}

impl Report {
    /// Whether everything passed under the policy itself; what it is compared with may fail.
    pub fn fine(&self) -> bool {
        self.rows.iter().filter(|r| !r.compared).all(Row::fine)
    }

    /// Whether a host never got to work.
    pub fn silent(&self) -> bool {
        self.rows.iter().any(|r| r.runs == 0)
    }

    /// For people; all failures with `verbose`.
    pub fn human(&self, verbose: bool) -> String {
        let mut out = format!("{}: {}\n", self.scenario, self.title);
        for row in &self.rows {
            let version = row.version.as_deref().unwrap_or("of unknown version");
            let passed = if row.runs == 0 { "not judged".to_owned() } else { share(row.passed, row.runs) };
            let _ = writeln!(out, "  {} {version}, policy {}: {passed}, {}", row.title, row.policy, row.model());
            for (name, key) in row.keys.iter().filter(|(_, key)| verbose || !key.failed.is_empty()) {
                let _ = writeln!(out, "    {name}: {}/{}", key.held, row.runs);
                let most = if verbose { usize::MAX } else { SHOWN };
                for (run, recorded, what) in key.failed.iter().take(most) {
                    let word = if *recorded { "broken" } else { "not recorded" };
                    let _ = writeln!(out, "      run {run} {word}: {what}");
                }
                let more = key.failed.len().saturating_sub(most);
                if more > 0 {
                    let _ = writeln!(out, "      and {more} more");
                }
            }
            for (run, why) in &row.silent {
                let _ = writeln!(out, "    run {run} says nothing: {why}");
            }
        }
        out
    }

    /// For programs.
    pub fn json(&self) -> String {
        let row = |row: &Row| {
            let (low, high) = interval(row.passed, row.runs);
            let keys = row.keys.iter().map(|(name, key)| {
                let failed = key.failed.iter().map(|(run, recorded, what)| {
                    json!({ "run": run, "verdict": if *recorded { "broken" } else { "not-recorded" }, "what": what })
                });
                json!({ "key": name, "held": key.held, "failed": failed.collect::<Vec<_>>() })
            });
            let silent = row.silent.iter().map(|(run, why)| json!({ "run": run, "why": why }));
            json!({
                "host": row.host, "version": row.version, "policy": row.policy, "compared": row.compared,
                "models": row.models, "runs": row.runs, "passed": row.passed,
                "interval": if row.runs == 0 { Value::Null } else { json!([low, high]) },
                "keys": keys.collect::<Vec<_>>(), "not-judged": silent.collect::<Vec<_>>(),
            })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        format!("{:#}\n", json!({ "version": 1, "scenario": self.scenario, "title": self.title, "rows": rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::Check;
    use super::*;

    fn run(was: Was) -> Came {
        let check = Check { key: "docs-calls".to_owned(), was };
        Came::Judged { checks: vec![check], model: Some("m".to_owned()) }
    }

    #[test]
    fn what_is_not_recorded_is_no_pass_and_a_run_that_says_nothing_is_not_counted() {
        let mut row = Row { host: "h".into(), title: "H".into(), policy: "this".into(), ..Row::default() };
        row.add(1, run(Was::Held));
        assert!(row.fine());
        row.add(2, run(Was::NotRecorded("calls".into())));
        row.add(3, Came::Not("no login".into()));
        assert_eq!((row.runs, row.passed, row.models.len()), (2, 1, 1));
        let report = Report { scenario: "s".into(), title: "t".into(), rows: vec![row] };
        assert!(!report.fine());
        let page = report.human(false);
        assert!(page.contains("docs-calls: 1/2\n      run 2 not recorded: calls\n"), "{page}");
        assert!(page.contains("run 3 says nothing: no login"), "{page}");
        let json: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(json["rows"][0]["interval"][0].as_f64().unwrap().round(), 9.0);
    }

    #[test]
    fn what_is_compared_with_may_fail() {
        let mut now = Row::default();
        now.add(1, run(Was::Held));
        let mut before = Row { compared: true, ..Row::default() };
        before.add(1, run(Was::Broken("2, at most 0".into())));
        assert!(Report { rows: vec![now, before], ..Report::default() }.fine());
    }
}
