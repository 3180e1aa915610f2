//! `measure` over the real binary, on small logs of every kind. The numbers that are expected are counted by hand: the
//! comments say from which lines.

mod expect;
mod hosts;
mod pages;
mod queries;
mod readers;
mod seed;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod traps;
mod truncated;

use std::path::PathBuf;

use serde_json::Value;
use support::Repo;

/// Results over 100 bytes are over the target, over 200 over the limit; `kb` and `playwright` are servers.
const POLICY: &str = "\
version: 1
hosts: { claude-code: {}, codex: {}, copilot: {}, gemini-cli: {}, opencode: {}, qwen-code: {} }
extends: [builtin]
budgets: { tool-result: { target: 100B, limit: 200B } }
servers:
  kb:
    command: kb
    tools:
      search: { confers: [docs.search] }
      list_tags: { confers: [docs.taxonomy] }
      list_topics: { confers: [memory.taxonomy] }
  playwright:
    command: pw
    tools:
      browser_navigate: { confers: [browser.inspect] }
      browser_take_screenshot: { confers: [browser.capture] }
      browser_click: { confers: [browser.interact] }
acceptance:
  all: { docs-calls: 1, memory-calls: 0, taxonomy-calls: 1, full-history-agents: 0, inline-base64: 0, results-over-limit: 0, unrecorded-escalations: 0, avoidable-compactions: 0, out-of-grant-calls: { docs_writer: 0 } }
  nothing: { docs-calls: 9 }
";

fn logs(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/measure/logs").join(name).to_string_lossy().into_owned()
}

/// What was measured of a folder of logs.
fn measured(name: &str) -> Value {
    Repo::with(POLICY).json(&["measure", &logs(name)])
}

/// The agents of the only session, by name.
fn agent<'v>(report: &'v Value, name: &str) -> &'v Value {
    let sessions = report["sessions"].as_array().expect("sessions");
    let all = sessions.iter().flat_map(|s| s["agents"].as_array().expect("agents"));
    all.into_iter().find(|a| a["agent"] == name).unwrap_or_else(|| panic!("no agent `{name}` in {report:#}"))
}

/// The figures at JSON pointers; a count with records is its count.
fn figures(of: &Value, at: &[&str]) -> Vec<Value> {
    at.iter()
        .map(|at| of.pointer(at).unwrap_or_else(|| panic!("no `{at}` in {of:#}")))
        .map(|v| v.get("count").unwrap_or(v).clone())
        .collect()
}

macro_rules! expect_figures {
    ($of:expr, $($at:literal => $value:tt),+ $(,)?) => {
        let got = $crate::figures($of, &[$($at),+]);
        let expected = vec![$(serde_json::json!([$at, $value])),+];
        let got: Vec<_> = [$($at),+].iter().zip(got).map(|(at, value)| serde_json::json!([at, value])).collect();
        assert_eq!(got, expected);
    };
}
pub(crate) use expect_figures;
