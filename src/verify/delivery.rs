//! Holds what agents were told at the start against what the plan says arrives.

use crate::model::adapter::{Adapter, Load};
use crate::model::evidence::Holds;
use crate::plan::delivery::{HostDelivery, PlannedFile, Range, Reach, Scoped, ScopedRoute};
use crate::plan::ledger::{Line, Subject};
use crate::render::{HostNotes, MOST_LINES, PATHS_INDEX, RULES_DIR};
use crate::resolve::policy::{Policy, Rule, RuleActivation};
use crate::text::glob;

use super::report::{About, Finding, Verdict};
use super::start::{Start, even};

/// The texts to look for, and where.
pub struct Told<'a> {
    /// What is known of the host.
    pub adapter: &'a Adapter,
    /// The policy.
    pub policy: &'a Policy,
    /// Text of each rule, in the policy's order.
    pub rules: &'a [String],
    /// The notes for the host.
    pub notes: Option<&'a HostNotes>,
    /// The plan for the host.
    pub plan: &'a HostDelivery,
    /// The files of the plan.
    pub files: &'a [PlannedFile],
    /// How the main agent started; none = it never asked.
    pub main: Option<&'a Start>,
    /// How each role did.
    pub roles: Vec<(&'a str, Option<&'a Start>)>,
}

impl Told<'_> {
    /// One finding for each line about a rule on this host, and one for the notes and the start of each kind of agent.
    pub fn findings(&self, lines: &[Line]) -> Vec<Finding> {
        let mut out = Vec::new();
        for line in lines.iter().filter(|l| l.host == self.adapter.id) {
            let Subject::Rule { rule, to } = &line.subject else { continue };
            let Some(index) = self.policy.rules.iter().position(|r| r.id == *rule) else { continue };
            let (verdict, seen, holds) = match self.rule(index, to == "main") {
                Ok((verdict, seen)) => (verdict, seen, None),
                Err(wrong) => (Verdict::Broken, wrong.seen, Some(wrong.holds)),
            };
            out.push(Finding { holds, ..Finding::of(line, verdict, seen) });
        }
        for main in [true, false] {
            out.extend(self.card(main));
            out.extend(self.start(main));
        }
        out
    }

    /// Agents of one kind that were started, as reports call them.
    fn told(&self, main: bool) -> Vec<(&str, &Start)> {
        if main {
            return self.main.iter().map(|s| ("the main agent", *s)).collect();
        }
        self.roles.iter().filter_map(|(role, start)| Some((*role, (*start)?))).collect()
    }

    fn rule(&self, index: usize, main: bool) -> Result<(Verdict, String), Wrong> {
        let rule = &self.policy.rules[index];
        let Some(reach) = self.plan.arrivals.get(index) else {
            return Ok((Verdict::Untried, "the plan does not say".to_owned()));
        };
        let told = self.told(main);
        if told.is_empty() {
            return Ok((Verdict::Untried, "no agent was started".to_owned()));
        }
        match self.wanted(rule, index, main) {
            Some(wanted) => counted(&wanted, &told, of(reach, main)),
            None if self.touched(index) => self.on_touch(index, &told, of(reach, main)),
            None => Ok((Verdict::Untried, "no file that it is for was touched".to_owned())),
        }
    }

    fn wanted(&self, rule: &Rule, index: usize, main: bool) -> Option<Wanted> {
        let text = even(&self.rules[index]);
        let line = format!("read `{RULES_DIR}/{}.md`", rule.id);
        match rule.activation {
            RuleActivation::Always => Some(Wanted { present: text, absent: None }),
            RuleActivation::OnDemand(_) => Some(Wanted { present: line, absent: Some(text) }),
            RuleActivation::Paths(_) => {
                let route = |s: &Scoped| if main { s.main } else { s.roles };
                let present = match route(self.plan.scoped.iter().find(|s| s.rule == index)?) {
                    ScopedRoute::Native { file } => self.listed(file)?,
                    ScopedRoute::None => return None,
                    way => match self.plan.scoped.iter().filter(|s| route(s) == way).count() {
                        few if few <= MOST_LINES => line,
                        _ => format!("look up their paths in `{PATHS_INDEX}`"),
                    },
                };
                Some(Wanted { present, absent: Some(text) })
            }
        }
    }

    /// The path of a planned file, where the host names it at the start and never brings its text by itself.
    fn listed(&self, file: usize) -> Option<String> {
        let path = &self.files.get(file)?.path;
        let read = self.adapter.reads.iter().find(|r| glob::matches(&r.file, path))?;
        matches!(read.load, Load::Listed | Load::StartOrListed).then(|| path.clone())
    }

    /// Whether a file was touched that the rule is for.
    fn touched(&self, index: usize) -> bool {
        let driven = self.adapter.verify.as_ref().is_some_and(|d| d.touch.is_some());
        driven && self.policy.rules.get(index).is_some_and(|r| touching(r).is_some())
    }

    /// A rule that comes with the files it is for: not before, and then as often as planned.
    fn on_touch(&self, index: usize, told: &[(&str, &Start)], expected: Range) -> Result<(Verdict, String), Wrong> {
        let text = even(&self.rules[index]);
        let mut counts = Vec::new();
        for (who, start) in told {
            if count(&text, &start.told) > 0 {
                return Err(Wrong::advised(format!("{who} is given it before a file that it is for is touched")));
            }
            let Some(after) = &start.after else { continue };
            let found = count(&text, after);
            if found < expected.min || found > expected.max {
                return Err(Wrong::times(found, format!("{who} is given it {found} times after such a file was read")));
            }
            counts.push(found);
        }
        Ok(match counts.is_empty() {
            true => (Verdict::Untried, "no agent came to read such a file".to_owned()),
            false => {
                (Verdict::Held, format!("absent at the start, found {} after such a file was read", times(&counts)))
            }
        })
    }

    /// The notes for the host, where there are any.
    fn card(&self, main: bool) -> Option<Finding> {
        let notes = self.notes?;
        let in_body = !main && self.plan.body.card;
        let text = even(if in_body { &notes.body } else { &notes.card });
        let told = self.told(main);
        if text.is_empty() || told.is_empty() {
            return None;
        }
        let expected = of(&self.plan.card_arrivals, main);
        let claim = match (expected.min, expected.max) {
            (least, most) if least == most => format!("the notes for the host arrive {least} time(s)"),
            (least, most) => format!("the notes for the host arrive {least} to {most} times"),
        };
        let counted = counted(&Wanted { present: text, absent: None }, &told, expected);
        let (verdict, seen) = counted.unwrap_or_else(|wrong| (Verdict::Broken, wrong.seen));
        Some(Finding::new(About::Notes { to: kind(main) }, claim, verdict, seen))
    }

    /// Nothing was looked up before the first turn.
    fn start(&self, main: bool) -> Option<Finding> {
        let told = self.told(main);
        if told.is_empty() {
            return None;
        }
        let early = told.iter().find(|(_, start)| start.results > 0);
        let (verdict, seen) = match early {
            Some((who, start)) => {
                (Verdict::Broken, format!("{who} has {} result(s) in its first request", start.results))
            }
            None => (Verdict::Held, "no call and no result in the first request".to_owned()),
        };
        let claim = "nothing is looked up before a task needs it".to_owned();
        Some(Finding::new(About::Start { to: kind(main) }, claim, verdict, seen))
    }
}

/// A file that a rule for paths is for; none for others, and where no name can be told from its patterns.
pub fn touching(rule: &Rule) -> Option<String> {
    let RuleActivation::Paths(globs) = &rule.activation else { return None };
    super::place::inside(globs, &format!("rolecast-{}", rule.id))
}

fn kind(main: bool) -> String {
    if main { "main" } else { "roles" }.to_owned()
}

fn of(reach: &Reach, main: bool) -> Range {
    if main { reach.main } else { reach.roles }
}

fn counted(wanted: &Wanted, told: &[(&str, &Start)], expected: Range) -> Result<(Verdict, String), Wrong> {
    let mut counts = Vec::new();
    for (who, start) in told {
        let wrong = |wrong: Wrong| Wrong { seen: format!("{who} {}", wrong.seen), ..wrong };
        counts.push(arrived(wanted, &start.told, expected).map_err(wrong)?);
    }
    Ok((Verdict::Held, format!("found {} in the first request", times(&counts))))
}

fn times(counts: &[u32]) -> String {
    let (least, most) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    if least == most { format!("{least} time(s)") } else { format!("{least} to {most} time(s)") }
}

/// What must be there, and what must not yet.
struct Wanted {
    present: String,
    absent: Option<String>,
}

/// What came otherwise than planned.
#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    seen: String,
    holds: Holds,
}

impl Wrong {
    /// Too much of it, or at the wrong time.
    fn advised(seen: impl Into<String>) -> Self {
        Self { seen: seen.into(), holds: Holds::Advised }
    }

    /// A count that was not planned.
    fn times(found: u32, seen: impl Into<String>) -> Self {
        Self { seen: seen.into(), holds: if found == 0 { Holds::Unreachable } else { Holds::Advised } }
    }
}

fn arrived(wanted: &Wanted, told: &str, expected: Range) -> Result<u32, Wrong> {
    if wanted.absent.as_ref().is_some_and(|text| count(text, told) > 0) {
        return Err(Wrong::advised("is given the whole text at the start"));
    }
    let found = count(&wanted.present, told);
    if found < expected.min || found > expected.max {
        return Err(Wrong::times(found, format!("is given it {found} times")));
    }
    Ok(found)
}

/// How often a text, with its blanks even, is in another one.
fn count(text: &str, told: &str) -> u32 {
    let found = if text.is_empty() { 0 } else { even(told).matches(text).count() };
    u32::try_from(found).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_however_it_is_indented_and_counted_each_time() {
        let wanted = Wanted { present: even("Say little.\n\nMean it."), absent: None };
        let told = "  Say little.\n  Mean it.\nSay little. Mean it.";
        assert_eq!(arrived(&wanted, told, Range::exactly(2)), Ok(2));
        assert!(arrived(&wanted, told, Range::exactly(1)).is_err());
        assert!(arrived(&wanted, "Say little.", Range::exactly(1)).is_err());
        assert_eq!(arrived(&wanted, "", Range { min: 0, max: 1 }), Ok(0));
    }

    #[test]
    fn a_text_on_demand_must_not_come_by_itself() {
        let wanted = Wanted { present: "read `x.md`".into(), absent: Some("the body".into()) };
        assert_eq!(arrived(&wanted, "- when: read `x.md`", Range::exactly(1)), Ok(1));
        assert!(arrived(&wanted, "read `x.md` the body", Range::exactly(1)).is_err());
    }
}
