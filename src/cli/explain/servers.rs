//! The servers of the policy: what a session has of each on each host, and what asks a person first.

use std::fmt::Write as _;

use crate::plan::ledger::{Line, State, Subject};
use crate::plan::servers::UNNAMED;

use super::layout::Table;
use super::role::claim;
use super::view::View;

/// The part of a page; empty when the policy declares none.
pub fn human(view: &View<'_>) -> String {
    let mut out = String::new();
    for server in view.policy.offered() {
        let mut table = Table::default();
        for (tool, line) in lines(view, &server.name) {
            let tool = if tool == UNNAMED { "every other tool" } else { tool };
            let state = if line.state == State::Granted {
                claim(line)
            } else {
                format!("{}, {}", line.state.word(), claim(line))
            };
            table.row([tool.to_owned(), line.host.clone(), state, line.reason.clone()]);
        }
        let _ = write!(out, "  {}\n{}", server.name, table.print(4, &[24, 14, 34]));
    }
    if out.is_empty() { out } else { format!("\nservers: what a session has of them, by host\n{out}") }
}

/// Lines of a server, tool by tool, each with the hosts in the order of selection.
fn lines<'a>(view: &'a View<'_>, server: &str) -> Vec<(&'a str, &'a Line)> {
    let shown = |line: &Line| view.hosts.iter().any(|h| h.plan.host == line.host);
    let mut found: Vec<(&str, &Line)> = Vec::new();
    let all = view.plan.ledger.lines.iter().filter(|l| shown(l)).filter_map(|line| match &line.subject {
        Subject::Server { server: s, tool } if s == server => Some((tool.as_str(), line)),
        _ => None,
    });
    for (tool, line) in all {
        let at = found.iter().rposition(|(t, _)| *t == tool).map_or(found.len(), |at| at + 1);
        found.insert(at, (tool, line));
    }
    // What is not named comes last, also where a later host brings further lines.
    found.sort_by_key(|(tool, _)| *tool == UNNAMED);
    found
}
