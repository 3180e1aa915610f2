//! Holds what a host did to a flood of output against the budget for results.

use crate::model::adapter::{Adapter, Family};
use crate::model::scalar::Guarantee;
use crate::plan::ledger::{Line, Subject};
use crate::resolve::policy::Policy;

use super::observe::Flood;
use super::report::{Finding, Verdict};

/// The budget that a flood tries.
const TRIED: &str = "tool-result";

/// One finding for each line about a budget of the host; `flood` is what came to the model of a flood
/// from a shell.
pub fn findings(adapter: &Adapter, policy: &Policy, lines: &[Line], flood: Option<Flood>) -> Vec<Finding> {
    let own = lines.iter().filter(|l| l.host == adapter.id);
    own.filter_map(|line| {
        let Subject::Budget { budget, family } = &line.subject else { return None };
        let tried = flood.filter(|_| budget == TRIED && family == Family::Shell.word());
        let (verdict, seen) = match (tried, figure(adapter, policy)) {
            (Some(flood), Some(most)) => judged(line.guarantee, flood, most),
            _ => (Verdict::Untried, "not tried".to_owned()),
        };
        Some(Finding::of(line, verdict, seen))
    })
    .collect()
}

/// The figure in bytes that the host's setting carries, or that the text asks for where there is none.
fn figure(adapter: &Adapter, policy: &Policy) -> Option<u64> {
    let own = adapter.knobs.iter().find(|k| k.family == Family::Shell && k.budget.starts_with(TRIED));
    let knob = own.or_else(|| adapter.knobs.iter().find(|k| k.family == Family::All && k.budget.starts_with(TRIED)));
    let which = knob.and_then(|k| k.budget.split_once('.')).map_or("target", |(_, which)| which);
    policy.settings.budgets.get(TRIED)?.figure(which)
}

fn judged(guarantee: Option<Guarantee>, flood: Flood, most: u64) -> (Verdict, String) {
    let bytes = flood.bytes;
    if !flood.shown {
        return (Verdict::Unclear, format!("nothing of a flood is in the {bytes} bytes that were answered"));
    }
    let verdict = match (bytes as u64 <= most, guarantee) {
        (true, Some(Guarantee::Advised) | None) => Verdict::Better,
        (false, Some(Guarantee::Enforced | Guarantee::Guarded)) => Verdict::Broken,
        _ => Verdict::Held,
    };
    (verdict, format!("of a flood {bytes} bytes came through, {most} are allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_held_against_the_figure_and_the_guarantee() {
        let (enforced, advised) = (Some(Guarantee::Enforced), Some(Guarantee::Advised));
        for (guarantee, bytes, shown, verdict) in [
            (enforced, 100, true, Verdict::Held),
            (enforced, 101, true, Verdict::Broken),
            (advised, 101, true, Verdict::Held),
            (advised, 100, true, Verdict::Better),
            // An error is short as well.
            (enforced, 10, false, Verdict::Unclear),
        ] {
            assert_eq!(judged(guarantee, Flood { bytes, shown }, 100).0, verdict, "{guarantee:?} {bytes} {shown}");
        }
    }
}
