//! The gateway under load with servers that die, hang, flood, lie and are killed: every call has an answer or a reason,
//! memory stays flat, everything is recorded, and nothing outlives it. `ROLECAST_SOAK_CALLS` says how many calls; an hour of
//! 32 busy agents, one call each second, is 115200.
#![cfg(target_os = "linux")]

#[path = "support/gateway.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use support::{Gateway, Repo, answer, sent, within};

const SERVERS: u64 = 8;
const AT_ONCE: usize = 32;
/// Of 100 calls how many are of what kind; the rest is `tell`.
const KINDS: &[(&str, u64)] = &[("big", 5), ("lie", 4), ("die", 2), ("flood", 1), ("hang", 1), ("cancelled", 1)];
/// Calls where nothing says how many.
const CALLS: u64 = 4000;
/// Where nothing says how many, the calls end after this time, too.
const TIME: Duration = Duration::from_secs(8);
/// Calls after which a server is killed from outside.
const KILL_EVERY: u64 = 300;
/// How long an agent waits that was told that a server is tried again later.
const REST: Duration = Duration::from_millis(200);

fn repo() -> Repo {
    let mut policy = "version: 1\nhosts: { claude-code: {} }\nservers:\n".to_owned();
    for n in 0..SERVERS {
        policy.push_str(&format!(
            "  s{n}:\n    command: sh\n    args: [server.sh, s{n}.log]\n    via: gateway\n    timeout: {{ call: 1 }}\n    tools:\n"
        ));
        for tool in ["tell", "big", "lie", "die", "flood", "hang"] {
            policy.push_str(&format!("      {tool}: {{ confers: [docs.search] }}\n"));
        }
    }
    Repo::new(&policy).pinned()
}

/// Numbers that look like chance and are the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn kind(&mut self) -> &'static str {
        let mut left = self.next() % 100;
        for (kind, share) in KINDS {
            match left.checked_sub(*share) {
                None => return kind,
                Some(rest) => left = rest,
            }
        }
        "tell"
    }
}

/// Processes that work in the repository.
fn processes(repo: &Path) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let here = |id: &i32| std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == repo);
    ids.filter(here).collect()
}

fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Kills one of the servers that run.
fn kill_one(repo: &Path, gateway: u32, dice: &mut Dice) {
    let servers: Vec<i32> = processes(repo)
        .into_iter()
        .filter(|id| std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.starts_with(b"sh\0server.sh")))
        // Not a part of one: what it answers then would be its own.
        .filter(|id| nix::unistd::getpgid(Some(Pid::from_raw(*id))) == Ok(Pid::from_raw(*id)))
        .collect();
    assert!(!servers.contains(&i32::try_from(gateway).unwrap()));
    if let Some(id) = servers.get(usize::try_from(dice.next()).unwrap() % servers.len().max(1)) {
        let _ = kill(Pid::from_raw(*id), Signal::SIGKILL);
    }
}

#[derive(Default)]
struct Tally {
    begun: u64,
    cancelled: u64,
    outcomes: BTreeMap<String, u64>,
    /// Resident memory in KiB after a quarter of the calls.
    quarter: u64,
}

/// What a call of `kind` was answered with, in a word.
fn judged(kind: &str, number: u64, message: &Value, resting: &mut Vec<Instant>) -> String {
    let (failed, text) = answer(message);
    if failed {
        if text.contains("it is tried again") {
            resting.push(Instant::now());
        }
        assert!(text.starts_with("server `s") && text.len() < 1200, "a failure without a reason: {text}");
        return format!("{kind} failed");
    }
    match kind {
        "tell" => assert_eq!(sent(&text)["query"], number.to_string(), "an answer to another call"),
        "big" => assert!(text.contains("[truncated: "), "{}", text.len()),
        "lie" => assert!(text.len() < 200, "{text}"),
        other => panic!("`{other}` cannot succeed: {text}"),
    }
    format!("{kind} answered")
}

fn soak(repo: &Repo, gateway: &mut Gateway, calls: u64, time: Option<Duration>) -> Tally {
    let (began, mut dice) = (Instant::now(), Dice(7));
    let (mut tally, mut waiting, mut resting) = (Tally::default(), BTreeMap::new(), Vec::new());
    loop {
        let over = tally.begun >= calls || time.is_some_and(|time| began.elapsed() > time);
        resting.retain(|since: &Instant| since.elapsed() < REST);
        while !over && waiting.len() + resting.len() < AT_ONCE {
            let (kind, number) = (dice.kind(), tally.begun);
            tally.begun += 1;
            let tool = if kind == "cancelled" { "hang" } else { kind };
            let name = format!("s{}_{tool}", dice.next() % SERVERS);
            let arguments = json!({ "query": number.to_string() });
            let id = gateway.begin("tools/call", json!({ "name": name, "arguments": arguments }));
            if kind == "cancelled" {
                let cancel = json!({ "requestId": id });
                gateway.send(
                    &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string(),
                );
                tally.cancelled += 1;
            } else {
                waiting.insert(id, (kind, number));
            }
            if tally.begun.is_multiple_of(KILL_EVERY) {
                kill_one(repo.path(), gateway.child.id(), &mut dice);
            }
        }
        if waiting.is_empty() && over {
            return tally;
        }
        if waiting.is_empty() {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        }
        let message = gateway.messages.recv_timeout(Duration::from_secs(20));
        let message =
            message.unwrap_or_else(|e| panic!("no answer and no reason: {e}, {:?}", gateway.child.try_wait()));
        if let Some((kind, number)) = message["id"].as_u64().and_then(|id| waiting.remove(&id)) {
            *tally.outcomes.entry(judged(kind, number, &message, &mut resting)).or_default() += 1;
        }
        let quarter = tally.begun >= calls / 4 || time.is_some_and(|time| began.elapsed() > time / 4);
        if quarter && tally.quarter == 0 {
            tally.quarter = resident(gateway.child.id());
        }
    }
}

#[test]
fn load_and_faults_leave_every_call_answered_recorded_and_nothing_behind() {
    let repo = repo();
    let mut gateway = repo.serve(&[]);
    let wanted: Option<u64> = std::env::var("ROLECAST_SOAK_CALLS").ok().map(|calls| calls.parse().unwrap());
    let time = wanted.is_none().then_some(TIME);
    let tally = soak(&repo, &mut gateway, wanted.unwrap_or(CALLS), time);
    let end = resident(gateway.child.id());
    println!("{} calls, {:?}; resident {} KiB, then {end} KiB", tally.begun, tally.outcomes, tally.quarter);
    assert!(tally.begun > 200, "{} calls are no load", tally.begun);
    assert!(tally.outcomes.get("tell answered").is_some_and(|n| *n > tally.begun / 3), "{:?}", tally.outcomes);
    for kind in ["die failed", "lie answered", "big answered"] {
        assert!(tally.outcomes.contains_key(kind), "no `{kind}` in {:?}", tally.outcomes);
    }
    // A flood may be on its way; what it took is given back or used again.
    assert!(end < tally.quarter.max(30_000) * 3 / 2, "memory grew from {} to {end} KiB", tally.quarter);
    drop(gateway);
    assert!(within(10, || processes(repo.path()).is_empty()), "left behind: {:?}", processes(repo.path()));
    let mut lines: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for line in repo.record() {
        lines.entry(line["call"].as_u64().unwrap()).or_default().push(line["event"].clone());
    }
    assert_eq!(lines.len() as u64, tally.begun, "calls in the record");
    assert!(lines.values().all(|events| *events == [json!("call"), json!("end")]), "each call begins and ends once");
    let stopped = repo.record().iter().filter(|line| line["outcome"] == "stopped").count() as u64;
    assert!(stopped <= tally.cancelled, "only what was cancelled is stopped");
}

#[test]
fn a_gateway_that_is_killed_under_load_leaves_nothing_behind() {
    let repo = repo();
    repo.write("stubborn", "");
    let mut gateway = repo.serve(&[]);
    for server in 0..SERVERS {
        assert!(!gateway.call(&format!("s{server}_tell"), json!({})).0);
    }
    for number in 0..AT_ONCE as u64 {
        let tool = ["hang", "tell", "flood", "big"][usize::try_from(number % 4).unwrap()];
        let name = format!("s{}_{tool}", number % SERVERS);
        gateway.begin("tools/call", json!({ "name": name, "arguments": {} }));
    }
    // The servers, the gateway and what watches it.
    assert!(processes(repo.path()).len() >= SERVERS as usize + 2, "{:?}", processes(repo.path()));
    gateway.child.kill().unwrap();
    gateway.child.wait().unwrap();
    assert!(within(10, || processes(repo.path()).is_empty()), "left behind: {:?}", processes(repo.path()));
}
