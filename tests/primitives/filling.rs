//! Filling stores, and what makes their vectors.

use serde_json::json;

use super::support::{POLICY, Repo, installed, printed, said};

#[test]
fn a_bad_line_is_shown_and_nothing_of_its_file_is_loaded() {
    let repo = Repo::filled();
    repo.write(
        "bad.jsonl",
        "{\"id\":\"new\",\"text\":\"Nuovo.\"}\n{\"id\":\"bad\",\"text\":\"x\",\"metadata\":{\"a.b\":1}}\n{\"id\":\n",
    );
    let done = repo.run(&["primitives", "load", "knowledge", "bad.jsonl"]);
    assert_eq!(done.status.code(), Some(1));
    let text = said(&done);
    for words in ["bad.jsonl:2:24", "bad.jsonl:3:", "store-document", "^", "nothing was loaded", "\"a.b\":1"] {
        assert!(text.contains(words), "`{words}` is missing: {text}");
    }
    let mut host = repo.serve(&["--runtime", "organisation=x"]);
    assert_eq!(host.data("cerca_faq", &json!({ "query": "nuovo" }))["searched"], 3);
}

#[test]
fn what_cannot_be_loaded_says_why() {
    let repo = Repo::filled();
    for (args, code, words) in [
        (&["primitives", "load", "knowlege", "documents.jsonl"][..], 2, "did you mean `knowledge`?"),
        (&["primitives", "load", "knowledge", "gone.jsonl"], 4, "cannot read `gone.jsonl`"),
        (&["primitives", "serve", "none"], 2, "declares no primitives `none`"),
    ] {
        let done = repo.run(args);
        assert_eq!(done.status.code(), Some(code), "{args:?}");
        assert!(said(&done).contains(words), "{}", said(&done));
    }
    let done = repo.run(&["primitives", "load", "knowledge", "--whole", "documents.jsonl"]);
    assert_eq!(said(&done), "`knowledge`: 0 added, 10 replaced, 0 removed\n");
    // A file that was cut off before it began empties no store.
    repo.write("cut.jsonl", "\n");
    let done = repo.run(&["primitives", "load", "knowledge", "--whole", "cut.jsonl"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(said(&done).contains("`cut.jsonl` has no document"), "{}", said(&done));
    let done = repo.run(&["primitives", "load", "knowledge", "documents.jsonl"]);
    assert_eq!(said(&done), "`knowledge`: 0 added, 10 replaced, 0 removed\n");
    let empty = Repo::new(POLICY);
    let mut host = empty.roman();
    let (failed, text) = host.call("cerca_faq", &json!({ "query": "x" }));
    assert!(failed && text.contains("`rolecast primitives load knowledge FILE` makes it"), "{text}");
    assert!(!text.contains(empty.path().to_str().unwrap()), "{text}");
}

#[test]
fn a_store_outside_of_the_root_is_refused() {
    let repo = Repo::new(&POLICY.replace("data/knowledge.sqlite", "../knowledge.sqlite"));
    let done = repo.run(&["check"]);
    assert_eq!(done.status.code(), Some(3));
    assert!((printed(&done) + &said(&done)).contains("is not below the root"));
    let repo = Repo::new(POLICY);
    std::fs::remove_dir(repo.path().join("data")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join("data")).unwrap();
    repo.write("documents.jsonl", "");
    let done = repo.run(&["primitives", "load", "knowledge", "documents.jsonl"]);
    assert_eq!(done.status.code(), Some(4), "{}", said(&done));
    assert!(std::fs::read_dir(outside.path()).unwrap().next().is_none());
}

/// With a real model of sentences: meaning is found where no word is shared.
#[test]
fn an_embedder_program_finds_meaning() {
    let Some(packages) = installed("node_modules") else { return };
    let script = installed("embed.cjs").unwrap();
    let folder = packages.parent().unwrap().to_str().unwrap();
    let embedder = format!(
        "file: data/knowledge.sqlite, embedder: {{ name: use-lite-en, command: [node, {:?}, {folder:?}] }}",
        script.to_str().unwrap()
    );
    let repo = Repo::new(&POLICY.replace("file: data/knowledge.sqlite", &embedder));
    let texts = [
        "Travel costs are paid back within thirty days.",
        "The canteen opens at noon.",
        "Books may be borrowed for a month.",
        "Parking permits are issued by the police.",
    ];
    let lines: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| json!({ "id": format!("d{n}"), "text": text, "metadata": { "doc_type": "faq" } }).to_string())
        .collect();
    repo.write("documents.jsonl", &lines.join("\n"));
    let done = repo.run(&["primitives", "load", "knowledge", "documents.jsonl"]);
    assert!(done.status.success(), "{}", said(&done));
    let mut host = repo.roman();
    for (query, best) in
        [("How do I get reimbursed for a journey?", "d0"), ("Where can I have lunch?", "d1"), ("lending library", "d2")]
    {
        assert_eq!(host.ids("cerca_faq", &json!({ "query": query }))[0], best, "{query}");
    }
    drop(host);
    // The same store with what is built in would compare what cannot be compared.
    repo.write("shared-agent-rules/policy.yaml", POLICY);
    let (failed, text) = repo.roman().call("cerca_faq", &json!({ "query": "x" }));
    assert!(failed && text.contains("was made with the embedder `program:use-lite-en`"), "{text}");
}
