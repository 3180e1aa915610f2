//! The repository of a scenario under one policy, made once and copied for every run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::compile::{compile, variant};
use crate::diag::Sink;
use crate::load;
use crate::model::scenario::Scenario;
use crate::resolve::Policy;
use crate::sync;
use crate::system::System;
use crate::system::os::Os;
use crate::verify::copy::{Files, git};
use crate::verify::process::Interrupt;
use crate::verify::session::{Place, write};

use super::files;
use super::played;
use super::{Options, Problem, Told, failed};

/// Who commits the files of a scenario.
const COMMITTER: [&str; 4] = ["-c", "user.name=rolecast", "-c", "user.email=rolecast@localhost"];
/// Most bytes of a source of a policy.
const MAX_SOURCE: u64 = 4 << 20;

/// A repository that is ready.
pub struct Stage {
    /// Where it is.
    pub place: Place,
    /// What its servers read.
    pub served: PathBuf,
}

impl Stage {
    /// Makes the repository: the scenario's files or a copy of this one, the policy, what it renders, one commit.
    ///
    /// # Errors
    /// Files, git, or a policy that cannot be compiled.
    pub async fn make(
        scenario: &Scenario,
        told: &Told<'_>,
        options: &Options<'_>,
        stop: &mut Interrupt,
    ) -> Result<Self, Problem> {
        let place = Place::called(super::run::PREFIX).map_err(failed("cannot make a folder for runs"))?;
        repository(scenario, &place, options, stop)
            .await
            .map_err(failed("cannot make the repository of the scenario"))?;
        let served = place.home.join("servers.json");
        played::write(scenario, &served).map_err(failed("cannot write the servers of the scenario"))?;
        policy(scenario, told, &place, &served, options)?;
        commit(&place, options, stop).await.map_err(failed("cannot commit the repository of the scenario"))?;
        Ok(Self { place, served })
    }
}

async fn repository(scenario: &Scenario, place: &Place, options: &Options<'_>, stop: &mut Interrupt) -> io::Result<()> {
    if options.here {
        let files = Files::list(options.root, &place.home, options.platform, stop).await?;
        return files.copy(&place.root, &place.home, options.platform, stop).await;
    }
    if let Some(folder) = &scenario.repository.folder {
        files::copy(&options.root.join(&folder.value), &place.root)?;
    }
    for (path, text) in &scenario.repository.files {
        write(&place.root.join(&path.value), text)?;
    }
    Ok(())
}

fn policy(
    scenario: &Scenario,
    told: &Told<'_>,
    place: &Place,
    served: &Path,
    options: &Options<'_>,
) -> Result<(), Problem> {
    let os = Os::new(&place.root).map_err(failed("cannot open the repository of the scenario"))?;
    let into = |dir: &str, artifacts: &[_]| {
        let options = sync::Options { force: true, ..sync::Options::new(dir) };
        let written = sync::render(artifacts, &os, &options).1.map(|_| ());
        written.map_err(|e| failed("cannot render into the repository of the scenario")(io::Error::other(e)))
    };
    let (name, system, dir) = match told {
        Told::Policy { name, system, dir } => (name, *system, *dir),
        Told::Nothing { policy, dir } => {
            into(dir, &[])?;
            if scenario.servers.is_empty() {
                return Ok(());
            }
            let mut bare = bare(policy);
            played::put(&mut bare, scenario, options.program, served);
            let mut sink = Sink::new();
            let mut loaded = load::load(&os, None, &mut sink);
            loaded.folders.clear();
            return into(dir, &variant(&os, &loaded, &bare).1.artifacts);
        }
    };
    sources(system, dir, &place.root)?;
    let mut sink = Sink::new();
    let compiled = compile(&os, dir, options.selected, &mut sink);
    let (Some(policy), Some(_)) = (&compiled.policy, &compiled.rendered) else {
        let why = sink.iter().find(|d| d.severity == crate::diag::Severity::Error).map(|d| d.message.clone());
        return Err(Problem::Policy { name: name.clone(), why: why.unwrap_or_default() });
    };
    let mut policy = policy.clone();
    played::put(&mut policy, scenario, options.program, served);
    into(dir.unwrap_or(load::DEFAULT_DIR), &variant(&os, &compiled.loaded, &policy).1.artifacts)
}

/// Copies what a policy is made of.
fn sources(system: &dyn System, dir: Option<&str>, root: &Path) -> Result<(), Problem> {
    let Some(dir) = dir else { return Ok(()) };
    let loaded = load::load(system, Some(dir), &mut Sink::new());
    // Sources that this policy does not have are those of another one.
    for folder in &loaded.folders {
        if root.join(folder).is_dir() {
            fs::remove_dir_all(root.join(folder)).map_err(failed("cannot take the policy out of the copy"))?;
        }
    }
    for path in &loaded.source_paths {
        let copied = system.read(path, MAX_SOURCE).and_then(|bytes| {
            let to = root.join(path);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(to, bytes)
        });
        copied.map_err(failed("cannot copy the sources of the policy"))?;
    }
    Ok(())
}

/// A policy that says nothing.
fn bare(policy: &Policy) -> Policy {
    let mut bare = policy.clone();
    bare.servers.clear();
    bare.gateway = None;
    bare.tools.clear();
    bare.roles.clear();
    bare.rules.clear();
    bare.settings.budgets.clear();
    bare.settings.context.clear();
    bare.settings.forbidden.clear();
    bare.evidence.clear();
    bare
}

async fn commit(place: &Place, options: &Options<'_>, stop: &mut Interrupt) -> io::Result<()> {
    let (root, home) = (&place.root, &place.home);
    git(&["-c", "init.templateDir=", "init", "-q"], root, home, options.platform, stop).await?;
    git(&["add", "-A"], root, home, options.platform, stop).await?;
    let words = [&COMMITTER[..], &["commit", "-q", "--allow-empty", "--no-verify", "-m", "Start"]].concat();
    git(&words, root, home, options.platform, stop).await.map(|_| ())
}
