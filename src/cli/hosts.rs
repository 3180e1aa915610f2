//! `hosts`: what is known of each host, and on what evidence.

use serde_json::{Value, json};

use crate::diag::Sink;
use crate::diag::render::Format;
use crate::load::{self, Loaded};
use crate::model::adapter::{Adapter, Form, Sense};
use crate::plan::offer;
use crate::resolve;
use crate::system::System;

use super::args::{Global, HostsArgs};
use super::exit::{Exit, Failure};
use super::explain::layout::{Table, visible};
use super::place;
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// Usage: a format that has no such page. The policy, when its sources cannot be read.
pub fn run(_args: &HostsArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if matches!(ui.format, Format::Github | Format::Sarif) {
        return Err(Failure::usage("`hosts` prints `human` or `json`, not annotations"));
    }
    let place = place::find(global)?;
    let mut sink = Sink::new();
    let loaded = load::load(&place.system, place.policy.as_deref(), &mut sink);
    if sink.has_errors() {
        ui.diagnostics(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    }
    // Which hosts are selected can be told of a policy with other faults, too.
    let selected = resolve::resolve(&loaded, &[], &mut Sink::new()).hosts;
    if ui.format == Format::Json {
        ui.result(&format!("{:#}\n", json(&loaded, &selected, &place.system)));
    } else {
        ui.result(&human(&loaded, &selected, &place.system));
    }
    Ok(Exit::Clean)
}

fn human(loaded: &Loaded, selected: &[String], system: &dyn System) -> String {
    let mut out = String::new();
    for adapter in loaded.adapters.values() {
        let evidence = &adapter.evidence;
        let package = evidence.package.as_deref().unwrap_or(&adapter.title);
        let state = if selected.contains(&adapter.id) { "selected" } else { "not selected" };
        let mut table = Table::default();
        let seen = format!("{} on {package} {}, {}", evidence.by.word(), evidence.version, evidence.date);
        table.row(["evidence".to_owned(), seen]);
        for form in adapter.forms.values() {
            table.row([form.title.clone(), holds(adapter, form)]);
        }
        let found = detected(adapter, system);
        let found = if found.is_empty() { "none is here".to_owned() } else { format!("here: {}", found.join(", ")) };
        table.row(["detected by".to_owned(), format!("{}; {found}", adapter.detect.join(", "))]);
        out.push_str(&format!("{} ({}), {state}\n{}\n", adapter.title, adapter.id, table.print(2, &[24])));
    }
    visible(&out)
}

/// A form with what its list of tools can hold.
fn holds(adapter: &Adapter, form: &Form) -> String {
    let mut text = String::new();
    if let Some(list) = offer::list(adapter, form) {
        let claim = &list.claim;
        let evidence = claim.evidence.unwrap_or(adapter.evidence.by).word();
        text.push_str(&format!(
            "{}: a role lacks the tools that its list {}, {evidence}",
            claim.guarantee.word(),
            if list.sense == Sense::Deny { "removes" } else { "does not name" }
        ));
        for condition in &claim.conditions {
            text.push_str(&format!(", if {condition}"));
            if let Some(condition) = adapter.conditions.get(condition) {
                text.push_str(&format!(" ({})", condition.means));
            }
        }
        if let Some(hole) = &claim.hole {
            text.push_str(&format!("; {hole}"));
        }
    }
    if form.launch.is_some() {
        text.push_str("; `rolecast run ROLE` starts it");
    }
    text
}

fn detected<'a>(adapter: &'a Adapter, system: &dyn System) -> Vec<&'a str> {
    adapter.detect.iter().map(String::as_str).filter(|path| matches!(system.kind(path), Ok(Some(_)))).collect()
}

fn json(loaded: &Loaded, selected: &[String], system: &dyn System) -> Value {
    let form = |adapter: &Adapter, name: &str, form: &Form| {
        let list = offer::list(adapter, form);
        json!({
            "form": name,
            "title": form.title,
            "launched": form.launched,
            "run": form.launch.is_some(),
            "guarantee": list.map(|l| l.claim.guarantee),
            "evidence": list.map(|l| l.claim.evidence.unwrap_or(adapter.evidence.by)),
            "conditions": list.map(|l| &l.claim.conditions),
            "hole": list.and_then(|l| l.claim.hole.as_ref()),
        })
    };
    let hosts = loaded.adapters.values().map(|a| {
        json!({
            "host": a.id,
            "title": a.title,
            "selected": selected.contains(&a.id),
            "evidence": {
                "by": a.evidence.by, "package": a.evidence.package,
                "version": a.evidence.version, "date": a.evidence.date,
            },
            "forms": a.forms.iter().map(|(name, f)| form(a, name, f)).collect::<Vec<_>>(),
            "detect": a.detect,
            "detected": detected(a, system),
        })
    });
    Value::from(hosts.collect::<Vec<_>>())
}
