//! `check`: the gate. Compiles in memory, compares, prints what differs.

use crate::sync::{LockState, Options, compare};
use crate::system::System;

use super::args::{CheckArgs, Global};
use super::compiled::compiled;
use super::drift;
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// No policy, an invalid one, or no way to read the tree.
pub fn run(args: &CheckArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    if args.against.is_some() {
        return Err(Failure::new(Exit::Internal, "not built yet"));
    }
    against(&place.system, &place, args, ui)
}

fn against(system: &dyn System, place: &Place, args: &CheckArgs, ui: &Ui) -> Result<Exit, Failure> {
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(
            Exit::Policy,
            "there is no policy here: no `shared-agent-rules` folder upwards of the working folder",
        )
        .help("run `rolecast init`"));
    };
    let (compiled, sink) = compiled(system, Some(dir), &[], ui)?;
    let artifacts = compiled.rendered.as_ref().map_or(&[][..], |r| r.artifacts.as_slice());
    let options = Options { strict_eol: args.strict_eol, ..Options::new(dir) };
    let state = LockState::load(system, &options).map_err(|p| Failure::environment(p.to_string()))?;
    let comparison = compare(artifacts, &state, system, &options);
    let exit = drift::report(&comparison, sink, &compiled.loaded.sources, ui);
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
    Ok(exit)
}
