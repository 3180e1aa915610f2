//! Rules, as real models kept to them.

use crate::plan::ledger::{Line, Subject};
use crate::plan::measured::{Measured, share};

use super::layout::Table;
use super::view::View;

/// The part of the page; empty when nothing was measured.
pub fn human(view: &View<'_>) -> String {
    let mut table = Table::default();
    let shown = |line: &&Line| view.hosts.iter().any(|h| h.plan.host == line.host);
    for line in view.plan.ledger.lines.iter().filter(shown) {
        let Subject::Rule { rule, .. } = &line.subject else { continue };
        for m in &line.measured {
            let Measured { scenario, key, model, version, date, .. } = m;
            table.row([
                rule.clone(),
                line.host.clone(),
                format!("eval {}", share(m.held, m.runs)),
                format!("{key} of {scenario}; {model}, on {version}, {date}"),
            ]);
        }
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\nrules, as real models kept to them (advised all the same)\n{}", table.print(2, &[20, 16, 24]))
}
