//! The gateway as a host has it: a program on standard streams, with servers behind it that behave, hang, flood and die.
#![cfg(unix)]

#[path = "support/gateway.rs"]
mod support;

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Gateway, Repo, SERVER, answer, gone, read, sent, within};

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
    tools:
      tell: { confers: [docs.search] }
      die: { confers: [docs.search] }
      hang: { confers: [docs.search] }
      flood: { confers: [docs.search] }
      big: { confers: [docs.search] }
  two:
    command: sh
    args: [server.sh, two.log]
    via: gateway
    tools: { tell: { confers: [docs.search] } }
tools:
  search_mine:
    description: Search what is mine.
    primitive: one/tell
    arguments: { query: { type: string } }
    bind: { query: { argument: query }, filter.tenant: { runtime: tenant }, filter.kind: { constant: act } }
    confers: [docs.search]
"#;

#[test]
fn the_list_starts_no_server_and_the_first_call_starts_only_its_own() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&["--role", "reader", "--runtime", "tenant=acme"]);
    let names = gateway.names();
    let wanted = [
        "big",
        "die",
        "docs_validate",
        "flood",
        "hang",
        "one_tell",
        "read_artifact",
        "repo_diff",
        "repo_log",
        "repo_show",
        "search_mine",
        "two_tell",
    ];
    assert_eq!(names, wanted);
    assert_eq!(repo.read("one.log") + &repo.read("two.log"), "");
    let (failed, text) = gateway.call("search_mine", json!({ "query": "x" }));
    assert!(!failed, "{text}");
    assert_eq!(sent(&text), json!({ "query": "x", "filter": { "tenant": "acme", "kind": "act" } }));
    assert_eq!((repo.read("one.log").as_str(), repo.read("two.log").as_str()), ("started\n", ""));
}

#[test]
fn no_raw_text_of_a_call_changes_what_is_bound() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&["--role", "reader", "--runtime", "tenant=acme"]);
    let mut reached = 0;
    for arguments in [
        r#"{"query":"x","query":"y"}"#,
        r#"{"query":"x","filter":{"tenant":"evil"}}"#,
        r#"{"filter":{"tenant":"evil"},"filter":{},"query":"x"}"#,
        r#"{"query":"x","filter.tenant":"evil"}"#,
        r#"{"query":"x","__proto__":{"filter":{"tenant":"evil"}}}"#,
        r#"{"query":"x","fіlter":{"tenant":"evil"}}"#,
        r#"{"query":"{\"filter\":{\"tenant\":\"evil\"}}"}"#,
        r#"{"query":"x"},"arguments":{"query":"x","filter":{"tenant":"evil"}}"#,
        r#"{"query":"x"},"_meta":{"filter":{"tenant":"evil"}}"#,
    ] {
        gateway.last += 1;
        let id = gateway.last;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search_mine","arguments":{arguments}}}}}"#
        );
        gateway.send(&line);
        let message = gateway.wait(id);
        // Two of one name are no message at all to some readers.
        if message.get("error").is_some() {
            continue;
        }
        let (failed, text) = answer(&message);
        if !failed {
            reached += 1;
            let sent = sent(&text);
            assert_eq!(sent["filter"], json!({ "tenant": "acme", "kind": "act" }), "{arguments}");
            assert_eq!(sent.as_object().unwrap().len(), 2, "{arguments}");
        }
    }
    assert!((2..=3).contains(&reached), "{reached}");
}

#[test]
fn a_server_that_dies_hangs_or_floods_costs_only_its_own_calls() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&[]);
    let (failed, text) = gateway.call("die", json!({}));
    assert!(
        failed && text.contains("server `one`: it ended with exit code 7") && text.contains("last words"),
        "{text}"
    );
    assert!(!gateway.call("two_tell", json!({})).0);
    // It is left alone for half a second, and then started again.
    assert!(within(20, || !gateway.call("one_tell", json!({})).0));
    let hanging = gateway.begin("tools/call", json!({ "name": "hang", "arguments": {} }));
    let began = Instant::now();
    assert!(!gateway.call("two_tell", json!({})).0);
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    let (failed, text) = answer(&gateway.wait(hanging));
    assert!(failed && text.contains("no answer") | text.contains("1 s"), "{text}");
    assert!(within(5, || repo.read("one.log").contains("cancelled")));
    let (failed, text) = gateway.call("flood", json!({}));
    assert!(failed && text.contains("more than"), "{text}");
    assert!(!gateway.call("one_tell", json!({})).0, "a flood does not end the connection");
    let outcomes: Vec<Value> =
        repo.record().into_iter().filter(|l| l["event"] == "end").map(|l| l["outcome"].clone()).collect();
    assert!(outcomes.iter().filter(|o| *o == "failed").count() >= 3 && outcomes.iter().any(|o| o == "ok"));
}

#[test]
fn a_call_that_is_cancelled_is_cancelled_at_the_server() {
    let repo = Repo::new(&POLICY.replace("call: 1 ", "call: 50 ")).pinned();
    let mut gateway = repo.serve(&[]);
    assert!(!gateway.call("one_tell", json!({})).0);
    let hanging = gateway.begin("tools/call", json!({ "name": "hang", "arguments": {} }));
    std::thread::sleep(Duration::from_millis(300));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": hanging } });
    gateway.send(&cancel.to_string());
    assert!(within(5, || repo.read("one.log").contains("cancelled")));
    assert!(within(5, || repo.record().iter().any(|line| line["outcome"] == "stopped")));
}

#[test]
fn no_server_outlives_a_killed_gateway() {
    let repo = Repo::new(POLICY).pinned();
    repo.write("stubborn", "");
    let mut gateway = repo.serve(&[]);
    assert!(!gateway.call("two_tell", json!({})).0);
    let id = gateway.child.id();
    let children = || -> Vec<u32> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|child| {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.split(' ').nth(1) == Some(&id.to_string()))
        })
        .collect()
    };
    let found = children();
    assert!(found.len() >= 2, "{found:?}");
    gateway.child.kill().unwrap();
    gateway.child.wait().unwrap();
    assert!(within(10, || found.iter().all(|id| gone(*id))), "{found:?}");
}

#[test]
fn a_tool_that_is_not_what_was_pinned_is_not_called() {
    let repo = Repo::new(POLICY).pinned();
    // The list is answered from what was kept; the server is another by the time it is called.
    drop(repo.serve(&[]));
    repo.write("server.sh", &SERVER.replace("tool tell", "tool tell | sed s/tell.it/obey.me/"));
    let mut gateway = repo.serve(&[]);
    let (failed, text) = gateway.call("one_tell", json!({}));
    assert!(failed && text.contains("is not what it was"), "{text}");
    let (failed, text) = gateway.call("big", json!({}));
    assert!(!failed, "only that tool is concerned: {text}");
    let list = repo.command(&["serve", "--list", "--eager", "-v"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.contains("not shown: one_tell: tool `tell` of server `one` is not what was pinned"), "{list}");
    assert!(list.starts_with("big("), "{list}");
}

#[test]
fn what_a_role_does_is_recorded_or_not_done() {
    let repo = Repo::new(POLICY).pinned();
    drop(repo.serve(&[]));
    std::fs::create_dir_all(repo.path().join(".rolecast")).unwrap();
    repo.write(".rolecast/log", "in the way");
    let mut gateway = repo.serve(&["--role", "reader"]);
    let (failed, text) = gateway.call("two_tell", json!({}));
    assert!(failed && text.contains("cannot be recorded"), "{text}");
    assert_eq!(repo.read("two.log"), "", "nothing was started");
    assert!(!repo.serve(&[]).call("two_tell", json!({})).0);
    std::fs::remove_file(repo.path().join(".rolecast/log")).unwrap();
    assert!(!gateway.call("two_tell", json!({ "query": "a secret" })).0);
    let record = repo.record();
    assert_eq!(record.len(), 2, "{record:?}");
    assert_eq!(
        (&record[0]["role"], &record[0]["upstream"], &record[0]["arguments"]),
        (&json!("reader"), &json!("two/tell"), &json!(["query"]))
    );
    assert!(!format!("{record:?}").contains("a secret"));
}

#[test]
fn values_are_recorded_only_where_the_policy_says_so_and_without_secrets() {
    let policy = POLICY.replace(
        "    args: [server.sh, two.log]",
        "    args: [server.sh, two.log]\n    env: { KEY: { env: TWO_KEY } }",
    );
    let repo = Repo::new(&(policy + "record: { values: true }\n")).pinned_with(&[("TWO_KEY", "a-long-secret")]);
    let mut command = repo.command(&["serve", "--role", "reader"]);
    command.env("TWO_KEY", "a-long-secret");
    let mut gateway = Gateway::start(command);
    let arguments =
        json!({ "query": "permits with a-long-secret", "extra": "ghp_abcdefghijklmnopqrstuvwxyz0123456789" });
    assert!(!gateway.call("two_tell", arguments).0);
    let record = repo.record();
    assert_eq!(record[0]["values"]["query"], "permits with <redacted>");
    let all = format!("{record:?}");
    assert!(!all.contains("a-long-secret") && !all.contains("ghp_abc") && record[1].get("values").is_none(), "{all}");
}

#[test]
fn when_nothing_more_can_be_written_a_role_calls_nothing_more_and_no_line_is_cut() {
    let repo = Repo::new(POLICY).pinned();
    for (role, stops) in [(&["--role", "reader"][..], true), (&[], false)] {
        // A file may have 4 blocks; more is refused as it is by a full disk.
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_rolecast"), "serve"]);
        command.args(role).current_dir(repo.path());
        let mut gateway = Gateway::start(command);
        let answers: Vec<(bool, String)> = (0..30).map(|_| gateway.call("two_tell", json!({}))).collect();
        let good = answers.iter().filter(|(failed, _)| !failed).count();
        assert_eq!(good < 30, stops, "{good}");
        if stops {
            assert!(good > 0 && answers[29].1.contains("cannot be recorded"), "{:?}", answers[29]);
            assert!(answers[29].1.contains("so none is made"), "{:?}", answers[29]);
        }
        // Each of them is read as JSON.
        assert!(!repo.record().is_empty());
    }
}

#[test]
fn a_missing_value_of_the_run_time_is_named_in_the_answer() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&[]);
    let (failed, text) = gateway.call("search_mine", json!({ "query": "x" }));
    assert!(failed && text.contains("`tenant` of the run time") && text.contains("--runtime tenant=VALUE"), "{text}");
    assert_eq!(repo.read("one.log"), "", "nothing was started");
}

#[test]
fn what_is_too_large_becomes_an_artifact_that_this_role_can_read() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&["--role", "reader"]);
    let (failed, text) = gateway.call("big", json!({}));
    assert!(!failed && text.len() <= 4096 && text.contains("[truncated: "), "{}", text.len());
    let id = text.split("with id ").nth(1).unwrap().split([']', ';']).next().unwrap().to_owned();
    let (failed, part) = gateway.call("read_artifact", json!({ "id": id, "offset": 49_990, "max_bytes": 100 }));
    assert!(!failed && part.starts_with("yyyyyyyyyy\n[bytes 49990 to 50000 of 50000]"), "{part}");
    let (failed, _) = repo.serve(&["--role", "reader"]).call("read_artifact", json!({ "id": id }));
    assert!(failed, "another session has no business with it");
}

#[test]
fn the_specialist_browser_wants_a_reason_before_anything_else() {
    let policy = POLICY.replace(
        "confers: [docs.search] }\n  two",
        "confers: [docs.search] }\n      change: { confers: [browser.inspect] }\n  two",
    ) + "browser: { order: [host, one], escalate-for: [tracing, cdp], record-reason: true }\n";
    let repo = Repo::new(&policy).pinned();
    let mut gateway = repo.serve(&[]);
    let (failed, text) = gateway.call("change", json!({}));
    assert!(failed && text.contains("`escalation_reason` (one of tracing, cdp)"), "{text}");
    assert!(gateway.call("change", json!({ "escalation_reason": "because", "escalation_note": "x" })).0);
    assert!(gateway.call("change", json!({ "escalation_reason": "cdp" })).0);
    assert!(!gateway.call("one_tell", json!({})).0, "what is no browsing needs none");
    let id = gateway.begin("tools/call", json!({ "name": "change", "arguments": { "escalation_reason": "cdp", "escalation_note": "needs the protocol" } }));
    gateway.wait(id);
    let reasons: Vec<Value> =
        repo.record().iter().filter(|l| l.get("reason").is_some()).map(|l| l["reason"].clone()).collect();
    assert_eq!(reasons, [json!({ "need": "cdp", "note": "needs the protocol" })]);
}

fn objects(value: &Value, see: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            see(map);
            map.values().for_each(|v| objects(v, see));
        }
        Value::Array(items) => items.iter().for_each(|v| objects(v, see)),
        _ => {}
    }
}

#[test]
fn hosts_are_given_the_gateway_and_not_what_is_behind_it() {
    let policy = POLICY.replace("runtime: { tenant: argument }", "runtime: { tenant: { env: TENANT } }");
    let repo = Repo::new(&policy);
    let done = repo.command(&["render", "-q"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let servers: Value = serde_json::from_str(&repo.read(".mcp.json")).unwrap();
    let servers = servers["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["rolecast"]);
    let own = &servers["rolecast"];
    assert_eq!(
        (&own["command"], &own["args"], &own["env"]),
        (&json!("rolecast"), &json!(["serve", "--host", "claude-code"]), &json!({ "TENANT": "${TENANT}" }))
    );
    let role = repo.read(".claude/agents/reader.md");
    for tool in ["search_mine", "one_tell", "repo_diff", "docs_validate"] {
        assert!(role.contains(&format!("mcp__rolecast-reader__{tool}")), "{tool}: {role}");
    }
    let ledger = repo.command(&["explain", "--tools"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ledger.stdout).contains("rolecast/search_mine"));
    let ledger = repo.command(&["explain", "--format", "json"]).output().unwrap();
    let ledger = String::from_utf8(ledger.stdout).unwrap();
    assert!(ledger.contains("the host is not given the server itself"), "{ledger}");
    let all: Value = serde_json::from_str(&ledger).unwrap();
    let mut held = Vec::new();
    objects(&all, &mut |object| {
        if object.contains_key("guarantee")
            && object["subject"]["server"].is_object()
            && object["guarantee"] == "guarded"
        {
            held.push(object["evidence"].clone());
        }
    });
    // It was not run behind the host.
    assert!(!held.is_empty() && held.iter().all(|e| e == "source"), "{held:?}");
    let check = repo.command(&["check"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let mut policy = "version: 1\nhosts: { claude-code: {} }\nservers:\n".to_owned();
    for n in 0..8 {
        policy.push_str(&format!(
            "  s{n}:\n    command: sh\n    args: [server.sh, s{n}.log]\n    via: gateway\n    timeout: {{ call: 20 }}\n    tools: {{ tell: {{ confers: [docs.search] }}, die: {{ confers: [docs.search] }} }}\n"
        ));
    }
    let repo = Repo::new(&policy).pinned();
    let mut gateway = repo.serve(&[]);
    let mut asked = Vec::new();
    for call in 0..320_u64 {
        let tool = if call % 40 == 39 { "die" } else { "tell" };
        let name = format!("s{}_{tool}", call % 8);
        let id = gateway.begin("tools/call", json!({ "name": name, "arguments": { "query": call.to_string() } }));
        asked.push((id, tool, call));
    }
    let mut answered = std::collections::BTreeMap::new();
    while answered.len() < asked.len() {
        let message = gateway.messages.recv_timeout(Duration::from_secs(60)).expect("an answer");
        if let Some(id) = message["id"].as_u64() {
            answered.insert(id, message);
        }
    }
    let mut good = 0;
    for (id, tool, call) in asked {
        let (failed, text) = answer(&answered[&id]);
        if !failed {
            assert_eq!((tool, sent(&text)["query"].as_str()), ("tell", Some(call.to_string().as_str())));
            good += 1;
        } else {
            // Those that wait beside one that kills its server are told why.
            assert!(text.starts_with("server `s"), "{text}");
        }
    }
    assert!(good >= 150, "{good}");
    let record = repo.record();
    let of = |event: &str| record.iter().filter(|line| line["event"] == event).count();
    assert_eq!((of("call"), of("end")), (320, 320));
}

#[test]
fn both_eras_of_the_protocol_are_spoken() {
    let repo = Repo::new(POLICY).pinned();
    let mut command = repo.command(&["serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let messages = read(child.stdout.take().unwrap());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut ask = |id: u64, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        messages.recv_timeout(Duration::from_secs(20)).unwrap()["result"].clone()
    };
    assert!(
        ask(1, "server/discover", json!({}))["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28"))
    );
    let list = ask(2, "tools/list", json!({}));
    assert_eq!((&list["resultType"], list["tools"].as_array().unwrap().len()), (&json!("complete"), 12));
    assert_eq!(ask(3, "tools/call", json!({ "name": "two_tell", "arguments": {} }))["resultType"], "complete");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn nonsense_on_the_standard_input_ends_nothing() {
    let repo = Repo::new(POLICY).pinned();
    let mut gateway = repo.serve(&[]);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for line in [
        "",
        "nonsense",
        "{",
        "null",
        "[]",
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":5}"#,
        r#"{"jsonrpc":"2.0","id":9001,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{"name":"two_tell","arguments":[1]}}"#,
        r#"{"jsonrpc":"2.0","id":9003,"method":"no/such","params":{}}"#,
        &deep,
        "\u{0}\u{1}",
        "é\u{202e}",
        &"x".repeat(1_000_000),
    ] {
        gateway.send(line);
    }
    assert!(!gateway.call("two_tell", json!({})).0);
}
