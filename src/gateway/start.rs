//! From a policy to a running gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::bound::Sizes;
use super::compose::{self, Definitions, Exposed, Withheld};
use super::folder::{Bounds, Folder};
use super::record::Record;
use super::runtime::Values;
use super::session::{Parts, Session};
use super::upstream::Upstream;
use super::warden::Warden;
use super::{front, known};
use crate::diag::Sink;
use crate::load::Loaded;
use crate::mcp::{Launch, Limits};
use crate::model::policy::Server;
use crate::resolve::policy::Budget;
use crate::resolve::{Policy, Role, gateway};
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
        let upstreams = upstreams(&options);
        let definitions = runtime.block_on(known(&options, &upstreams));
        let exposure = compose::expose(options.policy, options.role, &definitions, sink);
        let withheld = exposure.withheld;
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
            values: Values::new(
                options.policy.runtime.clone(),
                options.given,
                options.variables,
                options.system,
                options.root.clone(),
            ),
            folder: Folder::new(options.root.clone(), Bounds::default()),
            record,
            sizes: sizes(options.policy),
            root: options.root,
        });
        Ok(Self { runtime, session: Arc::new(session), withheld })
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
fn upstreams(options: &Options<'_>) -> BTreeMap<String, Upstream> {
    let policy = options.policy;
    let behind = policy.servers.values().filter(|server| gateway::behind(server, &policy.tools));
    let used: BTreeSet<&String> = behind.map(|server| &server.name).collect();
    let warden = Arc::new(Warden::default());
    let variable = |name: &str| options.variables.get(name).cloned();
    let one = |name: &String| {
        let declared = declared(options.loaded, name)?;
        let launch = Launch::of(name, declared, &options.root, &variable);
        Some((name.clone(), Upstream::new(name, launch, limits(declared), Arc::clone(&warden))))
    };
    used.into_iter().filter_map(one).collect()
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

fn sizes(policy: &Policy) -> Sizes {
    let size = |name: &str| match policy.settings.budgets.get(name) {
        Some(Budget::Size(size)) => {
            let figure = |size: Option<crate::model::scalar::ByteSize>| size.and_then(|s| usize::try_from(s.0).ok());
            (figure(size.target), figure(size.limit))
        }
        _ => (None, None),
    };
    let (target, limit) = size("tool-result");
    let target = target.or(limit).unwrap_or(TARGET);
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
