//! What was verified of a host, in numbers.

use serde::Serialize;

use crate::model::adapter::Adapter;
use crate::model::evidence::{Day, EvidenceFile, Seen, Verdict};
use crate::resolve::policy::HostEvidence;

/// What one file of evidence amounts to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Standing {
    /// The file.
    pub file: String,
    /// Whether the program carries it.
    pub shipped: bool,
    /// Versions of the host that were run, the latest first.
    pub versions: Vec<String>,
    /// The latest day.
    pub date: String,
    /// Lines that held.
    pub held: usize,
    /// Lines of which more holds than is claimed.
    pub better: usize,
    /// Lines that could not be tried, or not judged.
    pub untried: usize,
    /// Lines that are broken.
    pub broken: usize,
}

impl Standing {
    /// Counts a file; `None` when it records nothing.
    pub fn of(evidence: &HostEvidence) -> Option<Self> {
        let runs = runs(&evidence.seen);
        let (_, date) = runs.first()?;
        let mut versions: Vec<String> = Vec::new();
        for (version, _) in &runs {
            if !versions.iter().any(|v| v == version) {
                versions.push((*version).to_owned());
            }
        }
        let count = |wanted: &[Verdict]| count(&evidence.seen, wanted);
        Some(Self {
            file: evidence.path.clone(),
            shipped: evidence.shipped,
            versions,
            date: date.as_str().to_owned(),
            held: count(&[Verdict::Held]),
            better: count(&[Verdict::Better]),
            untried: count(&[Verdict::Untried, Verdict::Unclear]),
            broken: count(&[Verdict::Broken]),
        })
    }

    /// Whether a host of this version was never run.
    pub fn stale(&self, installed: &str) -> bool {
        self.versions.first().is_none_or(|version| version != installed)
    }
}

/// Version and day of every record, the latest first.
fn runs(file: &EvidenceFile) -> Vec<(&str, &Day)> {
    let roles = file.roles.iter().map(|r| (r.version.as_str(), &r.date));
    let rules = file.rules.iter().map(|r| (r.version.as_str(), &r.date));
    let budgets = file.budgets.iter().map(|b| (b.version.as_str(), &b.date));
    let guard = file.guard.iter().map(|g| (g.version.as_str(), &g.date));
    let mut runs: Vec<_> = roles.chain(rules).chain(budgets).chain(guard).collect();
    runs.sort_by(|a, b| b.1.cmp(a.1));
    runs
}

fn count(file: &EvidenceFile, wanted: &[Verdict]) -> usize {
    let lines = |seen: &[Seen]| -> usize {
        seen.iter().filter(|s| wanted.contains(&s.verdict.value)).map(|s| s.about.len()).sum()
    };
    let roles = file.roles.iter().map(|r| lines(&r.lines) + usize::from(wanted.contains(&r.offered.verdict)));
    let rules = file.rules.iter().map(|r| lines(&r.lines));
    let budgets = file.budgets.iter().map(|b| lines(&b.lines));
    let guard = file.guard.iter().map(|g| lines(&g.lines));
    roles.chain(rules).chain(budgets).chain(guard).sum()
}

/// The table of hosts in the README: what was verified of each, on which version, when.
pub fn table(hosts: &[(&Adapter, Option<Standing>)]) -> String {
    let mut out = String::from(
        "| host | verified on | day | held | untried | broken | else known from |\n|---|---|---|---|---|---|---|\n",
    );
    for (adapter, standing) in hosts {
        let evidence = &adapter.evidence;
        let package = evidence.package.as_deref().unwrap_or(&adapter.title);
        let known = format!("{}, {package} {}", evidence.by.word(), evidence.version);
        let row = match standing {
            Some(s) => format!(
                "{} | {} | {} | {} | {} | {known}",
                s.versions.join(", "),
                s.date,
                s.held + s.better,
                s.untried,
                s.broken
            ),
            None => format!("{} | | | | | {known}", not_run(adapter)),
        };
        out.push_str(&format!("| {} | {row} |\n", adapter.title));
    }
    out
}

/// Why a host cannot be verified.
pub const NO_WAY: &str = "no way is known to run it without a network";

/// Why there is no evidence.
pub fn not_run(adapter: &Adapter) -> &'static str {
    if adapter.verify.is_some() { "not verified yet" } else { NO_WAY }
}
