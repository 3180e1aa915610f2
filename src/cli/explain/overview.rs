//! `explain` without a subject: the policy on one page.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::diag::{Severity, Sink};
use crate::model::scalar::Guarantee;
use crate::plan::RoleOnHost;
use crate::plan::ledger::{Line, State, Subject};
use crate::resolve::policy::Budget;

use super::layout::Table;
use super::role::{claim, claim_on, seen_on};
use super::view::{Shown, View};
use super::{claims, commands, conditions, measured, servers};

/// The page.
pub fn human(view: &View<'_>, sink: &Sink) -> String {
    let mut out = String::from("hosts\n");
    let mut hosts = Table::default();
    for host in &view.hosts {
        hosts.row([host.plan.host.clone(), host.adapter.title.clone(), format!("seen on {}", seen_on(*host))]);
    }
    out.push_str(&hosts.print(2, &[]));
    out.push_str("\nroles: capabilities out of the role's hands, by how hard, and grants it has no tool for\n");
    out.push_str(&matrix(view).print(2, &[24, 24, 16, 34, 12]));
    out.push_str("\nbudgets\n");
    let tables = budgets(view);
    out.push_str(if tables.is_empty() { "  none are set\n" } else { "" });
    out.extend(tables);
    out.push_str(&commands::human(view));
    out.push_str(&servers::human(view));
    out.push_str(&measured::human(view));
    out.push_str(&where_(view));
    out.push_str(&findings(sink));
    out
}

/// Denials of one role in one form, counted by how hard they are.
fn counts(lines: &[&Line]) -> Vec<(Guarantee, usize)> {
    let all = [Guarantee::Enforced, Guarantee::Guarded, Guarantee::Hidden, Guarantee::Prompted, Guarantee::Advised];
    let count = |g: Guarantee| lines.iter().filter(|l| l.state == State::Denied && l.guarantee == Some(g)).count();
    all.into_iter().map(|g| (g, count(g))).filter(|(_, n)| *n > 0).collect()
}

fn matrix(view: &View<'_>) -> Table {
    let mut table = Table::default();
    table.row(["role", "host", "form", "denied", "unreachable", "known from, if"]);
    for role in &view.policy.roles {
        for host in &view.hosts {
            for (on_host, form) in forms(*host, &role.id) {
                let lines = claims::lines(view, &host.plan.host, &on_host.role, form);
                let denied: Vec<String> =
                    counts(&lines).into_iter().map(|(g, n)| format!("{n} {}", g.word())).collect();
                let unreachable = lines.iter().filter(|l| l.state == State::Unreachable).count();
                let title = host.adapter.forms.get(form).map_or(form, |f| f.title.as_str());
                table.row([
                    role.id.clone(),
                    host.plan.host.clone(),
                    title.to_owned(),
                    denied.join(", "),
                    unreachable.to_string(),
                    rests_on(&lines),
                ]);
            }
        }
    }
    table
}

fn forms<'a>(host: Shown<'a>, role: &'a str) -> impl Iterator<Item = (&'a RoleOnHost, &'a str)> {
    let on_host = host.plan.roles.iter().filter(move |r| r.role == role);
    on_host.flat_map(|r| r.forms.iter().map(move |f| (r, f.form.as_str())))
}

/// Evidence and conditions of all lines.
fn rests_on(lines: &[&Line]) -> String {
    let mut words: Vec<String> = Vec::new();
    for line in lines {
        let all =
            std::iter::once(line.evidence.word().to_owned()).chain(line.conditions.iter().map(|c| format!("if {c}")));
        for word in all {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.join(", ")
}

/// Budget lines, hosts of which the same is claimed put together.
fn budgets(view: &View<'_>) -> Vec<String> {
    let mut subjects: Vec<(&str, &str)> = Vec::new();
    for (budget, family, _) in budget_lines(view) {
        if !subjects.contains(&(budget, family)) {
            subjects.push((budget, family));
        }
    }
    // Budgets of which the same is claimed everywhere have one table.
    let mut tables: Vec<(String, String)> = Vec::new();
    for (budget, family) in subjects {
        let of = if family == "all" { String::new() } else { format!(", {family} tools") };
        let heading = format!("  {budget}{of}{}\n", figures(view, budget));
        let table = claims_by_host(view, budget, family).print(4, &[34, 30]);
        match tables.iter_mut().find(|(_, t)| *t == table) {
            Some((headings, _)) => headings.push_str(&heading),
            None => tables.push((heading, table)),
        }
    }
    tables.into_iter().map(|(headings, table)| format!("{headings}{table}")).collect()
}

fn claims_by_host(view: &View<'_>, budget: &str, family: &str) -> Table {
    let mut groups: Vec<(Vec<&str>, String, &str)> = Vec::new();
    for (_, _, line) in budget_lines(view).filter(|(b, f, _)| (*b, *f) == (budget, family)) {
        let host = view.hosts.iter().find(|h| h.plan.host == line.host);
        let claim = host.map_or_else(|| claim(line), |h| claim_on(h.adapter, line));
        match groups.iter_mut().find(|g| g.1 == claim && g.2 == line.reason) {
            Some(group) => group.0.push(&line.host),
            None => groups.push((vec![&line.host], claim, &line.reason)),
        }
    }
    let mut table = Table::default();
    for (hosts, claim, reason) in groups {
        table.row([hosts.join(", "), claim, reason.to_owned()]);
    }
    table
}

fn budget_lines<'a>(view: &'a View<'_>) -> impl Iterator<Item = (&'a str, &'a str, &'a Line)> {
    let shown = |line: &Line| view.hosts.iter().any(|h| h.plan.host == line.host);
    view.plan.ledger.lines.iter().filter(move |l| shown(l)).filter_map(|line| match &line.subject {
        Subject::Budget { budget, family } => Some((budget.as_str(), family.as_str(), line)),
        _ => None,
    })
}

fn figures(view: &View<'_>, budget: &str) -> String {
    let settings = &view.policy.settings;
    if budget == "context" {
        let all: Vec<String> = settings.context.iter().map(|(name, p)| format!("{name} {}%", p.0)).collect();
        return format!(": {}", all.join(", "));
    }
    if budget == crate::plan::knobs::SESSION_START {
        let start = &settings.session_start;
        let all: Vec<&str> = start.iter().map(|c| view.policy.catalogue.name(*c)).collect();
        return format!(": {}", if all.is_empty() { "nothing".to_owned() } else { all.join(", ") });
    }
    let figures: Vec<String> = match settings.budgets.get(budget) {
        Some(Budget::Size(size)) => [("target", size.target), ("limit", size.limit)]
            .into_iter()
            .filter_map(|(name, figure)| Some(format!("{name} {}", figure?)))
            .collect(),
        Some(Budget::Count(count)) => [("target", count.target), ("limit", count.limit)]
            .into_iter()
            .filter_map(|(name, figure)| Some(format!("{name} {}", figure?)))
            .collect(),
        None => Vec::new(),
    };
    format!(": {}", figures.join(", "))
}

/// The conditions named on the page, host by host.
fn where_(view: &View<'_>) -> String {
    let mut out = String::new();
    for host in &view.hosts {
        let lines = view.plan.ledger.lines.iter().filter(|l| l.host == host.plan.host);
        let shown = lines.filter(|l| !matches!(l.subject, Subject::Rule { .. })).map(|l| l.conditions.as_slice());
        let table = conditions::explain(host.adapter, &conditions::named(shown));
        if !table.is_empty() {
            let _ = write!(out, "\nwhere, on {}\n{}", host.plan.host, table.print(2, &[30]));
        }
    }
    out
}

fn findings(sink: &Sink) -> String {
    let mut table = Table::default();
    for d in sink.iter().filter(|d| d.severity != Severity::Note) {
        table.row([d.severity.word().to_owned(), d.code.id().to_owned(), d.message.clone()]);
    }
    if table.is_empty() { "\nfindings: none\n".to_owned() } else { format!("\nfindings\n{}", table.print(2, &[])) }
}

/// The same for programs: every line of the hosts shown.
pub fn json(view: &View<'_>, sink: &Sink) -> Value {
    let shown = |host: &str| view.hosts.iter().any(|h| h.plan.host == host);
    let lines: Vec<&Line> = view.plan.ledger.lines.iter().filter(|l| shown(&l.host)).collect();
    let hosts: Vec<Value> = view
        .hosts
        .iter()
        .map(|h| {
            let evidence = &h.adapter.evidence;
            let of_host = lines.iter().filter(|l| l.host == h.plan.host).map(|l| l.conditions.as_slice());
            json!({
                "host": h.plan.host,
                "title": h.adapter.title,
                "evidence": {
                    "by": evidence.by, "package": evidence.package, "version": evidence.version, "date": evidence.date,
                },
                "knobs": h.plan.knobs.iter().map(|k| json!({
                    "output": k.output, "path": k.path, "value": k.value, "budget": k.budget,
                })).collect::<Vec<_>>(),
                "conditions": conditions::json(h.adapter, &conditions::named(of_host)),
            })
        })
        .collect();
    let findings: Vec<Value> = sink
        .iter()
        .map(|d| json!({ "severity": d.severity.word(), "code": d.code.id(), "message": d.message, "path": d.path }))
        .collect();
    json!({
        "hosts": hosts,
        "roles": view.policy.roles.iter().map(|r| &r.id).collect::<Vec<_>>(),
        "lines": lines,
        "findings": findings,
    })
}
