//! `measure`: reads the logs of sessions and holds them against the policy.

mod export;
mod html;
mod output;
mod page;
mod progress;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::diag::Sink;
use crate::diag::render::Format as Output;
use crate::load::{self, Loaded};
use crate::measure::event::Event;
use crate::measure::expect::{self, Outcome};
use crate::measure::find::{self, Wanted};
use crate::measure::format::{self, Seen};
use crate::measure::judge::Judge;
use crate::measure::report::{self, File};
use crate::measure::sessions::{Session, sessions};
use crate::measure::tally::Tally;
use crate::measure::{propose, time};
use crate::resolve::{self, Policy};
use crate::text::suggest::nearest;

use super::args::{Global, MeasureArgs};
use super::compiled::known;
use super::env;
use super::exit::{Exit, Failure};
use super::place;
use super::ui::Ui;
use progress::Progress;

/// Runs the command.
///
/// # Errors
/// An invalid policy, an unknown host or expectation, or logs that cannot be read.
pub fn run(args: &MeasureArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if matches!(ui.format, Output::Github | Output::Sarif) {
        return Err(Failure::usage("`measure` prints `human` or `json`, not annotations"));
    }
    let place = place::find(global)?;
    let mut sink = Sink::new();
    let loaded = load::load(&place.system, place.policy.as_deref(), &mut sink);
    let policy = (!sink.has_errors()).then(|| resolve::resolve(&loaded, &[], &mut sink));
    let Some(policy) = policy.filter(|_| !sink.has_errors()) else {
        ui.diagnostics(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    };
    known(&loaded, &args.hosts)?;
    let acceptance = args.expect.as_deref().map(|name| expectation(&policy, name)).transpose()?;
    let files = files(args, &loaded)?;
    let judge = Judge::new(&policy, &loaded.adapters);
    let mut tally = Tally::new(&judge);
    if let Some(kind) = args.export {
        return export::export(kind, args.output.as_deref(), &files, &mut tally, ui);
    }
    let read = read(&files, ui, &mut |event, _, _| tally.event(event))?;
    if args.calibrate {
        let proposal = propose::propose(&tally).ok_or_else(|| {
            Failure::new(Exit::Drift, "too few results to propose a budget from: at least 20 are needed")
        })?;
        ui.result(&proposal);
        return Ok(Exit::Clean);
    }
    let sessions = sessions(&tally);
    if sessions.is_empty() {
        return Err(nothing());
    }
    let outcomes: Option<Vec<(usize, Vec<Outcome>)>> =
        acceptance.map(|a| sessions.iter().enumerate().map(|(at, s)| (at, expect::expect(a, s))).collect());
    let expected = args.expect.as_deref().zip(outcomes.as_deref());
    let page = |shown| page::Page { tally: &tally, files: &read, shown };
    if let Some(path) = &args.html {
        // The records stand in the table of violations.
        let page = page(0);
        write(path, |put| html::write(&page, &sessions, expected, put), ui)?;
        return Ok(verdict(outcomes.as_deref(), &sessions));
    }
    let page = page(if ui.verbose { usize::MAX } else { page::SHOWN });
    match ui.format {
        Output::Json => ui.stream(|to| report::json(to, &tally, &sessions, &read, expected)),
        _ => ui.stream(|to| page::write(to, &page, &sessions, expected)),
    }
    Ok(verdict(outcomes.as_deref(), &sessions))
}

/// Writes a page whose pieces `make` hands on.
fn write(path: &Path, make: impl FnOnce(html::Put<'_>) -> Result<(), Failure>, ui: &Ui) -> Result<(), Failure> {
    use std::io::Write as _;
    let to = output::Output::new(path)?;
    let mut file = to.writer()?;
    make(&mut |piece| file.write_all(piece.as_bytes()).map_err(|e| output::failed(path, &e)))?;
    file.flush().map_err(|e| output::failed(path, &e))?;
    to.done()?;
    ui.say(&format!("wrote the page to {}", path.display()));
    Ok(())
}

fn verdict(outcomes: Option<&[(usize, Vec<Outcome>)]>, sessions: &[Session<'_, '_>]) -> Exit {
    let held = |(_, all): &(usize, Vec<Outcome>)| all.iter().all(Outcome::held);
    match outcomes {
        Some(outcomes) if sessions.is_empty() || !outcomes.iter().all(held) => Exit::Drift,
        _ => Exit::Clean,
    }
}

fn expectation<'p>(policy: &'p Policy, name: &str) -> Result<&'p crate::model::policy::Acceptance, Failure> {
    let names = || policy.acceptance.keys().map(String::as_str);
    policy.acceptance.get(name).ok_or_else(|| {
        let failure = Failure::usage(format!("the policy expects nothing under the name `{name}`"));
        match nearest(name, names()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None if policy.acceptance.is_empty() => {
                failure.help("name an expectation under `acceptance:` of the policy")
            }
            None => failure.help(format!("known expectations: {}", names().collect::<Vec<_>>().join(", "))),
        }
    })
}

/// The files that are named, and those of the hosts that are.
fn files(args: &MeasureArgs, loaded: &Loaded) -> Result<Vec<PathBuf>, Failure> {
    if args.paths.is_empty() && args.hosts.is_empty() {
        return Err(Failure::usage("nothing to measure")
            .help("name files or folders with logs, or a host whose sessions on this machine are meant: `--host HOST --last 1`"));
    }
    let since = args.since.as_deref().map(since).transpose()?;
    let mut all = Vec::new();
    for path in &args.paths {
        let found =
            find::below(Path::new(path)).map_err(|e| Failure::environment(format!("cannot read `{path}`: {e}")))?;
        all.extend(found);
    }
    for host in &args.hosts {
        all.extend(of_host(host, loaded)?);
    }
    Ok(find::wanted(all, Wanted { last: args.last, since }))
}

fn of_host(host: &str, loaded: &Loaded) -> Result<Vec<PathBuf>, Failure> {
    let adapter = loaded.adapters.get(host);
    let title = adapter.map_or(host, |a| a.title.as_str());
    let Some(sessions) = adapter.and_then(|a| a.sessions.as_ref()) else {
        return Err(Failure::usage(format!("the logs of {title} are not read")));
    };
    if let Some(by_hand) = &sessions.by_hand {
        return Err(Failure::usage(format!("the sessions of {title} cannot be found by themselves")).help(by_hand));
    }
    let home = env::folder("HOME").or_else(|| env::folder("USERPROFILE"));
    let folders = find::folders(sessions, home.as_deref(), env::system(), &env::folder);
    let mut files = Vec::new();
    for (folder, pattern) in folders.iter().filter(|(folder, _)| folder.is_dir()) {
        let found = find::below(folder)
            .map_err(|e| Failure::environment(format!("cannot read `{}`: {e}", folder.display())))?;
        files.extend(find::matching(folder, *pattern, found));
    }
    if files.is_empty() {
        let looked: Vec<String> = folders.iter().map(|(folder, _)| format!("`{}`", folder.display())).collect();
        return Err(Failure::environment(format!("no session of {title} was found in {}", looked.join(", "))));
    }
    Ok(files)
}

/// `7d`, `12h` or `2026-11-30`.
fn since(text: &str) -> Result<SystemTime, Failure> {
    let wrong = || {
        Failure::usage(format!("`--since {text}` is no time")).help("write a day, as in `2026-11-30`, or `7d`, `12h`")
    };
    let count = |unit: char| text.strip_suffix(unit).and_then(|n| n.parse::<u64>().ok());
    let back =
        count('d').and_then(|days| days.checked_mul(86_400)).or_else(|| count('h').and_then(|h| h.checked_mul(3600)));
    if let Some(seconds) = back {
        return SystemTime::now().checked_sub(Duration::from_secs(seconds)).ok_or_else(wrong);
    }
    let seconds = time::seconds(&format!("{text}T00:00:00")).and_then(|s| u64::try_from(s).ok()).ok_or_else(wrong)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).ok_or_else(wrong)
}

fn nothing() -> Failure {
    Failure::environment("no log of a session was found")
        .help("name files or folders with logs, or a host with `--host`")
}

/// Reads the logs. `each` is given every event, with the files that were read before and the name of this one.
fn read(files: &[PathBuf], ui: &Ui, each: &mut dyn FnMut(Event, &[File], &str)) -> Result<Vec<File>, Failure> {
    let mut progress = Progress::new(files, ui);
    let mut seen = Seen::default();
    let mut all = Vec::new();
    for (number, path) in files.iter().enumerate() {
        let name = path.to_string_lossy().into_owned();
        let at = u32::try_from(number).unwrap_or(u32::MAX);
        let mut sink = |event| each(event, &all, &name);
        let found = format::read(path, at, &mut seen, &mut sink, &mut |bytes| progress.step(bytes))
            .map_err(|e| Failure::environment(format!("cannot read `{name}`: {e}")))?;
        all.push(File { path: name, format: found.format, records: found.records, bytes: found.bytes });
    }
    progress.end();
    Ok(all)
}
