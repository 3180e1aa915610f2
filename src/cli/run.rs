//! `run`: starts a role as a process of its own host, and says what holds.

use std::io::IsTerminal as _;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::diag::render::Format;
use crate::plan::Purpose;
use crate::render::{Command, Scene};
use crate::resolve::policy::Budget;
use crate::run::{self, Choice, Private, Start};
use crate::sync::{LockState, Options, compare};
use crate::verify::Platform;

use super::args::{Global, RunArgs};
use super::compiled::compiled;
use super::exit::{Exit, Failure};
use super::explain::{held, view::View};
use super::place::{self, Place};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// No policy or an invalid one, an unknown role or host, files that have drifted, a program that is not there.
pub fn run(args: &RunArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if ui.format != Format::Human {
        return Err(Failure::usage("`run` has no other format than `human`"));
    }
    let place = place::find(global)?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(Exit::Policy, "there is no policy here, and so no role").help("run `rolecast init`"));
    };
    let (compiled, sink) = compiled(&place.system, Some(dir), &[], Purpose::Ledger, ui)?;
    ui.diagnostics(&sink, &compiled.loaded.sources);
    let choice = run::choose(&compiled, &args.role, args.host.as_deref())
        .map_err(|refusal| Failure::usage(refusal.message).help(refusal.help))?;
    drift(&compiled, &choice, &place, dir)?;
    let packet = args.packet.as_deref().map(read).transpose()?;
    if let Some(packet) = &packet {
        measured(packet, &compiled, ui);
    }
    if let Some(view) = View::new(&compiled, &[]) {
        ui.say(held::page(&view, &choice).trim_end());
    }
    go(args, &compiled, &choice, &place, packet.as_deref(), ui)
}

/// Makes the command, and starts or prints it.
fn go(
    args: &RunArgs,
    compiled: &Compiled,
    choice: &Choice<'_>,
    place: &Place,
    packet: Option<&str>,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let root = place.system.root();
    let private = Private::new()
        .map_err(|e| Failure::environment(format!("cannot make a folder for the files of the process: {e}")))?;
    let (at, folder) = (root.to_string_lossy(), private.path().to_string_lossy());
    if private.path().starts_with(root) {
        return Err(Failure::environment("the folder for temporary files is inside of the repository")
            .help("set TMPDIR to a folder outside"));
    }
    let mut sink = Sink::new();
    let scene = Scene { root: &at, dir: &folder, packet };
    let command = run::command(compiled, choice, scene, &mut sink);
    ui.diagnostics(&sink, &compiled.loaded.sources);
    let Some(mut command) = command else { return Err(Failure::said(Exit::Policy)) };
    command.args.extend(args.flags.iter().cloned());
    if args.dry_run {
        print(&command, choice, ui);
        return Ok(Exit::Clean);
    }
    let program = Platform::here().find(&choice.program.name).ok_or_else(|| missing(choice))?;
    let failed = |e: std::io::Error| Failure::environment(format!("cannot start `{}`: {e}", program.display()));
    private.write(&command.files).map_err(failed)?;
    let start = Start {
        program: &program,
        args: &command.args,
        env: &command.env,
        folder: root.to_owned(),
        person: packet.is_none(),
        terminal: std::io::stdin().is_terminal(),
    };
    run::start(&start).map(Exit::Host).map_err(failed)
}

/// Refuses when what the host is given is not what the policy says.
fn drift(compiled: &Compiled, choice: &Choice<'_>, place: &Place, dir: &str) -> Result<(), Failure> {
    let artifacts = compiled.rendered.as_ref().map_or(&[][..], |r| r.artifacts.as_slice());
    let options = Options::new(dir);
    let state = LockState::load(&place.system, &options).map_err(|p| Failure::environment(p.to_string()))?;
    let comparison = compare(artifacts, &state, &place.system, &options);
    let depends = |path: &str| artifacts.iter().any(|a| a.path == path && run::depends(choice, a));
    let differs: Vec<&str> = comparison.changes.iter().map(|c| c.path.as_str()).filter(|p| depends(p)).collect();
    let blocked = comparison.problems.iter().map(|p| p.path.as_str()).filter(|p| depends(p));
    let all: Vec<String> = differs.into_iter().chain(blocked).map(|p| format!("`{p}`")).collect();
    if all.is_empty() {
        return Ok(());
    }
    let message =
        format!("{} would not be given what the policy says: {} differ", choice.adapter.title, all.join(", "));
    Err(Failure::new(Exit::Drift, message).help("`rolecast check` shows how; run `rolecast render`"))
}

fn read(packet: &str) -> Result<String, Failure> {
    let text =
        run::packet(packet).map_err(|e| Failure::environment(format!("cannot read the packet `{packet}`: {e}")))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("the packet `{packet}` is empty")));
    }
    Ok(text)
}

/// Warns of a packet over its budget.
fn measured(packet: &str, compiled: &Compiled, ui: &Ui) {
    let budgets = compiled.policy.as_ref().map(|p| &p.settings.budgets);
    let Some(Budget::Size(size)) = budgets.and_then(|b| b.get("delegation-packet")) else { return };
    if let Some(target) = size.target.filter(|t| u64::try_from(packet.len()).is_ok_and(|len| len > t.0)) {
        ui.say(&format!(
            "warning: the packet has {} bytes; `delegation-packet.target` is {target}: leave out what the role can look up",
            packet.len()
        ));
    }
}

/// The command as one would type it; the files of the process go with `--verbose`.
fn print(command: &Command, choice: &Choice<'_>, ui: &Ui) {
    let env = command.env.iter().map(|(name, value)| format!("{name}={}", run::line([value.as_str()])));
    let words = std::iter::once(choice.program.name.as_str()).chain(command.args.iter().map(String::as_str));
    let line = env.chain([run::line(words)]).collect::<Vec<_>>().join(" ");
    ui.result(&format!("{line}\n"));
    for (name, text) in command.files.iter().filter(|_| ui.verbose) {
        ui.say(&format!("--- {name}\n{}", text.trim_end()));
    }
}

fn missing(choice: &Choice<'_>) -> Failure {
    let failure = Failure::environment(format!(
        "`{}`, the program of {}, is not on the path",
        choice.program.name, choice.adapter.title
    ));
    match &choice.adapter.evidence.package {
        Some(package) => failure.help(format!("install it: `npm install -g {package}`, or put it on the path")),
        None => failure.help("install it, or put it on the path"),
    }
}
