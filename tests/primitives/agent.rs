//! An agent of another maker: LangGraph with its MCP adapter and a scripted model.

use std::process::Command;

use serde_json::{Value, json};

use super::support::{Repo, installed};

#[test]
fn a_langgraph_agent_uses_the_same_tools() {
    let (Some(python), Some(script)) = (installed("venv/bin/python"), installed("agent.py")) else { return };
    let repo = Repo::filled();
    let query = "rimborso spese di viaggio";
    let calls = json!([
        { "name": "cerca_atti_ente", "args": { "query": query } },
        { "name": "cerca_documenti_bando", "args": { "bando_id": "B-2026-02", "query": query } },
        { "name": "cerca_faq", "args": { "query": "rimborsi viaggi" } },
        { "name": "cerca_atti_ente", "args": { "query": query, "filter": { "ente": "comune-milano" } } },
    ]);
    let args = ["serve", "--role", "reader", "--runtime", "organisation=comune-roma"];
    let cwd = repo.path().to_str().unwrap();
    let wanted = json!({ "command": env!("CARGO_BIN_EXE_rolecast"), "args": args, "cwd": cwd, "calls": calls });
    let done = Command::new(python).arg(script).arg(wanted.to_string()).current_dir(repo.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(told["last"], "done");
    let offered: Vec<&str> = told["offered"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(offered, ["cerca_atti_ente", "cerca_documenti_bando", "cerca_faq", "docs_validate", "read_artifact"]);
    let first = |n: usize| -> String {
        let text = told["results"][n]["text"].as_str().unwrap();
        let rows: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
        rows["results"][0]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!([first(0), first(1), first(2)], ["roma/delibera-12", "bando-2/art-2", "faq/1"]);
    let refused = &told["results"][3];
    assert!(refused["error"] == true && !refused.to_string().contains("RISERVATO"), "{refused}");
}
