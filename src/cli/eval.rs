//! `eval`: runs a scenario on hosts with the user's model.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::diag::render::Format;
use crate::eval::{self, Options, Report, Talk, Told, played};
use crate::load::{DEFAULT_DIR, EVIDENCE_DIR, LoadedScenario};
use crate::plan::Purpose;
use crate::resolve::scenarios;
use crate::system::git::{Tree, Which};
use crate::text::suggest::nearest;
use crate::verify::{Platform, evidence_text};

use super::args::{EvalArgs, Global, ScenarioServerArgs};
use super::compiled::{compiled, known};
use super::env;
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::put;
use super::today::today;
use super::ui::Ui;
use super::verify::bin;

/// Largest script of a model.
const MAX_SCRIPT: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
/// An unknown scenario or host, an invalid policy, a host that is not there, or runs that nobody agreed to.
pub fn run(args: &EvalArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if matches!(ui.format, Format::Github | Format::Sarif) {
        return Err(Failure::usage("`eval` prints `human` or `json`, not annotations"));
    }
    let place = place::find(global)?;
    let dir = place.policy.as_deref();
    let selected = if dir.is_none() { args.hosts.as_slice() } else { &[] };
    let (mut compiled, sink) = compiled(&place.system, dir, selected, Purpose::Ledger, ui)?;
    if ui.format == Format::Human {
        ui.diagnostics(&sink, &compiled.loaded.sources);
    }
    let scenarios = all(&mut compiled, ui)?;
    let Some(name) = &args.scenario else {
        ui.result(&list(&scenarios));
        return Ok(Exit::Clean);
    };
    let found = named(&scenarios, name)?;
    sound(found, &compiled, ui)?;
    let (runs, hosts) = asked(args, &compiled)?;
    let script = args.script.as_deref().map(talks).transpose()?;
    let base = args.compare.as_deref().map(|base| Base::find(base, &place)).transpose()?;
    agreed(args, runs * hosts.len() as u64 * (1 + u64::from(base.is_some())), ui)?;
    let program = env::program().map_err(|e| Failure::environment(format!("cannot tell this program: {e}")))?;
    let home = env::folder("HOME").or_else(|| env::folder("USERPROFILE"));
    let (bin, platform, user) = (bin(args.host_bin.as_deref())?, Platform::here(), env::variables());
    let options = Options {
        root: place.system.root(),
        hosts: &hosts,
        selected,
        runs,
        time: Duration::from_secs(args.timeout),
        here: args.here,
        bin: bin.as_deref(),
        platform: &platform,
        program: &program,
        user: &user,
        home: home.as_deref(),
        os: env::system(),
        script: script.as_deref(),
    };
    let told = told(&compiled, &place, base.as_ref());
    let report =
        eval::eval((name, &found.scenario), &compiled, &told, &options, &mut |doing| ui.say(doing)).map_err(problem)?;
    match ui.format {
        Format::Json => ui.result(&report.json()),
        _ => ui.result(&report.human(ui.verbose)),
    }
    if args.accept {
        accept(&report, &compiled, &place, ui)?;
    }
    Ok(match (report.fine(), report.silent()) {
        (_, true) => Exit::Environment,
        (true, _) => Exit::Clean,
        (false, _) => Exit::Drift,
    })
}

/// Runs a server that a scenario plays.
///
/// # Errors
/// The file, or the standard streams.
pub fn serve(args: &ScenarioServerArgs) -> Result<Exit, Failure> {
    played::serve(Path::new(&args.file), &args.server, std::io::stdin().lock(), std::io::stdout().lock())
        .map_err(|e| Failure::environment(format!("cannot speak to the client: {e}")))?;
    Ok(Exit::Clean)
}

fn problem(problem: eval::Problem) -> Failure {
    match problem {
        eval::Problem::Policy { .. } => Failure::new(Exit::Policy, problem.to_string()),
        other => Failure::environment(other.to_string()),
    }
}

/// All scenarios, the shipped ones too.
fn all(compiled: &mut Compiled, ui: &Ui) -> Result<Vec<LoadedScenario>, Failure> {
    let mut sink = Sink::new();
    let all = eval::scenarios(&mut compiled.loaded, &mut sink);
    ui.problems(&sink, &compiled.loaded.sources);
    if sink.has_errors() { Err(Failure::said(Exit::Policy)) } else { Ok(all) }
}

fn list(scenarios: &[LoadedScenario]) -> String {
    let width = scenarios.iter().map(|s| s.name.len()).max().unwrap_or(0);
    let line = |s: &LoadedScenario| format!("{:width$}  {}\n", s.name, s.scenario.title);
    scenarios.iter().map(line).collect()
}

fn named<'s>(scenarios: &'s [LoadedScenario], name: &str) -> Result<&'s LoadedScenario, Failure> {
    scenarios.iter().find(|s| s.name == name).ok_or_else(|| {
        let names = || scenarios.iter().map(|s| s.name.as_str());
        let failure = Failure::usage(format!("there is no scenario `{name}`"));
        match nearest(name, names()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(format!("there are: {}", names().collect::<Vec<_>>().join(", "))),
        }
    })
}

/// A shipped scenario may name what this policy does not have; its own were judged with it.
fn sound(found: &LoadedScenario, compiled: &Compiled, ui: &Ui) -> Result<(), Failure> {
    let mut sink = Sink::new();
    if let Some(policy) = compiled.policy.as_ref().filter(|_| found.shipped) {
        scenarios::judge(found, &policy.roles, &policy.catalogue, &mut sink);
    }
    ui.problems(&sink, &compiled.loaded.sources);
    if sink.has_errors() { Err(Failure::said(Exit::Policy)) } else { Ok(()) }
}

/// How often, and on which hosts.
fn asked(args: &EvalArgs, compiled: &Compiled) -> Result<(u64, Vec<String>), Failure> {
    let help = "every run is a session that you pay for: say how many, as in `--host HOST --runs 5`";
    let runs = args.runs.ok_or_else(|| Failure::usage("`--runs` is not given").help(help))?;
    if args.hosts.is_empty() {
        return Err(Failure::usage("`--host` is not given").help(help));
    }
    known(&compiled.loaded, &args.hosts)?;
    let selected = compiled.policy.as_ref().map_or(&[][..], |p| &p.hosts);
    if let Some(other) = args.hosts.iter().find(|h| !selected.contains(h)) {
        return Err(Failure::usage(format!("the policy does not select the host `{other}`"))
            .help(format!("it selects: {}", selected.join(", "))));
    }
    Ok((runs, args.hosts.clone()))
}

/// A person, or whoever wrote the command, agrees to the cost. A scripted model has none.
fn agreed(args: &EvalArgs, sessions: u64, ui: &Ui) -> Result<(), Failure> {
    if args.script.is_some() || args.yes {
        return Ok(());
    }
    let what = format!("{sessions} sessions with your own login, model and configuration, at your cost");
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("this starts {what}")).help("agree to it with `--yes`"));
    }
    ui.say(&format!("this starts {what}; type `yes` to go on"));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(_) if line.trim() == "yes" => Ok(()),
        _ => Err(Failure::usage("not agreed: nothing was started")),
    }
}

/// The policy to compare with.
enum Base {
    Nothing,
    Folder(String),
    Revision(String, Box<Tree>),
}

impl Base {
    fn find(base: &str, place: &Place) -> Result<Self, Failure> {
        let root = place.system.root();
        if base == "none" {
            return Ok(Self::Nothing);
        }
        let folder = base.trim_end_matches('/');
        if root.join(folder).join("policy.yaml").is_file() && !folder.starts_with('/') && !folder.contains("..") {
            return Ok(Self::Folder(folder.to_owned()));
        }
        let tree = Tree::open(root, Which::Revision(base)).map_err(|e| {
            Failure::usage(format!(
                "`--compare {base}` is neither `none`, nor a policy folder below the root, nor a revision: {e}"
            ))
        })?;
        Ok(Self::Revision(base.to_owned(), Box::new(tree)))
    }
}

fn told<'a>(compiled: &'a Compiled, place: &'a Place, base: Option<&'a Base>) -> Vec<Told<'a>> {
    let dir = place.policy.as_deref();
    let name = if dir.is_some() { "of this repository" } else { "as shipped" };
    let mut all = vec![Told::Policy { name: name.to_owned(), system: &place.system, dir }];
    all.extend(base.and_then(|base| {
        Some(match base {
            Base::Nothing => Told::Nothing { policy: compiled.policy.as_ref()?, dir: dir.unwrap_or(DEFAULT_DIR) },
            Base::Folder(folder) => Told::Policy { name: folder.clone(), system: &place.system, dir: Some(folder) },
            Base::Revision(name, tree) => Told::Policy { name: name.clone(), system: tree.as_ref(), dir },
        })
    }));
    all
}

fn talks(file: &str) -> Result<Vec<Talk>, Failure> {
    let text =
        env::read_text(file, MAX_SCRIPT).map_err(|e| Failure::environment(format!("cannot read `{file}`: {e}")))?;
    serde_json::from_str(&text).map_err(|e| Failure::usage(format!("`{file}` is no script: {e}")))
}

/// Writes what was measured where the ledger reads it.
fn accept(report: &Report, compiled: &Compiled, place: &Place, ui: &Ui) -> Result<(), Failure> {
    let (Some(policy), Some(dir)) = (&compiled.policy, &place.policy) else {
        return Err(Failure::usage("there is no policy here whose evidence this could be").help("run `rolecast init`"));
    };
    let day =
        today().ok_or_else(|| Failure::environment("the clock of this machine shows no day between 1970 and 9999"))?;
    for row in report.rows.iter().filter(|r| !r.compared) {
        let path = format!("{dir}/{EVIDENCE_DIR}/{}.yaml", row.host);
        let own = compiled.loaded.evidence.iter().find(|e| compiled.loaded.sources.get(e.source).path == path);
        let Some(file) = eval::evidence(&report.scenario, row, policy, own.map(|e| &e.file), &day) else {
            ui.say(&format!(
                "{}: nothing accepted: no run was judged, or the model or the version is not recorded",
                row.title
            ));
            continue;
        };
        put::file(&place.system, &path, evidence_text(&file, &row.title).as_bytes())
            .map_err(|e| Failure::environment(format!("cannot write `{path}`: {e}")))?;
        ui.say(&format!("wrote {path}"));
    }
    Ok(())
}
