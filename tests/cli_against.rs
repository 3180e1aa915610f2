//! `check` over what git holds, and the first `render` where there is no policy.

mod support;

use std::process::Command;

use support::{FIVE, Repo};

fn git(repo: &Repo, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(repo.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&status.stderr));
}

fn code(repo: &Repo, args: &[&str]) -> i32 {
    repo.run(args).code
}

#[test]
fn the_index_and_the_last_commit_are_judged_and_not_the_working_tree() {
    let repo = Repo::with(FIVE);
    git(&repo, &["init", "-q"]);
    assert_eq!(code(&repo, &["check", "--against", "HEAD"]), 4, "there is no commit yet");
    assert_eq!(code(&repo, &["render", "-q"]), 0);
    assert_eq!(code(&repo, &["check", "--against", "index"]), 3, "nothing is staged, so there is no policy");
    git(&repo, &["add", "-A"]);
    assert_eq!(code(&repo, &["check", "--against", "index"]), 0);
    git(&repo, &["commit", "-q", "-m", "one"]);
    assert_eq!(code(&repo, &["check", "--against", "HEAD"]), 0);

    let repo = repo.file(".claude/agents/explorer.md", "edited\n");
    assert_eq!(code(&repo, &["check"]), 1);
    assert_eq!(code(&repo, &["check", "--against", "index"]), 0, "the edit is not staged");
    git(&repo, &["add", "-A"]);
    let staged = repo.run(&["check", "--against", "index"]);
    assert_eq!(staged.code, 1);
    assert!(staged.out.contains("-edited"), "{}", staged.out);
    assert_eq!(code(&repo, &["check", "--against", "HEAD"]), 0, "the edit is not committed");

    // The other way round: the working tree is repaired, the commit is not.
    git(&repo, &["commit", "-q", "-m", "two"]);
    assert_eq!(code(&repo, &["render", "-q", "--force"]), 0);
    assert_eq!((code(&repo, &["check"]), code(&repo, &["check", "--against", "HEAD"])), (0, 1));
}

#[test]
fn outside_of_git_there_is_nothing_to_judge_against() {
    let repo = Repo::with(FIVE);
    let run = repo.run(&["check", "--against", "index"]);
    assert_eq!(run.code, 4, "{}{}", run.out, run.err);
    assert!(run.err.starts_with("error: "), "{}", run.err);
}

#[test]
fn a_render_without_a_policy_writes_the_smallest_one() {
    let repo = Repo::empty();
    let none = repo.run(&["render"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("rolecast init"), "{}", none.err);
    assert_eq!(code(&repo, &["render", "--host", "nosuch"]), 2);
    assert_eq!(std::fs::read_dir(repo.path()).unwrap().count(), 0, "nothing is written by a failure");

    assert_eq!(code(&repo, &["render", "--dry-run", "--host", "codex"]), 0);
    assert_eq!(std::fs::read_dir(repo.path()).unwrap().count(), 0, "nothing is written by a dry run");
    assert_eq!(code(&repo, &["render", "--host", "codex"]), 0);
    let policy = std::fs::read_to_string(repo.path().join("shared-agent-rules/policy.yaml")).unwrap();
    assert!(policy.contains("codex: {}") && policy.contains("extends: [builtin]"), "{policy}");
    assert_eq!(code(&repo, &["check"]), 0);
}

#[test]
fn a_detected_host_needs_no_naming() {
    let repo = Repo::empty().file("CLAUDE.md", "Mine.\n");
    assert_eq!(code(&repo, &["render", "-q"]), 0);
    let text = std::fs::read_to_string(repo.path().join("CLAUDE.md")).unwrap();
    assert!(text.starts_with("Mine.\n"), "{text}");
    assert_eq!(code(&repo, &["check"]), 0);
}

#[test]
fn a_render_that_conflicts_leaves_no_policy_behind() {
    let repo = Repo::empty().file(".claude/agents/explorer.md", "mine\n");
    let run = repo.run(&["render", "--host", "claude-code"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(!repo.path().join("shared-agent-rules").exists());
}
