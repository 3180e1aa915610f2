//! `render`: compiles and writes, all or nothing.

use crate::audit::pins;
use crate::compile::Compiled;
use crate::diag::Sink;
use crate::load;
use crate::model::adapter::Adapter;
use crate::plan::Purpose;
use crate::sync::{self, Applied, ApplyError, Cause, Comparison, LockState, Options, compare};
use crate::system::overlay::Overlay;

use super::args::{Global, RenderArgs};
use super::compiled::{compiled, known};
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::ui::Ui;
use super::{drift, minimal, pinned};

/// Runs the command.
///
/// # Errors
/// An invalid policy, a conflict, or a disk that cannot be written.
pub fn run(args: &RenderArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    match place.policy.as_deref() {
        Some(dir) => {
            let (compiled, sink) = compiled(&place.system, Some(dir), &[], Purpose::Files, ui)?;
            selected(&compiled, &args.hosts)?;
            composable(&place, dir, &compiled, ui)?;
            finish(args, &place, &compiled, sink, None, ui)
        }
        None => first(args, &place, ui),
    }
}

/// Renders the shipped policy where there is none yet, and writes the smallest policy with it.
fn first(args: &RenderArgs, place: &Place, ui: &Ui) -> Result<Exit, Failure> {
    let shipped = load::load(&place.system, None, &mut Sink::new());
    known(&shipped, &args.hosts)?;
    let hosts = if args.hosts.is_empty() {
        super::init::detected(&place.system, &shipped.adapters)?
    } else {
        args.hosts.clone()
    };
    if hosts.is_empty() {
        return Err(Failure::usage("there is no policy here, and no host is given or detected")
            .help("run `rolecast init`, or name the hosts: `rolecast render --host HOST`"));
    }
    let path = format!("{}/{}", place.policy_dir(), minimal::FILE);
    let system = Overlay::new(&place.system, [(path, minimal::text(&hosts).into_bytes())]);
    let (compiled, sink) = compiled(&system, Some(place.policy_dir()), &[], Purpose::Files, ui)?;
    finish(&RenderArgs { hosts: Vec::new(), ..*args }, place, &compiled, sink, Some(&hosts), ui)
}

/// Fails for a host that is known but not selected by the policy.
fn selected(compiled: &Compiled, hosts: &[String]) -> Result<(), Failure> {
    known(&compiled.loaded, hosts)?;
    let chosen = compiled.policy.as_ref().map_or(&[][..], |p| p.hosts.as_slice());
    match hosts.iter().find(|h| !chosen.contains(h)) {
        Some(host) => Err(Failure::usage(format!("the policy does not select the host `{host}`"))
            .help(format!("add `{host}: {{}}` to `hosts`, or name one of: {}", chosen.join(", ")))),
        None => Ok(()),
    }
}

/// Fails for tools that their primitives, as pinned, do not allow: nobody would have them.
fn composable(place: &Place, dir: &str, compiled: &Compiled, ui: &Ui) -> Result<(), Failure> {
    // What is wrong with a lock is for the render itself to say.
    let Ok(state) = LockState::load(&place.system, &Options::new(dir)) else { return Ok(()) };
    let mut sink = Sink::new();
    if pinned::hold(&place.system, dir, compiled, &state, &mut sink).composed {
        ui.diagnostics(&sink, &compiled.loaded.sources);
        return Err(Failure::said(Exit::Policy));
    }
    Ok(())
}

fn finish(
    args: &RenderArgs,
    place: &Place,
    compiled: &Compiled,
    mut sink: Sink,
    first_for: Option<&[String]>,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let artifacts = compiled.rendered.as_ref().map_or(&[][..], |r| r.artifacts.as_slice());
    let dir = place.policy_dir();
    let only = (!args.hosts.is_empty()).then_some(args.hosts.as_slice());
    let options = Options { force: args.force, hosts: only, ..Options::new(dir) };
    if args.dry_run {
        let state = LockState::load(&place.system, &options).map_err(|p| Failure::environment(p.to_string()))?;
        let comparison = compare(artifacts, &state, &place.system, &options);
        let exit = drift::report(&comparison, sink, &compiled.loaded.sources, ui);
        let stopped = exit == Exit::Environment || comparison.conflicts().next().is_some();
        return Ok(if stopped { exit } else { Exit::Clean });
    }
    if let Some(hosts) = first_for {
        // Only when nothing stands in the way of the render itself.
        let state = LockState::load(&place.system, &options).map_err(|p| Failure::environment(p.to_string()))?;
        let comparison = compare(artifacts, &state, &place.system, &options);
        if comparison.problems.is_empty() && comparison.conflicts().next().is_none() {
            let path = minimal::write(&place.system, dir, hosts)?;
            ui.say(&format!("wrote {path}"));
        }
    }
    let (comparison, result) = sync::render(artifacts, &place.system, &options);
    match result {
        Ok(applied) => {
            unseen(compiled, place, &options, &mut sink);
            ui.diagnostics(&sink, &compiled.loaded.sources);
            said(&applied, &comparison, compiled, ui);
            Ok(Exit::Clean)
        }
        Err(ApplyError::Conflicts(_) | ApplyError::Problems(_)) => {
            let comparison = drift::in_the_way(comparison, ui);
            let exit = drift::report(&comparison, sink, &compiled.loaded.sources, ui);
            let forceable = comparison.conflicts().all(|(_, c)| c.forceable);
            ui.error("nothing was written");
            if exit == Exit::Drift && forceable {
                ui.say("help: `rolecast render --force` overwrites what is shown above");
            }
            Ok(exit)
        }
        Err(error) => Err(Failure::environment(error.to_string())),
    }
}

/// Warns of servers that the gateway stands before and that nobody has looked at.
fn unseen(compiled: &Compiled, place: &Place, options: &Options<'_>, sink: &mut Sink) {
    let Some(policy) = compiled.policy.as_ref().filter(|policy| policy.gateway.is_some()) else { return };
    let Ok(state) = LockState::load(&place.system, options) else { return };
    for diagnostic in pins::unseen(policy, &state.lock.pins) {
        sink.push(diagnostic);
    }
}

fn said(applied: &Applied, comparison: &Comparison, compiled: &Compiled, ui: &Ui) {
    if applied.resumed {
        ui.say("completed an interrupted render");
    }
    for path in &applied.written {
        ui.say(&format!("wrote {path}"));
    }
    for path in &applied.deleted {
        ui.say(&format!("deleted {path}"));
    }
    let kept: Vec<_> = comparison
        .changes
        .iter()
        .flat_map(|change| change.causes.iter().map(move |cause| (change, cause)))
        .filter(|(_, cause)| matches!(cause, Cause::OrphanEdited | Cause::EntryOrphanEdited(_)))
        .collect();
    for (change, cause) in &kept {
        ui.say(&format!("kept {}: {cause}\n  {}", change.path, cause.remedy()));
    }
    if applied.written.is_empty() && applied.deleted.is_empty() && kept.is_empty() {
        ui.say("everything says what the policy says");
    }
    for note in &comparison.notes {
        ui.say(&format!("note: {}: {}", note.path, note.text));
    }
    for step in steps(applied, compiled) {
        ui.say(&format!("by hand: {step}"));
    }
}

/// What a person has to do so that the hosts take what was written.
fn steps(applied: &Applied, compiled: &Compiled) -> Vec<String> {
    let mut steps = Vec::new();
    let hosts = compiled.policy.iter().flat_map(|p| &p.hosts);
    for adapter in hosts.filter_map(|id| compiled.loaded.adapters.get(id)) {
        for by_hand in &adapter.by_hand {
            let changed = |output: &String| {
                let servers = compiled.plan.iter().flat_map(|p| &p.hosts).filter(|h| h.host == adapter.id);
                let moved = servers.filter_map(|h| h.servers.as_ref()).find(|s| s.output == *output).map(|s| &s.file);
                applied.written.iter().any(|path| moved == Some(path) || made_by(adapter, output, path))
            };
            if by_hand.after.iter().any(changed) {
                steps.push(format!("{}: {}", adapter.title, by_hand.step));
            }
        }
    }
    steps
}

fn made_by(adapter: &Adapter, output: &str, path: &str) -> bool {
    let Some(output) = adapter.outputs.get(output) else { return false };
    match output.file.split_once("{name}") {
        Some((before, after)) => {
            path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).is_some_and(|name| !name.contains('/'))
        }
        None => path == output.file,
    }
}
