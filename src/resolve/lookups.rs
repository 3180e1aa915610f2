//! Names of hosts, and what adapters name.

use super::capabilities::Catalogue;
use super::layers::Merged;
use super::text;
use crate::diag::{Code, Diagnostic, Sink};
use crate::load::{Loaded, builtin};
use crate::model::adapter::{Adapter, After, Form, List, Mechanism, Narrow, Sense};
use crate::model::capability::ScopeKind;

/// The selected hosts in the order of their names, so that the order they were written in changes nothing.
pub(super) fn hosts(loaded: &Loaded, merged: &Merged<'_>, asked: &[String], sink: &mut Sink) -> Vec<String> {
    let known = || loaded.adapters.keys().map(String::as_str);
    let mut hosts: Vec<String> = Vec::new();
    if asked.is_empty() {
        for name in merged.hosts.into_iter().flatten().map(|(name, _)| name) {
            if loaded.adapters.contains_key(&name.value) {
                hosts.push(name.value.clone());
            } else {
                sink.push(
                    Diagnostic::new(Code::UnknownHost, format!("unknown host `{}`", name.value))
                        .at_opt(name.span, "no adapter has this id")
                        .suggest(&name.value, known()),
                );
            }
        }
    } else {
        hosts.extend(asked.iter().filter(|id| loaded.adapters.contains_key(*id)).cloned());
    }
    let nothing = merged.hosts.is_none_or(indexmap::IndexMap::is_empty);
    let own = loaded.layers.last().filter(|own| own.name != builtin::NAME && own.main_source.is_some());
    if asked.is_empty() && nothing && own.is_some() {
        sink.push(no_hosts(loaded));
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

fn no_hosts(loaded: &Loaded) -> Diagnostic {
    let main = loaded.layers.last().and_then(|own| own.main_source);
    let known: Vec<&str> = loaded.adapters.keys().map(String::as_str).collect();
    let d = Diagnostic::new(Code::NoHosts, "the policy selects no host: nothing would be rendered or checked")
        .at_opt(main.and_then(|source| text::line(loaded, source, "hosts:")), "names none")
        .note(format!("known hosts: {}", known.join(", ")))
        .help(format!(
            "write those this repository is used with, as in `hosts: {{ {} }}`",
            known.iter().take(2).map(|id| format!("{id}: {{}}")).collect::<Vec<_>>().join(", "),
        ));
    match main {
        Some(source) if d.primary.is_none() => d.path(loaded.sources.get(source).path.clone()),
        _ => d,
    }
}

/// What refuses commands names outputs and conditions.
fn commands(adapter: &Adapter, wrong: &mut dyn FnMut(String)) {
    let own = &adapter.commands;
    if let Some(rules) = own.rules.as_ref().filter(|r| !adapter.outputs.contains_key(&r.output)) {
        wrong(format!("the rules about commands name the unknown output `{}`", rules.output));
    }
    let claims = own.rules.iter().map(|r| &r.claim).chain(&own.guard).chain(&own.launch);
    for name in claims.flat_map(|c| &c.conditions).filter(|c| !adapter.conditions.contains_key(*c)) {
        wrong(format!("what refuses commands names the unknown condition `{name}`"));
    }
    if own.guard.is_some() && !adapter.hook.iter().flat_map(|h| h.tools.values()).any(|t| t.command.is_some()) {
        wrong("no tool of the hook has a `command` for the guard to refuse".to_owned());
    }
}

/// Checks that the selected adapters name only what exists.
pub(super) fn adapters(loaded: &Loaded, hosts: &[String], catalogue: &Catalogue, sink: &mut Sink) {
    for adapter in hosts.iter().filter_map(|id| loaded.adapters.get(id)) {
        let mut wrong = |what: String| {
            let d = Diagnostic::new(Code::AdapterInvalid, format!("adapter `{}`: {what}", adapter.id));
            // An adapter is plain data without places: what is wrong is the last name in the message.
            let name = what.rsplit('`').nth(1).unwrap_or("");
            let source = text::source_of(loaded, &format!("{}.yaml", adapter.id));
            sink.push(match source.and_then(|source| text::word(loaded, source, name)) {
                Some(span) => d.at(span, ""),
                None => d.path(format!("adapters/{}.yaml", adapter.id)),
            });
        };
        for (name, tool) in &adapter.tools {
            for cap in tool.covers.iter().chain(&tool.confers).filter(|c| catalogue.find(c).is_none()) {
                wrong(format!("tool `{name}` names the unknown capability `{cap}`"));
            }
        }
        let lists = adapter.forms.values().filter_map(|f| f.list.as_ref()?.rules.as_ref());
        for after in lists.flat_map(|r| &r.after) {
            if let After { word, unless: Some(cap), .. } = after
                && catalogue.find(cap).is_none()
            {
                wrong(format!("a rule behind `{word}` names the unknown capability `{cap}`"));
            }
        }
        let servers = adapter.mcp.iter().flat_map(|m| &m.conditions);
        for name in adapter.tools.values().flat_map(|t| &t.conditions).chain(servers) {
            if !adapter.conditions.contains_key(name) {
                wrong(format!("a tool names the unknown condition `{name}`"));
            }
        }
        forms(adapter, &mut wrong);
        commands(adapter, &mut wrong);
        for pointer in adapter.knobs.iter().map(|k| &k.set).chain(adapter.reads.iter().filter_map(|r| r.needs.as_ref()))
        {
            if pointer.split_once(":/").is_none_or(|(output, _)| !adapter.outputs.contains_key(output)) {
                wrong(format!("`{pointer}` names no output"));
            }
        }
        for (id, output) in &adapter.outputs {
            if let Some(name) =
                output.template.as_ref().filter(|t| !loaded.templates.contains_key(&format!("{}/{t}", adapter.id)))
            {
                wrong(format!("output `{id}` names the template `{name}`, which does not exist"));
            }
        }
        for (id, form) in &adapter.forms {
            let name = form.launch.as_ref().map(|l| &l.template);
            if let Some(name) = name.filter(|t| !loaded.templates.contains_key(&format!("{}/{t}", adapter.id))) {
                wrong(format!("form `{id}` is started by the template `{name}`, which does not exist"));
            }
        }
        for carrier in &adapter.carriers {
            if let Some(name) =
                carrier.template.as_ref().filter(|t| !loaded.templates.contains_key(&format!("{}/{t}", adapter.id)))
            {
                wrong(format!("carrier `{}` names the template `{name}`, which does not exist", carrier.file));
            }
        }
    }
}

fn forms(adapter: &Adapter, wrong: &mut impl FnMut(String)) {
    let known = |tool: &String| adapter.tools.contains_key(tool) || adapter.inert.contains(tool);
    for (id, form) in &adapter.forms {
        for tool in form.residue.iter().filter(|t| !known(t)) {
            wrong(format!("form `{id}` names the unknown tool `{tool}`"));
        }
        for output in form.outputs.iter().filter(|o| !adapter.outputs.contains_key(*o)) {
            wrong(format!("form `{id}` names the unknown output `{output}`"));
        }
        match &form.launch {
            Some(_) if adapter.program.is_none() => {
                wrong(format!("form `{id}` is to be started, and the adapter names no `program`"));
            }
            None if form.launched => wrong(format!("form `{id}` is `launched`, and has no `launch`")),
            _ => {}
        }
        match (&form.list, &form.same_as) {
            (Some(_), None) => {}
            (None, Some(other)) if adapter.forms.get(other).is_some_and(|f| f.list.is_some()) => {}
            _ => wrong(format!("form `{id}` needs either `list` or `as` with a form that has one")),
        }
        let Some(list) = &form.list else { continue };
        for (word, tools) in &list.selectors {
            for tool in tools.iter().filter(|t| !known(t)) {
                wrong(format!("selector `{word}` of form `{id}` names the unknown tool `{tool}`"));
            }
        }
        if list.sense != Sense::Allow {
            let mut seen: Vec<&String> = Vec::new();
            for tool in list.selectors.values().flatten() {
                if seen.contains(&tool) {
                    wrong(format!(
                        "tool `{tool}` belongs to two words of form `{id}`; words of a deny list and of rules must be disjoint"
                    ));
                }
                seen.push(tool);
            }
        }
        rules(adapter, id, form, list, wrong);
        for name in list.claim.conditions.iter().chain(form.narrow.iter().flat_map(|n| &n.claim.conditions)) {
            if !adapter.conditions.contains_key(name) {
                wrong(format!("form `{id}` names the unknown condition `{name}`"));
            }
        }
    }
}

/// Checks what only lists of rules have, and what stands in for an empty list.
fn rules(adapter: &Adapter, id: &str, form: &Form, list: &List, wrong: &mut impl FnMut(String)) {
    if list.rules.is_some() != (list.sense == Sense::Rules) {
        wrong(format!("form `{id}` needs `rules` exactly when the sense of its list is `rules`"));
    }
    let words: Vec<&String> =
        if list.selectors.is_empty() { adapter.tools.keys().collect() } else { list.selectors.keys().collect() };
    for after in list.rules.iter().flat_map(|r| &r.after) {
        if !words.contains(&&after.word) {
            wrong(format!("a rule of form `{id}` is to stand behind the unknown word `{}`", after.word));
        }
        for tool in after.tools.iter().filter(|t| !list.selectors.get(&after.word).is_some_and(|all| all.contains(t))) {
            wrong(format!("a rule of form `{id}` names the tool `{tool}`, which its word does not bring"));
        }
    }
    for word in list.empty.iter().filter(|w| !adapter.inert.contains(w)) {
        wrong(format!("form `{id}` fills an empty list with `{word}`, which is no inert tool"));
    }
    let inside = |n: &&Narrow| n.by == Mechanism::Rules && form.launch.is_none();
    for narrow in form.narrow.iter().filter(inside) {
        if list.sense != Sense::Rules || narrow.globs.is_none() || narrow.scope != ScopeKind::Paths {
            wrong(format!(
                "form `{id}` narrows by rules, which needs `globs`, `scope: paths` and a list whose sense is `rules`"
            ));
        }
    }
}
