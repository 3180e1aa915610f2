//! `explain`: what the compilation claims, on what evidence, and where every text comes from.

mod claims;
mod commands;
mod conditions;
mod cost;
mod delivery;
pub(super) mod held;
pub(super) mod layout;
mod made;
mod measured;
mod origin;
mod overview;
mod role;
mod servers;
mod tools;
pub(super) mod view;

use serde_json::Value;

use crate::diag::Sink;
use crate::diag::render::Format;
use crate::plan::Purpose;
use crate::system::System;
use crate::text::suggest::nearest;

use super::args::{ExplainArgs, Global};
use super::compiled::{compiled, known};
use super::exit::{Exit, Failure};
use super::place;
use super::ui::Ui;
use view::View;

/// A page, for people or for programs.
enum Page {
    Text(String),
    Data(Value),
}

/// Runs the command.
///
/// # Errors
/// Usage: an unknown host, role or path, or a format that has no such page. Else those of a compilation.
pub fn run(args: &ExplainArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if matches!(ui.format, Format::Github | Format::Sarif) {
        return Err(Failure::usage("`explain` prints `human` or `json`, not annotations")
            .help("`rolecast check` has the formats `github` and `sarif`"));
    }
    let place = place::find(global)?;
    // Planning is over the whole set: what one host reads changes what another may carry.
    let asked = if place.policy.is_some() { &[][..] } else { &args.hosts[..] };
    let (compiled, sink) = compiled(&place.system, place.policy.as_deref(), asked, Purpose::Ledger, ui)?;
    known(&compiled.loaded, &args.hosts)?;
    let view =
        View::new(&compiled, &args.hosts).ok_or_else(|| Failure::new(Exit::Internal, "the compilation has no end"))?;
    selected(&view, &args.hosts)?;
    let page = page(args, ui, &view, &sink, &place.system)?;
    match page {
        Page::Text(text) => {
            ui.diagnostics(&sink, view.sources());
            ui.result(&layout::visible(&text));
        }
        Page::Data(value) => ui.result(&format!("{value:#}\n")),
    }
    Ok(Exit::Clean)
}

/// Fails when there is no host to speak of, or one that the policy does not select.
fn selected(view: &View<'_>, asked: &[String]) -> Result<(), Failure> {
    let all = &view.policy.hosts;
    if all.is_empty() {
        return Err(Failure::usage("no host is selected")
            .help("name one with `--host`, or start a policy with `rolecast init`"));
    }
    match asked.iter().find(|h| !all.contains(h)) {
        Some(host) => Err(Failure::usage(format!("the policy does not select host `{host}`"))
            .help(format!("selected hosts: {}", all.join(", ")))),
        None => Ok(()),
    }
}

fn page(args: &ExplainArgs, ui: &Ui, view: &View<'_>, sink: &Sink, system: &dyn System) -> Result<Page, Failure> {
    let json = ui.format == Format::Json;
    let choose = |text: &dyn Fn() -> String, data: &dyn Fn() -> Value| {
        if json { Page::Data(data()) } else { Page::Text(text()) }
    };
    if args.subject.is_some() && (args.delivery || args.cost || args.tools) {
        return Err(Failure::usage("`--delivery`, `--cost` and `--tools` are pages of the whole policy")
            .help("leave the subject out; `--host` narrows them"));
    }
    let Some(subject) = &args.subject else {
        return Ok(if args.delivery {
            choose(&|| delivery::human(view), &|| delivery::json(view))
        } else if args.cost {
            choose(&|| cost::human(view), &|| cost::json(view))
        } else if args.tools {
            choose(&|| tools::human(view), &|| tools::json(view))
        } else {
            choose(&|| overview::human(view, sink), &|| overview::json(view, sink))
        });
    };
    if let Some(role) = view.policy.roles.iter().find(|r| r.id == *subject) {
        return Ok(choose(&|| role::human(view, role), &|| role::json(view, role)));
    }
    let Some(rendered) = origin::parse(view, subject) else { return Err(unknown(view, subject)) };
    let (text, data) = origin::pages(view, system, &rendered)?;
    Ok(if json { Page::Data(data) } else { Page::Text(text) })
}

fn unknown(view: &View<'_>, subject: &str) -> Failure {
    let looks_like_path = subject.contains(['/', '.', ':']);
    let roles = || view.policy.roles.iter().map(|r| r.id.as_str());
    let paths = || view.rendered.artifacts.iter().map(|a| a.path.as_str());
    let failure = Failure::usage(if looks_like_path {
        format!("`{subject}` is no file that the policy renders, and no role")
    } else {
        format!("unknown role `{subject}`")
    });
    let near = if looks_like_path { nearest(subject, paths()) } else { nearest(subject, roles().chain(paths())) };
    match near {
        Some(name) => failure.help(format!("did you mean `{name}`?")),
        None => failure.help(format!("roles: {}", roles().collect::<Vec<_>>().join(", "))),
    }
}
