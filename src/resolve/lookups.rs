//! Names of hosts, and what adapters name.

use super::capabilities::Catalogue;
use super::layers::Merged;
use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::load::{Loaded, builtin, sections};
use crate::model::adapter::{Adapter, Sense};

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
    // Without a policy of the repository's own there is none to complain of.
    let own = loaded.layers.last().is_some_and(|layer| layer.name != builtin::NAME);
    if own && hosts.is_empty() && !sink.has_errors() {
        sink.push(no_host(loaded, merged));
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

/// A policy for nobody would take away everything that was rendered, and pass the gate for ever after.
fn no_host(loaded: &Loaded, merged: &Merged<'_>) -> Diagnostic {
    let what = if merged.hosts.is_some() { "`hosts` selects no host" } else { "the policy selects no host" };
    let source = loaded.layers.last().and_then(|layer| layer.main_source);
    let place = source.map(|source| {
        sections::key_span(&loaded.sources, source, "hosts").unwrap_or(Span { source, start: 0, end: 0 })
    });
    let known: Vec<&str> = loaded.adapters.keys().map(String::as_str).collect();
    Diagnostic::new(Code::MissingKey, what).at_opt(place, "").help(format!(
        "name one at least, as in `hosts: {{ {}: {{}} }}`; known hosts: {}",
        known.first().unwrap_or(&"HOST"),
        known.join(", ")
    ))
}

/// Checks that the selected adapters name only what exists.
pub(super) fn adapters(loaded: &Loaded, hosts: &[String], catalogue: &Catalogue, sink: &mut Sink) {
    for adapter in hosts.iter().filter_map(|id| loaded.adapters.get(id)) {
        let mut wrong = |what: String| {
            sink.push(
                Diagnostic::new(Code::AdapterInvalid, format!("adapter `{}`: {what}", adapter.id))
                    .path(format!("adapters/{}.yaml", adapter.id)),
            );
        };
        for (name, tool) in &adapter.tools {
            for cap in tool.covers.iter().chain(&tool.confers).filter(|c| catalogue.find(c).is_none()) {
                wrong(format!("tool `{name}` names the unknown capability `{cap}`"));
            }
        }
        forms(adapter, &mut wrong);
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
        if list.sense == Sense::Deny {
            let mut seen: Vec<&String> = Vec::new();
            for tool in list.selectors.values().flatten() {
                if seen.contains(&tool) {
                    wrong(format!(
                        "tool `{tool}` is removed by two words of form `{id}`; words of a deny list must be disjoint"
                    ));
                }
                seen.push(tool);
            }
        }
        for name in list.claim.conditions.iter().chain(form.narrow.iter().flat_map(|n| &n.claim.conditions)) {
            if !adapter.conditions.contains_key(name) {
                wrong(format!("form `{id}` names the unknown condition `{name}`"));
            }
        }
    }
}
