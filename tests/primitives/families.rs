//! Tools of a server, of a primitive and of a program: to an agent they are alike.

use serde_json::{Value, json};

use super::support::{Repo, said};

const SERVER: &str = r#"
tool='{"name":"tell","description":"Tell it.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"filter":{"type":"object"}}}}'
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[!0-9]*}
  say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*) say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"tools/list"'*) say "{\"tools\":[$tool]}" ;;
    *'"name":"tell"'*) say '{"content":[{"type":"text","text":"{\"from\":\"a server\"}"}]}' ;;
  esac
done
"#;

const POLICY: &str = r#"
version: 1
hosts: { claude-code: {} }
budgets: { tool-result: { target: 4KiB, limit: 8KiB } }
runtime: { organisation: argument }
servers:
  one: { command: sh, args: [server.sh] }
primitives:
  knowledge: { store: { file: data/knowledge.sqlite } }
tools:
  ask_server:
    description: Ask.
    primitive: one/tell
    arguments: { query: { type: string } }
    bind: { query: { argument: query }, filter.ente: { runtime: organisation } }
    confers: [docs.search]
  ask_store:
    description: Ask.
    primitive: knowledge/metadata_keys
    arguments: { query: { type: string } }
    bind: { key: { argument: query }, filter.ente: { runtime: organisation } }
    confers: [docs.search]
  ask_program:
    description: Ask.
    command: [sh, program.sh, "--for={query}", "{query}"]
    arguments: { query: { type: string, description: What } }
    bind: { query: { argument: query }, filter.ente: { runtime: organisation } }
    env: { TOKEN: { env: PROGRAM_TOKEN } }
    timeout: { call: 2 }
    confers: [docs.search]
  plain:
    description: Say what it is given.
    command: [cat]
    arguments: { n: { type: integer, default: 3, maximum: 5 }, word: { type: string, required: false } }
    confers: [docs.validate]
"#;

const PROGRAM: &str = r#"read -r line
case $1 in *slow*) sleep 20 ;; *bad*) echo no json; exit 0 ;; *fail*) echo "why: $TOKEN" >&2; exit 4 ;; *big*) printf '"'; head -c 50000 /dev/zero | tr '\0' x; echo '"'; exit ;; esac
printf '{"given":%s,"words":%s,"first":"%s","home":"%s","secret":"%s"}\n' "$line" "$#" "$1" "${HOME:+set}" "${OTHER:-none}"
"#;

fn repo() -> Repo {
    let repo = Repo::new(POLICY);
    repo.write("server.sh", SERVER);
    repo.write("program.sh", PROGRAM);
    repo.write("d.jsonl", r#"{"id":"a","text":"x","metadata":{"ente":"comune-roma","k":1}}"#);
    let audited = repo.command(&["audit", "-q", "--accept"]).output().unwrap();
    assert!(audited.status.code() < Some(2), "{}", said(&audited));
    let done = repo.run(&["primitives", "load", "knowledge", "d.jsonl"]);
    assert!(done.status.success(), "{}", said(&done));
    repo
}

fn host(repo: &Repo) -> super::support::Host {
    let mut command = repo.command(&["serve", "--role", "reader", "--runtime", "organisation=comune-roma"]);
    command.env("PROGRAM_TOKEN", "a-long-secret-token").env("OTHER", "not for programs");
    super::support::Host::start(command)
}

#[test]
fn the_three_families_look_alike_and_are_recorded_alike() {
    let repo = repo();
    let mut host = host(&repo);
    let shape = |tool: &Value| -> (Vec<String>, Vec<String>, Vec<String>) {
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        (keys(tool), keys(&tool["annotations"]), keys(&tool["inputSchema"]["properties"]))
    };
    let [server, store, program] = ["ask_server", "ask_store", "ask_program"].map(|name| host.tool(name));
    assert_eq!(shape(&server), shape(&program));
    assert_eq!(shape(&store), shape(&program));
    assert!(!program.to_string().contains("program.sh"));
    for name in ["ask_server", "ask_store", "ask_program"] {
        let (failed, text) = host.call(name, &json!({ "query": "k" }));
        assert!(!failed && serde_json::from_str::<Value>(&text).is_ok(), "{name}: {text}");
        let (failed, text) = host.call(name, &json!({ "query": "k", "filter": { "ente": "x" } }));
        assert!(failed && text == "unknown argument `filter`; this tool takes `query`", "{name}: {text}");
    }
    drop(host);
    let log = std::fs::read_dir(repo.path().join(".rolecast/log"))
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|e| e == "jsonl"));
    let log = std::fs::read_to_string(log.unwrap().path()).unwrap();
    for upstream in ["one/tell", "knowledge/metadata_keys", "program/ask_program"] {
        assert_eq!(log.matches(&format!("\"upstream\":\"{upstream}\"")).count(), 4, "{log}");
    }
}

#[test]
fn a_program_is_given_its_parameters_and_nothing_else() {
    let repo = repo();
    let mut host = host(&repo);
    let given = host.data("ask_program", &json!({ "query": "a b; $(id)" }));
    assert_eq!(given["given"], json!({ "query": "a b; $(id)", "filter": { "ente": "comune-roma" } }));
    assert_eq!(given["words"], 2);
    assert_eq!((&given["first"], &given["secret"]), (&json!("--for=a b; $(id)"), &json!("none")));
    assert_eq!(host.data("plain", &json!({})), json!({ "n": 3 }));
    assert_eq!(host.data("plain", &json!({ "n": "4", "word": "x" })), json!({ "n": 4, "word": "x" }));
    assert!(host.call("plain", &json!({ "n": 6 })).0);
    let (failed, text) = host.call("ask_program", &json!({ "query": "-rf" }));
    assert!(failed && text.contains("option"), "{text}");
}

#[test]
fn a_program_that_hangs_fails_or_floods_costs_its_own_call() {
    let repo = repo();
    let mut host = host(&repo);
    for (query, why) in [("slow", "within 2 s"), ("bad", "no JSON"), ("fail", "exit code 4")] {
        let (failed, text) = host.call("ask_program", &json!({ "query": query }));
        assert!(failed && text.contains(why) && !text.contains("a-long-secret-token"), "{query}: {text}");
    }
    let (failed, text) = host.call("ask_program", &json!({ "query": "big" }));
    assert!(!failed && text.len() < 6000, "{}", text.len());
    assert!(!host.call("plain", &json!({})).0);
}

#[test]
fn a_program_that_cannot_be_is_reported_where_it_is_written() {
    let policy = POLICY
        .replace("[cat]", "[cat, \"{wrod}\"]")
        .replace("primitive: one/tell\n", "primitive: one/tell\n    command: [x]\n");
    let done = Repo::new(&policy).run(&["check"]);
    assert_eq!(done.status.code(), Some(3));
    let text = super::support::printed(&done) + &said(&done);
    assert!(
        text.contains("did you mean `{word}`?") && text.contains("needs either `primitive` or `command`"),
        "{text}"
    );
}
