//! Exit code 2: the command line names something that does not exist.

use crate::support::{HOSTS, POLICY, Project};

#[test]
fn an_unknown_host_is_named_with_the_nearest_one_and_nothing_is_rendered() {
    let with_policy = Project::rendered();
    for args in [&["render", "--host", "codx"][..], &["render", "--dry-run", "--host", "codx"]] {
        with_policy.untouched(args, 2).says(&["unknown host `codx`", "did you mean `codex`?"]);
    }
    let without = Project::new();
    for args in [&["render", "--host", "codx"][..], &["init", "--host", "codx"]] {
        without.untouched(args, 2).says(&["unknown host `codx`", "did you mean `codex`?"]);
    }
    without.untouched(&["render", "--host", "qqqqqqqq"], 2).says(&["unknown host `qqqqqqqq`", "claude-code"]);
    without.untouched(&["init", "--host", ""], 2).says(&["unknown host ``"]);
}

#[test]
fn a_known_host_that_the_policy_does_not_select_is_a_usage_error() {
    let project = Project::of(&["codex"]);
    project.untouched(&["render", "--host", "cursor"], 2).says(&["does not select the host `cursor`", "codex"]);
}

#[test]
fn unknown_flags_commands_and_values_are_usage_errors_with_the_nearest_one() {
    let project = Project::rendered();
    for (args, words) in [
        (&["check", "--strict-eal"][..], &["--strict-eal", "--strict-eol"][..]),
        (&["render", "--dry-rum"], &["--dry-rum", "--dry-run"]),
        (&["rendr"], &["rendr", "render"]),
        (&["check", "--format", "jsn"], &["jsn", "json"]),
        (&["check", "--against", "haed"], &["haed", "HEAD"]),
        (&["check", "codex"], &["codex"]),
        (&["check", "--host", "codx"], &["--host"]),
        (&["render", "--host"], &["--host"]),
        (&[], &["Usage"]),
    ] {
        project.untouched(args, 2).says(words);
    }
}

#[test]
fn folders_that_are_not_there_are_usage_errors() {
    let project = Project::rendered();
    project.untouched(&["check", "--policy", "nowhere"], 2).says(&["--policy nowhere"]);
    project.untouched(&["check", "--root", "nowhere"], 2).says(&["--root nowhere"]);
    project.untouched(&["check", "--policy", "AGENTS.md"], 2).says(&["--policy AGENTS.md"]);
    project.untouched(&["check", "--policy", "/"], 2);
}

#[test]
fn without_policy_and_host_render_names_init() {
    Project::new().untouched(&["render"], 2).says(&["rolecast init"]);
    Project::new().untouched(&["init", "--yes"], 2).says(&["--host"]);
}

#[test]
fn without_policy_check_fails() {
    Project::new().untouched(&["check"], 3).says(&["rolecast init"]);
}

#[test]
fn help_and_version_are_results() {
    let project = Project::new();
    assert!(project.run(&["--help"]).exits(0).says(&["Exit codes: 0 clean"]).err.is_empty());
    assert!(project.run(&["--version"]).exits(0).out.starts_with("rolecast "));
}

#[test]
fn init_never_overwrites_and_render_without_policy_writes_the_smallest() {
    let project = Project::of(&["codex"]);
    project.untouched(&["init", "--host", "cursor"], 0).says(&["there is a policy already"]);

    let by_init = Project::new();
    by_init.run(&["init", "--host", "cursor", "--host", "codex"]).exits(0);
    by_init.render();
    let by_render = Project::new();
    by_render.run(&["render", "--host", "cursor", "--host", "codex"]).exits(0).says(&[POLICY]);
    by_render.clean();
    by_init.clean();
}

#[test]
fn hosts_are_detected_by_their_files() {
    let project = Project::new();
    project.write("CLAUDE.md", "mine\n");
    project.write(".gemini/settings.json", "{}\n");
    project.run(&["init", "--yes"]).exits(0).says(&["claude-code", "gemini-cli"]).silent_on(&["codex", "cursor"]);
    project.render();
    project.clean();
}

#[test]
fn a_filter_writes_the_files_of_its_host_and_leaves_the_rest_as_drift() {
    let project = Project::of(&HOSTS);
    project.run(&["render", "--host", "codex"]).exits(0);
    assert!(project.has(".codex/agents/explorer.toml"));
    assert!(!project.has(".claude") && !project.has(".cursor") && !project.has(".github"));
    project.untouched(&["check"], 1).says(&[".claude/agents/explorer.md: missing"]);
    for host in HOSTS {
        project.run(&["render", "--host", host]).exits(0);
    }
    project.clean();
}

#[test]
fn a_dry_run_prints_what_would_change_and_writes_nothing() {
    let project = Project::of(&["codex"]);
    project.untouched(&["render", "--dry-run"], 0).says(&["+++ b/AGENTS.md"]);
}
