//! Holds what agents were told at the start against what the plan says arrives.

use crate::model::adapter::Adapter;
use crate::model::evidence::Holds;
use crate::plan::delivery::{HostDelivery, Range, ScopedRoute};
use crate::plan::ledger::{Line, Subject};
use crate::render::RULES_DIR;
use crate::resolve::policy::{Policy, Rule, RuleActivation};

use super::report::{Finding, Verdict};

/// The texts to look for, and where.
pub struct Told<'a> {
    /// What is known of the host.
    pub adapter: &'a Adapter,
    /// The policy.
    pub policy: &'a Policy,
    /// Text of each rule, in the policy's order.
    pub rules: &'a [String],
    /// The plan for the host.
    pub plan: &'a HostDelivery,
    /// What the main agent was told; none = it never asked.
    pub main: Option<String>,
    /// What each role was told.
    pub roles: Vec<(String, Option<String>)>,
}

impl Told<'_> {
    /// One finding for each line about a rule on this host.
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
        out
    }

    fn rule(&self, index: usize, main: bool) -> Result<(Verdict, String), Wrong> {
        let rule = &self.policy.rules[index];
        let Some(reach) = self.plan.arrivals.get(index) else {
            return Ok((Verdict::Untried, "the plan does not say".to_owned()));
        };
        let expected = if main { reach.main } else { reach.roles };
        let told: Vec<(&str, &str)> = if main {
            self.main.iter().map(|t| ("the main agent", t.as_str())).collect()
        } else {
            self.roles.iter().filter_map(|(role, told)| Some((role.as_str(), told.as_deref()?))).collect()
        };
        if told.is_empty() {
            return Ok((Verdict::Untried, "no agent was started".to_owned()));
        }
        let Some(wanted) = self.wanted(rule, index, main) else {
            return Ok((Verdict::Untried, "it comes only when such files are touched".to_owned()));
        };
        let mut counts = Vec::new();
        for (who, told) in told {
            let wrong = |wrong: Wrong| Wrong { seen: format!("{who} {}", wrong.seen), ..wrong };
            counts.push(arrived(&wanted, told, expected).map_err(wrong)?);
        }
        let (least, most) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
        let times = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Ok((Verdict::Held, format!("found {times} time(s) in the first request")))
    }

    fn wanted(&self, rule: &Rule, index: usize, main: bool) -> Option<Wanted> {
        let text = words(&self.rules[index]);
        let line = format!("read `{RULES_DIR}/{}.md`", rule.id);
        match rule.activation {
            RuleActivation::Always => Some(Wanted { present: text, absent: None }),
            RuleActivation::OnDemand(_) => Some(Wanted { present: line, absent: Some(text) }),
            RuleActivation::Paths(_) => {
                let scoped = self.plan.scoped.iter().find(|s| s.rule == index)?;
                let route = if main { scoped.main } else { scoped.roles };
                matches!(route, ScopedRoute::CardLine | ScopedRoute::BodyLine)
                    .then_some(Wanted { present: line, absent: Some(text) })
            }
        }
    }
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

fn arrived(wanted: &Wanted, told: &str, expected: Range) -> Result<u32, Wrong> {
    let told = words(told);
    let count = |text: &str| if text.is_empty() { 0 } else { told.matches(text).count() };
    if wanted.absent.as_ref().is_some_and(|text| count(text) > 0) {
        return Err(Wrong { seen: "is given the whole text at the start".to_owned(), holds: Holds::Advised });
    }
    let found = u32::try_from(count(&wanted.present)).unwrap_or(u32::MAX);
    if found < expected.min || found > expected.max {
        let holds = if found == 0 { Holds::Unreachable } else { Holds::Advised };
        return Err(Wrong { seen: format!("is given it {found} times"), holds });
    }
    Ok(found)
}

/// A text with its blanks made even: hosts indent and wrap.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_however_it_is_indented_and_counted_each_time() {
        let wanted = Wanted { present: words("Say little.\n\nMean it."), absent: None };
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
