//! Whose bytes: what a person wrote survives every render, and is all that is left when we go.

use crate::support::{LOCK, Project, assert_same};

/// Renders for `hosts` over the user's files, twice, then for `then`, which does not touch them.
///
/// Every line of the user survives in its order; blocks and entries taken away again, so does every byte.
#[track_caller]
fn survives(files: &[(&str, &str)], hosts: &[&str], then: &[&str]) -> Project {
    let project = Project::of(hosts);
    for (path, text) in files {
        project.write(path, text);
    }
    project.render();
    project.clean();
    for (path, text) in files {
        assert_ne!(project.text(path), *text, "{path} carries nothing of ours, the test proves nothing");
        assert_in_order(&project.text(path), text, path);
    }
    let once = project.tree();
    project.render().says(&["everything says what the policy says"]);
    assert_same(&project.tree(), &once, "a second render changed something");
    project.select(then);
    project.run(&["check"]).exits(1);
    project.render();
    project.clean();
    for (path, text) in files {
        assert_eq!(project.text(path), *text, "{path} is not what it was");
    }
    project.select(hosts);
    project.render();
    assert_same(&project.tree(), &once, "the way back leads elsewhere");
    project
}

/// Each line of `original` stands in `now`, line end included, in the same order. A comma after the last entry of
/// a JSON object is ours to add.
#[track_caller]
fn assert_in_order(now: &str, original: &str, path: &str) {
    let mut at = 0;
    for line in original.trim_start_matches('\u{feff}').split_inclusive('\n') {
        // What closes a list or object may move behind an entry of ours.
        let bare = line.trim_end_matches(['\r', '\n', ',', ']', '}', ' ']);
        let found = now[at..].find(bare).unwrap_or_else(|| panic!("{path}: `{bare}` is gone from\n{now}"));
        at += found + bare.len();
    }
    assert_eq!(now.starts_with('\u{feff}'), original.starts_with('\u{feff}'), "{path}: byte order mark");
    if original.contains("\r\n") {
        assert_eq!(now.matches('\n').count(), now.matches("\r\n").count(), "{path}: mixed line ends\n{now:?}");
    }
}

#[test]
fn instruction_files_of_every_shape() {
    for text in [
        "# Mine\n\nText.\n",
        "# Mine\n\nText without an end",
        "# Mine\r\n\r\nText.\r\n",
        "\u{feff}# Mine\n\nText.\n",
        "\u{feff}# Mine\r\n\r\nText",
        "\n\n\n",
        "# Mine\n\n\n\n",
        "trailing blanks   \n\ttabs\t\n",
        "<!-- a comment -->\n---\nnot: front matter\n---\n",
    ] {
        survives(&[("CLAUDE.md", text), ("AGENTS.md", text)], &["claude-code", "codex"], &["gemini-cli"]);
    }
    survives(&[("GEMINI.md", "mine"), ("AGENTS.md", "mine\n")], &["codex", "gemini-cli"], &["claude-code"]);
    survives(
        &[(".github/copilot-instructions.md", "mine\r\n"), ("AGENTS.md", "mine\r\n")],
        &["copilot", "codex"],
        &["claude-code"],
    );
}

#[test]
fn an_empty_file_of_the_user_is_not_kept_apart_from_none() {
    // Nothing of the user is lost with it; what matters is that it is no error.
    let project = Project::of(&["codex"]);
    project.write("AGENTS.md", "");
    project.render();
    project.clean();
}

#[test]
fn neighbours_in_every_folder_are_never_touched() {
    let neighbours = [
        ".claude/agents/mine.md",
        ".claude/rules/mine.md",
        ".claude/skills/mine/SKILL.md",
        ".claude/commands/mine.md",
        ".claude/settings.local.json",
        ".cursor/rules/mine.mdc",
        ".cursor/agents/mine.md",
        ".cursor/mcp.json",
        ".codex/agents/mine.toml",
        ".github/agents/mine.agent.md",
        ".github/instructions/mine.instructions.md",
        ".gemini/agents/mine.md",
        ".mcp.json",
        ".cursorignore",
    ];
    let project = Project::of(&crate::support::HOSTS);
    let text = "---\nname: mine\n---\r\nmine, \u{fc} and no end";
    for path in neighbours {
        project.write(path, text);
    }
    project.render();
    project.clean();
    project.select(&["codex"]);
    project.render();
    project.select(&["cursor"]);
    project.render();
    project.clean();
    for path in neighbours {
        assert_eq!(project.text(path), text, "{path}");
    }
}

#[test]
fn a_json_file_with_tabs_hooks_and_permissions() {
    let text = "{\n\t\"model\" : \"opus\",\n\n\t\"permissions\": { \"allow\": [ \"Bash(npm run test:*)\" ], \"deny\": [\"WebFetch\"] },\n\t\"hooks\": {\n\t\t\"PreToolUse\": [ { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./mine.sh\" } ] } ]\n\t},\n\t\"env\": {\"A\":\"1\",\n\t        \"B\":\"2\"}\n}\n";
    survives(&[(".claude/settings.json", text)], &["claude-code"], &["codex"]);
    survives(&[(".claude/settings.json", &text.replace('\n', "\r\n"))], &["claude-code"], &["codex"]);
    // Blanks inside an object that holds nothing else are the one thing that is not given back.
    for text in ["{}", "{}\n", "\u{feff}{}\n", "{\"a\":1}", "{\n    \"a\": 1\n}\n", ""] {
        let project = Project::of(&["claude-code"]);
        project.write(".claude/settings.json", text);
        project.render();
        project.clean();
        project.select(&["codex"]);
        project.render();
        if text.is_empty() {
            continue;
        }
        assert_eq!(project.text(".claude/settings.json"), text);
    }
}

#[test]
fn a_gemini_file_with_foreign_keys_beside_ours() {
    for text in [
        "{\n  \"theme\": \"dark\",\n  \"tools\": {\n    \"sandbox\": true\n  },\n  \"context\": {\n    \"fileName\": [\"MINE.md\"],\n    \"other\": 1\n  }\n}\n",
        "{\n  // mine\n  \"context\": { \"fileName\": [ \"MINE.md\", /* two */ \"TWO.md\" ] }\n}",
    ] {
        survives(&[(".gemini/settings.json", text)], &["gemini-cli", "codex"], &["claude-code"]);
    }
}

#[test]
fn a_toml_file_with_comments_and_foreign_tables() {
    let text = "# my config\nmodel = \"x\" # keep\napproval_policy   =   'never'\n\n[profiles.fast]\nmodel = \"y\"\n\n# servers\n[mcp_servers.mine]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"mine\",\n]\n\n[mcp_servers.mine.env]\nA = \"1\"\n";
    survives(&[(".codex/config.toml", text)], &["codex"], &["gemini-cli"]);
    survives(&[(".codex/config.toml", &text.replace('\n', "\r\n"))], &["codex"], &["gemini-cli"]);
    survives(&[(".codex/config.toml", "[a]\nb = 1")], &["codex"], &["gemini-cli"]);
    survives(&[(".codex/config.toml", "# only a comment\n")], &["codex"], &["gemini-cli"]);
}

#[test]
fn a_tighter_figure_of_the_user_stays_and_a_looser_one_is_drift() {
    for (path, host, key, tight, ours, loose) in [
        (".claude/settings.json", "claude-code", "bashOutputMaxChars", "4000", "12288", "60000"),
        (".gemini/settings.json", "gemini-cli", "tools.truncateToolOutputThreshold", "500", "11930", "40000"),
        (".codex/config.toml", "codex", "tool_output_token_limit", "1000", "6770", "20000"),
    ] {
        let file = |figure: &str| match key.split_once('.') {
            _ if path.ends_with("toml") => format!("{key} = {figure} # mine\n"),
            Some((table, key)) => format!("{{\"{table}\": {{\"{key}\": {figure}}}}}\n"),
            None => format!("{{\"{key}\": {figure}}}\n"),
        };
        let project = Project::of(&[host]);
        project.write(path, file(tight));
        project.render().says(&["note:", path, key, "tighter than the policy", "kept"]);
        project.clean().says(&["note:", key]);
        assert!(project.text(path).contains(tight) && !project.text(path).contains(ours));
        project.write(path, project.text(path).replace(tight, loose));
        project.untouched(&["check"], 1).says(&[path, key, "set wider than the policy allows", loose, ours]);
        project.render();
        project.clean();
        assert!(project.text(path).contains(ours) && !project.text(path).contains(loose));
    }
}

#[test]
fn a_tighter_figure_survives_the_loss_of_its_host() {
    let text = "{\"bashOutputMaxChars\": 4000}\n";
    let project = Project::of(&["claude-code"]);
    project.write(".claude/settings.json", text);
    project.render();
    project.select(&["codex"]);
    project.render();
    project.clean();
    assert_eq!(project.text(".claude/settings.json"), text);
}

#[test]
fn instructions_of_the_user_at_our_key_are_a_conflict() {
    let text = "# mine\ndeveloper_instructions = \"always sing\"\n";
    let project = Project::of(&["codex"]);
    project.write(".codex/config.toml", text);
    project.untouched(&["render"], 1).says(&[
        ".codex/config.toml",
        "developer_instructions",
        "-developer_instructions = \"always sing\"",
        "--force",
        "nothing was written",
    ]);
    assert!(!project.has(LOCK) && !project.has("AGENTS.md"));
    project.run(&["render", "--force"]).exits(0);
    project.clean();
    let now = project.text(".codex/config.toml");
    assert!(now.starts_with("# mine\n") && !now.contains("always sing"), "{now}");
}

#[test]
fn a_value_of_another_type_at_our_key_is_a_conflict() {
    for (path, host, text) in [
        (".claude/settings.json", "claude-code", "{\"bashOutputMaxChars\": \"lots\"}\n"),
        (".claude/settings.json", "claude-code", "[]\n"),
        (".gemini/settings.json", "gemini-cli", "{\"tools\": 1}\n"),
        (".codex/config.toml", "codex", "[tool_output_token_limit]\na = 1\n"),
    ] {
        let project = Project::of(&[host]);
        project.write(path, text);
        project.untouched(&["render"], 1).says(&[path, "nothing was written"]);
        project.untouched(&["check"], 1).says(&[path]);
    }
}

#[test]
fn a_whole_file_that_is_not_ours_is_refused_with_its_diff() {
    for (path, host) in [
        (".claude/agents/reviewer.md", "claude-code"),
        (".codex/agents/reviewer.toml", "codex"),
        (".cursor/agents/reviewer.md", "cursor"),
        (".github/agents/reviewer.agent.md", "copilot"),
        (".gemini/agents/reviewer.md", "gemini-cli"),
        (".rolecast/rules/budgets.md", "codex"),
        (".cursor/rules/rolecast-host.mdc", "cursor"),
    ] {
        let project = Project::of(&[host]);
        project.write(path, "my own reviewer\n");
        project.untouched(&["render"], 1).says(&[path, "-my own reviewer", "--force", "nothing was written"]);
        project.run(&["render", "--force"]).exits(0);
        project.clean();
        assert!(!project.text(path).contains("my own reviewer"));
    }
}

#[test]
fn without_policy_a_conflict_writes_no_policy_either() {
    let project = Project::new();
    project.write(".codex/agents/reviewer.toml", "mine = 1\n");
    project.untouched(&["render", "--host", "codex"], 1).says(&["--force", "nothing was written"]);
    project.run(&["render", "--host", "codex", "--force"]).exits(0);
    project.clean();
}

#[test]
fn permissions_of_a_users_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::of(&["codex"]);
    project.write("AGENTS.md", "mine\n");
    std::fs::set_permissions(project.at("AGENTS.md"), std::fs::Permissions::from_mode(0o640)).unwrap();
    project.render();
    let mode = std::fs::metadata(project.at("AGENTS.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
