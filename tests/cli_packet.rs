//! `packet new` and `packet check` over the real binary.

mod support;

use support::Repo;

const POLICY: &str = "version: 1\nhosts: { codex: {} }\nextends: [builtin]\n";

#[test]
fn a_new_packet_says_what_the_role_may_and_lacks_only_what_its_author_must_say() {
    let repo = Repo::with(POLICY);
    let made = repo.run(&["packet", "new", "docs_writer"]);
    assert_eq!(made.code, 0, "{}", made.err);
    for line in [
        "role: docs_writer",
        "- `repo.edit`: only in `docs/**`, `README.md`",
        "- not: `shell.run`, `browser.*`",
        "- the change would leave the assigned files",
    ] {
        assert!(made.out.lines().any(|l| l == line), "`{line}` is not in\n{}", made.out);
    }
    let repo = repo.file("packet.md", &made.out);
    let checked = repo.run(&["packet", "check", "packet.md"]);
    assert_eq!(checked.code, 1);
    let empty: Vec<&str> = checked.out.lines().filter(|l| l.starts_with("error")).collect();
    let said = |part: &str| format!("error[packet-part]: the part `{part}` is empty");
    let expected = ["objective", "scope", "verified facts", "constraints", "validation"].map(said);
    assert_eq!(empty, expected);
}

#[test]
fn every_shipped_role_gets_a_packet_whose_own_words_pass() {
    let repo = Repo::with(POLICY);
    for role in ["browser_tester", "docs_writer", "explorer", "implementer", "reviewer"] {
        let made = repo.run(&["packet", "new", role]).out;
        let written: String =
            made.lines().map(|l| if l.starts_with("<!--") { "Said.\n".to_owned() } else { format!("{l}\n") }).collect();
        let repo = Repo::with(POLICY).file("p.md", &written);
        let checked = repo.run(&["packet", "check", "p.md"]);
        assert_eq!((checked.code, checked.out.as_str()), (0, ""), "{role}: {written}");
    }
}

#[test]
fn a_policy_without_parts_asks_for_none() {
    let repo = Repo::with("version: 1\nhosts: { codex: {} }\n")
        .file("shared-agent-rules/roles/a.md", "---\ndescription: A.\ngrants: { repo.read: {} }\n---\nRead.\n")
        .file("p.md", "---\nrole: a\n---\nRead it.\n");
    assert_eq!(repo.run(&["packet", "check", "p.md"]).code, 0);
}

#[test]
fn what_cannot_be_checked_is_an_error_of_its_own_kind() {
    let repo = Repo::with(POLICY).file("bin.md", "---\nrole: explorer\n---\n\0");
    assert_eq!(repo.run(&["packet", "check", "missing.md"]).code, 4);
    assert_eq!(repo.run(&["packet", "check", "bin.md"]).code, 1);
    let unknown = repo.run(&["packet", "new", "docs_witer"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `docs_writer`?"), "{}", unknown.err);
    assert_eq!(Repo::with("version: 1\nhosts: 3\n").run(&["packet", "new", "explorer"]).code, 3);
}

#[test]
fn findings_come_as_data_too() {
    let repo = Repo::with(POLICY).file("p.md", "---\nrole: explorer\n---\n## Objective\nX\n");
    let run = repo.run(&["packet", "check", "p.md", "--format", "json"]);
    assert_eq!(run.code, 1);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let text = found.to_string();
    assert!(text.contains("packet-part") && text.contains("p.md"), "{text}");
}
