//! Runs a scenario on the real host with the user's own model, several times: behaviour that is only advised gets a
//! measured rate. The host works in copies; what it did is read from its own logs.

mod accept;
mod files;
mod judge;
mod logs;
pub mod played;
mod report;
mod run;
mod scenarios;
mod script;
mod stage;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::compile::Compiled;
use crate::measure::judge::Judge;
use crate::model::scenario::Scenario;
use crate::resolve::Policy;
use crate::system::System;
use crate::verify::own::OwnName;
use crate::verify::process::Interrupt;
use crate::verify::program;
use crate::verify::session::Session;
use crate::verify::{self, Platform};

pub use accept::evidence;
pub use report::{Report, Row};
pub use scenarios::all as scenarios;
pub use script::Talk;

use run::{Came, Host};
use stage::Stage;

/// Runs in a row that say nothing before a host is given up.
const GIVE_UP: usize = 2;

/// How a scenario is run.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The hosts.
    pub hosts: &'a [String],
    /// The hosts that are compiled for where there is no policy.
    pub selected: &'a [String],
    /// How often on each host, under each policy.
    pub runs: u64,
    /// After this a run is ended.
    pub time: Duration,
    /// In a copy of this repository instead of the scenario's own.
    pub here: bool,
    /// Folder with the hosts' packages, instead of the path.
    pub bin: Option<&'a Path>,
    /// Where programs are.
    pub platform: &'a Platform,
    /// This program.
    pub program: &'a Path,
    /// The user's environment.
    pub user: &'a BTreeMap<String, String>,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// The kind of system.
    pub os: &'static str,
    /// What a scripted model says, in an empty home; none = the user's model.
    pub script: Option<&'a [Talk]>,
}

/// What agents are told in runs.
pub enum Told<'a> {
    /// A policy.
    Policy {
        /// Its name in reports.
        name: String,
        /// Where its sources are.
        system: &'a dyn System,
        /// Its folder; none = the shipped one.
        dir: Option<&'a str>,
    },
    /// Nothing of the policy, which is in `dir`.
    Nothing {
        /// The policy.
        policy: &'a Policy,
        /// Its folder.
        dir: &'a str,
    },
}

impl Told<'_> {
    /// The name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Policy { name, .. } => name,
            Self::Nothing { .. } => "none",
        }
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A person interrupted.
    #[error("interrupted; everything that was started is ended, and its copies are removed")]
    Interrupted,
    /// A policy to compare with is none.
    #[error("the policy `{name}` cannot be compiled: {why}")]
    Policy {
        /// Which.
        name: String,
        /// Its first error.
        why: String,
    },
    /// A host cannot be given a task.
    #[error("{0}")]
    Host(String),
    /// The surroundings.
    #[error("{what}: {source}")]
    Io {
        /// What could not be done.
        what: String,
        /// Why.
        source: io::Error,
    },
}

fn failed(what: &str) -> impl Fn(io::Error) -> Problem + use<> {
    let what = what.to_owned();
    move |source| Problem::Io { what: what.clone(), source }
}

/// Runs a scenario and reports; `say` is told what is being done.
///
/// # Errors
/// A host that is not there or cannot be given a task, files, or a person who interrupted.
pub fn eval(
    (name, scenario): (&str, &Scenario),
    compiled: &Compiled,
    told: &[Told<'_>],
    options: &Options<'_>,
    say: &mut dyn FnMut(&str),
) -> Result<Report, Problem> {
    let Some(policy) = &compiled.policy else { return Err(Problem::Host("the policy was not compiled".to_owned())) };
    let own = OwnName::of(options.program).map_err(failed("cannot start"))?;
    let platform = options.platform.clone().before(own.folder().to_owned());
    let options = &Options { platform: &platform, ..*options };
    // All are judged by the same policy, also what was told another one.
    let mut yardstick = policy.clone();
    played::put(&mut yardstick, scenario, options.program, Path::new("servers.json"));
    let judge = Judge::new(&yardstick, &compiled.loaded.adapters);
    let runtime = verify::runtime().map_err(|e| Problem::Host(e.to_string()))?;
    runtime.block_on(async {
        let mut all = All { name, scenario, compiled, judge: &judge, options, stop: Interrupt::listen(), say };
        let mut report = Report { scenario: name.to_owned(), title: scenario.title.clone(), rows: Vec::new() };
        for told in told {
            let stage = Stage::make(scenario, told, options, &mut all.stop).await?;
            for host in options.hosts {
                let first = report.rows.len() < options.hosts.len();
                report.rows.push(all.row(host, told, &stage, !first).await?);
            }
        }
        Ok(report)
    })
}

/// What the rows share.
struct All<'a, 'p> {
    name: &'a str,
    scenario: &'a Scenario,
    compiled: &'a Compiled,
    judge: &'a Judge<'p>,
    options: &'a Options<'a>,
    stop: Interrupt,
    say: &'a mut dyn FnMut(&str),
}

impl All<'_, '_> {
    async fn row(&mut self, id: &str, told: &Told<'_>, stage: &Stage, compared: bool) -> Result<Row, Problem> {
        let options = self.options;
        let adapter =
            self.compiled.loaded.adapters.get(id).ok_or_else(|| Problem::Host(format!("unknown host `{id}`")))?;
        let title = &adapter.title;
        let (Some(how), Some(driver), Some(sessions), Some(wanted)) =
            (&adapter.eval, &adapter.verify, &adapter.sessions, &adapter.program)
        else {
            return Err(Problem::Host(format!("scenarios are not run on {title}: {}", why(adapter))));
        };
        let found = program::find(wanted, options.bin, options.platform)
            .ok_or_else(|| Problem::Host(format!("{title} is not here: {}", verify::absent(wanted, options.bin))))?;
        let session = Session { adapter, driver, found: &found, platform: options.platform };
        let version = session.version(&mut self.stop).await.map_err(failed("cannot ask the host for its version"))?;
        let host = Host { adapter, driver, how, sessions, found: &found };
        let mut row = Row::new(adapter, told.name(), version, compared);
        let mut silent = 0;
        for number in 1..=options.runs {
            (self.say)(&format!("{title}: {}, policy {}, run {number} of {}", self.name, told.name(), options.runs));
            let came = host.once(self.scenario, stage, self.judge, options, &mut self.stop).await;
            if self.stop.happened() {
                return Err(Problem::Interrupted);
            }
            let came = came.map_err(failed("cannot run the host"))?;
            silent = if matches!(came, Came::Not(_)) { silent + 1 } else { 0 };
            row.add(number, came);
            if silent == GIVE_UP {
                (self.say)(&format!("{title}: given up after {GIVE_UP} runs in which it did not get to work"));
                break;
            }
        }
        Ok(row)
    }
}

/// Why a host cannot be given a task.
fn why(adapter: &crate::model::adapter::Adapter) -> &'static str {
    match (&adapter.program, &adapter.sessions) {
        (None, _) => "no program of it is known that a terminal can start",
        (_, None) => "its logs are not read",
        (_, Some(sessions)) if sessions.by_hand.is_some() => "its logs cannot be found by themselves",
        _ => "no way is known to give it a task without a person",
    }
}
