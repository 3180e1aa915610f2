//! What holds for a role that is being started, in few lines.

use indexmap::IndexMap;

use crate::plan::ledger::State;
use crate::resolve::CapSet;
use crate::run::Choice;

use super::claims;
use super::conditions;
use super::layout::{Table, visible};
use super::role::{claim, seen_on};
use super::view::{Shown, View};

/// The table of a role in the form that is started: what it can, what it cannot and how hard that is.
pub fn page(view: &View<'_>, choice: &Choice<'_>) -> String {
    let Some(plan) = view.plan.hosts.iter().find(|h| h.host == choice.adapter.id) else { return String::new() };
    let shown = Shown { adapter: choice.adapter, plan };
    let lines = claims::lines(view, &choice.adapter.id, &choice.role.id, &choice.plan.form);
    let groups = claims::groups(view.policy, choice.adapter, choice.role, choice.plan, &lines);
    let mut out = format!(
        "{} on {}, {}; what follows was seen on {}\n",
        choice.role.id,
        choice.adapter.title,
        choice.form.title,
        seen_on(shown)
    );
    let mut table = Table::default();
    for group in groups.iter().filter(|g| g.line.state == State::Granted) {
        let scope = group.scope(view.policy).map_or_else(String::new, |s| format!("{s}; "));
        table.row(["can".to_owned(), view.caps(group.caps), format!("{}: {scope}{}", claim(group.line), group.why())]);
    }
    for (state, word) in [(State::Denied, "cannot"), (State::Unreachable, "out of reach")] {
        let mut alike: IndexMap<String, CapSet> = IndexMap::new();
        for group in groups.iter().filter(|g| g.line.state == state) {
            let caps = alike.entry(claim(group.line)).or_insert(CapSet::EMPTY);
            *caps = caps.union(group.caps);
        }
        for (claimed, caps) in alike {
            let word = if claimed.starts_with("advised") { "told not to" } else { word };
            table.row([word.to_owned(), view.caps(caps), claimed]);
        }
    }
    out.push_str(&table.print(2, &[12, 48]));
    let named = conditions::named(groups.iter().map(|g| g.line.conditions.as_slice()));
    out.push_str(&conditions::explain(choice.adapter, &named).print(2, &[20]));
    visible(&out)
}
