//! What a run came to: each key of the scenario held against the log, the files and the last answer.

use crate::measure::expect::{self, Verdict};
use crate::measure::report::{File, place};
use crate::measure::sessions::Session;
use crate::model::scenario::Scenario;
use crate::text::glob;
use crate::yaml::Sp;

/// Most records that are named of one key.
const MAX_RECORDS: usize = 3;

/// One key of a scenario on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The key, with what it names: `out-of-grant-calls.ROLE`, `changed PATTERN`.
    pub key: String,
    /// What was found.
    pub was: Was,
}

/// What was found of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Was {
    /// It held.
    Held,
    /// It did not: why, with the records.
    Broken(String),
    /// The log does not tell; that is no pass.
    NotRecorded(String),
}

/// A run that can be judged.
pub struct Seen<'s, 't, 'p> {
    /// The session.
    pub session: &'s Session<'t, 'p>,
    /// Its files.
    pub files: &'s [File],
    /// Paths that were made, changed or removed.
    pub changed: &'s [String],
    /// The last answer.
    pub answer: &'s str,
}

/// Judges all keys.
pub fn judge(scenario: &Scenario, seen: &Seen<'_, '_, '_>) -> Vec<Check> {
    let mut all = asserted(scenario, seen);
    let outcome = &scenario.outcome;
    if let Some(most) = &outcome.sub_agents {
        all.push(Check { key: "sub-agents".to_owned(), was: sub_agents(seen, most.value) });
    }
    all.extend(outcome.uses.iter().map(|pattern| check("uses", pattern, used(seen, pattern))));
    for pattern in &outcome.changed {
        let any = seen.changed.iter().any(|path| glob::matches(pattern, path));
        let was =
            if any { Was::Held } else { Was::Broken(format!("no such file changed; changed: {}", list(seen.changed))) };
        all.push(check("changed", pattern, was));
    }
    for pattern in &outcome.unchanged {
        let touched: Vec<String> = seen.changed.iter().filter(|path| glob::matches(pattern, path)).cloned().collect();
        let was = if touched.is_empty() { Was::Held } else { Was::Broken(format!("changed: {}", list(&touched))) };
        all.push(check("unchanged", pattern, was));
    }
    for text in &outcome.answer {
        let has = seen.answer.to_lowercase().contains(&text.value.to_lowercase());
        let was = if has { Was::Held } else { Was::Broken(format!("the answer was: {}", brief(seen.answer))) };
        all.push(check("answer", text, was));
    }
    all
}

fn check(key: &str, about: &Sp<String>, was: Was) -> Check {
    Check { key: format!("{key} {}", about.value), was }
}

/// The keys of `acceptance`.
fn asserted(scenario: &Scenario, seen: &Seen<'_, '_, '_>) -> Vec<Check> {
    let outcomes = expect::expect(&scenario.expect, seen.session).into_iter();
    let check = |outcome: expect::Outcome| {
        let was = match outcome.was {
            Verdict::Held(_) => Was::Held,
            Verdict::NotRecorded(what) => Was::NotRecorded(what.to_owned()),
            Verdict::Broken(count, records) => {
                let shown = records.iter().take(MAX_RECORDS);
                let shown: Vec<String> = shown.map(|r| format!("{} at {}", r.what, place(seen.files, r.at))).collect();
                let most = outcome.most;
                Was::Broken(format!("{count}, at most {most}: {}", shown.join("; ")))
            }
        };
        Check { key: outcome.key, was }
    };
    outcomes.map(check).collect()
}

fn sub_agents(seen: &Seen<'_, '_, '_>, most: u64) -> Was {
    let read = seen.session.subs().count() as u64;
    let started: u64 = seen.session.working().map(|(_, counted)| counted.started).sum();
    let count = read.max(started);
    if count <= most {
        return Was::Held;
    }
    let role = |counted: &crate::measure::tally::Counted<'_>| counted.known.role.clone();
    let roles: Vec<String> = seen.session.subs().filter_map(|(_, c)| role(c)).collect();
    Was::Broken(format!("{count}, at most {most}: {}", list(&roles)))
}

fn used(seen: &Seen<'_, '_, '_>, pattern: &str) -> Was {
    let mut tools: Vec<String> = seen.session.working().flat_map(|(_, c)| c.tools.keys().cloned()).collect();
    tools.sort();
    tools.dedup();
    if tools.iter().any(|tool| glob::matches(pattern, tool)) {
        return Was::Held;
    }
    if seen.session.unread() > 0 {
        return Was::NotRecorded("what a sub-agent did: its log is not among the files".to_owned());
    }
    Was::Broken(format!("never called; called: {}", list(&tools)))
}

fn list(all: &[String]) -> String {
    if all.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = all.iter().take(8).map(|one| format!("`{one}`")).collect();
    let more = if all.len() > 8 { format!(" and {} more", all.len() - 8) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The end of a text, in one line: an answer says last what came of it.
pub fn brief(text: &str) -> String {
    const MOST: usize = 160;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let count = line.chars().count();
    if count <= MOST {
        return format!("\"{line}\"");
    }
    format!("\"…{}\"", line.chars().skip(count - MOST).collect::<String>())
}
