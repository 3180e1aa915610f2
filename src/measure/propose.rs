//! Budgets as the sessions have them: a proposal, as text to put into the policy.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::budget::{MEASURED, Spent};
use super::spread::Spread;
use super::tally::Tally;

/// Fewer results say nothing of a budget.
const ENOUGH: u64 = 20;
/// The budget for the text of results.
const RESULT: &str = "tool-result";
/// Budgets in bytes, which are written in KiB.
const SIZES: &[&str] = &[RESULT, "delegation-packet", "inline-media"];

/// A part of a policy with a target that nine of ten, and a limit that ninety-nine of a hundred keep to, for each budget
/// that was spent often enough, and what each tool gave. `None` = none was.
pub fn propose(tally: &Tally<'_>) -> Option<String> {
    let mut tools: BTreeMap<(String, String), Spread> = BTreeMap::new();
    let mut results = Spread::default();
    let mut budgets: BTreeMap<&str, Spent> = BTreeMap::new();
    for (key, counted) in tally.agents() {
        for (label, count) in &counted.tools {
            let host = tally.judge().host_id(key.format).to_owned();
            tools.entry((host, label.clone())).or_default().join(&count.results);
            results.join(&count.results);
        }
        for (name, spent) in &counted.budgets {
            budgets.entry(name).or_default().join(spent);
        }
    }
    let mut text = "# 90 % of what was counted are within each target, 99 % within each limit.\n\
        # A budget from what was is no budget for what should be: judge it.\nbudgets:\n"
        .to_owned();
    let mut any = one(&mut text, tally, RESULT, ("results", 0, 0), &results);
    for (name, unit) in MEASURED {
        if let Some(spent) = budgets.get(name) {
            any |= one(&mut text, tally, name, (unit, spent.at_least, spent.unknown), &spent.amounts);
        }
    }
    any.then(|| {
        table(&mut text, &tools);
        text
    })
}

/// One budget; whether it could be proposed.
fn one(
    text: &mut String,
    tally: &Tally<'_>,
    name: &str,
    (unit, at_least, unknown): (&str, u64, u64),
    spread: &Spread,
) -> bool {
    let size = SIZES.contains(&name);
    let budget = tally.judge().policy.settings.budgets.get(name);
    let now = |which: &str| {
        let figure = budget.and_then(|b| b.figure(which));
        figure.map_or_else(
            || "none".to_owned(),
            |n| if size { crate::text::bytes::ByteSize(n).to_string() } else { n.to_string() },
        )
    };
    let counted = spread.count();
    let unit = if name == RESULT { unit.to_owned() } else { format!("amounts in {unit}") };
    let _ =
        write!(text, "  # {name}: {counted} {unit}; the policy has: target {}, limit {}", now("target"), now("limit"));
    if at_least > 0 {
        let _ = write!(text, "; {at_least} may have been more");
    }
    if unknown > 0 {
        let _ = write!(text, "; {unknown} more could not be counted");
    }
    if counted < ENOUGH {
        let _ = writeln!(text, "; at least {ENOUGH} are needed for a proposal");
        return false;
    }
    let figure = |percent: u64| {
        let amount = spread.quantile(percent).unwrap_or(0);
        if size { format!("{}KiB", amount.div_ceil(1024).max(1)) } else { amount.max(1).to_string() }
    };
    // Only what the policy has a word for: a first read and a packet have no limit, media no target.
    let figures = match name {
        "file-read" | "delegation-packet" => format!("target: {}", figure(90)),
        "inline-media" => format!("limit: {}", figure(99)),
        _ => format!("target: {}, limit: {}", figure(90), figure(99)),
    };
    let _ = writeln!(text, "\n  {name}: {{ {figures} }}");
    true
}

/// What each tool gave, as comments.
fn table(text: &mut String, tools: &BTreeMap<(String, String), Spread>) {
    text.push_str("#\n# bytes of text that the model saw: results, p50, p90, p99, most\n");
    let width = tools.keys().map(|(host, label)| host.len() + label.len() + 1).max().unwrap_or(0);
    for ((host, label), spread) in tools.iter().filter(|(_, s)| s.count() > 0) {
        let quantile = |percent| spread.quantile(percent).unwrap_or(0);
        let name = format!("{host} {label}");
        let _ = writeln!(
            text,
            "# {name:<width$} {:>6} {:>8} {:>8} {:>8} {:>8}",
            spread.count(),
            quantile(50),
            quantile(90),
            quantile(99),
            spread.max(),
        );
    }
}
