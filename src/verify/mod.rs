//! Tries the ledger's claims on the real host programs, offline, with a scripted model: the only way to
//! know what a host obeys is to make a model ask for what it must not have.

mod accept;
mod budget;
mod copy;
mod delivery;
mod detail;
mod installed;
mod judge;
pub mod model;
mod observe;
mod place;
mod platform;
mod probe;
mod process;
mod program;
mod reap;
mod report;
mod session;

use std::io;
use std::path::Path;

use indexmap::IndexMap;

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::model::adapter::{Adapter, Driver};
use crate::plan::standing::Standing;
use crate::plan::{HostPlan, Plan};
use crate::render::{Rendered, Scene};
use crate::resolve::Policy;

pub use accept::{Accept, text as evidence_text};
use copy::Files;
pub use installed::{Installed, installed};
use judge::Case;
use observe::Observed;
pub use platform::Platform;
use process::Interrupt;
pub use report::{About, Finding, FirstRequest, HostReport, Report, Verdict};
use session::{Make, Session};

/// What to verify.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The repository.
    pub root: &'a Path,
    /// Only these hosts; none = all selected ones.
    pub hosts: &'a [String],
    /// Only these roles; none = all.
    pub roles: &'a [String],
    /// Folder with the hosts' packages, instead of the path.
    pub bin: Option<&'a Path>,
    /// Where programs are.
    pub platform: &'a Platform,
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
    runtime()?.block_on(async {
        let mut interrupt = Interrupt::listen();
        let files = list(options, &mut interrupt).await?;
        let mut all = All { compiled, policy, plan, rendered, options, files: &files, interrupt, say };
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

fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    let failed = |source| Problem::Io { what: "cannot start".to_owned(), source };
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// Why there is no program.
fn absent(program: &crate::model::adapter::Program, bin: Option<&Path>) -> String {
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
            report.not_verified = Some("no way is known to run it without a network".to_owned());
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
        let shown = found.before.last().cloned().unwrap_or_else(|| found.start.display().to_string());
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
        let mut seen = Vec::new();
        for role in &host.roles {
            if !self.options.roles.is_empty() && !self.options.roles.contains(&role.role) {
                continue;
            }
            for (index, form) in role.forms.iter().enumerate() {
                // The first form is the one that a parent starts, the others are those that `run` does.
                let main = adapter.forms.get(&form.form).is_some_and(|f| f.launch.is_some());
                if index > 0 && !main {
                    continue;
                }
                let (id, name) = (role.role.as_str(), form.form.as_str());
                let mut wrong = Sink::new();
                let mut make = |scene: Scene<'_>| self.compiled.launch(&adapter.id, id, name, scene, &mut wrong);
                let make: Option<Make<'_>> = if main { Some(&mut make) } else { None };
                (self.say)(&format!("{}: trying `{}` as {}", adapter.title, role.role, form.form));
                let run =
                    session.role(&role.name, self.scopes(&role.role), make, self.files, &mut self.interrupt).await;
                if self.interrupt.happened() {
                    return Err(Problem::Interrupted);
                }
                let observed = run.map_err(failed)?;
                seen.push(Seen { role: role.role.clone(), form: form.form.clone(), observed });
            }
        }
        report.strays = seen.iter().flat_map(|s| s.observed.strays.clone()).collect();
        report.strays.sort();
        report.strays.dedup();
        self.judge(adapter, driver, host, &seen, &mut report);
        Ok(report)
    }

    /// Paths of a role's scoped grants.
    fn scopes(&self, role: &str) -> IndexMap<String, Vec<String>> {
        let grants = self.policy.roles.iter().filter(|r| r.id == role).flat_map(|r| &r.grants);
        let scoped = grants.filter_map(|(cap, scope)| Some((cap, scope.paths.clone()?)));
        scoped.map(|(cap, paths)| (self.policy.catalogue.name(*cap).to_owned(), paths)).collect()
    }

    fn judge(&self, adapter: &Adapter, driver: &Driver, host: &HostPlan, seen: &[Seen], report: &mut HostReport) {
        let lines = &self.plan.ledger.lines;
        for Seen { role: id, form, observed: seen, .. } in seen {
            let planned = host.roles.iter().find(|r| r.role == *id);
            let planned = planned.and_then(|r| r.forms.iter().find(|f| f.form == *form));
            let role = self.policy.roles.iter().find(|r| r.id == *id);
            let (Some(plan), Some(role)) = (planned, role) else { continue };
            let Some(shape) = adapter.forms.get(&plan.form) else { continue };
            let case = Case { adapter, driver, policy: self.policy, form: shape, role, plan, seen };
            report.findings.extend(case.findings(lines));
            let bytes = seen.bytes.1;
            report.first_requests.push(FirstRequest { role: Some(id.clone()), form: Some(form.clone()), bytes });
        }
        let main = seen.iter().map(|s| &s.observed).find(|s| s.main.is_some());
        if let Some(s) = main {
            report.first_requests.insert(0, FirstRequest { role: None, form: None, bytes: s.bytes.0 });
        }
        if let Some(plan) = self.plan.delivery.hosts.iter().find(|h| h.host == adapter.id) {
            let told = delivery::Told {
                adapter,
                policy: self.policy,
                rules: &self.rendered.rules,
                plan,
                main: main.and_then(|s| s.main.clone()),
                roles: seen.iter().map(|s| (s.role.clone(), s.observed.role.clone())).collect(),
            };
            report.findings.extend(told.findings(lines));
        }
        let flood = seen.iter().find_map(|s| s.observed.flood);
        report.findings.extend(budget::findings(adapter, self.policy, lines, flood));
    }
}
