//! Renders that are killed, that lose their lock, and that run at once.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::support::{HOSTS, JOURNAL, LOCK, Project, assert_same};

const MINE: &str = "# Mine\n\nThe only copy of this text.\n";
const SETTINGS: &str = "{\n  \"mine\":1,\n  \"model\": \"x\"\n}\n";
const CONFIG: &str = "# mine\nmodel = \"x\"\n";

/// Many rules and roles, so that a render takes long enough to be killed in the middle.
fn big() -> Project {
    let project = Project::of(&HOSTS);
    for n in 0..35 {
        project.write(
            &format!("shared-agent-rules/rule{n}.md"),
            format!("---\ntitle: Rule {n}\nactivation: {{ on-demand: \"Case {n}\" }}\naudience: [main]\n---\nText {n}, first.\n"),
        );
        project.write(
            &format!("shared-agent-rules/roles/role{n}.md"),
            format!("---\ndescription: Role {n}.\ngrants:\n  repo.read: {{}}\n---\nBody {n}, first.\n"),
        );
    }
    project.write("AGENTS.md", MINE);
    project.write(".claude/settings.json", SETTINGS);
    project.write(".codex/config.toml", CONFIG);
    project
}

/// What every reader sees at every moment: the user's text, and no half file.
#[track_caller]
fn intact(project: &Project) {
    assert!(project.text("AGENTS.md").starts_with(MINE));
    assert!(project.text(".claude/settings.json").contains("\"mine\":1,\n  \"model\": \"x\""));
    assert!(
        project.text(".codex/config.toml").starts_with(CONFIG)
            || project.text(".codex/config.toml").contains("# mine\nmodel = \"x\"\n")
    );
    for n in 0..35 {
        let path = format!(".claude/agents/role{n}.md");
        if project.has(&path) {
            let text = project.text(&path);
            assert!(
                text.contains(&format!("Body {n}, first.\n")) || text.contains(&format!("Body {n}, second.\n")),
                "{path}: {text}"
            );
        }
    }
}

fn turn(project: &Project, from: &str, to: &str) {
    for n in 0..35 {
        for path in [format!("shared-agent-rules/rule{n}.md"), format!("shared-agent-rules/roles/role{n}.md")] {
            project.edit(&path, &format!(", {from}."), &format!(", {to}."));
        }
    }
}

#[test]
fn a_render_killed_at_any_moment_loses_nothing_and_is_completed() {
    let project = big();
    project.render();
    let mut cut = 0;
    for kill in 0..30_u32 {
        let (from, to) = if kill % 2 == 0 { ("first", "second") } else { ("second", "first") };
        turn(&project, from, to);
        let mut child = project.spawn(&["render"]);
        // Compiling comes first and writes nothing; what is to be hit is the time from the journal on.
        while !project.has(JOURNAL) && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        cut += u32::from(project.has(JOURNAL));
        intact(&project);
        if kill % 3 == 0 {
            // The policy may move on before anybody completes.
            turn(&project, to, from);
            turn(&project, from, to);
        }
        let completed = project.render();
        assert!(!project.has(JOURNAL), "{completed}");
        project.clean();
        intact(&project);
    }
    let leftovers: Vec<String> = project.tree().into_keys().filter(|p| p.ends_with(".tmp")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    assert!(cut >= 5, "only {cut} of 30 kills hit the writing, the test proves nothing");
}

#[test]
fn a_journal_left_behind_is_drift_that_a_render_settles() {
    let project = Project::rendered();
    for journal in ["{\"version\":1,\"locks\":[],\"files\":[]}\n", "not json", ""] {
        project.write(JOURNAL, journal);
        project.untouched(&["check"], 1).says(&["an interrupted render", "run `rolecast render`"]);
        project.render();
        project.clean();
        assert!(!project.has(JOURNAL));
    }
}

#[test]
fn a_deleted_or_broken_lock_is_rebuilt_by_adoption() {
    let project = Project::of(&HOSTS);
    project.write("AGENTS.md", MINE);
    project.render();
    let lock = project.text(LOCK);
    let half = lock.len() / 2;
    let broken = [
        String::new(),
        lock[..half].to_owned(),
        format!("<<<<<<< HEAD\n{lock}=======\n{lock}>>>>>>> branch\n"),
        lock.replacen("    {", "<<<<<<< HEAD\n    {", 1).replacen("},\n", "},\n=======\n>>>>>>> other\n", 1),
    ];
    project.remove(LOCK);
    project.untouched(&["check"], 1).says(&["the lock is missing"]);
    project.render();
    // Which tables were made by us is not to be seen any more: they stay when everything of ours goes.
    let but_made = |text: &str| text.lines().filter(|l| !l.contains("\"made\":")).collect::<Vec<_>>().join("\n");
    assert_eq!(but_made(&project.text(LOCK)), but_made(&lock));
    let before = project.tree();
    for text in broken {
        project.write(LOCK, text);
        project.untouched(&["check"], 1).says(&["the lock cannot be read"]);
        project.render();
        assert_same(&project.tree(), &before, "the lock is not what it was");
        project.clean();
    }
}

#[test]
fn without_a_lock_what_differs_is_the_users() {
    let project = Project::of(&["claude-code"]);
    project.render();
    project.remove(LOCK);
    project.append(".claude/agents/explorer.md", "more\n");
    project.untouched(&["render"], 1).says(&[".claude/agents/explorer.md", "--force"]);
}

#[test]
fn two_renders_at_once_corrupt_nothing() {
    let project = big();
    for pair in 0..10 {
        let (from, to) = if pair % 2 == 0 { ("first", "second") } else { ("second", "first") };
        if pair > 0 {
            turn(&project, from, to);
            turn(&project, to, from);
            turn(&project, from, to);
        } else {
            turn(&project, from, to);
        }
        let mut both = [project.spawn(&["render"]), project.spawn(&["render"])];
        for child in &mut both {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(0), "{said}");
        }
        intact(&project);
        project.clean();
        assert!(!project.has(JOURNAL));
    }
    assert!(!project.tree().keys().any(|p| p.ends_with(".tmp")));
}

#[test]
fn a_check_beside_renders_never_sees_a_half_file() {
    let project = Project::rendered();
    let deadline = Instant::now() + Duration::from_secs(2);
    let mut turn = 0;
    while Instant::now() < deadline {
        turn += 1;
        project.write(
            "shared-agent-rules/house.md",
            format!("---\ntitle: t\nactivation: always\naudience: [main]\n---\n{turn}\n"),
        );
        let mut child = project.spawn(&["render"]);
        let run = project.run(&["check"]);
        assert!(matches!(run.code, 0 | 1), "{run}");
        assert!(child.wait().unwrap().success());
    }
    project.clean();
}
