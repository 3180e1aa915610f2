//! `explain --delivery`: which file carries each text to whom.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::model::adapter::Borrowed;
use crate::plan::delivery::{HostDelivery, How, Range, Route};
use crate::plan::ledger::{Line, Subject};
use crate::render::artifact::{Artifact, Content};
use crate::resolve::policy::RuleActivation;
use crate::text::glob;

use super::layout::{Table, number};
use super::view::{self, Shown, View, ticked};
use super::{claims, conditions};

/// The page.
pub fn human(view: &View<'_>) -> String {
    let mut out = String::new();
    for (host, delivery) in hosts(view) {
        let _ = writeln!(out, "{} ({})", host.adapter.title, host.plan.host);
        for (to, heading) in [("main", "main agent"), ("roles", "sub-agents")] {
            let table = texts(view, host, delivery, to);
            if !table.is_empty() {
                let _ = write!(out, "  {heading}\n{}", table.print(4, &[34, 16, 8, 48]));
            }
        }
        for switch in &delivery.switches {
            let _ = writeln!(out, "  `{}:{}` names `{}`", switch.output, switch.pointer, switch.file);
        }
        let terms = conditions::explain(host.adapter, &terms(view, host, delivery));
        if !terms.is_empty() {
            let _ = write!(out, "  where\n{}", terms.print(4, &[24]));
        }
        out.push('\n');
    }
    out.push_str("on demand: one line arrives, and names the file with the bytes\n\nfiles\n");
    out.push_str(&files(view).print(2, &[52, 24, 10]));
    out
}

fn hosts<'a>(view: &'a View<'_>) -> impl Iterator<Item = (Shown<'a>, &'a HostDelivery)> {
    let of = |host: &str| view.plan.delivery.hosts.iter().find(|d| d.host == host);
    view.hosts.iter().filter_map(move |h| Some((*h, of(&h.plan.host)?)))
}

/// The ledger's lines of rules for one host and agent.
fn rule_lines<'a>(view: &'a View<'_>, host: &'a str, to: &'a str) -> impl Iterator<Item = (&'a str, &'a Line)> {
    view.plan.ledger.lines.iter().filter(move |l| l.host == host).filter_map(move |line| match &line.subject {
        Subject::Rule { rule, to: t } if t == to => Some((rule.as_str(), line)),
        _ => None,
    })
}

/// One row for all texts that come the same way.
fn texts(view: &View<'_>, host: Shown<'_>, delivery: &HostDelivery, to: &str) -> Table {
    let mut groups: Vec<(Vec<&str>, u64, &str, &Line)> = Vec::new();
    for (rule, line) in rule_lines(view, &host.plan.host, to) {
        let (kind, bytes) = kind(view, rule);
        match groups.iter_mut().find(|g| g.2 == kind && claims::same(g.3, line)) {
            Some(group) => {
                group.0.push(rule);
                group.1 += bytes;
            }
            None => groups.push((vec![rule], bytes, kind, line)),
        }
    }
    let mut table = Table::default();
    for (rules, bytes, kind, line) in groups {
        table.row([rules.join(", "), kind.to_owned(), number(bytes), under(&line.reason, &line.conditions)]);
    }
    if let Some(row) = card(view, host, delivery, to) {
        table.row(row);
    }
    if to == "roles" {
        for role in &host.plan.roles {
            for (artifact, bytes) in role_files(view, host, role) {
                table.row([
                    role.role.clone(),
                    "role".to_owned(),
                    number(bytes),
                    format!("its own file `{}`", artifact.path),
                ]);
            }
        }
    }
    table
}

fn role_files<'a>(view: &View<'a>, host: Shown<'_>, role: &'a crate::plan::RoleOnHost) -> Vec<(&'a Artifact, u64)> {
    let mut found: Vec<(&Artifact, u64)> = Vec::new();
    for form in role.forms.iter().filter_map(|f| host.adapter.forms.get(&f.form)) {
        for output in form.outputs.iter().filter_map(|id| host.adapter.outputs.get(id)) {
            if let Some(artifact) = view.artifact(&output.file.replace("{name}", &role.name)) {
                found.push((artifact, bytes(artifact)));
            }
        }
    }
    found
}

/// When a rule is before the agent, and the bytes of its text.
fn kind(view: &View<'_>, rule: &str) -> (&'static str, u64) {
    let Some((index, rule)) = view.policy.rules.iter().enumerate().find(|(_, r)| r.id == rule) else {
        return ("", 0);
    };
    let bytes = view.rendered.measured.rules.get(index).copied().unwrap_or_default();
    match rule.activation {
        RuleActivation::Always => ("always", bytes),
        RuleActivation::Paths(_) => ("paths", bytes),
        RuleActivation::OnDemand(_) => ("on demand", bytes),
    }
}

fn card(view: &View<'_>, host: Shown<'_>, delivery: &HostDelivery, to: &str) -> Option<[String; 4]> {
    let measured = view.rendered.measured.hosts.iter().find(|b| b.host == host.plan.host)?;
    let range = if to == "main" { delivery.card_arrivals.main } else { delivery.card_arrivals.roles };
    let in_role = to == "roles" && delivery.body.card;
    // Roles carry the notes meant for them, not the lines for path rules, which have rows of their own.
    let bytes = if in_role { measured.role_card } else { measured.card };
    if bytes == 0 || (to == "roles" && host.plan.roles.is_empty()) {
        return None;
    }
    let (way, conditions) = match &delivery.card {
        _ if in_role => ("in the role".to_owned(), &[][..]),
        Some(route) => (words(route), &route.conditions[..]),
        None => ("by no way".to_owned(), &[][..]),
    };
    let text = under(&format!("arrives {} {way}", times(range)), conditions);
    Some(["host notes".to_owned(), "always".to_owned(), number(bytes), text])
}

fn words(route: &Route) -> String {
    match &route.how {
        How::Direct => format!("through `{}`", route.file),
        How::Linked { from } => format!("through `{from}`, a link to `{}`", route.file),
        How::Imported { by } => format!("through `{}`, included by `{by}`", route.file),
        How::Switched { output, pointer } => format!("through `{}`, named in `{output}:{pointer}`", route.file),
    }
}

fn times(range: Range) -> String {
    match (range.min, range.max) {
        (_, 0) => "never".to_owned(),
        (1, 1) => "once".to_owned(),
        (min, max) if min == max => format!("{min} times"),
        (min, max) => format!("{min} to {max} times"),
    }
}

fn under(text: &str, conditions: &[String]) -> String {
    let conditions: String = conditions.iter().map(|c| format!(", if {c}")).collect();
    format!("{text}{conditions}")
}

fn terms(view: &View<'_>, host: Shown<'_>, delivery: &HostDelivery) -> Vec<String> {
    let lines = ["main", "roles"].into_iter().flat_map(|to| rule_lines(view, &host.plan.host, to));
    let of_lines = lines.map(|(_, l)| l.conditions.as_slice());
    conditions::named(of_lines.chain(delivery.card.as_ref().map(|c| c.conditions.as_slice())))
}

/// Every output of the hosts shown.
fn files(view: &View<'_>) -> Table {
    let mut table = Table::default();
    table.row(["file", "ours", "bytes", "for"]);
    for artifact in artifacts(view) {
        let mut hosts = artifact.hosts.join(", ");
        let others = borrowers(view, artifact);
        if !others.is_empty() {
            let _ = write!(hosts, "; also taken by {}", others.join(", "));
        }
        table.row([artifact.path.clone(), ownership(&artifact.content), number(bytes(artifact)), hosts]);
    }
    table
}

fn artifacts<'a>(view: &'a View<'_>) -> impl Iterator<Item = &'a Artifact> {
    let shown = |a: &&Artifact| view.hosts.iter().any(|h| a.hosts.contains(&h.plan.host));
    view.rendered.artifacts.iter().filter(shown)
}

/// Selected hosts that take a role file rendered for another one, and have no file of their own for it that wins.
fn borrowers<'a>(view: &'a View<'_>, artifact: &Artifact) -> Vec<&'a str> {
    let takes = |host: &&Shown<'a>| {
        let mut borrows = host.adapter.borrows.iter().filter(|b| b.what == Borrowed::Roles);
        !artifact.hosts.contains(&host.plan.host)
            && borrows.any(|b| {
                let matches = glob::matches(&b.file, &artifact.path);
                matches && !(b.loses_to_own && has_own(view, **host, artifact))
            })
    };
    view.hosts.iter().filter(takes).map(|h| h.plan.host.as_str()).collect()
}

fn has_own(view: &View<'_>, host: Shown<'_>, artifact: &Artifact) -> bool {
    let of_role = |r: &crate::plan::RoleOnHost| {
        let stem = |path: &str| crate::system::file_name(path).split('.').next().unwrap_or_default().to_owned();
        let forms = r.forms.iter().filter_map(|f| host.adapter.forms.get(&f.form));
        stem(&artifact.path) == r.name && forms.flat_map(|f| view::files(view, host, r, f)).next().is_some()
    };
    host.plan.roles.iter().any(of_role)
}

fn ownership(content: &Content) -> String {
    match content {
        Content::Whole(_) => "whole file".to_owned(),
        Content::Block(_) => "block".to_owned(),
        Content::Entries(entries) => {
            let keys: Vec<String> = entries.iter().map(|e| e.path.join("/")).collect();
            format!("entries {}", ticked(&keys))
        }
    }
}

/// Bytes that are ours; of entries, the values as JSON.
fn bytes(artifact: &Artifact) -> u64 {
    match &artifact.content {
        Content::Whole(text) | Content::Block(text) => text.len() as u64,
        Content::Entries(entries) => entries.iter().map(|e| e.value.to_string().len() as u64).sum(),
    }
}

/// The same for programs.
pub fn json(view: &View<'_>) -> Value {
    let hosts: Vec<Value> = hosts(view)
        .map(|(host, delivery)| {
            let texts: Vec<Value> = ["main", "roles"]
                .into_iter()
                .flat_map(|to| rule_lines(view, &host.plan.host, to).map(move |(rule, line)| (to, rule, line)))
                .map(|(to, rule, line)| {
                    let index = view.policy.rules.iter().position(|r| r.id == rule);
                    let reach = index.and_then(|i| delivery.arrivals.get(i)).copied().unwrap_or_default();
                    let range = if to == "main" { reach.main } else { reach.roles };
                    let (kind, bytes) = kind(view, rule);
                    json!({
                        "rule": rule, "to": to, "activation": kind, "bytes": bytes,
                        "min": range.min, "max": range.max, "conditions": line.conditions, "way": line.reason,
                    })
                })
                .collect();
            let card = delivery.card.as_ref().map(|route| {
                json!({
                    "file": route.file, "way": words(route), "conditions": route.conditions,
                    "main": { "min": delivery.card_arrivals.main.min, "max": delivery.card_arrivals.main.max },
                    "roles": { "min": delivery.card_arrivals.roles.min, "max": delivery.card_arrivals.roles.max },
                    "in-roles": delivery.body.card,
                })
            });
            let roles: Vec<Value> = host
                .plan
                .roles
                .iter()
                .flat_map(|r| role_files(view, host, r).into_iter().map(move |f| (r, f)))
                .map(|(r, (artifact, bytes))| json!({ "role": r.role, "file": artifact.path, "bytes": bytes }))
                .collect();
            let switches: Vec<Value> = delivery
                .switches
                .iter()
                .map(|s| json!({ "output": s.output, "pointer": s.pointer, "file": s.file }))
                .collect();
            json!({
                "host": host.plan.host, "rules": texts, "notes": card, "roles": roles, "switches": switches,
                "conditions": conditions::json(host.adapter, &terms(view, host, delivery)),
            })
        })
        .collect();
    let files: Vec<Value> = artifacts(view)
        .map(|a| {
            let own = match &a.content {
                Content::Whole(_) => "whole",
                Content::Block(_) => "block",
                Content::Entries(_) => "entries",
            };
            json!({
                "path": a.path, "own": own, "bytes": bytes(a), "hosts": a.hosts,
                "also": borrowers(view, a), "sources": a.sources,
            })
        })
        .collect();
    json!({ "hosts": hosts, "files": files })
}
