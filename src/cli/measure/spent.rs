//! What was spent of budgets, for people.

use std::fmt::Write as _;

use super::page::Page;
use crate::cli::explain::layout::number;
use crate::measure::budget::MEASURED;
use crate::measure::found::Found;
use crate::measure::tally::Counted;

impl Page<'_, '_> {
    /// What was spent of the budgets beside that of results.
    pub fn budgets(&self, counted: &Counted<'_>, row: &mut impl FnMut(&'static str, String)) {
        for (name, unit) in MEASURED {
            let Some(spent) = counted.budgets.get(name) else { continue };
            let amounts = &spent.amounts;
            let mut text = match amounts.count() {
                0 => "none counted".to_owned(),
                count => format!("{} counted, the largest {} {unit}", number(count), number(amounts.max())),
            };
            if spent.unknown > 0 {
                let _ = write!(text, "; {} more not recorded", number(spent.unknown));
            }
            if spent.at_least > 0 {
                let _ = write!(text, "; of {} only the beginning", number(spent.at_least));
            }
            let over = self.over(name, unit, &spent.over_target, &spent.over_limit);
            if !over.is_empty() {
                let _ = write!(text, "\n{over}");
            }
            row(name, text);
        }
        if counted.programs > 0 {
            let calls = number(counted.programs);
            row("programs", format!("run by {calls} of the calls: what these search and read is not seen"));
        }
    }

    /// What was over the figures of a budget; empty where the policy has none.
    pub fn over(&self, budget: &str, unit: &str, target: &Found, limit: &Found) -> String {
        let budget = self.tally.judge().policy.settings.budgets.get(budget);
        let one = |(which, found): (&str, &Found)| {
            let figure = budget.and_then(|b| b.figure(which))?;
            Some(format!("over the {which} of {} {unit}: {}", number(figure), self.found(found)))
        };
        [("target", target), ("limit", limit)].into_iter().filter_map(one).collect::<Vec<_>>().join("\n")
    }
}
