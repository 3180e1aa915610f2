//! What one run showed.

use std::path::Path;

use crate::model::adapter::{Driver, Protocol};

use super::model::{Digest, Recorded, Wire};
use super::place::Place;
use super::probe::{Effect, MAIN, Probe, SPAWNED};
use super::start::Start;

/// What a run showed of a role.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// How the main agent started; none = it never asked the model.
    pub main: Option<Start>,
    /// How the role did; none = it was not started.
    pub role: Option<Start>,
    /// Tools offered to the role, with those inside other tools.
    pub offered: Vec<String>,
    /// Those of them that are only named at first.
    pub deferred: Vec<String>,
    /// What became of each attempt, by its index in the driver.
    pub tried: Vec<Tried>,
    /// What came to the model of a flood from the main agent's shell.
    pub flood: Option<Flood>,
    /// Whether the server for trials was asked for its tools; none = the run is one without it.
    pub connected: Option<bool>,
    /// What became of the tries of budgets, in the driver's order.
    pub budgets: Vec<Budgeted>,
    /// Hosts that the program wanted to reach besides the model; it did not.
    pub strays: Vec<String>,
    /// Why nothing is to be seen, in the words of the program.
    pub trouble: String,
}

/// What came through of a flood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    /// Bytes.
    pub bytes: usize,
    /// Whether a part of the flood is among them; else something else was answered.
    pub shown: bool,
}

/// What became of the try of one budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgeted {
    /// The budget.
    pub budget: String,
    /// What was answered to the call over it, and whether that is a refusal.
    pub over: Option<(String, bool)>,
    /// The same of the call within it.
    pub within: Option<(String, bool)>,
}

/// Whether a part of the flood, which counts up line by line, is in a text: hosts show its head, its end or both.
fn counts_up(text: &str) -> bool {
    let numbers: Vec<Option<u32>> = text.lines().map(|l| l.trim().parse().ok()).collect();
    numbers.windows(4).any(|w| w.windows(2).all(|p| matches!(p, [Some(a), Some(b)] if *b == a + 1)))
}

/// What became of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Its index in the driver.
    pub attempt: usize,
    /// Where it wrote, for calls that do.
    pub place: Place,
    /// What the program answered; none = the call was never answered, so nothing is proven.
    pub answer: Option<String>,
    /// Whether that is a refusal that the adapter knows.
    pub refused: bool,
    /// Whether it did something.
    pub effect: bool,
}

/// Reads a run off the records and the copy of the repository at `root`.
pub fn observe(driver: &Driver, probe: &Probe, recorded: &[Recorded], root: &Path) -> Observed {
    let of = |rule: &'static str| {
        recorded.iter().filter(move |r| is_answer(r, driver.protocol) && r.answer.rule.as_deref() == Some(rule))
    };
    let first = |rule| of(rule).min_by_key(|r| r.digest.results.len());
    let last = of(probe.role).max_by_key(|r| r.digest.results.len());
    let results: &[String] = last.map_or(&[], |r| &r.digest.results);
    let after =
        |rule, count| of(rule).filter(|r| r.digest.results.len() >= count).min_by_key(|r| r.digest.results.len());
    let role = first(probe.role);
    let main = first(MAIN).filter(|_| probe.role != MAIN);
    let mut offered: Vec<String> = role.map(|r| r.digest.tools.clone()).unwrap_or_default();
    offered.extend(nested(driver, probe, results));
    let said = of(MAIN).filter(|_| probe.role != MAIN).max_by_key(|r| r.digest.results.len());
    let said: &[String] = said.map_or(&[], |r| &r.digest.results);
    let budgets = budgets(driver, probe, said);
    let (flood, said) = said.split_at(usize::from(driver.flood.is_some()).min(said.len()));
    Observed {
        main: main.map(|r| Start::of(r, after(MAIN, probe.touched.0))),
        role: role.map(|r| Start::of(r, after(probe.role, probe.touched.1))),
        offered,
        deferred: role.map(|r| r.digest.deferred.clone()).unwrap_or_default(),
        tried: probe.tries.iter().map(|t| tried(driver, t, results, recorded, root)).collect(),
        connected: connected(probe),
        strays: strays(recorded),
        flood: flood.first().map(|text| Flood { bytes: text.len(), shown: counts_up(text) }),
        budgets,
        trouble: said.join("; "),
    }
}

fn connected(probe: &Probe) -> Option<bool> {
    probe
        .tries
        .iter()
        .find_map(|t| if let Effect::Called(record, _) = &t.effect { Some(record.listed()) } else { None })
}

fn budgets(driver: &Driver, probe: &Probe, said: &[String]) -> Vec<Budgeted> {
    let answer = |at: usize| {
        let text = said.get(at)?;
        Some((text.clone(), driver.refusals.iter().any(|r| text.contains(r))))
    };
    let tries = driver.budgets.iter().zip(&probe.budgets);
    tries
        .map(|(tried, (over, within))| Budgeted {
            budget: tried.tries.clone(),
            over: answer(*over),
            within: within.and_then(answer),
        })
        .collect()
}

fn strays(recorded: &[Recorded]) -> Vec<String> {
    let mut hosts: Vec<String> = recorded.iter().filter_map(|r| r.stray.clone()).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

fn is_answer(recorded: &Recorded, protocol: Protocol) -> bool {
    recorded.wire == Wire::Answer(protocol)
}

fn nested(driver: &Driver, probe: &Probe, results: &[String]) -> Vec<String> {
    let (Some(nested), Some(at)) = (&driver.nested, probe.listing) else { return Vec::new() };
    let listed = results.get(at).map_or("", String::as_str);
    // Around the names the tool reports how the script went, in words with blanks.
    let names = listed.lines().map(str::trim).filter(|l| !l.is_empty() && !l.contains([' ', ':']));
    names.map(|n| nested.names.get(n).cloned().unwrap_or_else(|| n.to_owned())).collect()
}

fn tried(driver: &Driver, plan: &super::probe::Try, results: &[String], recorded: &[Recorded], root: &Path) -> Tried {
    let answer = results.get(plan.result).cloned();
    let effect = match &plan.effect {
        Effect::Made(file) => root.join(file).exists(),
        Effect::Changed(file, was) => std::fs::read_to_string(root.join(file)).ok().as_ref() != Some(was),
        Effect::Asked(path) => recorded.iter().any(|r| r.path == *path),
        Effect::Spawned => {
            let spawned = |d: &Digest| d.users.iter().any(|u| u.contains(SPAWNED));
            recorded.iter().any(|r| r.answer.rule.as_deref() == Some(SPAWNED) && spawned(&r.digest))
        }
        Effect::Called(record, tool) => record.shows(tool),
        Effect::Unseen => false,
    };
    let refused = answer.as_ref().is_some_and(|a| driver.refusals.iter().any(|r| a.contains(r)));
    Tried { attempt: plan.attempt, place: plan.place, answer, refused, effect }
}

#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
