//! Primitives of our own through the built program: the three tools over one of them, whoever calls.
#![cfg(unix)]

mod adversary;
mod agent;
mod families;
mod filling;
mod stopping;
mod support;
mod web;

use serde_json::{Value, json};
use support::{DOCUMENTS, POLICY, Repo, printed, said};

/// The lines of each tool of the fixture.
fn lines_of_tools() -> Vec<(String, usize)> {
    let tools = POLICY.split_once("\ntools:\n").unwrap().1;
    let mut counts: Vec<(String, usize)> = Vec::new();
    for line in tools.lines() {
        match line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            Some(name) => counts.push((name.trim_end_matches(':').to_owned(), 1)),
            None => counts.last_mut().unwrap().1 += 1,
        }
    }
    counts
}

#[test]
fn each_of_the_three_tools_is_at_most_ten_lines() {
    let counts = lines_of_tools();
    let names: Vec<&str> = counts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cerca_documenti_bando", "cerca_atti_ente", "cerca_faq"]);
    assert!(counts.iter().all(|(_, lines)| *lines <= 10), "{counts:?}");
}

#[test]
fn a_model_sees_names_descriptions_and_arguments_and_nothing_that_is_bound() {
    let repo = Repo::filled();
    let mut host = repo.roman();
    let query =
        json!({ "type": "string", "description": "Domanda in parole semplici", "minLength": 1, "maxLength": 1024 });
    let bando = json!({ "type": "string", "description": "Identificativo del bando" });
    for (name, description, properties) in [
        ("cerca_documenti_bando", "Cerca nei documenti di un bando.", json!({ "bando_id": bando, "query": query })),
        ("cerca_atti_ente", "Cerca negli atti dell'ente dell'utente.", json!({ "query": query })),
        ("cerca_faq", "Cerca nelle domande frequenti.", json!({ "query": query })),
    ] {
        let tool = host.tool(name);
        let mut shown = tool["inputSchema"]["properties"].clone();
        if let Some(own) = shown.get_mut("bando_id").and_then(Value::as_object_mut) {
            own.retain(|key, _| ["type", "description"].contains(&key.as_str()));
        }
        assert_eq!((&tool["description"], &shown), (&json!(description), &properties), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        let hints =
            json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
        assert_eq!(tool["annotations"], hints);
        let text = tool.to_string();
        for hidden in ["filter", "doc_type", "comune-roma", "knowledge", "organisation", "constant", "limit"] {
            assert!(!text.contains(hidden), "`{hidden}` shows: {text}");
        }
    }
}

#[test]
fn each_tool_finds_its_own_rows_and_no_others() {
    let repo = Repo::filled();
    let mut host = repo.roman();
    let query = "rimborso spese di viaggio";
    assert_eq!(
        host.ids("cerca_documenti_bando", &json!({ "bando_id": "B-2026-01", "query": query })),
        ["bando-1/art-3"]
    );
    assert_eq!(
        host.ids("cerca_documenti_bando", &json!({ "bando_id": "B-2026-02", "query": query })),
        ["bando-2/art-2"]
    );
    assert!(host.ids("cerca_documenti_bando", &json!({ "bando_id": "nessuno", "query": query })).is_empty());
    let acts = host.ids("cerca_atti_ente", &json!({ "query": query }));
    assert_eq!(acts[0], "roma/delibera-12");
    assert!(acts.iter().all(|id| id.starts_with("roma/")), "{acts:?}");
    assert_eq!(host.ids("cerca_faq", &json!({ "query": "rimborsi viaggi" }))[0], "faq/1");
    let answer = host.data("cerca_atti_ente", &json!({ "query": "mensa" })).to_string();
    assert!(!answer.contains("comune-") && answer.contains("\"anno\":2026"), "a bound value shows: {answer}");
    let mut other = repo.serve(&["--role", "reader", "--runtime", "organisation=comune-milano"]);
    assert!(other.ids("cerca_atti_ente", &json!({ "query": query })).iter().all(|id| id.starts_with("milano/")));
    let mut nobody = repo.serve(&["--role", "reader"]);
    let (failed, text) = nobody.call("cerca_atti_ente", &json!({ "query": query }));
    assert!(failed && text.contains("`organisation` of the run time") && !text.contains("RISERVATO"), "{text}");
}

#[test]
fn a_fix_in_a_primitive_changes_every_tool_that_is_made_from_it() {
    let repo = Repo::filled();
    let calls = [
        ("cerca_documenti_bando", json!({ "bando_id": "B-2026-01", "query": "domanda spese" })),
        ("cerca_atti_ente", json!({ "query": "mensa spese" })),
        ("cerca_faq", json!({ "query": "domanda bandi" })),
    ];
    let rows = |repo: &Repo| {
        let mut host = repo.roman();
        calls.clone().map(|(name, arguments)| host.ids(name, &arguments).len())
    };
    assert_eq!(rows(&repo).iter().min(), Some(&2));
    let fixed = POLICY.replace("knowledge.sqlite }", "knowledge.sqlite, results: { target: 1, limit: 1 } }");
    repo.write("shared-agent-rules/policy.yaml", &fixed);
    assert_eq!(rows(&repo), [1, 1, 1]);
}

#[test]
fn a_review_sees_primitive_tools_bindings_and_roles() {
    let repo = Repo::filled();
    let page = printed(&repo.run(&["explain", "--tools"]));
    let part = page.split_once("what the tools of the policy are made of").expect("a part").1;
    assert!(part.contains("knowledge/semantic_search (built in)"), "{part}");
    for words in ["cerca_atti_ente(query)", "filter.ente ← run time", "filter.doc_type ← \"faq\"", "reader"] {
        assert!(part.contains(words), "`{words}` is missing: {part}");
    }
    let data = repo.run(&["explain", "--tools", "--format", "json"]);
    let data: Value = serde_json::from_slice(&data.stdout).unwrap();
    let tools = &data["primitives"][0]["tools"];
    assert_eq!((tools.as_array().unwrap().len(), &tools[1]["roles"]), (3, &json!(["reader"])));
    let list = printed(&repo.run(&["primitives", "list"]));
    assert!(list.contains("tools made from it: cerca_documenti_bando, cerca_atti_ente, cerca_faq"), "{list}");
}

#[test]
fn a_binding_that_a_primitive_does_not_take_fails_the_gate() {
    let repo = Repo::new(
        &POLICY
            .replace("filter.ente:", "filtre.ente:")
            .replace("knowledge/semantic_search\n    arguments:\n", "knowledge/semantic_serch\n    arguments:\n"),
    );
    for command in ["check", "render"] {
        let done = repo.run(&[command]);
        assert_eq!(done.status.code(), Some(3), "{}", said(&done));
        let text = printed(&done) + &said(&done);
        assert!(
            text.contains("has no parameter `filtre.ente`") && text.contains("did you mean `semantic_search`"),
            "{text}"
        );
    }
}

#[test]
fn a_reviewer_is_served_the_primitives_as_they_are() {
    let repo = Repo::filled();
    let mut host = support::Host::start(repo.command(&["primitives", "serve", "knowledge"]));
    let names: Vec<String> = host.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        names,
        ["semantic_search", "metadata_filter", "metadata_keys", "memory_add", "memory_search", "memory_list"]
    );
    let keys = host.data("metadata_keys", &json!({ "key": "ente" }));
    assert_eq!(keys["values"][0], json!({ "value": "comune-milano", "documents": 2 }));
    let (failed, text) = host.call("semantic_search", &json!({ "query": "x", "filter": { "ente": [] } }));
    assert!(failed, "{text}");
    host.data("memory_add", &json!({ "conversation": "c", "text": "Mi chiamo Ada." }));
    assert_eq!(host.data("memory_list", &json!({ "conversation": "c" }))["turns"][0]["text"], "Mi chiamo Ada.");
    assert_eq!(DOCUMENTS.lines().count(), 10);
}
