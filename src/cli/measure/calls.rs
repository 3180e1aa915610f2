//! What was called, for people.

use std::fmt::Write as _;

use super::page::{WIDTH, size};
use crate::cli::explain::layout::{Table, number};
use crate::measure::format::{Fact as Recorded, Format};
use crate::measure::joined::Through;
use crate::measure::sessions::Session;
use crate::measure::tally::Counted;

/// Calls through the gateway, which are in a host's log and in the gateway's own.
pub fn gateway(session: &Session<'_, '_>, through: &Through) -> String {
    let Through { calls, joined, bytes_in, bytes_out, with } = through;
    let own = session.format == Format::Gateway;
    let other = if own { "the logs of hosts" } else { "the gateway's own log" };
    if *joined == 0 {
        return format!("{} calls through it, none of them found in {other}", number(*calls));
    }
    let with: Vec<&str> = with.iter().map(AsRef::as_ref).collect();
    format!(
        "{} calls through it, {} of them found in {other}: servers gave {}, {} were passed on\n{}",
        number(*calls),
        number(*joined),
        size(*bytes_in),
        size(*bytes_out),
        with.join(", ")
    )
}

/// Calls, how they ended, and what they are used for.
pub fn calls(session: &Session<'_, '_>, counted: &Counted<'_>) -> String {
    let (failed, refused) = counted.tools.values().fold((0, 0), |(f, r), t| (f + t.failed, r + t.refused));
    let recorded = counted.main() || session.format.records(Recorded::Refusals) || refused > 0;
    let refused = if recorded { format!("{refused} refused") } else { "refused ones are not recorded".to_owned() };
    let unsaid: u64 = counted.tools.values().map(|t| t.unsaid).sum();
    let unsaid = if unsaid > 0 { format!("; how {} ended is not recorded", number(unsaid)) } else { String::new() };
    let nested: u64 = counted.tools.values().map(|t| t.nested).sum();
    let within = if nested > 0 { format!(", {nested} of them within scripts") } else { String::new() };
    let mut text = format!("{}{within}; {failed} failed, {refused}{unsaid}", number(counted.calls));
    if !counted.capabilities.is_empty() {
        let each: Vec<String> = counted.capabilities.iter().map(|(cap, n)| format!("{cap} {n}")).collect();
        let _ = write!(text, "\n{}", each.join(", "));
    }
    text
}

/// Judgements of the host's reviewer.
pub fn reviews(session: &Session<'_, '_>, counted: &Counted<'_>) -> String {
    if counted.reviews.is_empty() {
        let known = session.format.records(Recorded::Reviews);
        return if known { "none" } else { "not recorded" }.to_owned();
    }
    let total: u64 = counted.reviews.values().sum();
    let each: Vec<String> = counted.reviews.iter().map(|(tool, n)| format!("{tool} {n}")).collect();
    format!("{total}: {}", each.join(", "))
}

/// Who let calls through.
pub fn approvals(session: &Session<'_, '_>, counted: &Counted<'_>) -> String {
    if counted.approvals.is_empty() {
        let known = session.format.records(Recorded::Approvals);
        return if known { "none" } else { "not recorded" }.to_owned();
    }
    let count = |person: bool, granted: bool| -> u64 {
        let is =
            |((_, _, g), (_, p)): &(&(String, String, bool), &(u64, Option<bool>))| *g == granted && *p == Some(person);
        counted.approvals.iter().filter(is).map(|(_, (n, _))| n).sum()
    };
    format!(
        "by a person {} yes, {} no; by settings {} yes, {} no",
        count(true, true),
        count(true, false),
        count(false, true),
        count(false, false)
    )
}

/// The tools with most text, one a line.
pub fn tools(counted: &Counted<'_>) -> String {
    let mut all: Vec<_> = counted.tools.iter().collect();
    all.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.results.total() + tool.media.total()), name.as_str()));
    let mut table = Table::default();
    if all.is_empty() {
        return String::new();
    }
    table.row(["tool", "calls", "text seen", "p90", "base64"]);
    for (name, tool) in all.iter().take(12) {
        let p90 = tool.results.quantile(90).map_or_else(|| "-".to_owned(), size);
        table.row([name.as_str(), &number(tool.calls), &size(tool.results.total()), &p90, &size(tool.media.total())]);
    }
    table.print_within(WIDTH, 4, &[52, 8, 10, 10])
}
