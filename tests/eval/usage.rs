//! What is refused before anything is started.

use super::support::{Repository, said};

fn run(repository: &Repository, args: &[&str]) -> (Option<i32>, String) {
    let out = repository.command(&["eval"]).args(args).stdin(std::process::Stdio::null()).output().unwrap();
    (out.status.code(), said(&out))
}

#[test]
fn unknown_names_and_runs_that_nobody_agreed_to_are_usage_errors() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    let usual = ["code-only-ticket", "--host", "claude-code", "--runs", "2"];
    for (args, hint) in [
        (&["code-only-tickt", "--host", "claude-code", "--runs", "1"][..], "did you mean `code-only-ticket`?"),
        (&["code-only-ticket", "--host", "claude-cod", "--runs", "1"], "did you mean `claude-code`?"),
        (&["code-only-ticket", "--host", "codex", "--runs", "1"], "does not select the host `codex`"),
        (&["code-only-ticket", "--host", "claude-code"], "`--runs` is not given"),
        (&["code-only-ticket", "--runs", "1"], "`--host` is not given"),
        (&usual, "this starts 2 sessions with your own login, model and configuration, at your cost"),
        (&[&usual[..], &["--yes", "--compare", "nowhere"]].concat(), "`--compare nowhere` is neither"),
        (&[&usual[..], &["--format", "sarif"]].concat(), "not annotations"),
    ] {
        let (code, text) = run(&repository, args);
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(text.contains(hint), "{args:?}: {text}");
    }
}

#[test]
fn a_host_that_is_not_here_or_cannot_be_given_a_task_is_told() {
    let repository = Repository::rendered(&["claude-code", "cursor"], &[]);
    let empty = tempfile::tempdir().unwrap();
    let bin = empty.path().to_string_lossy().into_owned();
    for (host, hint) in [("claude-code", "Claude Code is not here"), ("cursor", "scenarios are not run on Cursor")] {
        let args = ["trivial-docs-edit", "--host", host, "--runs", "1", "--yes", "--host-bin", &bin];
        let (code, text) = run(&repository, &args);
        assert_eq!(code, Some(4), "{text}");
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn scenarios_are_listed_and_ones_own_win_by_name() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    repository.write("shared-agent-rules/scenarios/docs-gap.yaml", "title: Ours\nprompt: Do it.\n");
    let (code, text) = run(&repository, &[]);
    assert_eq!(code, Some(0));
    assert!(text.contains("docs-gap                Ours\n"), "{text}");
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn a_scenario_that_names_what_is_not_there_fails_the_check_with_its_place() {
    let repository = Repository::rendered(&["claude-code"], &[]);
    for (text, hint) in [
        ("title: t\nprompt: p\nexpect: { out-of-grant-calls: { docs_writr: 0 } }\n", "unknown role `docs_writr`"),
        ("title: t\nprompt: p\nexpect: { docs-call: 0 }\n", "docs-call"),
        ("title: t\nprompt: p\noutcome: { changed: ['{a,b}'] }\n", "is no pattern"),
        ("title: t\nprompt: p\nrepository: { files: { ../x: y } }\n", "leads out of the repository"),
        (
            "title: t\nprompt: p\nservers: { s: { tools: { x: { description: d, confers: [docs.serch], answer: a } } } }\n",
            "unknown capability `docs.serch`",
        ),
    ] {
        repository.write("shared-agent-rules/scenarios/own.yaml", text);
        let out = repository.command(&["check"]).output().unwrap();
        let told = said(&out);
        assert_eq!(out.status.code(), Some(3), "{told}");
        assert!(told.contains(hint) && told.contains("shared-agent-rules/scenarios/own.yaml:"), "{told}");
    }
}
