//! `serve`: the gateway.

use std::collections::BTreeMap;

use crate::diag::Sink;
use crate::diag::render::Format;
use crate::gateway::{Gateway, Options, described};
use crate::load;
use crate::model::scalar::Risk;
use crate::resolve::{self, Policy, Role};
use crate::sync::{self, LockState, LockStatus};
use crate::system::os::Os;
use crate::text::suggest::nearest;

use super::args::{Global, OfRisk, ServeArgs};
use super::compiled::known;
use super::env;
use super::exit::{Exit, Failure};
use super::place;
use super::ui::Ui;

/// Runs the command. Standard output is the protocol's, or the list's; everything else goes to standard error.
///
/// # Errors
/// No policy, an invalid one, an unknown role or value, or a host that does not speak the protocol.
pub fn run(args: &ServeArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    if args.list && !matches!(ui.format, Format::Human | Format::Json) {
        return Err(Failure::usage("`serve --list` prints `human` or `json`"));
    }
    let place = place::find(global)?;
    let Some(dir) = place.policy.as_deref() else {
        return Err(Failure::new(Exit::Policy, "there is no policy here, and so there are no tools")
            .help("run `rolecast init`"));
    };
    let mut sink = Sink::new();
    let loaded = load::load(&place.system, Some(dir), &mut sink);
    let policy = (!sink.has_errors()).then(|| resolve::resolve(&loaded, &[], &mut sink));
    let Some(policy) = policy.filter(|_| !sink.has_errors()) else {
        ui.problems(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    };
    let role = args.role.as_ref().map(|name| find(name, &policy)).transpose()?;
    let root = place.system.root().to_owned();
    let system = Os::new(&root).map_err(|e| Failure::environment(format!("cannot open the root: {e}")))?;
    let lock = LockState::load(&place.system, &sync::Options::new(dir));
    let lock = lock.map_err(|problem| Failure::environment(problem.to_string()))?;
    if let LockStatus::Damaged(why) = &lock.status {
        // Without pins a changed server would look like a new one.
        return Err(Failure::environment(format!("the lock is damaged: {why}")).help("run `rolecast render`"));
    }
    let options = Options {
        dir: dir.to_owned(),
        pins: lock.lock.pins,
        loaded: &loaded,
        policy: &policy,
        role,
        hosts: hosts(&args.hosts, &loaded, &policy)?,
        risk: args.risk.map(risk),
        given: given(&args.runtime, &policy)?,
        variables: env::variables(),
        system: Box::new(system),
        root,
        eager: args.eager,
    };
    let mut found = Sink::new();
    let gateway =
        Gateway::new(options, &mut found).map_err(|error| Failure::environment(format!("cannot start: {error}")))?;
    ui.problems(&found, &loaded.sources);
    if args.list {
        match ui.format {
            Format::Json => ui.result(&format!("{:#}\n", described(&gateway))),
            _ => ui.result(&listed(&gateway, ui.verbose)),
        }
        gateway.close();
        return if found.has_errors() { Err(Failure::said(Exit::Policy)) } else { Ok(Exit::Clean) };
    }
    if ui.verbose {
        for held in gateway.withheld() {
            ui.say(&format!("`{}` is not shown: {}", held.name, held.why));
        }
    }
    gateway.run().map_err(Failure::environment)?;
    Ok(Exit::Clean)
}

fn find<'a>(name: &str, policy: &'a Policy) -> Result<&'a Role, Failure> {
    let names = || policy.roles.iter().map(|role| role.id.as_str());
    policy.roles.iter().find(|role| role.id == name).ok_or_else(|| {
        let failure = Failure::usage(format!("the policy has no role `{name}`"));
        match nearest(name, names()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(format!("it has: {}", names().collect::<Vec<_>>().join(", "))),
        }
    })
}

/// The hosts on the command line; only those that the policy selects.
fn hosts(asked: &[String], loaded: &load::Loaded, policy: &Policy) -> Result<Vec<String>, Failure> {
    known(loaded, asked)?;
    match asked.iter().find(|host| !policy.hosts.contains(host)) {
        Some(host) => Err(Failure::usage(format!("the policy does not select the host `{host}`"))
            .help(format!("it selects: {}", policy.hosts.join(", ")))),
        None => Ok(asked.to_vec()),
    }
}

const fn risk(asked: OfRisk) -> Risk {
    match asked {
        OfRisk::Safe => Risk::Safe,
        OfRisk::Restricted => Risk::Restricted,
        OfRisk::Dangerous => Risk::Dangerous,
    }
}

/// The values on the command line; only those the policy takes from there.
fn given(pairs: &[String], policy: &Policy) -> Result<BTreeMap<String, String>, Failure> {
    use crate::model::composed::RuntimeSource;
    let mut given = BTreeMap::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::usage("`--runtime` takes NAME=VALUE"));
        };
        match policy.runtime.get(name) {
            Some(RuntimeSource::Argument) => {}
            Some(_) => return Err(Failure::usage(format!("the policy takes `{name}` from elsewhere"))),
            None => return Err(Failure::usage(format!("the policy declares no value `{name}` in `runtime:`"))),
        }
        if given.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::usage(format!("`{name}` is given twice")));
        }
    }
    Ok(given)
}

fn listed(gateway: &Gateway, verbose: bool) -> String {
    let mut text = String::new();
    for tool in gateway.tools() {
        let names: Vec<&str> = tool.argument_names().collect();
        let hints = if tool.hints.read_only { "reads" } else { "changes" };
        let line = format!("{}({}): {hints}, {}, {}\n", tool.name, names.join(", "), tool.risk.word(), tool.from());
        text.push_str(&line);
    }
    if gateway.tools().is_empty() {
        text.push_str("no tools\n");
    }
    if verbose {
        for held in gateway.withheld() {
            text.push_str(&format!("not shown: {}: {}\n", held.name, held.why));
        }
    } else if !gateway.withheld().is_empty() {
        text.push_str(&format!("{} not shown; `--verbose` says why\n", gateway.withheld().len()));
    }
    text
}
