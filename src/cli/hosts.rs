//! `hosts`: what is known of each host, and on what evidence.

use serde_json::{Value, json};

use crate::diag::Sink;
use crate::diag::render::Format;
use crate::load;
use crate::model::adapter::{Adapter, Form, Sense};
use crate::plan::measured::{self, Rate};
use crate::plan::offer;
use crate::plan::standing::{self, Standing};
use crate::resolve;
use crate::system::System;
use crate::verify::Installed;

use super::args::{Global, HostsArgs};
use super::exit::{Exit, Failure};
use super::explain::layout::{Table, visible};
use super::place;
use super::ui::Ui;

/// A host on the page.
struct Shown<'a> {
    adapter: &'a Adapter,
    selected: bool,
    /// What was verified, that which counts first in front.
    verified: Vec<Standing>,
    /// What real models kept to, one for each scenario.
    measured: Vec<Rate>,
    installed: Option<Installed>,
}

/// Runs the command.
///
/// # Errors
/// Usage: a format that has no such page. The policy, when its sources cannot be read.
pub fn run(args: &HostsArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
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
    let mut hosts: Vec<Shown<'_>> = loaded
        .adapters
        .values()
        .map(|adapter| {
            let evidence = resolve::evidence_of(&loaded, &adapter.id, &mut sink);
            Shown {
                adapter,
                selected: selected.contains(&adapter.id),
                verified: evidence.iter().filter_map(Standing::of).collect(),
                measured: evidence.iter().flat_map(|e| measured::rates(&e.seen)).collect(),
                installed: None,
            }
        })
        .collect();
    if args.installed {
        let adapters: Vec<&Adapter> = hosts.iter().map(|h| h.adapter).collect();
        let found = installed(&adapters, args.host_bin.as_deref())?;
        for (host, found) in hosts.iter_mut().zip(found) {
            host.installed = Some(found);
        }
    }
    if ui.format == Format::Json {
        ui.result(&format!("{:#}\n", json(&hosts, &place.system)));
    } else {
        ui.result(&human(&hosts, &place.system));
    }
    Ok(Exit::Clean)
}

/// What is installed of each host.
#[cfg(feature = "gateway")]
fn installed(adapters: &[&Adapter], bin: Option<&str>) -> Result<Vec<Installed>, Failure> {
    let bin = super::verify::bin(bin)?;
    let found = crate::verify::installed(adapters, bin.as_deref(), &crate::verify::Platform::here());
    found.map_err(|problem| Failure::environment(problem.to_string()))
}

#[cfg(not(feature = "gateway"))]
fn installed(_: &[&Adapter], _: Option<&str>) -> Result<Vec<Installed>, Failure> {
    Err(Failure::absent("hosts --installed"))
}

fn human(hosts: &[Shown<'_>], system: &dyn System) -> String {
    let mut out = String::new();
    for host in hosts {
        let adapter = host.adapter;
        let evidence = &adapter.evidence;
        let package = evidence.package.as_deref().unwrap_or(&adapter.title);
        let state = if host.selected { "selected" } else { "not selected" };
        let mut table = Table::default();
        let seen = format!("{} on {package} {}, {}", evidence.by.word(), evidence.version, evidence.date);
        table.row(["evidence".to_owned(), seen]);
        for verified in &host.verified {
            table.row(["verified".to_owned(), counted(verified)]);
        }
        if host.verified.is_empty() {
            table.row(["verified".to_owned(), standing::not_run(adapter).to_owned()]);
        }
        for measured in &host.measured {
            table.row(["eval".to_owned(), measured.words()]);
        }
        if let Some(found) = &host.installed {
            table.row(["installed".to_owned(), here(found, host.verified.first())]);
        }
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

/// What was verified, in numbers.
fn counted(s: &Standing) -> String {
    let by = if s.shipped { "shipped" } else { s.file.as_str() };
    let better = if s.better == 0 { String::new() } else { format!(", {} better", s.better) };
    format!(
        "{} held{better}, {} untried, {} broken on {}, {} ({by})",
        s.held,
        s.untried,
        s.broken,
        s.versions.join(", "),
        s.date
    )
}

/// What is installed, held against what was verified.
fn here(found: &Installed, verified: Option<&Standing>) -> String {
    match (found, verified) {
        (Installed::No(why), _) => format!("no: {why}"),
        (Installed::Version(version), Some(s)) if s.stale(version) => {
            format!("{version}; what was verified is stale, run `rolecast verify --accept`")
        }
        (Installed::Version(version), _) => version.clone(),
    }
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

fn json(hosts: &[Shown<'_>], system: &dyn System) -> Value {
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
    let hosts = hosts.iter().map(|host| {
        let a = host.adapter;
        let mut shown = json!({
            "host": a.id,
            "title": a.title,
            "selected": host.selected,
            "evidence": {
                "by": a.evidence.by, "package": a.evidence.package,
                "version": a.evidence.version, "date": a.evidence.date,
            },
            "runs-offline": a.verify.is_some(),
            "verified": host.verified,
            "eval": host.measured,
            "forms": a.forms.iter().map(|(name, f)| form(a, name, f)).collect::<Vec<_>>(),
            "detect": a.detect,
            "detected": detected(a, system),
        });
        if let Some(found) = &host.installed {
            let stale = match (found, host.verified.first()) {
                (Installed::Version(version), Some(s)) => Some(s.stale(version)),
                _ => None,
            };
            shown["installed"] = json!(found);
            shown["stale"] = json!(stale);
        }
        shown
    });
    Value::from(hosts.collect::<Vec<_>>())
}
