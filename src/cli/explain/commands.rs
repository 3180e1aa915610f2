//! Commands that nobody may run: what refuses them, by host.

use std::fmt::Write as _;

use crate::plan::ledger::{Line, Subject};

use super::layout::Table;
use super::role::claim;
use super::view::View;

/// A host, what is claimed and why.
type Row = (String, String, String);

/// The part of a page; empty when the policy forbids none. Commands of which the same is claimed have one table.
pub fn human(view: &View<'_>) -> String {
    let mut groups: Vec<(Vec<String>, Vec<Row>)> = Vec::new();
    for forbidden in &view.policy.settings.forbidden {
        let command = forbidden.command();
        let row = |line: &Line| (line.host.clone(), claim(line), line.reason.clone());
        let rows: Vec<Row> = lines(view, &command).map(row).collect();
        let why = forbidden.because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let heading = format!("  {command}{why}\n");
        match groups.iter_mut().find(|(_, r)| *r == rows) {
            Some((headings, _)) => headings.push(heading),
            None => groups.push((vec![heading], rows)),
        }
    }
    let mut out = String::new();
    for (headings, rows) in groups {
        let mut table = Table::default();
        for (host, claim, reason) in rows {
            table.row([host, claim, reason]);
        }
        let _ = write!(out, "{}{}", headings.concat(), table.print(4, &[14, 40]));
    }
    if out.is_empty() { out } else { format!("\ncommands that nobody may run, by host\n{out}") }
}

fn lines<'a>(view: &'a View<'_>, command: &str) -> impl Iterator<Item = &'a Line> {
    let shown = |line: &Line| view.hosts.iter().any(|h| h.plan.host == line.host);
    let about = move |line: &&Line| matches!(&line.subject, Subject::Command { command: c } if c == command);
    view.plan.ledger.lines.iter().filter(move |l| shown(l)).filter(about)
}
