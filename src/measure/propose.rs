//! Budgets as the sessions have them: a proposal, as text to put into the policy.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::spread::Spread;
use super::tally::Tally;

/// Fewer results say nothing of a budget.
const ENOUGH: u64 = 20;

/// A part of a policy with budgets for results that nine of ten, and ninety-nine of a hundred, keep to, and what each
/// tool gave. `None` = there are too few results.
pub fn propose(tally: &Tally<'_>) -> Option<String> {
    let mut tools: BTreeMap<(String, String), Spread> = BTreeMap::new();
    let mut all = Spread::default();
    for (key, counted) in tally.agents() {
        for (label, count) in &counted.tools {
            let host = tally.judge().host_id(key.format).to_owned();
            tools.entry((host, label.clone())).or_default().join(&count.results);
            all.join(&count.results);
        }
    }
    if all.count() < ENOUGH {
        return None;
    }
    let (target, limit) = (kib(all.quantile(90)?), kib(all.quantile(99)?));
    let figure = |which: &str| {
        let budget = tally.judge().policy.settings.budgets.get("tool-result").and_then(|b| b.figure(which));
        budget.map_or_else(|| "none".to_owned(), |bytes| crate::text::bytes::ByteSize(bytes).to_string())
    };
    let mut text = format!(
        "# Proposed from {} results; 90 % are within the target, 99 % within the limit.\n\
         # The policy has: target {}, limit {}. A budget from what was is no budget for what should be: judge it.\n\
         budgets:\n  tool-result: {{ target: {target}KiB, limit: {limit}KiB }}\n\
         #\n# bytes of text that the model saw: results, p50, p90, p99, most\n",
        all.count(),
        figure("target"),
        figure("limit"),
    );
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
    Some(text)
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024).max(1)
}
