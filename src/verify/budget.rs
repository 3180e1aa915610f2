//! Holds what a host did to a flood of output, to long reads and to long packets against their budgets.

use crate::model::adapter::{Adapter, Family};
use crate::model::scalar::Guarantee;
use crate::plan::ledger::{Line, Subject};
use crate::resolve::policy::Policy;

use super::judge::shown;
use super::observe::{Budgeted, Flood};
use super::report::{Finding, Verdict};

/// The budget that a flood tries.
const TRIED: &str = "tool-result";

/// One finding for each line about a budget of the host; `flood` is what came to the model of a flood
/// from a shell, `others` what became of calls over other budgets.
pub fn findings(
    adapter: &Adapter,
    policy: &Policy,
    lines: &[Line],
    flood: Option<Flood>,
    others: &[Budgeted],
) -> Vec<Finding> {
    let own = lines.iter().filter(|l| l.host == adapter.id);
    own.filter_map(|line| {
        let Subject::Budget { budget, family } = &line.subject else { return None };
        let tried = flood.filter(|_| budget == TRIED && family == Family::Shell.word());
        let (verdict, seen) = match (tried, figure(adapter, policy)) {
            (Some(flood), Some(most)) => judged(line.guarantee, flood, most),
            _ => match others.iter().find(|o| o.budget == *budget) {
                Some(other) => called(line.guarantee, other),
                None => (Verdict::Untried, "not tried".to_owned()),
            },
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

/// Judges a call over a budget, beside the same within it.
fn called(guarantee: Option<Guarantee>, tried: &Budgeted) -> (Verdict, String) {
    let hard = matches!(guarantee, Some(Guarantee::Enforced | Guarantee::Guarded));
    match (&tried.over, &tried.within) {
        (None, _) => (Verdict::Unclear, "a call over it was never answered".to_owned()),
        (_, Some((answer, true))) => (Verdict::Broken, format!("a call within it is refused: {}", shown(answer))),
        (Some((answer, true)), _) if hard => {
            let within = if tried.within.is_some() { "; within it works" } else { "" };
            (Verdict::Held, format!("a call over it is refused: {}{within}", shown(answer)))
        }
        (Some((answer, true)), _) => (Verdict::Better, format!("a call over it is refused: {}", shown(answer))),
        (Some((answer, false)), _) if hard => {
            (Verdict::Broken, format!("a call over it is answered: {}", shown(answer)))
        }
        (Some(_), _) => (Verdict::Held, "a call over it is answered, as said".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_over_a_budget_is_held_against_the_guarantee_and_one_within_it_is_to_pass() {
        let (guarded, advised) = (Some(Guarantee::Guarded), Some(Guarantee::Advised));
        for (guarantee, over, within, verdict) in [
            (guarded, Some(true), Some(false), Verdict::Held),
            (guarded, Some(true), None, Verdict::Held),
            (guarded, Some(false), Some(false), Verdict::Broken),
            (guarded, Some(true), Some(true), Verdict::Broken),
            (guarded, None, None, Verdict::Unclear),
            (advised, Some(false), Some(false), Verdict::Held),
            (advised, Some(true), Some(false), Verdict::Better),
        ] {
            let said = |refused: Option<bool>| refused.map(|r| ("said".to_owned(), r));
            let tried = Budgeted { budget: "file-read".into(), over: said(over), within: said(within) };
            assert_eq!(called(guarantee, &tried).0, verdict, "{guarantee:?} {over:?} {within:?}");
        }
    }

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
