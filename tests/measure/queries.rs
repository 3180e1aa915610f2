//! What is exported: the same in every kind of file, and the queries of the documentation answer what the report says.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::Repo;
use crate::{POLICY, logs};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The Python with the engine; `None` with a word where it is not installed, which under CI is a failure.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("ROLECAST_DUCKDB");
    let folder = named.as_ref().map_or_else(|| root().join("tests/duckdb"), PathBuf::from);
    let python = folder.join("venv/bin/python");
    if python.exists() {
        return Some(python);
    }
    let wanted = std::env::var_os("CI").is_some() || named.is_some();
    assert!(!wanted, "tests/duckdb/install was not run");
    eprintln!("SKIPPED: no DuckDB here; tests/duckdb/install installs it");
    None
}

/// The queries of the page by the names of their headings.
fn queries() -> BTreeMap<String, String> {
    let page = std::fs::read_to_string(root().join("docs/queries.md")).unwrap();
    let (mut all, mut name, mut within) = (BTreeMap::new(), String::new(), false);
    for line in page.lines() {
        match line {
            _ if line.starts_with("### ") => name = line[4..].to_owned(),
            "```sql" => within = true,
            "```" => within = false,
            line if within => {
                let query: &mut String = all.entry(name.clone()).or_default();
                query.push_str(line);
                query.push('\n');
            }
            _ => {}
        }
    }
    all
}

fn answers(python: &Path, folder: &Path, queries: &BTreeMap<String, String>) -> Value {
    for (name, query) in queries {
        std::fs::write(folder.join(name), query).unwrap();
    }
    let output = Command::new(python)
        .arg(root().join("tests/duckdb/ask.py"))
        .args(queries.keys())
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every agent with its session.
fn agents(report: &Value) -> Vec<(&Value, &Value)> {
    let sessions = report["sessions"].as_array().unwrap();
    sessions.iter().flat_map(|s| s["agents"].as_array().unwrap().iter().map(move |a| (s, a))).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

/// What each query must answer, made from the report.
fn expected(report: &Value) -> BTreeMap<&'static str, Vec<Value>> {
    let mut all: BTreeMap<&'static str, Vec<Value>> = BTreeMap::new();
    let mut capabilities: BTreeMap<(String, Option<String>, String), u64> = BTreeMap::new();
    let mut reviews: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut approvals: BTreeMap<(String, String, String, bool), u64> = BTreeMap::new();
    for (session, agent) in agents(report) {
        let (s, a, host) = (&session["session"], &agent["agent"], session["host"].as_str().unwrap().to_owned());
        let mut put = |name: &'static str, row: Value| all.entry(name).or_default().push(row);
        let context = &agent["context"];
        for point in list(&context["curve"]) {
            put("context curve", json!([s, a, point[0], point[1]]));
        }
        for crossed in list(&context["crossed"]) {
            put("thresholds crossed", json!([s, a, crossed["threshold"], crossed["tokens"], context["window"]]));
        }
        for one in list(&context["compactions"]) {
            put("compactions", json!([s, a, one["before"], one["automatic"]]));
        }
        let first = &context["first-request"];
        if !first.is_null() {
            put("cost of the first request", json!([s, a, first["tokens"], first["cached"], first["bytes"]]));
        }
        if agent["place"] == "sub" {
            put("agents with the whole history", json!([s, a, agent["full-history"]]));
        }
        let (results, seen) = (&agent["results"], &agent["results"]["visible"]);
        if seen["count"] != 0 {
            let (target, limit) = (&results["over-target"]["count"], &results["over-limit"]["count"]);
            let row = json!([s, a, seen["count"], seen["bytes"], seen["most"], target, limit]);
            put("results over the budget", row);
        }
        for (model, count) in agent["models"].as_object().unwrap() {
            put("requests by model", json!([s, a, model, count]));
        }
        for (name, one) in agent["budgets"].as_object().unwrap().iter().filter(|(name, _)| *name != "inline-media") {
            let over = |key: &str| one[key]["count"].as_u64().unwrap_or(0);
            let most = (one["count"] != 0).then(|| one["most"].clone());
            let (target, limit, reason) =
                (over("over-target"), over("over-limit"), one["with-reason"].as_u64().unwrap_or(0));
            put("other budgets", json!([s, a, name, one["count"], most, one["not-recorded"], target, limit, reason]));
        }
        for (tool, count) in agent["tools"].as_object().unwrap() {
            let (bytes, base64) = (&count["results"]["bytes"], &count["inline-base64"]["bytes"]);
            put("bytes by tool", json!([s, a, tool, count["calls"], bytes, base64]));
        }
        let media = &agent["media"];
        let (inline, unsure) = (&media["inline"]["count"], &media["sending-not-recorded"]["count"]);
        if inline != 0 || unsure != 0 {
            put("inline media", json!([s, a, inline, media["inline-base64-bytes"], unsure]));
        }
        let role = agent["role"].as_str().map(str::to_owned);
        for (capability, count) in agent["capabilities"].as_object().unwrap() {
            let key = (host.clone(), role.clone(), capability.clone());
            *capabilities.entry(key).or_default() += count.as_u64().unwrap();
        }
        let (done, refused) = (&agent["out-of-grant"]["done"]["count"], &agent["out-of-grant"]["refused"]);
        let refused = refused.get("count").unwrap_or(&Value::Null);
        if done != 0 || refused.as_u64().is_some_and(|r| r > 0) {
            put("calls outside of the grants", json!([s, a, done, refused]));
        }
        let known = |key: &str| agent["knowledge"][key]["count"].clone();
        let counts = ["docs", "memory", "taxonomy", "before-first-work"].map(known);
        if counts.iter().take(3).any(|c| *c != 0) {
            let [docs, memory, taxonomy, before] = counts;
            put("docs, memory and taxonomy", json!([s, a, docs, memory, taxonomy, before]));
        }
        for record in list(&agent["unrecorded-escalations"]["records"]) {
            put("specialist browsers without a reason", json!([s, a, record["what"]]));
        }
        for (tool, count) in agent["reviews"].as_object().into_iter().flatten() {
            *reviews.entry((host.clone(), tool.clone())).or_default() += count.as_u64().unwrap();
        }
        for one in agent["approvals"].as_array().into_iter().flatten() {
            let word = |key: &str| one[key].as_str().unwrap().to_owned();
            let key = (host.clone(), word("tool"), word("by"), one["granted"].as_bool().unwrap());
            *approvals.entry(key).or_default() += one["count"].as_u64().unwrap();
        }
    }
    all.insert("calls by role and capability", capabilities.iter().map(|((h, r, c), n)| json!([h, r, c, n])).collect());
    all.insert("reviews by tool", reviews.iter().map(|((h, t), n)| json!([h, t, n])).collect());
    all.insert("approvals by tool", approvals.iter().map(|((h, t, b, g), n)| json!([h, t, b, g, n])).collect());
    all
}

fn sorted(rows: &[Value]) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    rows.sort();
    rows
}

fn hold(python: &Path, repo: &Repo, folder: &str, every: bool) {
    let report = repo.json(&["measure", folder]);
    let queries = queries();
    for kind in ["parquet", "jsonl"] {
        let events = format!("events.{kind}");
        let run = repo.run(&["measure", folder, "--export", kind, "-o", &events]);
        assert_eq!(run.code, 0, "{}", run.err);
        let asked = queries.iter().map(|(name, q)| (name.clone(), q.replace("events.parquet", &events))).collect();
        let got = answers(python, repo.path(), &asked);
        let expected = expected(&report);
        let names: Vec<&str> = queries.keys().map(String::as_str).collect();
        for name in names {
            let want = expected.get(name).map(Vec::as_slice).unwrap_or_default();
            assert!(!every || !want.is_empty(), "no log has anything for `{name}`, so it is not tried");
            assert_eq!(sorted(got[name].as_array().unwrap()), sorted(want), "{name}, {kind}");
        }
        assert!(expected.keys().all(|name| queries.contains_key(*name)), "{:?}", queries.keys());
    }
}

#[test]
fn the_queries_of_the_page_answer_what_the_report_says() {
    let Some(python) = python() else { return };
    hold(&python, &Repo::with(POLICY), &logs(""), true);
}

#[test]
fn the_engine_reads_the_same_from_every_kind_of_file() {
    let Some(python) = python() else { return };
    let repo = Repo::with(POLICY);
    for kind in ["parquet", "jsonl"] {
        let events = format!("events.{kind}");
        assert_eq!(repo.run(&["measure", &logs(""), "--export", kind, "-o", &events]).code, 0);
    }
    let difference = "SELECT count(*), (SELECT count(*) FROM (FROM 'events.parquet' EXCEPT ALL FROM 'events.jsonl')), \
                      (SELECT count(*) FROM (FROM 'events.jsonl' EXCEPT ALL FROM 'events.parquet')) FROM 'events.parquet'";
    let asked = [("difference".to_owned(), difference.to_owned())].into();
    let got = answers(&python, repo.path(), &asked);
    assert_eq!((&got["difference"][0][1], &got["difference"][0][2]), (&json!(0), &json!(0)));
    assert!(got["difference"][0][0].as_u64().unwrap() > 150, "{got}");
}

#[test]
fn the_collector_s_own_types_read_what_is_exported() {
    let Some(python) = python() else { return };
    let repo = Repo::with(POLICY);
    let lines = repo.page(&["measure", &logs(""), "--export", "otlp"]);
    let mut child = Command::new(python)
        .arg(root().join("tests/duckdb/otlp.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let records: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let rows: Vec<Value> = repo
        .page(&["measure", &logs(""), "--export", "jsonl"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        let there: serde_json::Map<String, Value> = row
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, value)| !value.is_null() && *key != "timestamp")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(record["values"], Value::Object(there));
        assert_eq!(record["nanos"] == 0, row["timestamp"].is_null());
    }
}

#[test]
fn the_queries_answer_for_the_ticket_before_and_after() {
    let Some(python) = python() else { return };
    let repo = Repo::with(crate::seed::POLICY);
    crate::seed::write(repo.path());
    for folder in ["before", "after"] {
        hold(&python, &repo, folder, false);
    }
}
