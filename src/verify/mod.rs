//! Tries the ledger's claims on the real host programs, offline, with a scripted model: the only way to
//! know what a host obeys is to make a model ask for what it must not have.

mod accept;
mod budget;
pub(crate) mod copy;
mod delivery;
mod derived;
mod detail;
mod forbidden;
mod found;
mod guarded;
mod guarded_report;
mod installed;
mod judge;
pub mod model;
mod observe;
pub(crate) mod own;
mod place;
mod platform;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod program;
mod readers;
pub(crate) mod reap;
mod report;
mod scopes;
mod servers;
pub(crate) mod session;
mod slots;
mod start;
pub mod tryout;

use std::cell::RefCell;
use std::io;
use std::path::Path;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::model::adapter::{Adapter, Driver};
use crate::plan::role::RolePlan;
use crate::plan::standing::{NO_WAY, Standing};
use crate::plan::{HostPlan, Plan};
use crate::render::artifact::Content;
use crate::render::{Rendered, Scene};
use crate::resolve::Policy;

pub use accept::{Accept, text as evidence_text};
use copy::Files;
use derived::Derived;
pub use found::Installed;
pub use installed::installed;
use judge::Case;
use observe::Observed;
use own::OwnName;
pub use platform::Platform;
use process::Interrupt;
pub use report::{About, Block, Finding, FirstRequest, HostReport, Report, Verdict};
use session::{Make, Session, Trial};
use slots::Slots;
use start::Texts;

/// What to verify.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The folder of the policy, relative to the root.
    pub policy_dir: &'a str,
    /// Only these hosts; none = all selected ones.
    pub hosts: &'a [String],
    /// Only these roles; none = all.
    pub roles: &'a [String],
    /// Folder with the hosts' packages, instead of the path.
    pub bin: Option<&'a Path>,
    /// Where programs are.
    pub platform: &'a Platform,
    /// This program, which hosts start as a server.
    pub program: &'a Path,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A person interrupted.
    #[error("interrupted; everything that was started is ended")]
    Interrupted,
    /// There is nothing to hold the hosts against.
    #[error("the policy was not compiled with its ledger")]
    NotCompiled,
    /// The surroundings.
    #[error("{what}: {source}")]
    Io {
        /// What could not be done.
        what: String,
        /// Why.
        source: io::Error,
    },
}

/// Runs the programs and reports; `say` is told what is being done.
///
/// # Errors
/// The repository cannot be copied, a program cannot be started, or a person interrupted. That a host is
/// not there or breaks a promise is no error but a result.
pub fn verify(compiled: &Compiled, options: &Options<'_>, say: &mut dyn FnMut(&str)) -> Result<Report, Problem> {
    let (Some(policy), Some(plan), Some(rendered)) = (&compiled.policy, &compiled.plan, &compiled.rendered) else {
        return Err(Problem::NotCompiled);
    };
    // A run without claims would find nothing wrong, whatever the hosts do.
    if plan.ledger.lines.is_empty() {
        return Err(Problem::NotCompiled);
    }
    let own = OwnName::of(options.program).map_err(|source| Problem::Io { what: "cannot start".to_owned(), source })?;
    let platform = options.platform.clone().before(own.folder().to_owned());
    let options = &Options { platform: &platform, ..*options };
    runtime()?.block_on(async {
        let mut interrupt = Interrupt::listen();
        let files = list(options, &mut interrupt).await?;
        let failed = |source| Problem::Io { what: "cannot make a policy for trials".to_owned(), source };
        let derive = |through| Derived::of(compiled, options.root, options.program, through);
        let mut derived: Vec<Derived> = derive(false).map_err(failed)?.into_iter().collect();
        // Where nothing goes through the gateway, no line is about it.
        if policy.gateway.is_some() {
            derived.extend(derive(true).map_err(failed)?);
        }
        let derived = derived.as_slice();
        let forbidding = match policy.settings.forbidden.is_empty() {
            true => None,
            false => Derived::forbidding(compiled, options.root, forbidden::command()).map_err(failed)?,
        };
        let forbidding = forbidding.as_ref();
        let (files, say, slots) = (&files, RefCell::new(say), Slots::here());
        let all = All { compiled, policy, plan, rendered, derived, forbidding, options, files, interrupt, say, slots };
        let wanted = plan.hosts.iter().filter(|h| options.hosts.is_empty() || options.hosts.contains(&h.host));
        let wanted = wanted.filter_map(|host| Some((compiled.loaded.adapters.get(&host.host)?, host)));
        let hosts = slots::all(wanted.map(|(adapter, host)| all.host(adapter, host))).await?;
        Ok(Report { hosts })
    })
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    let failed = |source| Problem::Io { what: "cannot start".to_owned(), source };
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// Why there is no program.
pub(crate) fn absent(program: &crate::model::adapter::Program, bin: Option<&Path>) -> String {
    match bin {
        Some(bin) => format!("it is not installed below `{}`", bin.display()),
        None => format!("`{}` is not on the path", program.name),
    }
}

async fn list(options: &Options<'_>, interrupt: &mut Interrupt) -> Result<Files, Problem> {
    let failed = |source| Problem::Io { what: "cannot list the files of the repository".to_owned(), source };
    let home = tempfile::tempdir().map_err(failed)?;
    Files::list(options.root, home.path(), options.platform, interrupt).await.map_err(failed)
}

/// One run.
struct Seen {
    role: String,
    form: String,
    observed: Observed,
}

/// Everything that the runs of all hosts share.
struct All<'a> {
    compiled: &'a Compiled,
    policy: &'a Policy,
    plan: &'a Plan,
    rendered: &'a Rendered,
    derived: &'a [Derived],
    forbidding: Option<&'a Derived>,
    options: &'a Options<'a>,
    files: &'a Files,
    interrupt: Interrupt,
    say: RefCell<&'a mut dyn FnMut(&str)>,
    slots: Slots,
}

impl All<'_> {
    async fn host(&self, adapter: &Adapter, host: &HostPlan) -> Result<HostReport, Problem> {
        let mut report = HostReport {
            host: adapter.id.clone(),
            title: adapter.title.clone(),
            claimed_on: adapter.evidence.version.clone(),
            evidence: self.policy.evidence.get(&adapter.id).and_then(|all| all.iter().find_map(Standing::of)),
            ..HostReport::default()
        };
        let Some(driver) = &adapter.verify else {
            report.not_verified = Some(NO_WAY.to_owned());
            return Ok(report);
        };
        let Some(program) = &adapter.program else {
            report.not_verified = Some("the adapter names no program".to_owned());
            return Ok(report);
        };
        let Some(found) = program::find(program, self.options.bin, self.options.platform) else {
            report.not_verified = Some(absent(program, self.options.bin));
            return Ok(report);
        };
        let session = Session { adapter, driver, found: &found, platform: self.options.platform };
        let shown = found.shown();
        report.program = Some(shown.clone());
        match self.slots.one(session.version(&mut self.interrupt.clone())).await {
            Ok(version) => {
                let stale = |kept: &Standing| version.as_deref().is_none_or(|v| kept.stale(v));
                report.stale = report.evidence.as_ref().is_some_and(stale);
                report.version = version;
            }
            Err(error) => {
                report.not_verified = Some(format!("`{shown}` cannot be run: {error}"));
                return Ok(report);
            }
        }
        let version = report.version.as_deref().unwrap_or("of unknown version");
        self.say(&format!("{} {version}: {shown}", adapter.title));
        let kept = self.kept(&host.host);
        let touched: Vec<String> = self.policy.rules.iter().filter_map(delivery::touching).collect();
        let plain = Trial { kept: &kept, touched: &touched, ..Trial::default() };
        let (seen, bare, served, forbidden, guarded, read) = tokio::join!(
            self.runs(&session, host, &plain),
            self.bare(&session),
            self.with_server(&session),
            self.forbidden(&session),
            self.guarded(&session),
            self.readers(&session),
        );
        let seen = seen?;
        report.strays = seen.iter().flat_map(|s| s.observed.strays.clone()).collect();
        report.strays.sort();
        report.strays.dedup();
        self.judge(adapter, driver, host, &seen, &mut report);
        let bare = bare?;
        if let Some(first) = report.first_requests.iter_mut().find(|f| f.role.is_none()) {
            first.without = bare;
        }
        let (served, connected) = served?;
        report.findings.extend(served);
        report.findings.extend(forbidden?);
        let guarded = guarded?;
        let hooked = guarded_report::hooked(&guarded);
        report.findings.extend(guarded);
        report.findings.extend(read?.iter().map(|read| read.finding(connected, hooked)));
        Ok(report)
    }

    fn say(&self, what: &str) {
        (self.say.borrow_mut())(what);
    }

    /// What came of a run of `session`, which waits for its turn and is begun with these words.
    async fn turn<T>(
        &self,
        session: Session<'_>,
        words: &str,
        run: impl AsyncFnOnce(&mut Interrupt) -> io::Result<T>,
    ) -> Result<T, Problem> {
        let mut interrupt = self.interrupt.clone();
        let run = async {
            if interrupt.happened() {
                return Err(Problem::Interrupted);
            }
            self.say(&format!("{}: {words}", session.adapter.title));
            Ok(run(&mut interrupt).await)
        };
        let ran = self.slots.one(run).await?;
        if self.interrupt.happened() {
            return Err(Problem::Interrupted);
        }
        let shown = session.found.shown();
        ran.map_err(|source| Problem::Io { what: format!("cannot run `{shown}`"), source })
    }

    /// Size of the first request without what is rendered.
    async fn bare(&self, session: &Session<'_>) -> Result<Option<usize>, Problem> {
        let dir = self.options.policy_dir;
        let run = async |stop: &mut Interrupt| session.bare(dir, self.files, stop).await;
        self.turn(*session, "without what is rendered", run).await
    }

    /// One run for each role and form that can be tried; `like` has what they share.
    async fn runs(&self, session: &Session<'_>, host: &HostPlan, like: &Trial<'_>) -> Result<Vec<Seen>, Problem> {
        let wanted = |role: &String| self.options.roles.is_empty() || self.options.roles.contains(role);
        let main = |form: &RolePlan| session.adapter.forms.get(&form.form).is_some_and(|f| f.launch.is_some());
        let all = host.roles.iter().filter(|role| wanted(&role.role)).flat_map(|role| {
            // The first form is the one that a parent starts, the others are those that `run` does.
            let tried = move |(index, form): &(usize, &RolePlan)| *index == 0 || (main(form) && like.derived.is_none());
            role.forms.iter().enumerate().filter(tried).map(move |(_, form)| (role, form, main(form)))
        });
        let runs = all.enumerate().map(|(index, (role, form, main))| {
            // Once for each host is enough.
            let most = (index == 0 && !main && like.derived.is_none()).then(|| self.most()).flatten();
            let (scopes, domains) = (self.scopes(&role.role), self.domains(&role.role));
            self.run(session, form, Trial { name: role.name.clone(), scopes, domains, main, most, ..like.clone() })
        });
        slots::all(runs).await
    }

    async fn run(&self, session: &Session<'_>, form: &RolePlan, trial: Trial<'_>) -> Result<Seen, Problem> {
        let with = match trial.derived {
            Some(derived) if derived.through() => " through the gateway",
            Some(_) => " with a server",
            None => "",
        };
        let driver = trial
            .derived
            .map(|d| servers::driver(session.adapter, session.driver, &d.entry(form, &session.adapter.id)));
        let session = Session { driver: driver.as_ref().unwrap_or(session.driver), ..*session };
        let (id, name) = (form.role.as_str(), form.form.as_str());
        let run = async |stop: &mut Interrupt| {
            let mut wrong = Sink::new();
            let mut make = |scene: Scene<'_>| self.compiled.launch(&session.adapter.id, id, name, scene, &mut wrong);
            let make: Option<Make<'_>> = if trial.main { Some(&mut make) } else { None };
            session.role(&trial, make, self.files, stop).await
        };
        let mut observed = self.turn(session, &format!("trying `{id}` as {name}{with}"), run).await?;
        // Behind the gateway a server is asked for nothing before its first call.
        if trial.derived.is_some_and(Derived::through) {
            observed.connected = observed.connected.filter(|connected| *connected);
        }
        Ok(Seen { role: id.to_owned(), form: name.to_owned(), observed })
    }

    /// Tries a forbidden command, where the policy forbids any.
    async fn forbidden(&self, session: &Session<'_>) -> Result<Vec<Finding>, Problem> {
        let (Some(call), Some(derived)) = (&session.driver.shell, self.forbidding) else { return Ok(Vec::new()) };
        let dir = self.options.policy_dir;
        let run = async |stop: &mut Interrupt| session.forbidden(call, derived, dir, self.files, stop).await;
        let lines = self.turn(*session, "trying a forbidden command", run).await?;
        Ok(forbidden::findings(session.adapter, derived, &lines))
    }

    /// By what it is told whose a part of a request is.
    fn texts(&self) -> Texts {
        let rendered = self.rendered.artifacts.iter();
        let texts = rendered.clone().flat_map(|a| match &a.content {
            Content::Whole(text) | Content::Block(text) => vec![text.as_str()],
            Content::Entries(entries) => entries.iter().filter_map(|e| e.value.as_str()).collect(),
        });
        Texts::new(texts, self.files.texts(|path| !rendered.clone().any(|a| a.path == path)))
    }

    fn judge(&self, adapter: &Adapter, driver: &Driver, host: &HostPlan, seen: &[Seen], report: &mut HostReport) {
        let lines = &self.plan.ledger.lines;
        let texts = self.texts();
        for Seen { role: id, form, observed: seen, .. } in seen {
            let planned = host.roles.iter().find(|r| r.role == *id);
            let planned = planned.and_then(|r| r.forms.iter().find(|f| f.form == *form));
            let role = self.policy.roles.iter().find(|r| r.id == *id);
            let (Some(plan), Some(role)) = (planned, role) else { continue };
            let Some(shape) = adapter.forms.get(&plan.form) else { continue };
            let case = Case { adapter, driver, policy: self.policy, form: shape, role, plan, seen };
            report.findings.extend(case.findings(lines));
            let request = seen.role.as_ref().map(|s| texts.request(s, Some((id, form))));
            report.first_requests.extend(request);
        }
        let main = seen.iter().find_map(|s| s.observed.main.as_ref());
        if let Some(start) = main {
            report.first_requests.insert(0, texts.request(start, None));
        }
        if let Some(plan) = self.plan.delivery.hosts.iter().find(|h| h.host == adapter.id) {
            let told = delivery::Told {
                adapter,
                policy: self.policy,
                rules: &self.rendered.rules,
                notes: self.rendered.notes.iter().find(|n| n.host == adapter.id),
                plan,
                files: &self.plan.delivery.files,
                main,
                roles: seen.iter().map(|s| (s.role.as_str(), s.observed.role.as_ref())).collect(),
            };
            report.findings.extend(told.findings(lines));
        }
        let flood = seen.iter().find_map(|s| s.observed.flood);
        let tried = seen.iter().map(|s| s.observed.budgets.as_slice()).find(|b| !b.is_empty()).unwrap_or_default();
        report.findings.extend(budget::findings(adapter, self.policy, lines, flood, tried));
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
