//! Exit code 1: the files no longer say what the policy says. Each with its cause, its diff and a remedy.

use serde_json::Value;

use crate::support::{HOSTS, LOCK, Project, Run};

const RULE: &str = "---\ntitle: House\nactivation: { on-demand: \"Before painting\" }\naudience: [main, roles]\n---\nUse green paint.\n";
const ROLE: &str = "---\ndescription: Mine.\ngrants:\n  repo.read: {}\n---\nDo my work.\n";

fn project(hosts: &[&str]) -> Project {
    let project = Project::of(hosts);
    project.write("shared-agent-rules/house.md", RULE);
    project.write("shared-agent-rules/roles/mine.md", ROLE);
    project.render();
    project.clean();
    project
}

/// `check` exits 1, changes nothing, and says `words` on standard output; JSON has `path` with `cause`.
#[track_caller]
fn drifts(project: &Project, path: &str, cause: &str, words: &[&str]) -> Run {
    let run = project.untouched(&["check"], 1).says(words);
    for word in words {
        assert!(run.out.contains(word), "results belong on standard output: {run}");
    }
    let json = project.untouched(&["check", "--format", "json"], 1);
    let value: Value = serde_json::from_str(&json.out).unwrap_or_else(|e| panic!("{e}: {json}"));
    let change = value["changes"].as_array().unwrap().iter().find(|c| c["path"] == path);
    let change = change.unwrap_or_else(|| panic!("{path} is not in {json}"));
    assert!(
        change["causes"].as_array().unwrap().iter().any(|c| c["id"] == cause),
        "{path}: no cause {cause} in {json}"
    );
    run
}

#[test]
fn every_format_names_each_path_and_cause() {
    let p = project(&["codex"]);
    p.append("AGENTS.md", "mine\n");
    p.append(".codex/agents/mine.toml", "# more\n");
    p.remove("shared-agent-rules/house.md");
    for format in ["human", "json", "github", "sarif"] {
        let run = p.untouched(&["check", "--format", format], 1);
        for word in
            [".codex/agents/mine.toml", "edited by hand", ".rolecast/rules/house.md", "orphaned", "AGENTS.md", "stale"]
        {
            assert!(run.out.contains(word), "{word}: {run}");
        }
    }
}

#[test]
fn a_hand_edit_of_a_whole_file() {
    let p = project(&["claude-code"]);
    p.edit(".claude/agents/mine.md", "tools: [\"Read\"]", "tools: [\"Read\",\"Bash\"]");
    drifts(
        &p,
        ".claude/agents/mine.md",
        "edited",
        &[
            ".claude/agents/mine.md: edited by hand since it was rendered",
            "--- a/.claude/agents/mine.md",
            "+++ b/.claude/agents/mine.md",
            "-tools: [\"Read\",\"Bash\"]",
            "+tools: [\"Read\"]",
            "--force",
        ],
    );
    p.untouched(&["render"], 1).says(&["nothing was written", "--force", "-tools: [\"Read\",\"Bash\"]"]);
    p.run(&["render", "--force"]).exits(0);
    p.clean();
}

#[test]
fn one_hand_edit_keeps_every_other_file_from_being_written() {
    let p = project(&["claude-code", "codex"]);
    p.append(".claude/agents/mine.md", "more\n");
    p.append("shared-agent-rules/house.md", "Or blue.\n");
    p.untouched(&["render"], 1)
        .says(&[".claude/agents/mine.md", "-more", "nothing was written"])
        .silent_on(&["+++ b/.rolecast/rules/house.md"]);
    p.untouched(&["check"], 1)
        .says(&["+++ b/.rolecast/rules/house.md", "+++ b/.claude/agents/mine.md"])
        .silent_on(&["sha256:"]);
}

#[test]
fn a_hand_edit_inside_a_block() {
    let p = project(&["codex"]);
    p.edit("AGENTS.md", "Before painting", "Never before painting");
    drifts(&p, "AGENTS.md", "edited", &["AGENTS.md: edited by hand", "-- Never before painting", "+- Before painting"]);
    p.untouched(&["render"], 1).says(&["AGENTS.md: edited by hand since it was rendered"]);
    p.run(&["render", "--force"]).exits(0);
    p.clean();
}

#[test]
fn text_of_the_user_around_a_block_is_no_drift() {
    let p = project(&["codex"]);
    let block = p.text("AGENTS.md");
    p.write("AGENTS.md", format!("# My project\n\nMine.\n\n{block}\n## After\n\nMine too.\n"));
    p.clean();
    p.append("shared-agent-rules/house.md", "Or blue.\n");
    p.edit("shared-agent-rules/house.md", "Before painting", "Before any painting");
    p.render();
    let text = p.text("AGENTS.md");
    assert!(text.starts_with("# My project\n\nMine.\n\n<") && text.ends_with("\n\n## After\n\nMine too.\n"), "{text}");
    assert!(text.contains("Before any painting"));
    p.clean();
}

#[test]
fn a_block_taken_out_or_with_a_damaged_marker() {
    let p = project(&["codex"]);
    p.write("AGENTS.md", "mine\n");
    drifts(&p, "AGENTS.md", "block-missing", &["AGENTS.md: the rolecast block is missing", "+## Read on demand"]);
    p.render();
    assert!(p.text("AGENTS.md").starts_with("mine\n"));
    p.clean();

    let text = p.text("AGENTS.md");
    let end = text.lines().find(|l| l.contains("rolecast:end")).unwrap().to_owned();
    p.write("AGENTS.md", text.replace(&end, ""));
    drifts(&p, "AGENTS.md", "block-damaged", &["AGENTS.md: the markers", "repair or delete"]);
    // Not even by force: where the block ends is not known, and the text after it may be the user's.
    p.untouched(&["render", "--force"], 1).says(&["nothing was written"]);
}

#[test]
fn a_changed_or_missing_entry_of_a_shared_json() {
    let p = project(&["gemini-cli"]);
    p.edit(".gemini/settings.json", "11930", "999999");
    drifts(
        &p,
        ".gemini/settings.json",
        "entry-loose",
        &[".gemini/settings.json: `tools.truncateToolOutputThreshold` is set wider than the policy allows", "-", "+"],
    );
    p.edit(".gemini/settings.json", "999999", "\"many\"");
    drifts(&p, ".gemini/settings.json", "entry-edited", &["`tools.truncateToolOutputThreshold` differs"]);
    p.write(".gemini/settings.json", "{}\n");
    drifts(&p, ".gemini/settings.json", "entry-missing", &["`tools.truncateToolOutputThreshold` is missing"]);
    p.remove(".gemini/settings.json");
    drifts(&p, ".gemini/settings.json", "entry-missing", &["--- /dev/null", "+++ b/.gemini/settings.json"]);
    p.render();
    p.clean();
}

#[test]
fn a_changed_or_missing_entry_of_a_shared_toml() {
    let p = project(&["codex"]);
    p.edit(".codex/config.toml", "tool_output_token_limit = 6770", "tool_output_token_limit = 60000");
    drifts(
        &p,
        ".codex/config.toml",
        "entry-loose",
        &[
            "`tool_output_token_limit` is set wider",
            "-tool_output_token_limit = 60000",
            "+tool_output_token_limit = 6770",
        ],
    );
    p.edit(".codex/config.toml", "tool_output_token_limit = 60000\n", "");
    drifts(&p, ".codex/config.toml", "entry-missing", &["`tool_output_token_limit` is missing"]);
    p.render();
    p.edit(".codex/config.toml", "Delegation to this repository", "Delegation to no repository");
    drifts(
        &p,
        ".codex/config.toml",
        "entry-edited",
        &["`developer_instructions` differs and is not what rolecast wrote"],
    );
    p.untouched(&["render"], 1).says(&["--force"]);
    p.run(&["render", "--force"]).exits(0);
    p.clean();
}

#[test]
fn a_shared_file_that_cannot_be_parsed() {
    let p = project(&["gemini-cli", "codex"]);
    let (json, toml) = (p.text(".gemini/settings.json"), p.text(".codex/config.toml"));
    p.write(".gemini/settings.json", "{ \"a\": 1,\n  oops\n");
    drifts(&p, ".gemini/settings.json", "unreadable", &[".gemini/settings.json: cannot be read", "line 2"]);
    p.untouched(&["render", "--force"], 1).says(&["nothing was written"]);
    p.write(".gemini/settings.json", json);
    p.write(".codex/config.toml", "a = 1\nb = = 2\n");
    drifts(&p, ".codex/config.toml", "unreadable", &[".codex/config.toml: cannot be read", "line 2"]);
    p.write(".codex/config.toml", toml);
    p.clean();
}

#[test]
fn a_stale_source_names_itself() {
    let p = project(&["codex", "claude-code"]);
    p.append("shared-agent-rules/house.md", "Or blue.\n");
    let run = drifts(
        &p,
        ".rolecast/rules/house.md",
        "stale",
        &[".rolecast/rules/house.md: stale: the policy changed", "+Or blue.", "run `rolecast render`"],
    );
    assert!(!run.out.contains("a/AGENTS.md"), "only what changed is shown: {run}");
    let json = p.run(&["check", "--format", "json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let change = value["changes"].as_array().unwrap().iter().find(|c| c["path"] == ".rolecast/rules/house.md").unwrap();
    assert_eq!(change["sources"][0], "shared-agent-rules/house.md", "{json}");
    p.untouched(&["check", "--format", "github"], 1).says(&["shared-agent-rules/house.md"]);
    p.render();
    p.clean();
}

#[test]
fn a_missing_file() {
    let p = project(&["cursor"]);
    p.remove(".cursor/agents/mine.md");
    drifts(
        &p,
        ".cursor/agents/mine.md",
        "missing",
        &[".cursor/agents/mine.md: missing", "--- /dev/null", "+Do my work."],
    );
    p.render();
    p.clean();
}

#[test]
fn a_removed_role_and_rule_leave_orphans_that_a_render_takes_away() {
    let p = project(&HOSTS);
    p.remove("shared-agent-rules/roles/mine.md");
    p.remove("shared-agent-rules/house.md");
    drifts(
        &p,
        ".claude/agents/mine.md",
        "orphaned",
        &[".claude/agents/mine.md: orphaned", "+++ /dev/null", "-Do my work."],
    );
    for path in [
        ".codex/agents/mine.toml",
        ".cursor/agents/mine.md",
        ".github/agents/mine.agent.md",
        ".gemini/agents/mine.md",
        ".rolecast/rules/house.md",
    ] {
        drifts(&p, path, "orphaned", &[path]);
    }
    p.render();
    assert!(!p.has(".claude/agents/mine.md") && !p.has(".rolecast/rules/house.md"));
    p.clean();
}

#[test]
fn an_orphan_edited_by_hand_stays_and_stays_drift() {
    let p = project(&["claude-code"]);
    p.append(".claude/agents/mine.md", "my own line\n");
    p.remove("shared-agent-rules/roles/mine.md");
    drifts(&p, ".claude/agents/mine.md", "orphan-edited", &["orphaned, but edited by hand: it is kept", "delete it"]);
    p.run(&["render"]).says(&["kept .claude/agents/mine.md: orphaned, but edited by hand", "delete it"]);
    p.run(&["render"]).silent_on(&["everything says"]);
    assert!(p.text(".claude/agents/mine.md").ends_with("my own line\n"));
    drifts(&p, ".claude/agents/mine.md", "orphan-edited", &["it is kept"]);
    p.remove(".claude/agents/mine.md");
    p.render();
    p.clean();
}

#[test]
fn a_dropped_host() {
    let p = project(&["claude-code", "gemini-cli"]);
    p.select(&["claude-code"]);
    for path in [".gemini/agents/mine.md", "GEMINI.md"] {
        drifts(&p, path, "orphaned", &[path, "orphaned: nothing in the policy asks for it any more"]);
    }
    drifts(&p, ".gemini/settings.json", "entry-orphaned", &["`tools.truncateToolOutputThreshold` is orphaned"]);
    p.render();
    assert!(!p.has(".gemini"), "{:?}", p.tree().keys());
    p.clean();
}

#[test]
fn a_host_that_comes_in() {
    let p = project(&["claude-code"]);
    p.select(&["claude-code", "codex"]);
    drifts(&p, ".codex/agents/mine.toml", "missing", &[".codex/agents/mine.toml: missing"]);
    p.render();
    p.clean();
}

#[test]
fn a_grant_added_or_taken_away_shows_in_the_lists() {
    let p = project(&["claude-code", "copilot", "gemini-cli"]);
    p.edit("shared-agent-rules/roles/mine.md", "  repo.read: {}\n", "  repo.read: {}\n  shell.run: {}\n");
    drifts(&p, ".claude/agents/mine.md", "stale", &["-tools: [\"Read\"]", "Bash"]);
    drifts(&p, ".github/agents/mine.agent.md", "stale", &["execute"]);
    drifts(&p, ".gemini/agents/mine.md", "stale", &["run_shell_command"]);
}

#[test]
fn a_removed_denial_is_drift_or_changes_nothing_that_was_denied() {
    // Copilot's `edit` brings the tool that creates files; the denial keeps `edit` out of the list.
    let p = Project::of(&["copilot"]);
    let role =
        |deny: &str| format!("---\ndescription: d\ngrants:\n  repo.read: {{}}\n  repo.edit: {{}}\n{deny}---\nbody\n");
    p.write("shared-agent-rules/roles/mine.md", role("deny:\n  repo.create: enforced\n"));
    p.render();
    p.clean();
    assert!(!p.text(".github/agents/mine.agent.md").contains("edit\""));
    p.write("shared-agent-rules/roles/mine.md", role(""));
    drifts(&p, ".github/agents/mine.agent.md", "stale", &["-tools: [\"view\"]", "+tools: [\"view\", \"edit\"]"]);
}

#[test]
fn a_removed_waiver_stops_the_compilation_and_keeps_the_last_good_output() {
    let p = Project::of(&["codex"]);
    let role = |waive: &str| {
        format!("---\ndescription: d\ngrants:\n  repo.read: {{}}\ndeny:\n  shell.run: enforced\n{waive}---\nbody\n")
    };
    p.write(
        "shared-agent-rules/roles/mine.md",
        role("waive:\n  codex: { shell.run: \"it reads through its shell\" }\n"),
    );
    p.render();
    p.clean();
    p.write("shared-agent-rules/roles/mine.md", role(""));
    p.untouched(&["check"], 3).says(&["deny-not-held", "Codex"]);
    p.untouched(&["render", "--force"], 3);
}

#[test]
fn a_role_named_as_a_hand_written_agent_is_refused_and_named() {
    let p = Project::of(&["claude-code"]);
    p.write(".claude/agents/explorer.md", "---\nname: explorer\n---\nmine\n");
    drifts(
        &p,
        ".claude/agents/explorer.md",
        "unowned",
        &["exists already and was not written by rolecast", "-mine", "--force"],
    );
    p.untouched(&["render"], 1).says(&["--force", "nothing was written"]);
    p.run(&["render", "--force"]).exits(0);
    p.clean();
}

#[test]
fn a_lock_that_lies_about_a_file_does_not_make_it_pass() {
    let p = project(&["claude-code"]);
    p.append(".claude/agents/mine.md", "allow all\n");
    // Somebody who edits the output could also write its digest into the lock.
    let lock: String =
        p.text(LOCK).lines().filter(|l| !l.contains("agents/mine.md")).fold(String::new(), |s, l| s + l + "\n");
    p.write(LOCK, lock);
    drifts(&p, ".claude/agents/mine.md", "unowned", &["allow all"]);
}

#[test]
fn the_first_check_of_a_policy_never_rendered_fails() {
    let p = Project::of(&HOSTS);
    drifts(&p, "AGENTS.md", "missing", &["AGENTS.md: missing"]);
}

#[test]
fn check_works_from_a_folder_below_and_with_the_policy_named() {
    let p = project(&["codex"]);
    std::fs::create_dir_all(p.at("src/deep")).unwrap();
    let mut command = p.command(&["check"]);
    command.current_dir(p.at("src/deep"));
    crate::support::ended(command, &["check"]).exits(0);
    p.run(&["check", "--root", ".", "--policy", "shared-agent-rules"]).exits(0);
    p.remove("AGENTS.md");
    p.run(&["check", "--root", ".", "--policy", "shared-agent-rules"]).exits(1);
}

#[test]
fn a_rule_reaches_each_role_once_and_no_role_is_told_how_to_delegate() {
    let p = Project::of(&HOSTS);
    p.write(
        "shared-agent-rules/quiet.md",
        "---\ntitle: Quiet\nactivation: always\naudience: [roles]\n---\nOnly conclusions.\n",
    );
    p.write("shared-agent-rules/lead.md", "---\ntitle: Lead\nactivation: always\naudience: [main]\n---\nYou lead.\n");
    p.write("shared-agent-rules/roles/mine.md", ROLE);
    p.render();
    for path in [
        ".claude/agents/mine.md",
        ".codex/agents/mine.toml",
        ".cursor/agents/mine.md",
        ".github/agents/mine.agent.md",
        ".gemini/agents/mine.md",
    ] {
        let text = p.text(path);
        assert_eq!(text.matches("Only conclusions.").count(), 1, "{path}:\n{text}");
        assert!(!text.contains("start a role with") && !text.contains("You lead."), "{path}:\n{text}");
    }
    let shared = p.text("AGENTS.md");
    assert!(shared.contains("You lead.") && !shared.contains("Only conclusions."), "{shared}");
}
