//! `check`: the gate. Compiles in memory, compares, prints what differs.

use std::collections::BTreeSet;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::lint::{broken, foreign};
use crate::plan::Purpose;
use crate::render::artifact::Content;
use crate::sync::{LockState, Options, compare};
use crate::system::System;
use crate::system::git::{Tree, Which};

use super::args::{Against, CheckArgs, Global};
use super::compiled::compiled;
use super::drift;
use super::exit::{Exit, Failure};
use super::pinned;
use super::place::{self, Place};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// No policy, an invalid one, or no way to read the tree.
pub fn run(args: &CheckArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    let which = match args.against {
        None => return gate(&place.system, &place, args, ui),
        Some(Against::Index) => Which::Index,
        Some(Against::Head) => Which::Head,
    };
    let tree = Tree::open(place.system.root(), which).map_err(|e| Failure::environment(e.to_string()))?;
    gate(&tree, &place, args, ui)
}

fn gate(system: &dyn System, place: &Place, args: &CheckArgs, ui: &Ui) -> Result<Exit, Failure> {
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(
            Exit::Policy,
            "there is no policy here: no `shared-agent-rules` folder upwards of the working folder",
        )
        .help("run `rolecast init`"));
    };
    let (mut compiled, mut sink) = compiled(system, Some(dir), &[], Purpose::Files, ui)?;
    foreign_files(system, &mut compiled, &mut sink);
    let artifacts = compiled.rendered.as_ref().map_or(&[][..], |r| r.artifacts.as_slice());
    let options = Options { strict_eol: args.strict_eol, ..Options::new(dir) };
    let state = LockState::load(system, &options).map_err(|p| Failure::environment(p.to_string()))?;
    let comparison = compare(artifacts, &state, system, &options);
    let pinned = pinned::hold(system, dir, &compiled, &state, &mut sink);
    let exit = drift::report(&comparison, sink, &compiled.loaded.sources, ui);
    if pinned.composed && exit != Exit::Environment {
        ui.say("the policy composes tools that their primitives do not allow");
        return Ok(Exit::Policy);
    }
    if pinned.fails && exit == Exit::Clean {
        ui.say("the policy and the pins of its servers contradict each other");
        return Ok(Exit::Drift);
    }
    match exit {
        Exit::Clean if ui.format == crate::diag::render::Format::Human => {
            ui.say(&match artifacts.len() {
                1 => "1 file says what the policy says".to_owned(),
                n => format!("{n} files say what the policy says"),
            });
        }
        Exit::Drift => ui.say(&match comparison.changes.len() {
            1 => "1 file differs from the policy".to_owned(),
            n => format!("{n} files differ from the policy"),
        }),
        _ => {}
    }
    // The program ends here: giving every piece back one by one would only cost time.
    std::mem::forget((compiled, comparison));
    Ok(exit)
}

/// Warns of texts and hooks of others that undo lazy discovery at the start of every session, and of roles of others
/// that their host cannot read.
fn foreign_files(system: &dyn System, compiled: &mut Compiled, sink: &mut Sink) {
    let (Some(policy), Some(rendered)) = (&compiled.policy, &compiled.rendered) else { return };
    let whole = rendered.artifacts.iter().filter(|a| matches!(a.content, Content::Whole(_)));
    let ours: BTreeSet<String> = whole.map(|a| a.path.clone()).collect();
    for candidate in foreign::candidates(system, &compiled.loaded.adapters, &policy.hosts, &ours) {
        for diagnostic in foreign::judge(&candidate, &mut compiled.loaded.sources) {
            sink.push(diagnostic);
        }
    }
    let sources = &mut compiled.loaded.sources;
    for diagnostic in broken::roles(system, &compiled.loaded.adapters, &policy.hosts, &ours, sources) {
        sink.push(diagnostic);
    }
}
