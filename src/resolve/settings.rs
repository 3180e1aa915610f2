//! Budgets, thresholds and routing.

use indexmap::IndexMap;

use super::capabilities::{CapId, Catalogue};
use super::commands;
use super::layers::Merged;
use super::policy::{Budget, Count, Guarding, Server, Settings, Size};
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::policy::{CountBudget, SizeBudget};
use crate::text::suggest::nearest;
use crate::yaml::Sp;

/// Resolves every setting.
pub(super) fn resolve(
    merged: &Merged<'_>,
    catalogue: &Catalogue,
    servers: &IndexMap<String, Server>,
    sink: &mut Sink,
) -> Settings {
    let steps = |list: &Option<Sp<Vec<Sp<String>>>>, sink: &mut Sink| -> Vec<CapId> {
        list.iter().flat_map(|l| l.iter()).filter_map(|name| catalogue.require(name, sink)).collect()
    };
    context_order(merged, sink);
    expectations(merged, sink);
    Settings {
        budgets: budgets(merged),
        context: [
            ("close-discovery", &merged.context.close_discovery),
            ("stop-delegating", &merged.context.stop_delegating),
            ("hand-off", &merged.context.hand_off),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.as_ref().map(|v| (name, v.value)))
        .collect(),
        browser_order: browser_order(merged, servers, sink),
        escalate_for: merged.browser.escalate_for.iter().flat_map(|l| l.iter()).map(|r| r.value).collect(),
        record_reason: merged.browser.record_reason.as_ref().is_some_and(|r| r.value),
        session_start: steps(&merged.discovery.session_start, sink),
        docs_steps: steps(&merged.discovery.docs, sink),
        memory_steps: steps(&merged.discovery.memory, sink),
        delegation_context: merged.delegation.context.as_ref().map(|c| c.value),
        guard: guard(merged),
        forbidden: commands::resolve(merged, sink),
        record_values: merged.record.values.as_ref().is_some_and(|v| v.value),
        packet: merged.delegation.packet.iter().flat_map(|l| l.iter()).map(|p| p.value).collect(),
    }
}

fn guard(merged: &Merged<'_>) -> Guarding {
    let on = |switch: &Option<Sp<bool>>| switch.as_ref().is_none_or(|s| s.value);
    let g = &merged.guard;
    Guarding {
        roles: on(&g.roles),
        history: on(&g.history),
        packets: on(&g.packets),
        reads: on(&g.reads),
        context: on(&g.context),
        commands: on(&g.commands),
    }
}

fn budgets(merged: &Merged<'_>) -> IndexMap<&'static str, Budget> {
    let size = |b: &Option<Sp<SizeBudget>>| {
        b.as_ref().map(|b| {
            Budget::Size(Size { target: b.target.as_ref().map(|t| t.value), limit: b.limit.as_ref().map(|l| l.value) })
        })
    };
    let count = |b: &Option<Sp<CountBudget>>| {
        b.as_ref().map(|b| {
            Budget::Count(Count {
                target: b.target.as_ref().map(|t| t.value),
                limit: b.limit.as_ref().map(|l| l.value),
            })
        })
    };
    let b = &merged.budgets;
    [
        ("tool-result", size(&b.tool_result)),
        ("search", count(&b.search)),
        ("file-read", count(&b.file_read)),
        ("knowledge-search", count(&b.knowledge_search)),
        ("browser-log", count(&b.browser_log)),
        ("delegation-packet", size(&b.delegation_packet)),
        ("inline-media", size(&b.inline_media)),
        ("instructions", size(&b.instructions)),
    ]
    .into_iter()
    .filter_map(|(name, budget)| budget.map(|b| (name, b)))
    .collect()
}

fn context_order(merged: &Merged<'_>, sink: &mut Sink) {
    let c = &merged.context;
    for (first, second, names) in [
        (&c.close_discovery, &c.stop_delegating, "`close-discovery` comes after `stop-delegating`"),
        (&c.stop_delegating, &c.hand_off, "`stop-delegating` comes after `hand-off`"),
    ] {
        if let (Some(first), Some(second)) = (first, second)
            && first.value > second.value
        {
            sink.push(
                Diagnostic::new(Code::ContextOrder, names)
                    .at_opt(first.span, "later")
                    .also(second.span, "earlier")
                    .help("let the shares rise: `close-discovery`, then `stop-delegating`, then `hand-off`"),
            );
        }
    }
}

fn browser_order(merged: &Merged<'_>, servers: &IndexMap<String, Server>, sink: &mut Sink) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for name in merged.browser.order.iter().flat_map(|l| l.iter()) {
        if order.contains(&name.value) {
            sink.push(
                Diagnostic::new(Code::InvalidValue, format!("`{}` stands twice in the browser order", name.value))
                    .at_opt(name.span, "second time")
                    .help("remove one of the two"),
            );
        }
        // A server that is not declared is allowed: the text then says "if configured". A slip of the pen is not.
        let known = || servers.keys().map(String::as_str).chain(["host"]);
        let declared = known().any(|k| k == name.value);
        if let Some(meant) = nearest(&name.value, known()).filter(|_| !declared) {
            sink.push(
                Diagnostic::new(
                    Code::InvalidValue,
                    format!("`{}` is neither `host` nor a declared server", name.value),
                )
                .at_opt(name.span, "")
                .help(format!("did you mean `{meant}`?")),
            );
        }
        order.push(name.value.clone());
    }
    order
}

/// Acceptance names roles; a role that does not exist could never be counted.
fn expectations(merged: &Merged<'_>, sink: &mut Sink) {
    // An inherited expectation on a role that was left out holds by itself; one's own is a mistake.
    let left_out = |role: &Sp<String>| {
        let by = merged.left_out.get(role.value.as_str()).copied().flatten();
        by.is_some_and(|by| role.span.is_none_or(|span| span.source != by.source))
    };
    for acceptance in merged.acceptance.values() {
        let unknown = |role: &&Sp<String>| !merged.roles.contains_key(role.value.as_str()) && !left_out(role);
        for role in acceptance.out_of_grant_calls.keys().filter(unknown) {
            sink.push(
                Diagnostic::new(Code::UnknownRole, format!("unknown role `{}`", role.value))
                    .at_opt(role.span, "no role has this name")
                    .suggest(&role.value, merged.roles.keys().map(String::as_str)),
            );
        }
    }
}
