//! Primitives of this program itself, answered in this process. A store is opened by the first call; it has a thread
//! of its own while it works, so that no other call waits for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::bound::encode;
use super::upstream::Lost;
use super::warden::Warden;
use crate::mcp::{self, Fetched, Limits, References};
use crate::primitives::embed::{Embedder, Program};
use crate::primitives::{Store, StoreFile, Wanted, request, store};
use crate::resolve::primitives::{Api, Kind, Primitive, Store as Declared};
use crate::system::System;
use crate::text::redact;

/// What primitives need of the outside.
pub struct Outside<'a> {
    /// Files below the root.
    pub system: &'a dyn System,
    /// The root.
    pub root: PathBuf,
    /// The user's environment.
    pub variables: BTreeMap<String, String>,
}

/// One entry of `primitives:`.
pub struct BuiltIn {
    kind: Inner,
    seconds: u64,
    warden: Arc<Warden>,
    /// The group of an embedder that is watched.
    watched: Mutex<Option<i32>>,
}

enum Inner {
    Store(Arc<Mutex<Slot>>),
    Api { api: Box<Api>, headers: Headers },
}

/// A store that may be open.
struct Slot {
    open: Option<Store>,
    make: Box<dyn Fn() -> Result<StoreFile, String> + Send>,
}

impl BuiltIn {
    /// Prepares a primitive; nothing is opened or started.
    pub fn new(primitive: &Primitive, outside: &Outside<'_>, warden: Arc<Warden>) -> Self {
        let variable = |name: &str| outside.variables.get(name).cloned();
        let kind = match &primitive.kind {
            Kind::Store(store) => {
                let make = recipe(&primitive.name, store, outside);
                Inner::Store(Arc::new(Mutex::new(Slot { open: None, make: Box::new(make) })))
            }
            Kind::Api(api) => {
                let headers = mcp::references(&api.headers, &variable).map_err(|problem| problem.to_string());
                Inner::Api { api: Box::new(api.clone()), headers }
            }
        };
        Self { kind, seconds: primitive.seconds(), warden, watched: Mutex::default() }
    }

    /// Calls one of its primitives; the answer is as a server would give it.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        stop: impl Future<Output = ()>,
    ) -> Result<Value, Lost> {
        let answering = async {
            match &self.kind {
                Inner::Store(slot) => self.in_store(slot, tool, arguments).await,
                Inner::Api { api, headers } => requested(api, headers, tool, &arguments, self.seconds).await,
            }
        };
        let time = Duration::from_secs(self.seconds);
        tokio::select! {
            answer = tokio::time::timeout(time, answering) => match answer {
                Ok(answer) => answer.map_err(Lost::Failed),
                Err(_) => Err(Lost::Failed(format!("there is no answer within {} s", self.seconds))),
            },
            () = stop => Err(Lost::Stopped),
        }
    }

    /// When it is not waited for any more its query ends, and what it was writing is undone.
    async fn in_store(
        &self,
        slot: &Arc<Mutex<Slot>>,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, String> {
        // Whoever waits for another call has no thread meanwhile.
        let mut slot = Arc::clone(slot).lock_owned().await;
        let tool = tool.to_owned();
        let wanted = Wanted::default();
        let held = wanted.while_held();
        let working = tokio::task::spawn_blocking(move || {
            // What panicked in the middle of a transaction left nothing behind: it was rolled back.
            let answer = answered(&mut slot, &tool, &arguments, &wanted);
            (answer, slot.open.as_ref().and_then(Store::group))
        });
        let (answer, group) = working.await.map_err(|_| "the store failed".to_owned())?;
        drop(held);
        self.watch(group).await;
        let answer = match answer {
            Ok(value) => json!({ "content": [{ "type": "text", "text": value.to_string() }] }),
            Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
        };
        Ok(answer)
    }

    /// Keeps the watch over the program of the embedder.
    async fn watch(&self, group: Option<i32>) {
        let mut watched = self.watched.lock().await;
        if *watched != group {
            if let Some(old) = watched.take() {
                self.warden.leave(old);
            }
            if let Some(new) = group {
                self.warden.watch(new);
            }
            *watched = group;
        }
    }
}

fn answered(slot: &mut Slot, tool: &str, arguments: &Map<String, Value>, wanted: &Wanted) -> Result<Value, String> {
    if slot.open.is_none() {
        let file = (slot.make)()?;
        // A conversation may begin in a store that is not there yet; whoever searches in one expects something.
        let opened = if tool == "memory_add" { Store::open_or_make(file, wanted) } else { Store::open(file, wanted) };
        slot.open = Some(opened?);
    }
    let store = slot.open.as_mut().ok_or("the store is not open")?;
    store.while_wanted(wanted, |store| store::call(store, tool, arguments))
}

/// How the file of a store is found, with all its links followed, whenever it is opened.
fn recipe(
    name: &str,
    declared: &Declared,
    outside: &Outside<'_>,
) -> impl Fn() -> Result<StoreFile, String> + Send + use<> {
    let file = declared.file.clone();
    let (name, declared) = (name.to_owned(), declared.clone());
    let (root, variables) = (outside.root.clone(), outside.variables.clone());
    let place = outside.system.resolve(&file).map_err(|error| format!("the file of the store cannot be: {error}"));
    move || store_file(&name, &declared, place.clone()?, &root, &variables)
}

/// A store as the policy declares it; `place` = its file relative to the root, links followed.
///
/// # Errors
/// A variable that its embedder needs is not set.
pub fn store_file(
    name: &str,
    declared: &Declared,
    place: String,
    root: &std::path::Path,
    variables: &BTreeMap<String, String>,
) -> Result<StoreFile, String> {
    let embedder = match &declared.embedder {
        None => Embedder::BuiltIn,
        Some(own) => {
            let variable = |name: &str| variables.get(name).cloned();
            let (declared, _) =
                mcp::references(&own.env, &variable).map_err(|problem| format!("the embedder: {problem}"))?;
            let mut env = mcp::base(&variable);
            for (key, value) in declared {
                env.retain(|(name, _)| *name != key);
                env.push((key, value));
            }
            Embedder::Program(Box::new(Program::new(&own.name, own.command.clone(), env, root.to_owned())))
        }
    };
    Ok(StoreFile { path: root.join(place), name: name.to_owned(), embedder, results: declared.results })
}

type Headers = Result<References, String>;

async fn requested(
    api: &Api,
    headers: &Headers,
    tool: &str,
    arguments: &Map<String, Value>,
    seconds: u64,
) -> Result<Value, String> {
    let call = api.calls.get(tool).ok_or_else(|| format!("there is no call `{tool}`"))?;
    let (headers, secrets) = headers.as_ref().map_err(Clone::clone)?;
    let request = request::of(&api.base, call, arguments)?;
    let body = request.body.map(|body| body.to_string());
    let time = Duration::from_secs(seconds);
    let fetched = mcp::fetch(&request.url, headers, body, time, Limits::default().message).await;
    let fetched =
        fetched.map_err(|problem| format!("the web interface: {}", redact::body(&problem.to_string(), secrets)))?;
    Ok(shown(&fetched, secrets))
}

/// An answer of a web interface as a server would give it.
fn shown(fetched: &Fetched, secrets: &[String]) -> Value {
    let Fetched { status, kind, bytes } = fetched;
    let kind = kind.split(';').next().unwrap_or("").trim();
    let failed = !(200..300).contains(status);
    let block = match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = redact::body(text, secrets);
            let text = if failed { format!("HTTP {status}\n{text}") } else { text };
            json!({ "type": "text", "text": text })
        }
        Err(_) if kind.starts_with("image/") => json!({ "type": "image", "data": encode(bytes), "mimeType": kind }),
        Err(_) => {
            let resource = json!({ "uri": "rolecast:answer", "mimeType": kind, "blob": encode(bytes) });
            json!({ "type": "resource", "resource": resource })
        }
    };
    json!({ "content": [block], "isError": failed })
}
