//! A store whose query would never end: it is ended when nobody waits for it any more, and costs nothing after that.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use super::support::Repo;

/// In the place of the table of items, one that no query reads to its end. It has the real one in it, so that a change of
/// the schema is seen.
const ENDLESS: &str = "
alter table items rename to real_items;
create view items as with recursive c(n) as (select 1 union all select n + 1 from c)
  select c.n, c.n % 2 + 7 as space, '' as id, '' as text, '{}' as metadata, 0 as words, x'' as vector
  from c cross join real_items;
";
const MENDED: &str = "drop view items; alter table real_items rename to items;";

const POLICY: &str = "version: 1\nhosts: { claude-code: {} }\nprimitives:\n  endless:\n    store: { file: data/endless.sqlite, timeout: { call: 1 } }\n  good:\n    store: { file: data/good.sqlite }\n";

fn tools() -> String {
    let mut tools = "tools:\n".to_owned();
    for (name, primitive) in [("search_endless", "endless/semantic_search"), ("search_good", "good/semantic_search")] {
        tools.push_str(&format!(
            "  {name}:\n    description: Search.\n    primitive: {primitive}\n    arguments: {{ query: {{ type: string }} }}\n    bind: {{ query: {{ argument: query }} }}\n    confers: [docs.search]\n"
        ));
    }
    tools
}

/// Threads of a process, and what it has used of the processor so far.
fn used(id: u32) -> (usize, Duration) {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap().count();
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<u64> =
        stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2).map(|n| n.parse().unwrap()).collect();
    // Ticks of a hundredth of a second, as Linux has them everywhere.
    (threads, Duration::from_millis((fields[0] + fields[1]) * 10))
}

#[test]
fn a_query_that_is_not_waited_for_ends_and_its_thread_with_it() {
    let repo = Repo::new(&format!("{POLICY}{}", tools()));
    repo.write("documents.jsonl", r#"{"id": "a", "text": "some words", "metadata": {"kind": "act"}}"#);
    for store in ["endless", "good"] {
        assert!(repo.run(&["primitives", "load", store, "documents.jsonl"]).status.success());
    }
    Connection::open(repo.path().join("data/endless.sqlite")).unwrap().execute_batch(ENDLESS).unwrap();
    let mut host = repo.serve(&["--role", "reader"]);
    assert_eq!(host.ids("search_good", &json!({ "query": "words" })), ["a"]);
    let (threads, _) = used(host.id());
    for _ in 0..4 {
        let began = Instant::now();
        let (failed, text) = host.call("search_endless", &json!({ "query": "words" }));
        assert!(failed && text.contains("there is no answer within 1 s"), "{text}");
        assert!(began.elapsed() >= Duration::from_secs(1));
        assert_eq!(host.ids("search_good", &json!({ "query": "words" })), ["a"], "other stores answer");
    }
    std::thread::sleep(Duration::from_millis(500));
    let (now, before) = used(host.id());
    assert!(now <= threads + 1, "{threads} threads became {now}");
    std::thread::sleep(Duration::from_secs(2));
    let spent = used(host.id()).1 - before;
    assert!(spent < Duration::from_millis(300), "{spent:?} of the processor in 2 s for nobody");
    // The connection is as good as before.
    Connection::open(repo.path().join("data/endless.sqlite")).unwrap().execute_batch(MENDED).unwrap();
    assert_eq!(host.ids("search_endless", &json!({ "query": "words" })), ["a"]);
}
