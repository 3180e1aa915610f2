//! From a policy to a running gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::bound::Sizes;
use super::built_in::{BuiltIn, Outside};
use super::compose::{self, Asked, Definitions, Exposed, Exposure, Withheld};
use super::folder::{Bounds, Folder};
use super::program::Programs;
use super::record::Record;
use super::runtime::Values;
use super::session::{Parts, Session};
use super::upstream::Upstream;
use super::warden::Warden;
use super::{front, known};
use crate::diag::Sink;
use crate::load::Loaded;
use crate::mcp::{Launch, Limits};
use crate::model::adapter::{Adapter, Reply};
use crate::model::policy::Server;
use crate::model::scalar::Risk;
use crate::resolve::policy::Budget;
use crate::resolve::primitives::Primitive;
use crate::resolve::{Policy, Role};
use crate::sync::pins::Pins;
use crate::system::System;

/// Size of a result where the policy says none.
const TARGET: usize = 12 << 10;
/// Bytes of media in an answer where the policy says none.
const INLINE: usize = 256 << 10;

/// What a gateway is made from.
pub struct Options<'a> {
    /// What was read.
    pub loaded: &'a Loaded,
    /// The policy.
    pub policy: &'a Policy,
    /// The role; none for the main agent.
    pub role: Option<&'a Role>,
    /// The hosts that it answers, as far as they are known: what each is given itself is not shown to it.
    pub hosts: Vec<String>,
    /// Only what has this risk.
    pub risk: Option<Risk>,
    /// Values of the run time from the command line.
    pub given: BTreeMap<String, String>,
    /// The user's environment.
    pub variables: BTreeMap<String, String>,
    /// Files below the root.
    pub system: Box<dyn System + Send + Sync>,
    /// The root.
    pub root: PathBuf,
    /// The folder of the policy, relative to the root.
    pub dir: String,
    /// What was pinned.
    pub pins: Pins,
    /// Whether servers are started at once, and their tools shown as they are.
    pub eager: bool,
}

/// A gateway that is ready to answer.
pub struct Gateway {
    runtime: Runtime,
    session: Arc<Session>,
    withheld: Vec<Withheld>,
}

impl Gateway {
    /// Puts a gateway together. What composed tools get wrong is reported; the others are not concerned.
    ///
    /// # Errors
    /// The machine has no threads or timers left.
    pub fn new(options: Options<'_>, sink: &mut Sink) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let warden = Arc::new(Warden::default());
        let upstreams = upstreams(&options, &warden);
        let mut definitions = runtime.block_on(known(&options, &upstreams));
        definitions.join(known::built_in(options.policy));
        let asked = Asked { policy: options.policy, role: options.role, hosts: &options.hosts, risk: options.risk };
        let exposure = compose::expose(&asked, &definitions, sink);
        Ok(Self::put_together(options, runtime, upstreams, warden, exposure))
    }

    /// A gateway that shows the primitives of one name as they are, with nothing bound: for review, not for a role.
    ///
    /// # Errors
    /// The machine has no threads or timers left.
    pub fn of_primitive(options: Options<'_>, primitive: &Primitive) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let exposure = Exposure { tools: compose::raw(primitive)?, withheld: Vec::new() };
        Ok(Self::put_together(options, runtime, BTreeMap::new(), Arc::new(Warden::default()), exposure))
    }

    fn put_together(
        options: Options<'_>,
        runtime: Runtime,
        upstreams: BTreeMap<String, Upstream>,
        warden: Arc<Warden>,
        exposure: Exposure,
    ) -> Self {
        let withheld = exposure.withheld;
        let adapters: Vec<&Adapter> = options.hosts.iter().filter_map(|id| options.loaded.adapters.get(id)).collect();
        let reads = options.policy.catalogue.find("repo.read");
        let mut record = Record::new(options.root.clone(), options.role.map(|role| role.id.clone()));
        if options.policy.settings.record_values {
            let secrets = upstreams.values().flat_map(|upstream| upstream.secrets().iter().cloned());
            record = record.with_values(secrets.collect());
        }
        let session = Session::new(Parts {
            role: options.role.map(|role| role.id.clone()),
            reads_files: reads.is_some_and(|cap| options.role.is_none_or(|role| role.granted().has(cap))),
            tools: exposure.tools,
            upstreams,
            primitives: built_in(&options, &warden),
            programs: Programs { root: options.root.clone(), variables: options.variables.clone(), warden },
            values: Values::new(
                options.policy.runtime.clone(),
                options.given,
                options.variables,
                options.system,
                options.root.clone(),
            ),
            folder: Folder::new(options.root.clone(), Bounds::default()),
            record,
            sizes: sizes(options.policy, &adapters),
            root: options.root,
        });
        Self { runtime, session: Arc::new(session), withheld }
    }

    /// What is shown, in order.
    pub fn tools(&self) -> &[Exposed] {
        self.session.tools()
    }

    /// What is not shown although the policy has it, in order.
    pub fn withheld(&self) -> &[Withheld] {
        &self.withheld
    }

    /// Answers on the standard streams until the host is gone.
    ///
    /// # Errors
    /// The host does not speak the protocol.
    pub fn run(self) -> Result<(), String> {
        let answering = async {
            let (input, output) = rmcp::transport::stdio_pipes();
            front::serve(Arc::clone(&self.session), input, output).await
        };
        let ended = self.runtime.block_on(answering);
        // A read of the standard input may not be waited for.
        self.runtime.shutdown_background();
        ended
    }

    /// Ends every server that was started.
    pub fn close(self) {
        self.runtime.block_on(self.session.close());
        self.runtime.shutdown_background();
    }
}

/// Every server that a tool of the policy comes from.
fn upstreams(options: &Options<'_>, warden: &Arc<Warden>) -> BTreeMap<String, Upstream> {
    let policy = options.policy;
    let behind = policy.servers.values().filter(|server| policy.behind(server, &options.hosts));
    let used: BTreeSet<&String> = behind.map(|server| &server.name).collect();
    let variable = |name: &str| options.variables.get(name).cloned();
    let one = |name: &String| {
        let declared = declared(options.loaded, name)?;
        let launch = Launch::of(name, declared, &options.root, &variable);
        Some((name.clone(), Upstream::new(name, launch, limits(declared), Arc::clone(warden))))
    };
    used.into_iter().filter_map(one).collect()
}

/// Every primitive of this program itself.
fn built_in(options: &Options<'_>, warden: &Arc<Warden>) -> BTreeMap<String, BuiltIn> {
    let outside =
        Outside { system: options.system.as_ref(), root: options.root.clone(), variables: options.variables.clone() };
    let one = |(name, primitive): (&String, _)| (name.clone(), BuiltIn::new(primitive, &outside, Arc::clone(warden)));
    options.policy.primitives.iter().map(one).collect()
}

/// A server as it is written; the last layer wins.
fn declared<'a>(loaded: &'a Loaded, name: &str) -> Option<&'a Server> {
    loaded.layers.iter().rev().find_map(|layer| layer.policy.servers.as_ref()?.get(name))
}

fn limits(server: &Server) -> Limits {
    let seconds = |value: Option<u64>, default: Duration| value.map_or(default, Duration::from_secs);
    let written = server.timeout.as_ref();
    let default = Limits::default();
    let list = seconds(written.and_then(|t| t.list.as_ref()).map(|t| t.value), default.list);
    let call = seconds(written.and_then(|t| t.call.as_ref()).map(|t| t.value), default.call);
    Limits { start: list, list, call, ..default }
}

/// What is known of the servers' tools. A server is asked when it is wanted eagerly, or when what was pinned of it is not
/// at hand; what is pinned nowhere is shown only when it is wanted eagerly.
async fn known(options: &Options<'_>, upstreams: &BTreeMap<String, Upstream>) -> Definitions {
    let mut definitions = Definitions::default();
    let mut asked = Vec::new();
    for (name, upstream) in upstreams {
        let recalled = || {
            let pin = options.pins.get(name)?;
            let mut found = Definitions::default();
            known::recall(options.system.as_ref(), &options.dir, name, pin, &mut found).then_some(found)
        };
        match (options.eager, options.pins.get(name)) {
            (false, None) => {}
            (false, Some(_)) if recalled().is_some_and(|found| definitions.join(found)) => {}
            _ => asked.push(Box::pin(async move { (name, upstream.list().await) })),
        }
    }
    for (name, answer) in join(asked).await {
        match answer {
            Ok(tools) => {
                known::accept(name, tools, options.pins.get(name), &mut definitions);
            }
            Err(why) => definitions.hold(name, None, &why),
        }
    }
    definitions
}

/// Waits for all of them at once; their results in order.
async fn join<T, F: Future<Output = T> + Unpin>(mut futures: Vec<F>) -> Vec<T> {
    use std::pin::Pin;
    use std::task::Poll;
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, slot) in futures.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let Poll::Ready(value) = Pin::new(future).poll(context)
            {
                *slot = Some(value);
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(done.iter_mut().filter_map(Option::take).collect())
        } else {
            Poll::Pending
        }
    })
    .await
}

/// Sizes of results: those of the policy, and no more than what each of the hosts shows whole.
fn sizes(policy: &Policy, hosts: &[&Adapter]) -> Sizes {
    let size = |name: &str| match policy.settings.budgets.get(name) {
        Some(Budget::Size(size)) => {
            let figure = |size: Option<crate::model::scalar::ByteSize>| size.and_then(|s| usize::try_from(s.0).ok());
            (figure(size.target), figure(size.limit))
        }
        _ => (None, None),
    };
    let (target, limit) = size("tool-result");
    let shown = hosts.iter().filter_map(|host| host.mcp.as_ref()?.reply.as_ref()).map(Reply::bytes).min();
    let shown = shown.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
    let target = target.or(limit).unwrap_or(TARGET).min(shown);
    // A note about what is missing needs room of its own.
    Sizes { target: target.max(1024), inline_media: size("inline-media").1.unwrap_or(INLINE) }
}

/// What a gateway shows, for programs.
pub fn described(gateway: &Gateway) -> Value {
    let tools: Vec<Value> = gateway.tools().iter().map(one).collect();
    let withheld: Vec<Value> =
        gateway.withheld().iter().map(|held| json!({ "name": held.name, "why": held.why })).collect();
    json!({ "tools": tools, "withheld": withheld })
}

fn one(tool: &Exposed) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "origin": tool.from(),
        "risk": tool.risk.word(),
        "inputSchema": tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.hints.read_only,
            "destructiveHint": tool.hints.destructive,
            "idempotentHint": tool.hints.idempotent,
            "openWorldHint": tool.hints.open_world,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load;
    use crate::resolve::resolve;
    use crate::system::memory::Memory;

    fn target(budget: &str, hosts: &[&str]) -> usize {
        let text = format!("version: 1\nhosts: {{ claude-code: {{}}, copilot: {{}}, codex: {{}} }}\n{budget}");
        let system = Memory::new().with("p/policy.yaml", text);
        let mut sink = Sink::new();
        let loaded = load(&system, Some("p"), &mut sink);
        let policy = resolve(&loaded, &[], &mut sink);
        let hosts: Vec<&Adapter> = hosts.iter().map(|host| &loaded.adapters[*host]).collect();
        sizes(&policy, &hosts).target
    }

    #[test]
    fn no_answer_is_larger_than_what_every_host_of_the_entry_shows_whole() {
        let large = "budgets: { tool-result: { target: 64KiB, limit: 96KiB } }\n";
        assert_eq!(target(large, &[]), 64 << 10);
        assert_eq!(target(large, &["codex"]), 64 << 10);
        assert_eq!(target(large, &["copilot"]), 20 << 10);
        assert_eq!(target(large, &["claude-code"]), 50_000);
        assert_eq!(target(large, &["claude-code", "copilot"]), 20 << 10);
        assert_eq!(target("", &["copilot"]), TARGET, "a smaller budget stays");
    }
}
