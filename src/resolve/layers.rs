//! Inherited and own policies become one: later wins per entry, and never loosens what may only be tightened.

use indexmap::IndexMap;

use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::load::{Layer, Loaded, Raw};
use crate::model::commands::Forbid;
use crate::model::composed::{ComposedTool, RuntimeSource};
use crate::model::policy::{
    Acceptance, Browser, Budgets, Context, ContextChoice, CountBudget, CustomCapability, Delegation, Discovery, Guard,
    Map, Recording, Server, SizeBudget,
};
use crate::model::primitives::PrimitiveSource;
use crate::model::role::RoleFile;
use crate::model::rule::RuleFile;
use crate::yaml::Sp;

/// All layers as one.
#[derive(Debug, Default)]
pub(super) struct Merged<'a> {
    pub(super) hosts: Option<&'a Map<crate::model::policy::HostChoice>>,
    pub(super) budgets: Budgets,
    pub(super) context: Context,
    pub(super) browser: Browser,
    pub(super) discovery: Discovery,
    pub(super) delegation: Delegation,
    pub(super) guard: Guard,
    /// Commands that nobody may run, with the number of their layer.
    pub(super) forbid: Vec<(usize, &'a Forbid)>,
    pub(super) record: Recording,
    pub(super) servers: IndexMap<Sp<String>, &'a Server>,
    pub(super) primitives: IndexMap<Sp<String>, &'a PrimitiveSource>,
    pub(super) tools: IndexMap<Sp<String>, &'a ComposedTool>,
    pub(super) runtime: IndexMap<Sp<String>, &'a RuntimeSource>,
    pub(super) capabilities: IndexMap<Sp<String>, &'a CustomCapability>,
    pub(super) acceptance: IndexMap<Sp<String>, Acceptance>,
    pub(super) rules: IndexMap<String, &'a Raw<RuleFile>>,
    pub(super) roles: IndexMap<String, &'a Raw<RoleFile>>,
    /// Roles left out by `without`, with the place that does.
    pub(super) left_out: IndexMap<String, Option<Span>>,
}

/// Merges the layers, inherited first.
pub(super) fn merge<'a>(loaded: &'a Loaded, sink: &mut Sink) -> Merged<'a> {
    let mut merged = Merged::default();
    for (number, layer) in loaded.layers.iter().enumerate() {
        version(loaded, layer, sink);
        without(&mut merged, layer, sink);
        let p = &layer.policy;
        if p.hosts.is_some() {
            merged.hosts = p.hosts.as_ref();
        }
        budgets(&mut merged.budgets, p.budgets.as_ref(), sink);
        context(&mut merged.context, p.context.as_ref());
        browser(&mut merged.browser, p.browser.as_ref(), sink);
        discovery(&mut merged.discovery, p.discovery.as_ref(), sink);
        delegation(&mut merged.delegation, p.delegation.as_ref(), sink);
        guard(&mut merged.guard, p.guard.as_ref(), sink);
        merged.forbid.extend(p.commands.iter().flat_map(|c| &c.forbid).map(|f| (number, f)));
        record(&mut merged.record, p.record.as_ref(), sink);
        merged.servers.extend(p.servers.iter().flatten().map(|(k, v)| (k.clone(), v)));
        merged.primitives.extend(p.primitives.iter().flatten().map(|(k, v)| (k.clone(), v)));
        merged.tools.extend(p.tools.iter().flatten().map(|(k, v)| (k.clone(), v)));
        merged.runtime.extend(p.runtime.iter().flatten().map(|(k, v)| (k.clone(), v)));
        merged.capabilities.extend(p.capabilities.iter().flatten().map(|(k, v)| (k.clone(), v)));
        for (name, own) in p.acceptance.iter().flatten() {
            merged.acceptance.insert(name.clone(), own.clone());
        }
        merged.rules.extend(layer.rules.iter().map(|r| (r.id.clone(), r)));
        merged.roles.extend(layer.roles.iter().map(|r| (r.id.clone(), r)));
    }
    merged
}

fn version(loaded: &Loaded, layer: &Layer, sink: &mut Sink) {
    match (&layer.policy.version, layer.main_source) {
        (Some(v), _) if v.value != 1 => sink.push(
            Diagnostic::new(Code::PolicyVersion, format!("version {} of the policy schema is not known", v.value))
                .at_opt(v.span, "this program reads version 1")
                .help("write `version: 1`, or use a program that knows this version"),
        ),
        (None, Some(source)) => sink.push(
            Diagnostic::new(Code::PolicyVersion, "the policy does not say its version")
                .at(Span { source, start: 0, end: 0 }, "")
                .help("add `version: 1` to the policy"),
        ),
        (None, None) => sink.push(
            Diagnostic::new(Code::PolicyMissing, format!("`{}` holds no policy", layer.name))
                .path(format!("{}/policy.yaml", layer.name))
                .help("run `rolecast init`"),
        ),
        (Some(_), _) => {}
    }
    let _ = loaded;
}

fn without(merged: &mut Merged<'_>, layer: &Layer, sink: &mut Sink) {
    for name in layer.policy.without.iter().flatten() {
        let known: Vec<String> = merged
            .roles
            .keys()
            .map(|r| format!("roles/{r}"))
            .chain(merged.rules.keys().map(|r| format!("rules/{r}")))
            .collect();
        let gone = match name.split_once('/') {
            Some(("roles", id)) => {
                merged.left_out.insert(id.to_owned(), name.span);
                merged.roles.shift_remove(id).is_some()
            }
            Some(("rules", id)) => merged.rules.shift_remove(id).is_some(),
            _ => false,
        };
        if !gone {
            sink.push(
                Diagnostic::new(Code::WithoutNothing, format!("nothing called `{}` is inherited", name.value))
                    .at_opt(name.span, "leaves out nothing")
                    .suggest(&name.value, known.iter().map(String::as_str)),
            );
        }
    }
}

fn loosens(what: &str, own: Option<Span>, inherited: Option<Span>, rule: &str, sink: &mut Sink) {
    sink.push(
        Diagnostic::new(Code::LoosensInherited, format!("{what} loosens what is inherited"))
            .at_opt(own, rule)
            .also(inherited, "inherited from here")
            .help("keep the inherited value or a tighter one, or do not extend that policy"),
    );
}

/// Takes `own` where it is set; a hard limit may only go down.
fn limit<T: Copy + PartialOrd>(name: &str, base: &mut Option<Sp<T>>, own: Option<&Sp<T>>, sink: &mut Sink) {
    let Some(own) = own else { return };
    if let Some(inherited) = base.as_ref().filter(|b| own.value > b.value) {
        loosens(&format!("`budgets.{name}.limit`"), own.span, inherited.span, "a limit may only go down", sink);
    }
    *base = Some(own.clone());
}

fn size(name: &str, base: &mut Option<Sp<SizeBudget>>, own: Option<&Sp<SizeBudget>>, sink: &mut Sink) {
    if let Some(own) = own {
        let merged = &mut base.get_or_insert_with(|| Sp { value: SizeBudget::default(), span: own.span }).value;
        figures(name, (&mut merged.target, &mut merged.limit), (&own.target, &own.limit), sink);
    }
}

fn count(name: &str, base: &mut Option<Sp<CountBudget>>, own: Option<&Sp<CountBudget>>, sink: &mut Sink) {
    if let Some(own) = own {
        let merged = &mut base.get_or_insert_with(|| Sp { value: CountBudget::default(), span: own.span }).value;
        figures(name, (&mut merged.target, &mut merged.limit), (&own.target, &own.limit), sink);
    }
}

/// A target and a limit.
type Figures<'a, T> = (&'a Option<Sp<T>>, &'a Option<Sp<T>>);

/// Takes a layer's own figures of one budget.
fn figures<T: Copy + PartialOrd>(
    name: &str,
    (target, hard): (&mut Option<Sp<T>>, &mut Option<Sp<T>>),
    (own_target, own_limit): Figures<'_, T>,
    sink: &mut Sink,
) {
    if own_target.is_some() {
        target.clone_from(own_target);
    }
    limit(name, hard, own_limit.as_ref(), sink);
    if let (Some(target), Some(hard)) = (target, hard)
        && target.value > hard.value
    {
        over(name, target.span, hard.span, sink);
    }
}

fn over(name: &str, target: Option<Span>, limit: Option<Span>, sink: &mut Sink) {
    sink.push(
        Diagnostic::new(Code::BudgetOrder, format!("the target of `budgets.{name}` is over its limit"))
            .at_opt(target.or(limit), "the target")
            .also(target.and(limit), "the limit")
            .help("a target is what to aim at; a limit is never passed"),
    );
}

fn budgets(base: &mut Budgets, own: Option<&Budgets>, sink: &mut Sink) {
    let Some(own) = own else { return };
    size("tool-result", &mut base.tool_result, own.tool_result.as_ref(), sink);
    count("search", &mut base.search, own.search.as_ref(), sink);
    count("file-read", &mut base.file_read, own.file_read.as_ref(), sink);
    count("knowledge-search", &mut base.knowledge_search, own.knowledge_search.as_ref(), sink);
    count("browser-log", &mut base.browser_log, own.browser_log.as_ref(), sink);
    size("delegation-packet", &mut base.delegation_packet, own.delegation_packet.as_ref(), sink);
    size("inline-media", &mut base.inline_media, own.inline_media.as_ref(), sink);
    size("instructions", &mut base.instructions, own.instructions.as_ref(), sink);
}

fn context(base: &mut Context, own: Option<&Context>) {
    let Some(own) = own else { return };
    for (base, own) in [
        (&mut base.close_discovery, &own.close_discovery),
        (&mut base.stop_delegating, &own.stop_delegating),
        (&mut base.hand_off, &own.hand_off),
    ] {
        if own.is_some() {
            base.clone_from(own);
        }
    }
}

fn browser(base: &mut Browser, own: Option<&Browser>, sink: &mut Sink) {
    let Some(own) = own else { return };
    if own.order.is_some() {
        base.order.clone_from(&own.order);
    }
    if own.escalate_for.is_some() {
        base.escalate_for.clone_from(&own.escalate_for);
    }
    if let Some(record) = &own.record_reason {
        if let Some(inherited) = base.record_reason.as_ref().filter(|b| b.value && !record.value) {
            loosens("`browser.record-reason`", record.span, inherited.span, "must stay true", sink);
        }
        base.record_reason = Some(record.clone());
    }
}

fn discovery(base: &mut Discovery, own: Option<&Discovery>, sink: &mut Sink) {
    let Some(own) = own else { return };
    if let Some(start) = &own.session_start {
        if let Some(inherited) = &base.session_start {
            for step in start.iter().filter(|s| !inherited.iter().any(|i| i.value == s.value)) {
                loosens(
                    "`discovery.session-start`",
                    step.span,
                    inherited.span,
                    "may only name what is inherited",
                    sink,
                );
            }
        }
        base.session_start = Some(start.clone());
    }
    if own.docs.is_some() {
        base.docs.clone_from(&own.docs);
    }
    if own.memory.is_some() {
        base.memory.clone_from(&own.memory);
    }
}

fn delegation(base: &mut Delegation, own: Option<&Delegation>, sink: &mut Sink) {
    let Some(own) = own else { return };
    if let Some(context) = &own.context {
        if let Some(inherited) =
            base.context.as_ref().filter(|b| b.value == ContextChoice::Minimal && context.value == ContextChoice::Full)
        {
            loosens("`delegation.context`", context.span, inherited.span, "must stay minimal", sink);
        }
        base.context = Some(context.clone());
    }
    if own.packet.is_some() {
        base.packet.clone_from(&own.packet);
    }
}

fn guard(base: &mut Guard, own: Option<&Guard>, sink: &mut Sink) {
    let Some(own) = own else { return };
    for (what, base, own) in [
        ("`guard.roles`", &mut base.roles, &own.roles),
        ("`guard.history`", &mut base.history, &own.history),
        ("`guard.packets`", &mut base.packets, &own.packets),
        ("`guard.reads`", &mut base.reads, &own.reads),
        ("`guard.context`", &mut base.context, &own.context),
        ("`guard.commands`", &mut base.commands, &own.commands),
    ] {
        let Some(own) = own else { continue };
        // Only what a layer below demands in words is a demand; the default may be switched off.
        if let Some(inherited) = base.as_ref().filter(|b| b.value && !own.value) {
            loosens(what, own.span, inherited.span, "must stay true", sink);
        }
        *base = Some(own.clone());
    }
}

fn record(base: &mut Recording, own: Option<&Recording>, sink: &mut Sink) {
    let Some(values) = own.and_then(|own| own.values.as_ref()) else { return };
    if let Some(inherited) = base.values.as_ref().filter(|b| !b.value && values.value) {
        loosens("`record.values`", values.span, inherited.span, "must stay false", sink);
    }
    base.values = Some(values.clone());
}
