//! Compiling for a command: where, what, and how failures end it.

use crate::compile::{Compiled, compile_for};
use crate::diag::Sink;
use crate::gateway::known::check_built_in;
use crate::load::Loaded;
use crate::plan::Purpose;
use crate::system::System;
use crate::text::suggest::nearest;

use super::exit::{Exit, Failure};
use super::ui::Ui;

/// Compiles; in human format diagnostics are printed at once, in the others they are returned with the value.
///
/// # Errors
/// The policy is invalid, or cannot be held.
pub fn compiled(
    system: &dyn System,
    dir: Option<&str>,
    hosts: &[String],
    purpose: Purpose,
    ui: &Ui,
) -> Result<(Compiled, Sink), Failure> {
    let mut sink = Sink::new();
    let compiled = compile_for(system, dir, hosts, purpose, &mut sink);
    known(&compiled.loaded, hosts)?;
    if let (Some(policy), true) = (&compiled.policy, compiled.rendered.is_some()) {
        let mut found = Sink::new();
        check_built_in(policy, &mut found);
        if found.has_errors() {
            found.iter().for_each(|diagnostic| sink.push(diagnostic.clone()));
            ui.diagnostics(&sink, &compiled.loaded.sources);
            return Err(Failure::said(Exit::Policy));
        }
    }
    if compiled.rendered.is_none() {
        ui.diagnostics(&sink, &compiled.loaded.sources);
        return Err(Failure::said(Exit::Policy));
    }
    Ok((compiled, sink))
}

/// Fails for a host on the command line that no adapter has.
///
/// # Errors
/// Names the unknown host and the nearest known one.
pub fn known(loaded: &Loaded, hosts: &[String]) -> Result<(), Failure> {
    let Some(unknown) = hosts.iter().find(|h| !loaded.adapters.contains_key(*h)) else { return Ok(()) };
    let names = || loaded.adapters.keys().map(String::as_str);
    let failure = Failure::usage(format!("unknown host `{unknown}`"));
    Err(match nearest(unknown, names()) {
        Some(name) => failure.help(format!("did you mean `{name}`?")),
        None => failure.help(format!("known hosts: {}", names().collect::<Vec<_>>().join(", "))),
    })
}
