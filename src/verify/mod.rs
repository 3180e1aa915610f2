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
pub(crate) mod reap;
mod report;
mod servers;
pub(crate) mod session;
mod start;
pub mod tryout;

use std::io;
use std::path::Path;

use indexmap::IndexMap;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::model::adapter::{Adapter, Driver};
use crate::plan::delivery::{Own, Part, PlannedFile};
use crate::plan::standing::{NO_WAY, Standing};
use crate::plan::{HostPlan, Plan};
use crate::render::artifact::Content;
use crate::render::{Rendered, Scene};
use crate::resolve::Policy;
use crate::sync::LOCK_NAME;

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
        let mut all =
            All { compiled, policy, plan, rendered, derived, forbidding, options, files: &files, interrupt, say };
        let mut report = Report::default();
        for host in &plan.hosts {
            if !options.hosts.is_empty() && !options.hosts.contains(&host.host) {
                continue;
            }
            let Some(adapter) = compiled.loaded.adapters.get(&host.host) else { continue };
            report.hosts.push(all.host(adapter, host).await?);
        }
        Ok(report)
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
    say: &'a mut dyn FnMut(&str),
}

impl All<'_> {
    async fn host(&mut self, adapter: &Adapter, host: &HostPlan) -> Result<HostReport, Problem> {
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
        let failed = |source| Problem::Io { what: format!("cannot run `{shown}`"), source };
        report.program = Some(shown.clone());
        match session.version(&mut self.interrupt).await {
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
        (self.say)(&format!("{} {version}: {shown}", adapter.title));
        let kept = self.kept(&host.host);
        let touched: Vec<String> = self.policy.rules.iter().filter_map(delivery::touching).collect();
        let plain = Trial { kept: &kept, touched: &touched, ..Trial::default() };
        let seen = self.runs(&session, host, &plain).await?;
        report.strays = seen.iter().flat_map(|s| s.observed.strays.clone()).collect();
        report.strays.sort();
        report.strays.dedup();
        self.judge(adapter, driver, host, &seen, &mut report);
        if let Some(first) = report.first_requests.iter_mut().find(|f| f.role.is_none()) {
            (self.say)(&format!("{}: without what is rendered", adapter.title));
            let bare = session.bare(self.options.policy_dir, self.files, &mut self.interrupt).await;
            if self.interrupt.happened() {
                return Err(Problem::Interrupted);
            }
            first.without = bare.map_err(failed)?;
        }
        report.findings.extend(self.with_server(&session).await?);
        report.findings.extend(self.forbidden(&session).await?);
        Ok(report)
    }

    /// One run for each role and form that can be tried; `like` has what they share.
    async fn runs(&mut self, session: &Session<'_>, host: &HostPlan, like: &Trial<'_>) -> Result<Vec<Seen>, Problem> {
        let title = &session.adapter.title;
        let mut seen = Vec::new();
        for role in &host.roles {
            if !self.options.roles.is_empty() && !self.options.roles.contains(&role.role) {
                continue;
            }
            for (index, form) in role.forms.iter().enumerate() {
                // The first form is the one that a parent starts, the others are those that `run` does.
                let main = session.adapter.forms.get(&form.form).is_some_and(|f| f.launch.is_some());
                if index > 0 && (!main || like.derived.is_some()) {
                    continue;
                }
                let with = match like.derived {
                    Some(derived) if derived.through() => " through the gateway",
                    Some(_) => " with a server",
                    None => "",
                };
                let driver = like
                    .derived
                    .map(|d| servers::driver(session.adapter, session.driver, &d.entry(form, &session.adapter.id)));
                let session = Session { driver: driver.as_ref().unwrap_or(session.driver), ..*session };
                (self.say)(&format!("{title}: trying `{}` as {}{with}", role.role, form.form));
                let (id, name) = (role.role.as_str(), form.form.as_str());
                let mut wrong = Sink::new();
                let mut make =
                    |scene: Scene<'_>| self.compiled.launch(&session.adapter.id, id, name, scene, &mut wrong);
                let make: Option<Make<'_>> = if main { Some(&mut make) } else { None };
                // Once for each host is enough.
                let most = (seen.is_empty() && !main && like.derived.is_none()).then(|| self.most()).flatten();
                let trial = Trial { name: role.name.clone(), scopes: self.scopes(id), main, most, ..like.clone() };
                let run = session.role(&trial, make, self.files, &mut self.interrupt).await;
                if self.interrupt.happened() {
                    return Err(Problem::Interrupted);
                }
                let shown = session.found.shown();
                let mut observed =
                    run.map_err(|source| Problem::Io { what: format!("cannot run `{shown}`"), source })?;
                // Behind the gateway a server is asked for nothing before its first call.
                if like.derived.is_some_and(Derived::through) {
                    observed.connected = observed.connected.filter(|connected| *connected);
                }
                seen.push(Seen { role: role.role.clone(), form: form.form.clone(), observed });
            }
        }
        Ok(seen)
    }

    /// Tries the way of a server to the roles.
    async fn with_server(&mut self, session: &Session<'_>) -> Result<Vec<Finding>, Problem> {
        let mut all = Vec::new();
        for derived in self.derived {
            let Some(host) = derived.plan.hosts.iter().find(|h| h.host == session.adapter.id) else { continue };
            let seen = self.runs(session, host, &Trial { derived: Some(derived), ..Trial::default() }).await?;
            all.extend(servers::findings(session.adapter, session.driver, derived, &seen));
        }
        Ok(all)
    }

    /// Tries a forbidden command, where the policy forbids any.
    async fn forbidden(&mut self, session: &Session<'_>) -> Result<Vec<Finding>, Problem> {
        let (Some(call), Some(derived)) = (&session.driver.shell, self.forbidding) else { return Ok(Vec::new()) };
        (self.say)(&format!("{}: trying a forbidden command", session.adapter.title));
        let ran = session.forbidden(call, derived, self.options.policy_dir, self.files, &mut self.interrupt).await;
        if self.interrupt.happened() {
            return Err(Problem::Interrupted);
        }
        let shown = session.found.shown();
        let lines = ran.map_err(|source| Problem::Io { what: format!("cannot run `{shown}`"), source })?;
        Ok(forbidden::findings(session.adapter, derived, &lines))
    }

    /// Files that only the grant of the policy gives: instructions that the host reads, the policy, the lock.
    fn kept(&self, host: &str) -> Vec<String> {
        let read = |f: &&PlannedFile| f.hosts.iter().any(|h| h == host);
        let text = |f: &&PlannedFile| !f.parts.iter().all(|p| matches!(p, Part::Rule { .. }));
        let files = self.plan.delivery.files.iter().filter(read).filter(text);
        let instructions = files.filter(|f| matches!(f.own, Own::Block | Own::Whole { .. })).map(|f| f.path.clone());
        let dir = self.options.policy_dir;
        let policy = ["policy.yaml", LOCK_NAME].map(|name| format!("{dir}/{name}"));
        instructions.chain(policy).collect()
    }

    /// Most lines of a first read and most bytes of a packet; nothing where the policy does not say both.
    fn most(&self) -> Option<(u64, u64)> {
        let target = |name: &str| self.policy.settings.budgets.get(name)?.figure("target");
        Some((target("file-read")?, target("delegation-packet")?))
    }

    /// Paths of a role's scoped grants.
    fn scopes(&self, role: &str) -> IndexMap<String, Vec<String>> {
        let grants = self.policy.roles.iter().filter(|r| r.id == role).flat_map(|r| &r.grants);
        let scoped = grants.filter_map(|(cap, scope)| Some((cap, scope.paths.clone()?)));
        scoped.map(|(cap, paths)| (self.policy.catalogue.name(*cap).to_owned(), paths)).collect()
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
