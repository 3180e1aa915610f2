//! `verify`: tries what the ledger claims on the host programs of this machine.

use std::path::{Path, PathBuf};

use crate::diag::render::Format;
use crate::plan::Purpose;
use crate::text::suggest::nearest;
use crate::verify::{self, Options, Platform, tryout};

use super::accept::accept;
use super::args::{Global, VerifyArgs};
use super::compiled::compiled;
use super::env;
use super::exit::{Exit, Failure};
use super::place;
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// No policy, an invalid one, an unknown host or role, or a program that cannot be run.
pub fn run(args: &VerifyArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if !matches!(ui.format, Format::Human | Format::Json) {
        return Err(Failure::usage("`verify` prints `human` or `json`"));
    }
    let place = place::find(global)?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(Exit::Policy, "there is no policy here, and so nothing is claimed")
            .help("run `rolecast init`"));
    };
    let (compiled, sink) = compiled(&place.system, Some(dir), &[], Purpose::Claims, ui)?;
    if ui.format == Format::Human {
        ui.diagnostics(&sink, &compiled.loaded.sources);
    }
    let policy = compiled.policy.as_ref();
    known("host", &args.hosts, policy.map_or(&[][..], |p| &p.hosts))?;
    let roles: Vec<String> = policy.iter().flat_map(|p| &p.roles).map(|r| r.id.clone()).collect();
    known("role", &args.roles, &roles)?;
    let bin = bin(args.host_bin.as_deref())?;
    let program = env::program().map_err(|e| Failure::environment(format!("cannot tell this program: {e}")))?;
    let platform = Platform::here();
    let options = Options {
        root: place.system.root(),
        policy_dir: dir,
        hosts: &args.hosts,
        roles: &args.roles,
        bin: bin.as_deref(),
        platform: &platform,
        program: &program,
    };
    let report = verify::verify(&compiled, &options, &mut |doing| ui.say(doing))
        .map_err(|problem| Failure::environment(problem.to_string()))?;
    match ui.format {
        Format::Json => ui.result(&report.json()),
        _ => ui.result(&report.human(ui.verbose)),
    }
    if args.accept {
        accept(&report, &compiled, &args.roles, dir, &place.system, ui)?;
    }
    Ok(if report.failed(&args.hosts) { Exit::Drift } else { Exit::Clean })
}

/// Runs the server that `verify` adds to a policy.
///
/// # Errors
/// The standard streams.
pub fn serve() -> Result<Exit, Failure> {
    let folder = env::folder(tryout::FOLDER);
    tryout::serve(std::io::stdin().lock(), std::io::stdout().lock(), folder.as_deref())
        .map_err(|e| Failure::environment(format!("cannot speak to the client: {e}")))?;
    Ok(Exit::Clean)
}

/// The folder named by `--host-bin`.
///
/// # Errors
/// It is none.
pub fn bin(named: Option<&str>) -> Result<Option<PathBuf>, Failure> {
    let bin = named.map(Path::new).map(Path::canonicalize).transpose();
    bin.map_err(|e| Failure::usage(format!("`--host-bin` is not a folder: {e}")))
}

fn known(what: &str, named: &[String], all: &[String]) -> Result<(), Failure> {
    let Some(unknown) = named.iter().find(|n| !all.contains(n)) else { return Ok(()) };
    let failure = Failure::usage(format!("the policy has no {what} `{unknown}`"));
    Err(match nearest(unknown, all.iter().map(String::as_str)) {
        Some(name) => failure.help(format!("did you mean `{name}`?")),
        None => failure.help(format!("it has: {}", all.join(", "))),
    })
}
