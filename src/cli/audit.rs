//! `audit`: holds the declared servers against what they offer, and pins them.

use std::collections::BTreeMap;

use crate::audit::{self, Answer, Report, saved};
use crate::compile::Compiled;
use crate::diag::render::Format;
use crate::diag::{Severity, Sink};
use crate::gateway::known;
use crate::plan::Purpose;
use crate::sync::{LockState, Options, repin};
use crate::system::Writer;
use crate::text::suggest::nearest;

use super::args::{AuditArgs, Global};
use super::compiled::compiled;
use super::env;
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::ui::Ui;

/// Greatest saved answer, in bytes.
const MAX_SAVED: u64 = 32 << 20;

/// Runs the command.
///
/// # Errors
/// No policy, an invalid one, an unknown server, a file that cannot be read, or a lock that cannot be written.
pub fn run(args: &AuditArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(Exit::Policy, "there is no policy here, and so no server is declared")
            .help("run `rolecast init`"));
    };
    // What compiling warns of is for `check` to say.
    let (compiled, _) = compiled(&place.system, Some(dir), &[], Purpose::Files, ui)?;
    let names = chosen(&compiled, &args.servers)?;
    let options = Options::new(dir);
    let state = LockState::load(&place.system, &options).map_err(|p| Failure::environment(p.to_string()))?;
    let answers = answers(args, &place, &compiled, &names, ui)?;
    let said = if args.accept { said(&answers) } else { BTreeMap::new() };
    // What was just accepted has not changed.
    let pins = if args.accept { Default::default() } else { state.lock.pins };
    let mut report = audit::judge(&compiled, answers, &pins).map_err(|e| Failure::environment(e.to_string()))?;
    if args.accept {
        let accepted = Accepted { dir, said, all: args.servers.is_empty() };
        accept(&place.system, &options, &mut report, &compiled, &accepted, ui)?;
    }
    if args.suggest {
        ui.result(&report.suggestions());
        return Ok(Exit::Clean);
    }
    show(&report, &compiled, ui);
    Ok(if report.failed() { Exit::Drift } else { Exit::Clean })
}

/// The servers to audit: those named, else all that are enabled.
fn chosen(compiled: &Compiled, named: &[String]) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = compiled.policy.iter().flat_map(|policy| policy.servers.keys().cloned()).collect();
    if named.is_empty() {
        return Ok(all);
    }
    let Some(unknown) = named.iter().find(|name| !all.contains(name)) else { return Ok(named.to_vec()) };
    let failure = Failure::usage(format!("the policy declares no enabled server `{unknown}`"));
    Err(match nearest(unknown, all.iter().map(String::as_str)) {
        Some(name) => failure.help(format!("did you mean `{name}`?")),
        None if all.is_empty() => failure.help("declare it under `servers:`"),
        None => failure.help(format!("it declares: {}", all.join(", "))),
    })
}

fn answers(
    args: &AuditArgs,
    place: &Place,
    compiled: &Compiled,
    names: &[String],
    ui: &Ui,
) -> Result<Vec<Answer>, Failure> {
    if names.is_empty() {
        ui.say("the policy declares no server");
    }
    let Some(file) = &args.from else {
        return asked(place, compiled, names, ui);
    };
    let [name] = names else {
        return Err(Failure::usage("`--from` holds the answer of one server")
            .help("name it: `rolecast audit SERVER --from FILE`"));
    };
    let text = env::read_text(file, MAX_SAVED)
        .map_err(|e| Failure::environment(format!("`--from {file}` cannot be read: {e}")))?;
    let contract = saved::read(name, &text).map_err(|e| Failure::usage(format!("`--from {file}`: {e}")))?;
    Ok(vec![(name.clone(), Ok(contract))])
}

/// Starts or reaches the servers.
#[cfg(feature = "gateway")]
fn asked(place: &Place, compiled: &Compiled, names: &[String], ui: &Ui) -> Result<Vec<Answer>, Failure> {
    let answers = audit::ask(compiled, names, place.system.root(), &env::variable, &mut |said| {
        if ui.verbose {
            ui.say(said);
        }
    });
    answers.map_err(|e| Failure::environment(e.to_string()))
}

#[cfg(not(feature = "gateway"))]
fn asked(_: &Place, _: &Compiled, _: &[String], _: &Ui) -> Result<Vec<Answer>, Failure> {
    Err(Failure::absent("audit").help("`rolecast audit SERVER --from FILE` judges a saved answer"))
}

/// What the servers say of their tools, for the files beside the lock.
fn said(answers: &[Answer]) -> BTreeMap<String, String> {
    let one = |(name, answer): &Answer| {
        let tools: Vec<_> = answer.as_ref().ok()?.tools.iter().map(|tool| tool.raw.clone()).collect();
        Some((name.clone(), known::text(&tools)))
    };
    answers.iter().filter_map(one).collect()
}

/// What is accepted.
struct Accepted<'a> {
    /// The folder of the policy.
    dir: &'a str,
    /// By server.
    said: BTreeMap<String, String>,
    /// Whether all servers were asked.
    all: bool,
}

/// Pins what answered. Pins of servers that are not declared any more go when all were asked.
fn accept(
    system: &dyn Writer,
    options: &Options<'_>,
    report: &mut Report,
    compiled: &Compiled,
    accepted: &Accepted<'_>,
    ui: &Ui,
) -> Result<(), Failure> {
    let declared = audit::declared(compiled);
    let written = repin(system, options, |pins| {
        let mut kept = Vec::new();
        if accepted.all {
            let gone = pins.keys().filter(|name| !declared.contains_key(*name));
            kept.extend(gone.map(|name| (known::file(accepted.dir, name), None)));
            pins.retain(|name, _| declared.contains_key(name));
        }
        for server in &mut report.servers {
            if let (Some(pin), Some(text)) = (server.pin.clone(), accepted.said.get(&server.name)) {
                pins.insert(server.name.clone(), pin);
                kept.push((known::file(accepted.dir, &server.name), Some(text.clone().into_bytes())));
                server.findings.retain(|finding| finding.code != crate::diag::Code::ContractUnpinned);
            }
        }
        kept
    });
    let written = written.map_err(|e| Failure::environment(e.to_string()))?;
    let count = report.servers.iter().filter(|server| server.pin.is_some()).count();
    let servers = audit::count(count, "server");
    ui.say(&if written {
        format!("pinned {servers} in {}", options.lock_path())
    } else {
        format!("the pins of {servers} are what they were")
    });
    Ok(())
}

fn show(report: &Report, compiled: &Compiled, ui: &Ui) {
    match ui.format {
        Format::Human => {
            ui.result(&report.human(ui.verbose));
            let each = [Severity::Error, Severity::Warning, Severity::Note].map(|severity| {
                audit::count(report.findings().filter(|finding| finding.severity == severity).count(), severity.word())
            });
            ui.say(&each.join(", "));
        }
        Format::Json => ui.result(&report.json()),
        Format::Github | Format::Sarif => {
            let mut sink = Sink::new();
            for finding in report.findings() {
                sink.push(finding.diagnostic());
            }
            ui.diagnostics(&sink, &compiled.loaded.sources);
        }
    }
}
