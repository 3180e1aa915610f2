//! Runs of one host's program in places of their own.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;

use crate::model::adapter::{Adapter, Digest, Driver};

use crate::render::{Command, Scene};
use crate::sync;
use crate::system::os::Os;

use super::copy::Files;
use super::derived::Derived;
use super::model::{Limits, Look, Rule, Script, Server, Step};
use super::observe::{Observed, observe};
use super::platform::Platform;
use super::probe::{self, Effect, MAIN, Over, Probe, Subject, UNTOUCHED, fill};
use super::process::{Ended, Interrupt, Ran, Task, run, said};
use super::program::Found;
use super::reap;
use super::tryout::{FOLDER, Record, TOOLS};

/// After this a run of a host is ended.
pub(super) const RUN_TIME: Duration = Duration::from_secs(180);
/// After this the question for the version is.
pub(super) const VERSION_TIME: Duration = Duration::from_secs(30);
/// What is reached without a proxy.
const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// Makes the command that starts a role as a process of its own.
pub type Make<'a> = &'a mut dyn FnMut(Scene<'_>) -> Option<Command>;

/// A host's program, ready to be run.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// What is known of the host.
    pub adapter: &'a Adapter,
    /// How it is run.
    pub driver: &'a Driver,
    /// Where it is.
    pub found: &'a Found,
    /// Where other programs are.
    pub platform: &'a Platform,
}

/// What one run is about.
#[derive(Debug, Clone, Default)]
pub struct Trial<'a> {
    /// The role, as the host spells it.
    pub name: String,
    /// Paths of its scoped grants, by capability.
    pub scopes: IndexMap<String, Vec<String>>,
    /// Domains of its grant to fetch addresses.
    pub domains: Vec<String>,
    /// Whether it is the main agent; else that one starts it.
    pub main: bool,
    /// Files that only the grant of the policy gives, relative to the root.
    pub kept: &'a [String],
    /// Files that are read first, to see which rules come with them.
    pub touched: &'a [String],
    /// Most lines of a first read and most bytes of a packet, where the budgets are tried.
    pub most: Option<(u64, u64)>,
    /// The policy with the server for trials; the driver's attempts are then its tools, in their order.
    pub derived: Option<&'a Derived>,
}

/// A place of one run, gone when this is dropped.
pub(crate) struct Place {
    _dir: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> io::Result<Self> {
        Self::called("rolecast-verify-")
    }

    /// One whose name begins so.
    pub(crate) fn called(prefix: &str) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir()?;
        let top = dir.path().canonicalize()?;
        let place = Self { _dir: dir, home: top.join("home"), root: top.join("root") };
        std::fs::create_dir_all(place.home.join("tmp"))?;
        std::fs::create_dir_all(&place.root)?;
        Ok(place)
    }

    /// The folder in which the server for trials writes who called it.
    pub(super) fn record(&self) -> PathBuf {
        self.home.join("tryout")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        reap::stragglers(&self.home);
    }
}

impl Session<'_> {
    /// Asks the program for its version.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn version(&self, interrupt: &mut Interrupt) -> io::Result<Option<String>> {
        let place = Place::new()?;
        let values = values(&place, "http://127.0.0.1:9", "");
        let ran = self.start(&self.driver.version_args, &values, &place, VERSION_TIME, interrupt).await?;
        Ok(version_in(&ran.stdout).or_else(|| version_in(&ran.stderr)))
    }

    /// Lets the main agent start the role, or be it (`make`: the command of such a run), and the role try everything.
    ///
    /// # Errors
    /// Files, or a program that cannot be started.
    pub async fn role(
        &self,
        trial: &Trial<'_>,
        make: Option<Make<'_>>,
        files: &Files,
        interrupt: &mut Interrupt,
    ) -> io::Result<Observed> {
        let place = Place::new()?;
        files.copy(&place.root, &place.home, self.platform, interrupt).await?;
        if let Some(derived) = trial.derived {
            derived.put(&place.root)?;
        }
        let root = place.root.to_string_lossy().into_owned();
        let subject = self.subject(trial, &place);
        let mut made: Option<Probe> = None;
        let server = Server::start(
            |url| made.insert(probe::probe(self.adapter, self.driver, &subject, &root, url)).script.clone(),
            Limits { life: RUN_TIME + Duration::from_secs(30), ..Limits::default() },
        )
        .await?;
        let Some(mut made) = made else { return Ok(Observed::default()) };
        let values = values(&place, &server.url(), &trial.name);
        self.prepare(&place, &made, &values)?;
        if let (Some((lines, _)), Some(over)) = (trial.most, &subject.over) {
            write(&place.root.join(&over.long), &"line\n".repeat(usize::try_from(lines).unwrap_or(0) + 1))?;
        }
        if let Some(derived) = trial.derived {
            self.serve(&mut made, derived, &values, &place, interrupt).await?;
        }
        let ran = match make {
            Some(make) => self.launch(make, &values, &place, interrupt).await?,
            None => self.start(&self.driver.args, &values, &place, RUN_TIME, interrupt).await?,
        };
        reap::stragglers(&place.home);
        let mut seen = observe(self.driver, &made, &server.recorded(), &place.root);
        if seen.role.is_none() {
            seen.trouble = trouble(&seen, &ran);
        }
        Ok(seen)
    }

    /// Makes a run one with the server: its calls are what is looked for, and a person has accepted it.
    async fn serve(
        &self,
        made: &mut Probe,
        derived: &Derived,
        values: &IndexMap<String, String>,
        place: &Place,
        interrupt: &mut Interrupt,
    ) -> io::Result<()> {
        for tried in &mut made.tries {
            if let Some(tool) = TOOLS.get(tried.attempt) {
                tried.effect = Effect::Called(Record::new(place.record()), tool.name);
            }
        }
        for (path, text) in &self.driver.servers.files {
            write(&place.home.join(path), &fill(text, values))?;
        }
        if let Some(accept) = &self.driver.servers.accept {
            let mut values = values.clone();
            values.insert("{server}".to_owned(), derived.shared(&self.adapter.id));
            self.start(accept, &values, place, VERSION_TIME, interrupt).await?;
        }
        Ok(())
    }

    /// Size of the main agent's first request in the repository without what is rendered, in bytes; none = what
    /// is rendered was edited, or it never asked.
    ///
    /// # Errors
    /// Files, or a program that cannot be started.
    pub async fn bare(&self, policy_dir: &str, files: &Files, interrupt: &mut Interrupt) -> io::Result<Option<usize>> {
        let place = Place::new()?;
        files.copy(&place.root, &place.home, self.platform, interrupt).await?;
        let nothing = sync::render(&[], &Os::new(&place.root)?, &sync::Options::new(policy_dir)).1;
        if nothing.is_err() {
            return Ok(None);
        }
        let steps = vec![Step { text: Some("Done.".to_owned()), ..Step::default() }];
        let (name, text) = (MAIN.to_owned(), MAIN.to_owned());
        let rule = Rule { name, look: Look::User, text, needs_tools: true, steps };
        let script = Script { rules: vec![rule], otherwise: "ok".to_owned() };
        let limits = Limits { life: RUN_TIME + Duration::from_secs(30), ..Limits::default() };
        let server = Server::start(|_| script, limits).await?;
        let values = values(&place, &server.url(), "");
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, &values))?;
        }
        self.start(&self.driver.args, &values, &place, RUN_TIME, interrupt).await?;
        let asked = |r: &&super::model::Recorded| r.answer.rule.as_deref() == Some(MAIN);
        Ok(server.recorded().iter().find(asked).map(|r| r.bytes))
    }

    fn subject(&self, trial: &Trial<'_>, place: &Place) -> Subject {
        let outputs = self.adapter.outputs.values().filter(|o| o.each.is_some());
        let file = outputs.map(|o| o.file.replace("{name}", &trial.name)).next().unwrap_or_default();
        let read = |path: &str| std::fs::read_to_string(place.root.join(path));
        Subject {
            name: trial.name.clone(),
            text: read(&file).unwrap_or_default(),
            file,
            main: trial.main,
            scopes: trial.scopes.clone(),
            domains: trial.domains.clone(),
            kept: trial.kept.iter().filter_map(|path| Some((path.clone(), read(path).ok()?))).collect(),
            touched: trial.touched.to_vec(),
            over: trial.most.map(|(_, packet)| Over {
                long: probe::LONG.to_owned(),
                packet: usize::try_from(packet).unwrap_or(usize::MAX),
            }),
        }
    }

    fn prepare(&self, place: &Place, made: &Probe, values: &IndexMap<String, String>) -> io::Result<()> {
        std::fs::create_dir_all(place.root.join(probe::FOLDER))?;
        // A rule may be for files of any name, and what is there must not be lost.
        for file in made.files.iter().filter(|f| !place.root.join(f).exists()) {
            write(&place.root.join(file), UNTOUCHED)?;
        }
        #[cfg(unix)]
        for (path, target) in &made.links {
            let path = place.root.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::os::unix::fs::symlink(target, path)?;
        }
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, values))?;
        }
        self.acknowledge(place)
    }

    /// What a person would do by hand, for every file of the output that is there.
    pub(super) fn acknowledge(&self, place: &Place) -> io::Result<()> {
        let Some(how) = &self.driver.acknowledge else { return Ok(()) };
        let Some(output) = self.adapter.outputs.get(&how.output) else { return Ok(()) };
        let (before, after) = output.file.split_once("{name}").unwrap_or((&output.file, ""));
        let folder = place.root.join(before);
        let mut accepted = serde_json::Map::new();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(after) else { continue };
            let Digest::Sha256 = how.digest;
            let digest = crate::text::digest::digest(&std::fs::read(entry.path())?);
            let bare = digest.strip_prefix("sha256:").unwrap_or(&digest);
            accepted.insert(name.to_owned(), bare.into());
        }
        let all = serde_json::json!({ place.root.to_string_lossy(): accepted });
        write(&place.home.join(&how.file), &all.to_string())
    }

    pub(super) async fn start(
        &self,
        args: &[String],
        values: &IndexMap<String, String>,
        place: &Place,
        time: Duration,
        interrupt: &mut Interrupt,
    ) -> io::Result<Ran> {
        let args: Vec<String> = self.found.before.iter().cloned().chain(args.iter().map(|a| fill(a, values))).collect();
        let env = self.environment(place, values);
        let task = Task { program: &self.found.start, args: &args, env: &env, folder: &place.root, time };
        run(task, interrupt).await
    }

    /// Starts the command of `run` with the driver's arguments behind it.
    async fn launch(
        &self,
        make: Make<'_>,
        values: &IndexMap<String, String>,
        place: &Place,
        interrupt: &mut Interrupt,
    ) -> io::Result<Ran> {
        let dir = place.home.join("run");
        std::fs::create_dir_all(&dir)?;
        let (root, private) = (place.root.to_string_lossy(), dir.to_string_lossy());
        let made = make(Scene { root: &root, dir: &private, packet: Some(MAIN) });
        let command = made.ok_or_else(|| io::Error::other("there is no command to start the role with"))?;
        for (name, text) in &command.files {
            write(&dir.join(name), text)?;
        }
        let args = self.found.before.iter().cloned().chain(command.args);
        let args: Vec<String> = args.chain(self.driver.launched.iter().map(|a| fill(a, values))).collect();
        let mut env = self.environment(place, values);
        env.extend(command.env);
        let task = Task { program: &self.found.start, args: &args, env: &env, folder: &place.root, time: RUN_TIME };
        run(task, interrupt).await
    }

    /// Nothing of the user's but where programs are.
    pub(crate) fn environment(&self, place: &Place, values: &IndexMap<String, String>) -> Vec<(String, String)> {
        let home = place.home.to_string_lossy().into_owned();
        let below = |name: &str| place.home.join(name).to_string_lossy().into_owned();
        let mut env = vec![
            ("PATH".to_owned(), self.platform.joined()),
            ("HOME".to_owned(), home.clone()),
            ("USERPROFILE".to_owned(), home),
            ("TMPDIR".to_owned(), below("tmp")),
            ("XDG_CONFIG_HOME".to_owned(), below(".config")),
            ("XDG_DATA_HOME".to_owned(), below(".local/share")),
            ("XDG_STATE_HOME".to_owned(), below(".local/state")),
            ("XDG_CACHE_HOME".to_owned(), below(".cache")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("NO_COLOR".to_owned(), "1".to_owned()),
            (FOLDER.to_owned(), place.record().to_string_lossy().into_owned()),
            ("NO_PROXY".to_owned(), LOOPBACK.to_owned()),
            ("no_proxy".to_owned(), LOOPBACK.to_owned()),
        ];
        // Whoever wants to go further than loopback ends at the stand-in, which refuses and remembers.
        let stand_in = fill("{url}", values);
        env.extend(
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
                .map(|name| (name.to_owned(), stand_in.clone())),
        );
        env.extend(self.driver.env.iter().map(|(name, value)| (name.clone(), fill(value, values))));
        env
    }
}

pub(crate) fn values(place: &Place, url: &str, name: &str) -> IndexMap<String, String> {
    [
        ("{url}", url.to_owned()),
        ("{home}", place.home.to_string_lossy().into_owned()),
        ("{root}", place.root.to_string_lossy().into_owned()),
        ("{prompt}", MAIN.to_owned()),
        ("{name}", name.to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

/// The first word that looks like a version.
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == 'v');
    let looks = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit()) && w.contains('.');
    words.map(|w| w.trim_end_matches(['.', ',', ';'])).find(looks).map(str::to_owned)
}

/// Why the role was not started, in the words of the program.
fn trouble(seen: &Observed, ran: &Ran) -> String {
    match (ran.ended, &seen.main) {
        (Some(Ended::Time), _) => format!("no end after {} seconds", RUN_TIME.as_secs()),
        (Some(Ended::Interrupt), _) => "interrupted".to_owned(),
        (None, None) => format!("it never asked the model: {}", said(&format!("{} {}", ran.stderr, ran.stdout))),
        (None, Some(_)) if seen.trouble.is_empty() => "its call was never answered".to_owned(),
        (None, Some(_)) => format!("its call was answered: {}", said(&seen.trouble)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (text, version) in [
            ("2.1.332 (Some Program)\n", Some("2.1.332")),
            ("program-cli 0.171.0", Some("0.171.0")),
            ("GitHub Program CLI 1.0.102.\nCommit: abc", Some("1.0.102")),
            ("v0.61.0-nightly.1", Some("0.61.0-nightly.1")),
            ("error: no", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}
