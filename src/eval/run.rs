//! One run: the host in a copy of the repository, with the user's model, and what is left afterwards.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;

use crate::measure::judge::Judge;
use crate::measure::sessions::sessions;
use crate::measure::tally::Tally;
use crate::model::adapter::{Adapter, Driver, Sessions, Unattended};
use crate::model::scenario::Scenario;
use crate::verify::model::{Limits, Server};
use crate::verify::probe::fill;
use crate::verify::process::{self, Ended, Interrupt, Ran, Task};
use crate::verify::program::Found;
use crate::verify::reap;
use crate::verify::session::{self, Place, Session, write};

use super::judge::{self, Check, Seen};
use super::logs::{self, Folders};
use super::stage::Stage;
use super::{Options, files, played, script};

/// Marks every process of a run.
const MARK: &str = "ROLECAST_EVAL";
/// How folders of runs are called.
pub(super) const PREFIX: &str = "rolecast-eval-";
/// After this the approval of a server is ended.
const ACCEPT_TIME: Duration = Duration::from_secs(60);
/// Most characters of a program's complaint that are shown.
const MAX_TROUBLE: usize = 300;

/// A host that can be given a task.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// What is known of it.
    pub adapter: &'a Adapter,
    /// How it is run against a scripted model.
    pub driver: &'a Driver,
    /// How it is given a task.
    pub how: &'a Unattended,
    /// Where its logs are.
    pub sessions: &'a Sessions,
    /// Its program.
    pub found: &'a Found,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// It is judged.
    Judged {
        /// Each key.
        checks: Vec<Check>,
        /// The model, as the log names it.
        model: Option<String>,
    },
    /// It says nothing about behaviour: the host did not get to work, and why.
    Not(String),
}

/// What a run is started with.
struct Ready {
    env: Vec<(String, String)>,
    home: Option<PathBuf>,
    values: IndexMap<String, String>,
    server: Option<Server>,
}

impl Host<'_> {
    /// Does the task once.
    ///
    /// # Errors
    /// Files, or a program that cannot be started.
    pub async fn once(
        &self,
        scenario: &Scenario,
        stage: &Stage,
        judge: &Judge<'_>,
        options: &Options<'_>,
        stop: &mut Interrupt,
    ) -> io::Result<Came> {
        let place = Place::called(PREFIX)?;
        files::copy(&stage.place.root, &place.root)?;
        let before = files::snapshot(&place.root)?;
        let ready = self.ready(scenario, &place, options).await?;
        let folders = Folders::of(self.sessions, ready.home.as_deref(), options.os, &ready.env);
        let known = folders.files()?;
        let args = self.args(scenario, &ready.values);
        let program = &self.found.start;
        let task = Task { program, args: &args, env: &ready.env, folder: &place.root, time: options.time };
        self.accept(scenario, &ready, &place, stop).await?;
        played::forget(scenario, &stage.served);
        let ran = process::run(task, stop).await?;
        reap::marked(MARK, &place.home);
        drop(ready.server);
        let new: Vec<PathBuf> = folders.files()?.difference(&known).cloned().collect();
        let mut tally = Tally::new(judge);
        let read = logs::read(new, &mut tally)?;
        let all = sessions(&tally);
        let Some(session) = logs::of(&all, &place.root) else { return Ok(Came::Not(trouble(&ran))) };
        if ran.ended.is_none() && ran.code != Some(0) {
            return Ok(Came::Not(trouble(&ran)));
        }
        let unasked = played::unasked(scenario, &stage.served);
        if !unasked.is_empty() {
            return Ok(Came::Not(format!("it did not ask for the tools of {}", unasked.join(", "))));
        }
        let changed = files::changed(&before, &files::snapshot(&place.root)?);
        let seen = Seen { session, files: &read, changed: &changed, answer: &ran.stdout };
        let mut checks = judge::judge(scenario, &seen);
        if ran.ended == Some(Ended::Time) {
            let was = judge::Was::Broken(format!("no end after {} seconds", options.time.as_secs()));
            checks.push(Check { key: "ends".to_owned(), was });
        }
        let main = session.agents.first().and_then(|(_, main)| main.known.model.clone());
        Ok(Came::Judged { checks, model: main })
    }

    /// What a person would do once for each played server, noted in the run's own folder.
    async fn accept(&self, scenario: &Scenario, ready: &Ready, place: &Place, stop: &mut Interrupt) -> io::Result<()> {
        for server in scenario.servers.keys().filter(|_| !self.how.accept.is_empty()) {
            let own = self.how.accept.iter().map(|text| fill(text, &ready.values).replace("{server}", &server.value));
            let args: Vec<String> = self.found.before.iter().cloned().chain(own).collect();
            let (program, env) = (&self.found.start, &ready.env);
            let task = Task { program, args: &args, env, folder: &place.root, time: ACCEPT_TIME };
            process::run(task, stop).await?;
        }
        Ok(())
    }

    fn args(&self, scenario: &Scenario, values: &IndexMap<String, String>) -> Vec<String> {
        let allow = scenario.servers.keys().flat_map(|server| {
            self.how.allow.iter().map(|text| text.replace("{server}", &server.value)).collect::<Vec<_>>()
        });
        let own = self.how.args.iter().cloned().chain(allow);
        // The prompt is put in last: what it holds is no name of a value.
        let filled = own.map(|text| fill(&text, values).replace("{prompt}", &scenario.prompt));
        self.found.before.iter().cloned().chain(filled).collect()
    }

    /// The user's own surroundings, or an empty home with a scripted model.
    async fn ready(&self, scenario: &Scenario, place: &Place, options: &Options<'_>) -> io::Result<Ready> {
        let mark = (MARK.to_owned(), place.home.to_string_lossy().into_owned());
        let run = ("{run}".to_owned(), place.home.to_string_lossy().into_owned());
        let root = [("{root}".to_owned(), place.root.to_string_lossy().into_owned()), run.clone()];
        let own = |values: &IndexMap<String, String>| {
            let env = self.how.env.iter();
            env.map(|(name, text)| (name.clone(), fill(text, values))).chain([mark]).collect::<Vec<_>>()
        };
        let Some(talks) = options.script else {
            let values: IndexMap<String, String> = root.into_iter().collect();
            let mut env: Vec<(String, String)> =
                options.user.iter().filter(|(name, _)| *name != "PATH").map(|(n, v)| (n.clone(), v.clone())).collect();
            env.push(("PATH".to_owned(), options.platform.joined()));
            env.extend(own(&values));
            return Ok(Ready { env, home: options.home.map(Into::into), values, server: None });
        };
        let session =
            Session { adapter: self.adapter, driver: self.driver, found: self.found, platform: options.platform };
        let limits = Limits { life: options.time, ..Limits::default() };
        let server = Server::start(
            |url| {
                let values = values(place, url);
                script::script(talks, &scenario.prompt, self.driver, &values)
            },
            limits,
        )
        .await?;
        let mut values = values(place, &server.url());
        values.extend([run]);
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, &values))?;
        }
        let mut env = session.environment(place, &values);
        env.extend(own(&values));
        Ok(Ready { env, home: Some(place.home.clone()), values, server: Some(server) })
    }
}

/// Values of a run with a scripted model; the prompt is not among them.
fn values(place: &Place, url: &str) -> IndexMap<String, String> {
    let mut values = session::values(place, url, "");
    values.shift_remove("{prompt}");
    values
}

/// Why a run says nothing, in the words of the program.
fn trouble(ran: &Ran) -> String {
    let said = format!("{} {}", ran.stderr, ran.stdout);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TROUBLE).collect();
    match (ran.ended, ran.code) {
        (Some(Ended::Interrupt), _) => "interrupted".to_owned(),
        (Some(Ended::Time), _) => "its time was over, and it left no log of a session".to_owned(),
        (None, Some(0)) => format!("it left no log of a session that can be told from others: {said}"),
        (None, Some(code)) => format!("it ended with code {code}: {said}"),
        (None, None) => format!("a signal ended it: {said}"),
    }
}
