//! `explain --cost`: what each host is given at every start.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::model::adapter::{Limit, LimitOf, Over, Unit};
use crate::render::HostBytes;
use crate::resolve::policy::{Budget, Size};

use super::layout::{Table, number};
use super::view::{Shown, View};

/// The page.
pub fn human(view: &View<'_>) -> String {
    let mut out = String::from("bytes that each host is given at every start\n");
    let mut table = Table::default();
    table.row([
        "host",
        "shared",
        "notes",
        "frame",
        "ours",
        "your own",
        "together",
        "tokens, estimated",
        "in each role",
    ]);
    for (host, bytes) in measured(view) {
        let all = bytes.ours() + bytes.user;
        table.row([
            host.plan.host.clone(),
            number(bytes.shared),
            number(bytes.card),
            number(bytes.frame),
            number(bytes.ours()),
            number(bytes.user),
            number(all),
            format!("~{}", number(all / BYTES_PER_TOKEN)),
            number(bytes.role_body),
        ]);
    }
    out.push_str(&table.print(2, &[]));
    out.push_str(
        "  estimated at 4 bytes a token; `in each role` is what every role's file carries besides its own prompt\n",
    );
    let Size { target, limit } = budget(view);
    let figure = |name: &str, bytes: Option<u64>| bytes.map(|b| format!("{name} {} bytes", number(b)));
    let figures: Vec<String> =
        [figure("target", target.map(|b| b.0)), figure("limit", limit.map(|b| b.0))].into_iter().flatten().collect();
    if figures.is_empty() {
        out.push_str("\nthe policy sets no budget for `instructions`\n");
    } else {
        let _ = writeln!(out, "\n`ours` against the budget `instructions`: {}", figures.join(", "));
    }
    let mut bounds = Table::default();
    for (host, bytes) in measured(view) {
        let mut words = Vec::new();
        words.extend(target.map(|t| share("target", bytes.ours(), t.0)));
        words.extend(limit.map(|l| share("limit", bytes.ours(), l.0)));
        words.extend(cuts(host).map(|cut| own_cut(cut, bytes)));
        if cuts(host).next().is_none() {
            words.push("no cut of its own is known".to_owned());
        }
        bounds.row([host.plan.host.clone(), words.join("; ")]);
    }
    out.push_str(&bounds.print(2, &[]));
    out
}

/// The rule of thumb; only ever shown as an estimate.
const BYTES_PER_TOKEN: u64 = 4;

fn share(name: &str, ours: u64, bound: u64) -> String {
    if ours > bound {
        format!("OVER the {name} by {}", number(ours - bound))
    } else {
        format!("{} under the {name}", number(bound - ours))
    }
}

fn own_cut(cut: &Limit, bytes: &HostBytes) -> String {
    let does = does(cut.over);
    if cut.unit == Unit::Bytes {
        let all = bytes.ours() + bytes.user;
        format!("the host {does} over {} bytes of instructions, {} are given", number(cut.max), number(all))
    } else {
        format!("the host {does} over {} {} of instructions", number(cut.max), cut.unit.word())
    }
}

const fn does(over: Over) -> &'static str {
    match over {
        Over::Cut => "cuts",
        Over::Drop => "ignores the whole",
        Over::Refuse => "stops",
        Over::Warn => "warns",
    }
}

fn cuts<'a>(host: Shown<'a>) -> impl Iterator<Item = &'a Limit> {
    host.adapter.limits.iter().filter(|l| l.what == LimitOf::Instructions)
}

fn measured<'a>(view: &'a View<'_>) -> impl Iterator<Item = (Shown<'a>, &'a HostBytes)> {
    let of = |host: &str| view.rendered.measured.hosts.iter().find(|b| b.host == host);
    view.hosts.iter().filter_map(move |h| Some((*h, of(&h.plan.host)?)))
}

fn budget(view: &View<'_>) -> Size {
    match view.policy.settings.budgets.get("instructions") {
        Some(Budget::Size(size)) => *size,
        _ => Size { target: None, limit: None },
    }
}

/// The same for programs.
pub fn json(view: &View<'_>) -> Value {
    let Size { target, limit } = budget(view);
    let hosts: Vec<Value> = measured(view)
        .map(|(host, bytes)| {
            json!({
                "host": host.plan.host,
                "shared": bytes.shared,
                "notes": bytes.card,
                "frame": bytes.frame,
                "ours": bytes.ours(),
                "user": bytes.user,
                "role-body": bytes.role_body,
                "tokens-estimated": (bytes.ours() + bytes.user) / BYTES_PER_TOKEN,
                "limits": cuts(host).map(|l| json!({ "max": l.max, "unit": l.unit.word(), "over": does(l.over) })).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "budget": { "target": target.map(|b| b.0), "limit": limit.map(|b| b.0) }, "hosts": hosts })
}
