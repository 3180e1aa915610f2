//! The policy with the server for trials instead of its own servers, or with another forbidden command, and what that
//! renders to.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::audit::contract::Contract;
use crate::audit::pins;
use crate::compile::{Compiled, variant};
use crate::edit::{Document, Format};
use crate::model::policy::{ContextChoice, Via};
use crate::model::scalar::{Percent, Risk};
use crate::plan::Plan;
use crate::plan::role::RolePlan;
use crate::render::artifact::{Artifact, Content, Entry, EntryKind};
use crate::resolve::Policy;
use crate::resolve::commands::Forbidden;
use crate::resolve::composed::Bounds;
use crate::resolve::policy::{self, GrantScope, Guarding, Reach, Server, ServerTool, Text, Timeout};
use crate::sync::lock::Lock;
use crate::sync::{self, LOCK_NAME};
use crate::system::os::Os;

use super::tryout::{self, ARGUMENT, FOLDER, NAME, TOOLS};

/// The folder of the policy that the gateway is started with in a copy.
const POLICY_DIR: &str = "rolecast-verify-policy";
/// A folder for a lock that nobody needs.
const LOCK_DIR: &str = ".rolecast-verify";
/// Seconds for a call, and for the start on a busy machine.
const TIME: Timeout = Timeout { seconds: 60, span: None };

/// A policy for trials, and its plan.
#[derive(Debug)]
pub struct Derived {
    /// The policy.
    pub policy: Policy,
    /// Its plan.
    pub plan: Plan,
    artifacts: Vec<Artifact>,
    base: Vec<Artifact>,
    /// The policy that the gateway is started with, when the server is reached through it.
    through: Option<String>,
}

impl Derived {
    /// Derives it; `program` is this one. With `through` the server is reached only through the gateway. Nothing when
    /// there is nothing to derive it from.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn of(compiled: &Compiled, root: &Path, program: &Path, through: bool) -> io::Result<Option<Self>> {
        let via = if through { Via::Gateway } else { Via::Direct };
        let made = Self::by(compiled, root, |policy| {
            policy.servers.clear();
            policy.tools.clear();
            policy.servers.insert(NAME.to_owned(), Server { via, ..server(policy, program) });
            policy.route(&compiled.loaded.adapters);
            for gateway in policy.on.values_mut().flat_map(|on| &mut on.gateways) {
                if let Reach::Program { args, .. } = &mut gateway.reach {
                    args.extend(["--policy", POLICY_DIR].map(|text| Text { text: text.to_owned(), span: None }));
                }
            }
        })?;
        Ok(made.map(|made| Self { through: through.then(|| written(&made.policy, program)), ..made }))
    }

    /// The same of a policy that forbids one command, which does no harm where it runs all the same.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn forbidding(compiled: &Compiled, root: &Path, command: Forbidden) -> io::Result<Option<Self>> {
        Self::by(compiled, root, |policy| policy.settings.forbidden = vec![command])
    }

    /// The same of a policy whose guard looks at everything, and whose role `role` may start agents.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn guarding(compiled: &Compiled, root: &Path, role: &str) -> io::Result<Option<Self>> {
        Self::by(compiled, root, |policy| {
            let all = true;
            policy.settings.guard =
                Guarding { roles: all, history: all, packets: all, reads: all, context: all, commands: all };
            policy.settings.delegation_context = Some(ContextChoice::Minimal);
            policy.settings.context = [("close-discovery", Percent(50))].into_iter().collect();
            let spawn = policy.catalogue.find("agent.spawn");
            for own in &mut policy.roles {
                own.context = ContextChoice::Minimal;
                if own.id == role {
                    own.deny.clear();
                    own.waive.clear();
                    own.grants.extend(spawn.map(|cap| (cap, GrantScope::default())));
                }
            }
        })
    }

    fn by(compiled: &Compiled, root: &Path, change: impl FnOnce(&mut Policy)) -> io::Result<Option<Self>> {
        let (Some(policy), Some(base)) = (&compiled.policy, &compiled.rendered) else { return Ok(None) };
        let mut policy = policy.clone();
        change(&mut policy);
        // What a role denies may be out of reach once there is a server: that is to be tried, and no error here.
        let (plan, rendered) = variant(&Os::new(root)?, &compiled.loaded, &policy);
        Ok(Some(Self { policy, plan, artifacts: rendered.artifacts, base: base.artifacts.clone(), through: None }))
    }

    /// The name under which a role finds the server's tools: of the server, of the gateway, or of the role's own one.
    pub fn entry(&self, form: &RolePlan, host: &str) -> String {
        form.gateway.as_ref().map_or_else(|| self.shared(host), |own| own.server.name.clone())
    }

    /// The name under which a session finds them.
    pub fn shared(&self, host: &str) -> String {
        self.policy.given_on(host).next().map_or_else(|| NAME.to_owned(), |server| server.name.clone())
    }

    /// Whether the file is one of those that it renders.
    pub fn writes(&self, path: &str) -> bool {
        self.artifacts.iter().any(|a| a.path == path)
    }

    /// Whether the guard is asked by what stands in the file.
    pub fn asks(&self, path: &str) -> bool {
        let asks = |text: &str| text.contains("rolecast guard --host");
        self.artifacts.iter().filter(|a| a.path == path).any(|a| match &a.content {
            Content::Whole(text) | Content::Block(text) => asks(text),
            Content::Entries(entries) => entries.iter().any(|e| asks(&e.value.to_string())),
        })
    }

    /// Whether the server is reached through the gateway.
    pub const fn through(&self) -> bool {
        self.through.is_some()
    }

    /// Renders it over the repository at `root`. What the server changes nothing of stays as it is there.
    ///
    /// # Errors
    /// Files.
    pub fn put(&self, root: &Path) -> io::Result<()> {
        for base in &self.base {
            let derived = self.artifacts.iter().find(|a| a.path == base.path);
            if let Content::Entries(entries) = &base.content {
                let kept = derived.map_or(&[][..], |a| match &a.content {
                    Content::Entries(entries) => entries.as_slice(),
                    Content::Whole(_) | Content::Block(_) => &[],
                });
                let gone: Vec<&Entry> = entries.iter().filter(|e| !kept.iter().any(|k| same(k, e))).collect();
                without(&root.join(&base.path), &gone)?;
            }
        }
        if let Some(text) = &self.through {
            std::fs::create_dir_all(root.join(POLICY_DIR))?;
            std::fs::write(root.join(POLICY_DIR).join("policy.yaml"), text)?;
            std::fs::write(root.join(POLICY_DIR).join(LOCK_NAME), pinned()?)?;
        }
        let other = |a: &&Artifact| !self.base.iter().any(|b| b.path == a.path && b.content == a.content);
        let changed: Vec<Artifact> = self.artifacts.iter().filter(other).cloned().collect();
        let options = sync::Options { force: true, ..sync::Options::new(LOCK_DIR) };
        let written = sync::render(&changed, &Os::new(root)?, &options).1;
        std::fs::remove_dir_all(root.join(LOCK_DIR)).or_else(|e| match e.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(e),
        })?;
        written.map(|_| ()).map_err(io::Error::other)
    }
}

/// A lock that pins the server: without one the gateway shows nothing of it.
fn pinned() -> io::Result<String> {
    let contract = Contract::new(NAME, &Value::Null, tryout::listed()).map_err(io::Error::other)?;
    let mut lock = Lock::default();
    lock.pins.insert(NAME.to_owned(), pins::of(&contract));
    Ok(lock.to_text())
}

/// The policy of the repository with the server, as the gateway reads it.
fn written(policy: &Policy, program: &Path) -> String {
    let hosts: serde_json::Map<String, Value> = policy.hosts.iter().map(|host| (host.clone(), json!({}))).collect();
    let named = TOOLS.iter().filter_map(|t| Some((t.name.to_owned(), json!({ "confers": [t.confers?] }))));
    let tools: serde_json::Map<String, Value> = named.collect();
    let server = json!({
        "command": program.to_string_lossy(), "args": [ARGUMENT], "env": { FOLDER: { "env": FOLDER } },
        "risk": "safe", "via": "gateway", "tools": tools,
    });
    json!({ "version": 1, "extends": [policy.dir], "hosts": hosts, "servers": { NAME: server } }).to_string()
}

impl Derived {
    /// Renders all of it over the repository at `root`, with the lock in `policy_dir` that vouches for what the guard
    /// reads.
    ///
    /// # Errors
    /// Files.
    pub fn render(&self, root: &Path, policy_dir: &str) -> io::Result<()> {
        let options = sync::Options { force: true, ..sync::Options::new(policy_dir) };
        sync::render(&self.artifacts, &Os::new(root)?, &options).1.map(|_| ()).map_err(io::Error::other)
    }
}

fn server(policy: &Policy, program: &Path) -> Server {
    let text = |text: &str| Text { text: text.to_owned(), span: None };
    let class = |capability: &str| {
        let id = policy.catalogue.find(capability);
        let set = id.into_iter().collect();
        let risk = id.map_or(Risk::Restricted, |id| policy.catalogue.get(id).risk);
        ServerTool { span: None, risk, covers: set, confers: set, bounds: Bounds::default(), successors: Vec::new() }
    };
    let named = TOOLS.iter().filter_map(|t| Some((t.name.to_owned(), class(t.confers?))));
    Server {
        name: NAME.to_owned(),
        span: None,
        risk: Risk::Safe,
        reach: Reach::Program { command: text(&program.to_string_lossy()), args: vec![text(ARGUMENT)] },
        via: Via::Direct,
        env: [(FOLDER.to_owned(), policy::Value::Variable(text(FOLDER)))].into_iter().collect(),
        headers: indexmap::IndexMap::new(),
        call: TIME,
        list: TIME,
        tools: named.collect(),
    }
}

/// Whether two entries are for the same place; elements of a list are told apart by their value.
fn same(a: &Entry, b: &Entry) -> bool {
    a.path == b.path && a.kind == b.kind && (a.kind == EntryKind::Value || a.value == b.value)
}

/// Takes entries out of a file, where they are.
fn without(file: &Path, gone: &[&Entry]) -> io::Result<()> {
    let format = Format::of(&file.to_string_lossy());
    let (Some(format), false, Ok(text)) = (format, gone.is_empty(), std::fs::read_to_string(file)) else {
        return Ok(());
    };
    let mut document = Document::parse(format, &text).map_err(io::Error::other)?;
    for entry in gone {
        match entry.kind {
            EntryKind::Value => document.remove(&entry.path).map_err(io::Error::other)?,
            EntryKind::Element => {
                let list = document.list(&entry.path).map_err(io::Error::other)?;
                match list.and_then(|l| l.iter().position(|v| *v == entry.value)) {
                    Some(index) => document.pull(&entry.path, index).map_err(io::Error::other)?,
                    None => false,
                }
            }
        };
    }
    std::fs::write(file, document.text())
}
