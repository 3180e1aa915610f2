//! Who waits for which answer, and what a server is told that asks something itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::problem::Problem;
use super::told::{Listening, Told};

/// Method not found, as JSON-RPC numbers it.
const NO_SUCH_METHOD: i64 = -32601;
/// Most characters kept of an error's words.
const WORDS: usize = 400;

type Answer = Result<Value, Problem>;

/// One side of a connection.
#[derive(Debug, Default)]
pub(super) struct Peer {
    waiting: Mutex<BTreeMap<u64, (String, oneshot::Sender<Answer>)>>,
    listening: Mutex<BTreeMap<u64, std::sync::Arc<Listening>>>,
    last: AtomicU64,
    closed: Mutex<Option<Problem>>,
    list_changed: AtomicBool,
    noise: Mutex<Option<String>>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Peer {
    /// A new id, and where its answer arrives.
    pub(super) fn expect(&self, method: &str) -> Result<(u64, oneshot::Receiver<Answer>), Problem> {
        if let Some(problem) = &*held(&self.closed) {
            return Err(problem.clone());
        }
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        held(&self.waiting).insert(id, (method.to_owned(), sender));
        Ok((id, receiver))
    }

    /// Somebody listens until the answer to `id` is there or not wanted any more.
    pub(super) fn listen(&self, id: u64, listening: Listening) {
        held(&self.listening).insert(id, std::sync::Arc::new(listening));
    }

    /// Whether somebody still waits for this answer.
    pub(super) fn waits(&self, id: u64) -> bool {
        held(&self.waiting).contains_key(&id)
    }

    /// Whether the connection is not over.
    pub(super) fn is_open(&self) -> bool {
        held(&self.closed).is_none()
    }

    /// Nobody waits for this answer any more.
    pub(super) fn forget(&self, id: u64) {
        held(&self.waiting).remove(&id);
        held(&self.listening).remove(&id);
    }

    /// The connection is over: everybody who waits is told why.
    pub(super) fn close(&self, problem: Problem) {
        held(&self.closed).get_or_insert_with(|| problem.clone());
        self.fail(&problem);
    }

    /// Everybody who waits is told why there will be no answer; the connection goes on.
    pub(super) fn fail(&self, problem: &Problem) {
        for (_, (_, sender)) in std::mem::take(&mut *held(&self.waiting)) {
            let _ = sender.send(Err(problem.clone()));
        }
    }

    /// Takes a message; the replies to send.
    pub(super) fn take(&self, message: Value) -> Vec<Value> {
        match message {
            Value::Array(batch) => batch.into_iter().flat_map(|message| self.take(message)).collect(),
            Value::Object(mut message) => {
                let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
                match (method, message.shift_remove("id")) {
                    (Some(method), Some(id)) => vec![reply(&method, &id)],
                    (Some(method), None) => {
                        self.told(&method, message.shift_remove("params"));
                        Vec::new()
                    }
                    (None, Some(id)) => {
                        self.answer(&id, message);
                        Vec::new()
                    }
                    (None, None) => {
                        self.noise(&Value::Object(message).to_string());
                        Vec::new()
                    }
                }
            }
            other => {
                self.noise(&other.to_string());
                Vec::new()
            }
        }
    }

    /// Something that wants no answer. What is said of one call is its caller's; a message for a log, which names no
    /// call, is that of the one who listens longest.
    fn told(&self, method: &str, params: Option<Value>) {
        let fields = match params {
            Some(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        match method {
            "notifications/tools/list_changed" => self.list_changed.store(true, Ordering::Relaxed),
            "notifications/progress" => {
                let of = fields.get("progressToken").and_then(Value::as_u64);
                let listening = of.and_then(|id| held(&self.listening).get(&id).cloned());
                if let Some(listening) = listening.filter(|listening| listening.progress) {
                    (listening.hear)(Told::Progress(fields));
                }
            }
            "notifications/message" => {
                let first = held(&self.listening).values().next().cloned();
                if let Some(listening) = first {
                    (listening.hear)(Told::Message(fields));
                }
            }
            _ => {}
        }
    }

    fn answer(&self, id: &Value, mut message: serde_json::Map<String, Value>) {
        let number = id.as_u64().or_else(|| id.as_str().and_then(|text| text.parse().ok()));
        let Some((method, sender)) = number.and_then(|id| held(&self.waiting).remove(&id)) else { return };
        let answer = match (message.shift_remove("result"), message.get("error")) {
            (Some(result), None) => Ok(result),
            (_, Some(error)) => Err(refused(&method, error)),
            (None, None) => Err(Problem::Malformed(format!("its answer to `{method}` has neither result nor error"))),
        };
        // Whoever waited may be gone by now.
        let _ = sender.send(answer);
    }

    /// Something that is no message of the protocol; the first one is kept.
    pub(super) fn noise(&self, text: &str) {
        held(&self.noise).get_or_insert_with(|| bounded(text.trim()));
    }

    /// The first thing that was no message.
    pub(super) fn first_noise(&self) -> Option<String> {
        held(&self.noise).clone()
    }

    /// Whether the list of tools was said to have changed since this was last asked.
    pub(super) fn list_changed(&self) -> bool {
        self.list_changed.swap(false, Ordering::Relaxed)
    }
}

/// An error of the protocol, in answer to `method`.
pub(super) fn refused(method: &str, error: &Value) -> Problem {
    Problem::Refused {
        method: method.to_owned(),
        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: bounded(error.get("message").and_then(Value::as_str).unwrap_or("no reason given")),
    }
}

/// What a server is told that asks something.
fn reply(method: &str, id: &Value) -> Value {
    if method == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    }
    let error = json!({ "code": NO_SUCH_METHOD, "message": "this client offers nothing" });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn bounded(text: &str) -> String {
    let mut kept: String = text.chars().take(WORDS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_reach_who_asked_with_every_field_and_errors_carry_their_words() {
        let peer = Peer::default();
        let (first, mut one) = peer.expect("a").unwrap();
        let (second, mut two) = peer.expect("b").unwrap();
        let odd = json!({ "x": { "unknown": [1, null] } });
        assert!(peer.take(json!([{ "id": second, "error": { "code": -3, "message": "no" } }, { "id": first.to_string(), "result": odd }])).is_empty());
        assert_eq!(one.try_recv().unwrap(), Ok(odd));
        let refused = Problem::Refused { method: "b".into(), code: -3, message: "no".into() };
        assert_eq!(two.try_recv().unwrap(), Err(refused));
    }

    #[test]
    fn a_server_that_asks_is_answered_and_a_late_answer_is_nobodys() {
        let peer = Peer::default();
        assert_eq!(peer.take(json!({ "id": "p", "method": "ping" }))[0]["result"], json!({}));
        for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
            assert_eq!(peer.take(json!({ "id": 1, "method": method }))[0]["error"]["code"], -32601, "{method}");
        }
        assert!(!peer.list_changed());
        peer.take(json!({ "method": "notifications/tools/list_changed" }));
        assert!(peer.list_changed() && !peer.list_changed());
        let (id, _) = peer.expect("a").unwrap();
        peer.forget(id);
        peer.take(json!({ "id": id, "result": {} }));
        assert_eq!(peer.first_noise(), None);
    }

    #[test]
    fn what_is_said_of_a_call_reaches_its_caller_and_only_who_asked_for_it() {
        let peer = Peer::default();
        let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
        let ids: Vec<u64> = [true, false]
            .map(|progress| {
                let (id, _) = peer.expect("a").unwrap();
                let heard = std::sync::Arc::clone(&heard);
                let hear = Box::new(move |told| held(&heard).push((id, told)));
                peer.listen(id, Listening { progress, hear });
                id
            })
            .to_vec();
        let say = |method: &str, token: Value| {
            peer.take(json!({ "method": method, "params": { "progressToken": token, "progress": 1 } }));
            std::mem::take(&mut *held(&heard)).into_iter().map(|(id, _)| id).collect::<Vec<u64>>()
        };
        assert_eq!(say("notifications/progress", json!(ids[0])), [ids[0]]);
        for (method, token) in [
            ("notifications/progress", json!(ids[1])),
            ("notifications/progress", json!(99)),
            ("notifications/progress", json!(ids[0].to_string())),
            ("notifications/else", json!(ids[0])),
        ] {
            assert_eq!(say(method, token), [0; 0], "{method}");
        }
        assert_eq!(say("notifications/message", Value::Null), [ids[0]], "said once, whoever listens");
        peer.forget(ids[0]);
        assert_eq!(say("notifications/message", Value::Null), [ids[1]]);
        assert_eq!(say("notifications/progress", json!(ids[0])), [0; 0]);
    }

    #[test]
    fn when_a_connection_ends_everybody_is_told_and_nobody_waits_any_more() {
        let peer = Peer::default();
        let (_, mut waiting) = peer.expect("a").unwrap();
        peer.close(Problem::Ended("with exit code 1".into()));
        assert_eq!(waiting.try_recv().unwrap(), Err(Problem::Ended("with exit code 1".into())));
        assert!(peer.expect("b").is_err());
    }
}
