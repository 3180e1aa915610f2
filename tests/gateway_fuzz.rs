//! Nonsense on the standard input of the gateway: it neither ends nor hangs nor panics, what is sensible in between is
//! answered, and the standard output carries messages only.
#![cfg(unix)]

#[path = "support/gateway.rs"]
mod support;

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Gateway, Repo, answer, sent};

const POLICY: &str = r#"
version: 1
hosts: { claude-code: {} }
budgets: { tool-result: { target: 4KiB, limit: 8KiB } }
runtime: { tenant: argument }
servers:
  one:
    command: sh
    args: [server.sh, one.log]
    via: gateway
    timeout: { call: 1 }
    tools: { tell: { confers: [docs.search] }, big: { confers: [docs.search] }, lie: { confers: [docs.search] } }
tools:
  search_mine:
    description: Search what is mine.
    primitive: one/tell
    arguments: { query: { type: string }, many: { type: integer, required: false, maximum: 5 } }
    bind: { query: { argument: query }, filter.tenant: { runtime: tenant }, filter.many: { argument: many } }
    confers: [docs.search]
"#;

/// Names that something answers to, and some that nothing does.
const NAMES: &[&str] =
    &["tell", "big", "lie", "search_mine", "read_artifact", "repo_log", "repo_show", "docs_validate", "nothing", ""];
const METHODS: &[&str] = &[
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "server/discover",
    "resources/read",
    "logging/setLevel",
    "completion/complete",
    "tasks/get",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "no/such",
    "",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let key =
        prop_oneof!["[a-z]{0,6}", Just("query".to_owned()), Just("filter".to_owned()), Just("__proto__".to_owned())];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

/// Ids that no sensible call has.
fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1_000_000..1_000_020_i64).prop_map(Value::from),
        ".{0,12}".prop_map(|text| json!(format!("x{text}"))),
        prop_oneof![Just(Value::Null), Just(json!(-1)), Just(json!(1.5)), Just(json!(u64::MAX)), Just(json!({}))],
    ]
}

fn request() -> impl Strategy<Value = Value> {
    let call =
        (prop::sample::select(NAMES), value(), any::<bool>(), value()).prop_map(|(name, arguments, meta, extra)| {
            let mut params = json!({ "name": name, "arguments": arguments });
            if meta {
                params["_meta"] = extra;
            }
            params
        });
    let sensible = (".{0,30}", any::<i8>())
        .prop_map(|(query, many)| json!({ "name": "search_mine", "arguments": { "query": query, "many": many } }));
    let params = prop_oneof![value(), call, sensible];
    (prop::option::of(id()), prop::sample::select(METHODS), params, any::<u8>()).prop_map(
        |(id, method, params, odd)| {
            let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            if let Some(id) = id {
                message["id"] = id;
            }
            match odd {
                0..20 => message["jsonrpc"] = json!(2),
                20..30 => message["method"] = json!(["tools/call"]),
                30..40 => message["result"] = json!({}),
                40..50 => message["error"] = json!({ "code": "x" }),
                50..60 => {
                    message.as_object_mut().unwrap().shift_remove("method");
                }
                _ => {}
            }
            message
        },
    )
}

fn nested(depth: usize, open: &str, close: &str) -> Vec<u8> {
    let inner = open.repeat(depth) + "1" + &close.repeat(depth);
    format!(r#"{{"jsonrpc":"2.0","id":1000001,"method":"tools/call","params":{{"name":"tell","arguments":{{"query":{inner}}}}}}}"#).into()
}

/// One line, without its end.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let text = |value: Value| value.to_string().into_bytes();
    prop_oneof![
        2 => prop::collection::vec(any::<u8>().prop_filter("a line", |byte| *byte != b'\n'), 0..200),
        2 => value().prop_map(text),
        6 => request().prop_map(text),
        2 => prop::collection::vec(request(), 0..5).prop_map(move |batch| text(batch.into())),
        2 => (request(), any::<prop::sample::Index>()).prop_map(move |(message, at)| {
            let mut bytes = text(message);
            bytes.truncate(at.index(bytes.len()));
            bytes
        }),
        // Something in the middle of a message is no text any more.
        2 => (request(), any::<prop::sample::Index>(), any::<u8>()).prop_map(move |(message, at, byte)| {
            let mut bytes = text(message);
            let at = at.index(bytes.len());
            bytes[at] = if byte == b'\n' { 0xff } else { byte };
            bytes
        }),
        1 => (1..3000_usize, any::<bool>()).prop_map(|(depth, list)| {
            if list { nested(depth, "[", "]") } else { nested(depth, "{\"a\":", "}") }
        }),
        1 => (1..300_000_usize).prop_map(|length| vec![b'x'; length]),
        1 => request().prop_map(move |message| text(message).repeat(2)),
    ]
}

/// One gateway for all cases: what one of them leaves behind is the next one's trouble.
struct Shared {
    gateway: Gateway,
    repo: Repo,
}

static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(|| {
    let repo = Repo::new(POLICY).pinned();
    let command = repo.command(&["serve", "--runtime", "tenant=acme"]);
    let said = std::fs::File::create(repo.path().join("said")).unwrap();
    Mutex::new(Shared { gateway: Gateway::with_errors(command, said.into()), repo })
});

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

proptest! {
    #[test]
    fn what_is_sensible_is_answered_whatever_stands_around_it(
        lines in prop::collection::vec(line(), 1..12),
        piece in 1..5000_usize,
        query in "[a-z]{1,10}",
    ) {
        let mut shared = shared();
        let Shared { gateway, repo } = &mut *shared;
        let mut bytes = lines.join(&b'\n');
        bytes.push(b'\n');
        let input = gateway.input.as_mut().unwrap();
        for part in bytes.chunks(piece) {
            input.write_all(part).unwrap();
        }
        let id = gateway.begin("tools/call", json!({ "name": "search_mine", "arguments": { "query": query } }));
        let began = Instant::now();
        let message = loop {
            let message = gateway.messages.recv_timeout(Duration::from_secs(20));
            let message = message.unwrap_or_else(|e| panic!("{e}: {:?}", gateway.child.try_wait()));
            prop_assert!(began.elapsed() < Duration::from_secs(20));
            if message["id"] == id {
                break message;
            }
        };
        let (failed, text) = answer(&message);
        prop_assert!(!failed, "{}", text);
        prop_assert_eq!(sent(&text), json!({ "query": query, "filter": { "tenant": "acme" } }));
        // A part of it that panics leaves the rest running.
        let said = repo.read("said");
        prop_assert!(!said.contains("panicked") && !said.contains("internal error"), "{}", said);
    }
}

/// Starts one, gives it `bytes` and the end of its input; its exit code and standard error.
fn ended(repo: &Repo, bytes: &[u8]) -> (Option<i32>, String) {
    let mut command = repo.command(&["serve", "--runtime", "tenant=acme"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let messages = support::read(child.stdout.take().unwrap());
    // It may be gone before it read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let until = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > until {
            let _ = child.kill();
            panic!("it hangs after {}", String::from_utf8_lossy(&bytes[..bytes.len().min(300)]));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    // The reader fails on what is no message.
    while let Ok(message) = messages.recv_timeout(Duration::from_secs(5)) {
        assert_eq!(message["jsonrpc"], "2.0");
    }
    (status.code(), said)
}

#[test]
fn an_input_that_ends_anywhere_ends_it_in_order() {
    let repo = &shared().repo.path().to_owned();
    let repo = {
        let copy = Repo::new(POLICY);
        for path in ["shared-agent-rules/rolecast.lock", "shared-agent-rules/pins/one.json"] {
            std::fs::create_dir_all(copy.path().join(path).parent().unwrap()).unwrap();
            std::fs::copy(repo.join(path), copy.path().join(path)).unwrap();
        }
        copy
    };
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "search_mine", "arguments": { "query": "x" } } });
    let whole = format!("{hello}\n{ready}\n{call}\n{call}\n");
    let mut cuts: Vec<Vec<u8>> = (0..whole.len()).step_by(61).map(|at| whole.as_bytes()[..at].to_vec()).collect();
    // Before it was greeted, nonsense may be a reason to end; it is never a fault of the program.
    for first in [
        "nonsense\n",
        "[]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}\n",
        "\u{0}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
    ] {
        cuts.push(first.as_bytes().to_vec());
        cuts.push([first.as_bytes(), whole.as_bytes()].concat());
    }
    cuts.push([whole.as_bytes(), b"\xff\xfe\n\xc3"].concat());
    // Greater than any message may be.
    cuts.push([whole.as_bytes(), &vec![b'['; 40 << 20], b"\n", whole.as_bytes()].concat());
    for bytes in cuts {
        let (code, said) = ended(&repo, &bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        assert!(matches!(code, Some(0 | 4)), "{code:?} after {shown}: {said}");
        assert!(!said.contains("panicked") && !said.contains("internal error"), "{shown}: {said}");
    }
}
