//! What was spent of budgets, for people.

use std::fmt::Write as _;

use super::page::Page;
use crate::cli::explain::layout::number;
use crate::measure::budget::MEASURED;
use crate::measure::tally::Counted;

impl Page<'_, '_> {
    /// What was spent of the budgets beside that of results.
    pub fn budgets(&self, counted: &Counted<'_>, row: &mut impl FnMut(&'static str, String)) {
        for (name, unit) in MEASURED {
            let Some(spent) = counted.budgets.get(name) else { continue };
            let budget = self.tally.judge().policy.settings.budgets.get(name);
            let figure = |which: &str| budget.and_then(|b| b.figure(which));
            let amounts = &spent.amounts;
            let mut text = match amounts.count() {
                0 => "none counted".to_owned(),
                count => format!("{} counted, at most {} {unit}", number(count), number(amounts.max())),
            };
            if spent.unknown > 0 {
                let _ = write!(text, "; {} more not recorded", number(spent.unknown));
            }
            if spent.at_least > 0 {
                let _ = write!(text, "; of {} only the beginning", number(spent.at_least));
            }
            for (which, found) in [("target", &spent.over_target), ("limit", &spent.over_limit)] {
                if let Some(figure) = figure(which) {
                    let _ = write!(text, "\nover the {which} of {}: {}", number(figure), self.found(found));
                }
            }
            row(name, text);
        }
        if counted.programs > 0 {
            let calls = number(counted.programs);
            row("programs", format!("{calls} calls; what they search and read is not seen, and not among the budgets"));
        }
    }
}
