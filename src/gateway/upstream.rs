//! Servers behind the gateway: started by the first call, watched, left alone for a while when they fail. What one does
//! costs only the calls to it.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{Mutex, mpsc};

use super::told::{Ear, Level, News};
use super::warden::Warden;
use crate::mcp::{Client, Failed, Launch, Limits, Listening, Problem};
use crate::text::digest::value_digest;
use crate::text::redact;

/// Failures after which a server is left alone for long.
const BREAK_AFTER: u32 = 5;
/// How long.
const BREAK: Duration = Duration::from_secs(60);
/// The first wait after a failure; it doubles.
const WAIT: Duration = Duration::from_millis(500);
/// The longest such wait.
const MOST: Duration = Duration::from_secs(30);
/// Time-outs in a row after which a server counts as hung and is started anew.
const HUNG: u32 = 3;
/// Most characters of a server's last words in an answer.
const LAST_WORDS: usize = 600;

/// One server.
pub struct Upstream {
    name: String,
    launch: Result<Launch, Problem>,
    limits: Limits,
    /// What each of its tools was when the list was made, by digest.
    expected: std::sync::Mutex<BTreeMap<String, String>>,
    state: Mutex<State>,
    /// From which level on the host wants messages for a log; none when it never said.
    level: std::sync::Mutex<Option<Level>>,
    warden: Arc<Warden>,
}

#[derive(Default)]
struct State {
    client: Option<Arc<Client>>,
    /// Tools that are not what they were.
    changed: Vec<String>,
    failures: u32,
    silent: u32,
    not_before: Option<Instant>,
    last: String,
}

/// Who hears what servers say while a call is made.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Whether it wants to know how far the call is.
    pub progress: bool,
    /// Where it goes.
    pub to: mpsc::Sender<News>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The caller does not want it any more.
    Stopped,
    /// In words for the model.
    Failed(String),
}

impl Upstream {
    /// A server that is started by the first call.
    pub fn new(name: &str, launch: Result<Launch, Problem>, limits: Limits, warden: Arc<Warden>) -> Self {
        let (expected, state, level) = (std::sync::Mutex::default(), Mutex::default(), std::sync::Mutex::default());
        Self { name: name.to_owned(), launch, limits, expected, state, level, warden }
    }

    /// Remembers what a tool is; it is not called when it is something else.
    pub fn expect(&self, tool: &str, raw: &Value) {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        expected.insert(tool.to_owned(), identity(raw));
    }

    /// Its tools, as it says them; starts it.
    ///
    /// # Errors
    /// Why there is no list.
    pub async fn list(&self) -> Result<Vec<Value>, String> {
        let mut state = self.state.lock().await;
        let client = self.running(&mut state).await?;
        let listed = client.tools().await;
        listed.map(|listing| listing.tools).map_err(|problem| format!("server `{}`: {problem}", self.name))
    }

    /// From now on the host wants messages for a log from this level on.
    pub async fn log_from(&self, level: Level) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
        let client = self.state.lock().await.client.clone();
        if let Some(client) = client {
            client.log_from(level.name()).await;
        }
    }

    /// Calls a tool; `news` hears what the server says meanwhile.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        stop: impl Future<Output = ()>,
        news: Option<&Listener>,
    ) -> Result<Value, Lost> {
        let mut stop = std::pin::pin!(stop);
        let client = self.ready(tool, stop.as_mut()).await?;
        let arguments = Value::Object(arguments);
        let first =
            client.call_until(tool, arguments.clone(), self.limits.call, stop.as_mut(), self.listening(news)).await;
        if !matches!(first, Err(Problem::Session)) {
            return self.judged(&client, first).await;
        }
        // The server says that it did nothing: it wants a new session first.
        self.lost_session(&client).await;
        let client = self.ready(tool, stop.as_mut()).await?;
        let second = client.call_until(tool, arguments, self.limits.call, stop, self.listening(news)).await;
        self.judged(&client, second).await
    }

    fn listening(&self, news: Option<&Listener>) -> Option<Listening> {
        let Listener { progress, to } = news?;
        let ear = Ear::new(&self.name, self.secrets(), to.clone());
        Some(Listening { progress: *progress, hear: Box::new(move |told| ear.hear(told)) })
    }

    /// The server, ready to be called for a tool that is what it was.
    async fn ready(&self, tool: &str, stop: impl Future<Output = ()>) -> Result<Arc<Client>, Lost> {
        let starting = async {
            let mut state = self.state.lock().await;
            let client = self.running(&mut state).await?;
            if client.list_changed() {
                self.look_again(&client, &mut state).await?;
            }
            if state.changed.iter().any(|changed| changed == tool) {
                return Err(format!(
                    "tool `{tool}` of server `{}` is not what it was when it was looked at",
                    self.name
                ));
            }
            Ok(client)
        };
        tokio::select! {
            client = starting => client.map_err(Lost::Failed),
            () = stop => Err(Lost::Stopped),
        }
    }

    /// A server says that its tools changed: what they are now is held against what is expected of them. Without a list
    /// it is left, and nothing is called.
    async fn look_again(&self, client: &Client, state: &mut State) -> Result<(), String> {
        match self.differing(client).await {
            Ok(changed) => {
                state.changed = changed;
                Ok(())
            }
            Err(problem) => {
                state.last = self.words(&problem, &client.stderr());
                self.drop_client(state);
                back_off(state);
                Err(state.last.clone())
            }
        }
    }

    async fn judged(&self, client: &Arc<Client>, answer: Result<Value, Problem>) -> Result<Value, Lost> {
        match answer {
            Ok(answer) => {
                let mut state = self.state.lock().await;
                (state.failures, state.silent) = (0, 0);
                Ok(answer)
            }
            Err(Problem::Stopped) => Err(Lost::Stopped),
            // It answered, and it is well.
            Err(problem @ Problem::Refused { .. }) => Err(Lost::Failed(self.words(&problem, ""))),
            Err(problem) => Err(Lost::Failed(self.failed(client, problem).await)),
        }
    }

    /// A session that its server does not know is left; another call may have done so before.
    async fn lost_session(&self, client: &Arc<Client>) {
        let mut state = self.state.lock().await;
        if state.client.as_ref().is_some_and(|now| Arc::ptr_eq(now, client)) {
            self.drop_client(&mut state);
        }
    }

    /// The server, started when it is not running.
    async fn running(&self, state: &mut State) -> Result<Arc<Client>, String> {
        if let Some(client) = &state.client {
            if client.is_open() {
                return Ok(Arc::clone(client));
            }
            self.gone(state);
        }
        if let Some(wait) = state.not_before.and_then(|at| at.checked_duration_since(Instant::now())) {
            let seconds = wait.as_secs() + 1;
            return Err(format!("{}; it is tried again in {seconds} s", state.last));
        }
        match self.start().await {
            Ok((client, changed)) => {
                let client = Arc::new(client);
                state.client = Some(Arc::clone(&client));
                state.changed = changed;
                Ok(client)
            }
            Err(failed) => {
                state.last = self.words(&failed.problem, &failed.stderr);
                back_off(state);
                Err(state.last.clone())
            }
        }
    }

    /// Starts it and holds its tools against what is expected of them.
    async fn start(&self) -> Result<(Client, Vec<String>), Failed> {
        let launch = self.launch.as_ref().map_err(|problem| Failed::from(problem.clone()))?;
        let client = Client::begin(launch, self.limits)?;
        let group = client.group();
        if let Some(group) = group {
            // Before it is spoken to: we may be killed while it takes its time to answer.
            self.warden.watch(group);
        }
        let started = self.looked_at(client).await;
        if let (Err(_), Some(group)) = (&started, group) {
            self.warden.leave(group);
        }
        started
    }

    /// Greets it and lists its tools; with those that are not what they were.
    async fn looked_at(&self, client: Client) -> Result<(Client, Vec<String>), Failed> {
        let client = client.greeted().await?;
        let level = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = level {
            client.log_from(level.name()).await;
        }
        match self.differing(&client).await {
            Ok(changed) => Ok((client, changed)),
            Err(problem) => Err(client.failed(problem).await),
        }
    }

    /// The tools that are not what is expected of them.
    async fn differing(&self, client: &Client) -> Result<Vec<String>, Problem> {
        let expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if expected.is_empty() {
            return Ok(Vec::new());
        }
        let listing = client.tools().await?;
        let name = |raw: &Value| raw.get("name").and_then(Value::as_str).map(str::to_owned);
        let now: BTreeMap<String, String> =
            listing.tools.iter().filter_map(|raw| Some((name(raw)?, identity(raw)))).collect();
        let changed = expected.iter().filter(|(tool, was)| now.get(*tool) != Some(*was));
        Ok(changed.map(|(tool, _)| tool.clone()).collect())
    }

    /// Judges a failure of a call; what the model is told.
    async fn failed(&self, client: &Arc<Client>, problem: Problem) -> String {
        let mut state = self.state.lock().await;
        let words = self.words(&problem, &client.stderr());
        let current = state.client.as_ref().is_some_and(|now| Arc::ptr_eq(now, client));
        match &problem {
            Problem::TooLarge(_) => {}
            Problem::Time { .. } => {
                state.silent += 1;
                if current && state.silent >= HUNG {
                    state.last.clone_from(&words);
                    self.drop_client(&mut state);
                    back_off(&mut state);
                }
            }
            // Another call may have found it before.
            _ if current && (!client.is_open() || problem == Problem::Session) => {
                state.last.clone_from(&words);
                self.drop_client(&mut state);
                back_off(&mut state);
            }
            _ => {}
        }
        words
    }

    /// It ended between two calls: nobody was hurt, and so the next one may start it.
    fn gone(&self, state: &mut State) {
        state.failures += 1;
        state.last = format!("server `{}` ends again and again", self.name);
        self.drop_client(state);
        if state.failures >= BREAK_AFTER {
            back_off(state);
        }
    }

    /// The last holder ends it, with all that it started.
    fn drop_client(&self, state: &mut State) {
        state.silent = 0;
        let Some(client) = state.client.take() else { return };
        let group = client.group();
        drop(client);
        if let Some(group) = group {
            self.warden.leave(group);
        }
    }

    fn words(&self, problem: &Problem, stderr: &str) -> String {
        let mut words = format!("server `{}`: {problem}", self.name);
        let tail: Vec<char> = stderr.trim().chars().collect();
        if !tail.is_empty() {
            let last: String = tail[tail.len().saturating_sub(LAST_WORDS)..].iter().collect();
            words.push_str(&format!("; it said last: {last}"));
        }
        redact::body(&words, self.secrets())
    }

    /// Values that it was given and that must not be shown.
    pub fn secrets(&self) -> &[String] {
        self.launch.as_ref().map_or(&[], |launch| &launch.secrets)
    }

    /// Ends it.
    pub async fn close(&self) {
        let client = self.state.lock().await.client.take();
        if let Some(client) = client {
            let group = client.group();
            if let Ok(client) = Arc::try_unwrap(client) {
                client.close().await;
            }
            if let Some(group) = group {
                self.warden.leave(group);
            }
        }
    }
}

fn back_off(state: &mut State) {
    state.failures += 1;
    let wait = if state.failures >= BREAK_AFTER {
        BREAK
    } else {
        WAIT.saturating_mul(1 << state.failures.saturating_sub(1).min(6)).min(MOST)
    };
    state.not_before = Some(Instant::now() + wait);
}

/// What makes a tool the same: what it says it does, takes and promises.
pub fn identity(raw: &Value) -> String {
    let field = |name: &str| raw.get(name).cloned().unwrap_or(Value::Null);
    let parts = ["name", "description", "inputSchema", "annotations", "execution"].map(field);
    value_digest(&Value::Array(parts.to_vec()))
}
