//! What was pinned of a server is in the repository: tools made from it are judged, and listed, without starting it.
#![cfg(unix)]

#[path = "support/gateway.rs"]
mod support;

use std::process::Output;

use support::{Repo, SERVER};

const POLICY: &str = "version: 1
hosts: { claude-code: {} }
servers:
  one: { command: sh, args: [server.sh, one.log] }
tools:
  find:
    description: Find.
    primitive: one/tell
    arguments: { words: { type: string } }
    bind: { query: { argument: words }, extra: { constant: a } }
    confers: [docs.search]
";
const KEPT: &str = "shared-agent-rules/pins/one.json";

/// `tell` must be given `query`, and takes two words as `extra`.
fn repo() -> Repo {
    let repo = Repo::new(POLICY);
    let wide = r#""extra":{"type":"string"}}}}"#;
    assert!(SERVER.contains(wide));
    let narrow = r#""extra":{"type":"string","enum":["a","b"]}},"required":["query"]}}"#;
    repo.write("server.sh", &SERVER.replace(wide, narrow));
    let repo = repo.pinned();
    assert_eq!(ran(&repo, &["render", "-q"]).0, Some(0));
    repo
}

/// Exit code and everything said.
fn ran(repo: &Repo, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = repo.command(args).output().unwrap();
    (status.code(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn what_a_primitive_does_not_allow_is_an_error_of_the_policy_where_it_is_written() {
    let repo = repo();
    assert_eq!(ran(&repo, &["check"]).0, Some(0));
    for (bind, line, why) in [
        ("{ extra: { constant: a } }", 8, "the parameter `query` of `one/tell` is required and bound to nothing"),
        ("{ quer: { argument: words } }", 10, "the primitive `one/tell` has no parameter `quer`"),
        ("{ query: { argument: words }, extra: { constant: c } }", 10, "the primitive does not take this constant"),
        ("{ query: { argument: words }, filter: { constant: text } }", 10, "the primitive does not take this constant"),
    ] {
        let policy = POLICY.replace("{ query: { argument: words }, extra: { constant: a } }", bind);
        // An argument that is bound to nothing is an error of its own.
        let unused = "    arguments: { words: { type: string } }\n";
        let policy = if bind.contains("words") { policy } else { policy.replace(unused, "") };
        repo.write("shared-agent-rules/policy.yaml", &policy);
        for command in ["check", "render"] {
            let (code, said) = ran(&repo, &[command]);
            assert_eq!(code, Some(3), "{command}: {said}");
            assert!(said.contains(why) && said.contains(&format!("policy.yaml:{line}:")), "{command}, {line}: {said}");
        }
    }
    let narrower =
        POLICY.replace("words: { type: string }", "words: { type: string }, more: { type: string, enum: [a, c] }");
    let narrower = narrower.replace("extra: { constant: a }", "extra: { argument: more }");
    repo.write("shared-agent-rules/policy.yaml", &narrower);
    let (code, said) = ran(&repo, &["check"]);
    assert!(code == Some(3) && said.contains("does not take"), "{said}");
    assert_eq!(repo.read("one.log"), "", "nothing was started");
}

#[test]
fn a_fresh_clone_lists_what_was_pinned_without_starting_anything() {
    let repo = repo();
    let _ = std::fs::remove_dir_all(repo.path().join(".rolecast"));
    let mut gateway = repo.serve(&["--role", "reader"]);
    assert!(gateway.names().contains(&"find".to_owned()));
    assert_eq!(repo.read("one.log"), "");
    assert!(!gateway.call("find", serde_json::json!({ "words": "x" })).0);
    assert_eq!(repo.read("one.log"), "started\n");
}

#[test]
fn a_file_that_says_something_else_than_what_was_pinned_counts_for_nothing() {
    let repo = repo();
    let kept = repo.read(KEPT);
    repo.write(KEPT, &kept.replace("tell it.", "obey me."));
    let (code, said) = ran(&repo, &["check"]);
    assert!(code == Some(1) && said.contains("is not what was pinned"), "{said}");
    let mut gateway = repo.serve(&[]);
    assert!(gateway.names().contains(&"find".to_owned()), "what the server itself says is what was pinned");
    drop(gateway);
    std::fs::remove_file(repo.path().join(KEPT)).unwrap();
    let (code, said) = ran(&repo, &["check"]);
    assert!(code == Some(0) && said.contains("what was pinned is not kept in"), "{said}");
    assert_eq!(ran(&repo, &["audit", "-q", "--accept"]).0, Some(0), "{}", ran(&repo, &["audit"]).1);
    assert_eq!(repo.read(KEPT), kept);
}

#[test]
fn what_was_pinned_of_a_server_that_is_not_declared_any_more_goes() {
    let repo = repo();
    let other = POLICY.replace("  one:", "  two:").replace("one/tell", "two/tell");
    repo.write("shared-agent-rules/policy.yaml", &other);
    let _ = ran(&repo, &["audit", "-q", "--accept"]);
    assert_eq!(repo.read(KEPT), "");
    assert!(repo.read("shared-agent-rules/pins/two.json").contains("\"name\": \"tell\""));
    assert!(!repo.read("shared-agent-rules/rolecast.lock").contains("\"one\""));
}
