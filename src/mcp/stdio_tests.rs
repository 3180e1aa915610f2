//! The client against programs that behave, misbehave and disappear.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

/// Answers the handshake, then does `rest` with each further line in `$line`.
fn server(rest: &str) -> String {
    let welcome = json!({ "protocolVersion": "2025-06-18", "instructions": "Be kind.", "serverInfo": { "name": "s", "odd": true } });
    format!(
        "read -r line; echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{welcome}}}'; read -r line; \
         while read -r line; do {rest}\ndone"
    )
}

fn launch(script: &str) -> Launch {
    let transport = Transport::Stdio {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: std::env::temp_dir(),
    };
    Launch { name: "s".into(), transport, secrets: vec!["a-long-secret".into()] }
}

fn limits() -> Limits {
    let short = Duration::from_millis(700);
    Limits {
        start: Duration::from_secs(5),
        list: short,
        call: short,
        message: 4096,
        pages: 5,
        entries: 50,
        grace: Duration::from_millis(200),
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The list of a server, or why there is none.
fn tools(script: &str) -> Result<Listing, Failed> {
    run(async {
        let client = Client::open(&launch(script), limits()).await?;
        match client.tools().await {
            Ok(listing) => {
                client.close().await;
                Ok(listing)
            }
            Err(problem) => Err(client.failed(problem).await),
        }
    })
}

/// A reply whose id is that of the question.
fn reply(id: u32, result: &Value) -> String {
    format!("echo '{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}';")
}

#[test]
fn pages_are_followed_and_every_field_is_kept() {
    let first = json!({ "tools": [{ "name": "a", "execution": { "x": 1 }, "annotations": { "own": [1] } }], "nextCursor": "2" });
    let second = json!({ "tools": [{ "name": "b" }] });
    let script = server(&format!(
        "case \"$line\" in *'\"cursor\":\"2\"'*) {} ;; *) echo 'starting up…'; {} ;; esac",
        reply(3, &second),
        reply(2, &first)
    ));
    let listing = tools(&script).unwrap();
    assert_eq!((listing.tools.len(), listing.pages), (2, 2));
    assert_eq!(listing.tools[0], first["tools"][0]);
}

#[test]
fn what_it_says_of_itself_is_kept_and_what_is_no_message_is_remembered() {
    run(async {
        let client =
            Client::open(&launch(&format!("echo 'my a-long-secret'; {}", server("true"))), limits()).await.unwrap();
        assert_eq!(
            (&client.welcome()["instructions"], &client.welcome()["serverInfo"]["odd"]),
            (&json!("Be kind."), &json!(true))
        );
        assert_eq!(client.noise().as_deref(), Some("my <redacted>"));
        client.close().await;
    });
}

#[test]
fn a_list_that_turns_in_circles_or_does_not_end_is_left() {
    let circle = reply(0, &json!({ "tools": [], "nextCursor": "x" })).replace("\"id\":0", "\"id\":'$n'");
    let failed = tools(&format!("n=1; {}", server(&format!("n=$((n+1)); {circle}")))).unwrap_err();
    assert_eq!(failed.problem, Problem::Endless("a page leads back to an earlier one".into()));
    let endless = circle.replace("\"x\"", "\"'$n'\"");
    let failed = tools(&format!("n=1; {}", server(&format!("n=$((n+1)); {endless}")))).unwrap_err();
    assert_eq!(failed.problem, Problem::Endless("more than 5 pages".into()));
}

#[test]
fn a_program_that_ends_says_why_and_what_it_said_last_without_secrets() {
    let failed = tools("echo 'no key a-long-secret given' >&2; exit 3").unwrap_err();
    assert_eq!(failed.problem, Problem::Ended("with exit code 3".into()));
    assert_eq!(failed.stderr, "no key <redacted> given");
    let failed = tools(&server("kill -9 $$")).unwrap_err();
    assert_eq!(failed.problem, Problem::Ended("by signal 9".into()));
}

#[test]
fn silence_and_answers_over_the_bound_do_not_hang() {
    let started = Instant::now();
    let failed = tools(&server("true")).unwrap_err();
    assert_eq!(failed.problem, Problem::Time { method: "tools/list".into(), time: limits().list });
    let long = reply(2, &json!({ "tools": [{ "name": "x".repeat(5000) }] }));
    assert_eq!(tools(&server(&long)).unwrap_err().problem, Problem::TooLarge(4096));
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn errors_and_versions_that_are_not_known_are_named() {
    let error = "echo '{\"id\":2,\"error\":{\"code\":-32603,\"message\":\"a-long-secret is wrong\"}}'";
    let refused = Problem::Refused { method: "tools/list".into(), code: -32603, message: "<redacted> is wrong".into() };
    assert_eq!(tools(&server(error)).unwrap_err().problem, refused);
    let newer = server("true").replace("2025-06-18", "2031-01-01");
    assert_eq!(tools(&newer).unwrap_err().problem, Problem::Version("2031-01-01".into()));
    let missing = Launch {
        transport: Transport::Stdio {
            program: "no-such-program-here".into(),
            args: vec![],
            env: vec![],
            folder: std::env::temp_dir(),
        },
        ..launch("")
    };
    let failed = run(async { Client::open(&missing, limits()).await.err().unwrap() });
    assert!(matches!(failed.problem, Problem::Start { .. }), "{failed:?}");
}

#[test]
fn a_program_that_will_not_end_is_ended_with_what_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("id");
    let script = format!("trap '' TERM; sleep 60 & echo $! > {}; {}", file.display(), server("true"));
    run(async {
        let client = Client::open(&launch(&format!("{script}; sleep 60")), limits()).await.unwrap();
        client.close().await;
    });
    let id: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    let gone = || std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "));
    assert!((0..100).any(|_| gone() || {
        std::thread::sleep(Duration::from_millis(20));
        false
    }));
}
