//! Runs as evidence that the ledger reads.

use super::report::Row;
use crate::model::evidence::{Day, EvidenceFile, KeySeen, ScenarioSeen};
use crate::plan::measured::{KEYS, told};
use crate::resolve::Policy;
use crate::yaml::Sp;

/// The evidence of a host from now on: what was seen of the scenario before is replaced, all else stays. `None` =
/// nothing can be accepted, because no run was judged or the log or program does not name the model or version.
pub fn evidence(
    scenario: &str,
    row: &Row,
    policy: &Policy,
    kept: Option<&EvidenceFile>,
    day: &Day,
) -> Option<EvidenceFile> {
    let version = row.version.clone()?;
    if row.runs == 0 || row.models.is_empty() {
        return None;
    }
    let mut file = kept.cloned().unwrap_or_default();
    file.host = Sp::bare(row.host.clone());
    let about = |key: &str| KEYS.iter().any(|(name, _)| key.split('.').next() == Some(name));
    let keys = row.keys.iter().filter(|(key, _)| about(key));
    let seen = ScenarioSeen {
        scenario: Sp::bare(scenario.to_owned()),
        version,
        // What a log says is not trusted to be one line.
        model: row.models.join(", ").chars().filter(|c| !c.is_control()).collect(),
        date: day.clone(),
        runs: row.runs,
        passed: row.passed,
        told: told(policy),
        keys: keys.map(|(key, seen)| KeySeen { key: Sp::bare(key.clone()), held: seen.held }).collect(),
    };
    match file.evals.iter_mut().find(|e| e.scenario.value == scenario) {
        Some(old) => *old = seen,
        None => file.evals.push(seen),
    }
    Some(file)
}
