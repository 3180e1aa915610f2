//! MCP servers through `render` and `check`: files of two hosts, files that hide others, secrets in what is printed.

use crate::support::{POLICY, Project};

const SERVERS: &str = "servers:\n  docs:\n    command: docs-mcp\n    via: direct\n    env: { DOCS_KEY: { env: DOCS_KEY } }\n    tools: { find: { confers: [docs.search] } }\n";

fn policy(hosts: &str, rest: &str) -> String {
    format!("version: 1\nhosts: {{ {hosts} }}\n{rest}")
}

#[test]
fn one_file_of_two_hosts_follows_the_set_of_hosts() {
    let project = Project::new();
    project.write(POLICY, policy("claude-code: {}, copilot: {}", SERVERS));
    project.render();
    project.clean();
    assert!(project.text(".mcp.json").contains("\"tools\"") && !project.has(".github/mcp.json"));

    project.write(POLICY, policy("claude-code: {}", SERVERS));
    project.untouched(&["check"], 1).says(&[".mcp.json"]);
    project.render();
    project.clean();
    assert!(!project.text(".mcp.json").contains("\"tools\""));

    project.write(POLICY, policy("copilot: {}, codex: {}", SERVERS));
    project.render();
    project.clean();
    // The file exists, so that Copilot reads no other.
    assert!(project.text(".mcp.json").contains("\"tools\"") && !project.has(".github/mcp.json"));

    project.write(POLICY, policy("codex: {}", SERVERS));
    project.render();
    project.clean();
    assert!(!project.has(".mcp.json") && project.has(".codex/config.toml"));

    project.write(POLICY, policy("copilot: {}", SERVERS));
    project.render();
    project.clean();
    assert!(project.has(".github/mcp.json") && !project.has(".mcp.json"));
}

#[test]
fn rules_of_an_ordered_map_are_not_mixed_with_ours_and_it_is_said_where_they_belong() {
    let project = Project::new();
    let mine = "{ \"permission\": { \"bash\": { \"git push*\": \"ask\" } } }\n";
    project.write("opencode.json", mine);
    project.write(POLICY, policy("opencode: {}", SERVERS));
    project.untouched(&["render"], 1).says(&[
        "`permission` has rules that are not ours",
        "a later rule decides over",
        "or into the settings of your own account",
        "rolecast render --force",
    ]);
    project.write("opencode.json", "{ \"theme\": \"mine\" }\n");
    project.render();
    project.clean();
    assert!(project.text("opencode.json").contains("\"theme\": \"mine\""));
}

#[test]
fn a_file_that_the_user_adds_later_takes_the_servers_along() {
    let project = Project::new();
    project.write(POLICY, policy("copilot: {}", SERVERS));
    project.render();
    let mine = "{ \"mcpServers\": { \"mine\": { \"command\": \"mine\" } } }\n";
    project.write(".mcp.json", mine);
    project.untouched(&["check"], 1).says(&[".mcp.json", ".github/mcp.json"]);
    project.render();
    project.clean();
    assert!(project.text(".mcp.json").contains("mine") && project.text(".mcp.json").contains("docs-mcp"));
    assert!(!project.has(".github/mcp.json"));
    project.write(POLICY, policy("copilot: {}", ""));
    project.render();
    assert_eq!(project.text(".mcp.json"), mine);
}

#[test]
fn a_server_that_is_off_stands_nowhere() {
    let project = Project::new();
    project.write(POLICY, policy("codex: {}, qwen-code: {}", SERVERS));
    project.render();
    assert!(project.text(".qwen/settings.json").contains("docs-mcp"));
    project.write(
        POLICY,
        policy("codex: {}, qwen-code: {}", &SERVERS.replace("command:", "enabled: false\n    command:")),
    );
    project.render();
    project.clean();
    // The hook stands there too: without a server it is alone.
    assert!(!project.has(".codex/config.toml") && !project.text(".qwen/settings.json").contains("docs-mcp"));
}

#[test]
fn a_secret_is_printed_by_no_format_and_written_nowhere() {
    let secrets = ["ghp_0123456789abcdefghijklmnop", "9fK2mQ7xLr4TzB8wYc3VnH5sPq", "hunter2hunter2"];
    let servers = format!(
        "servers:\n  a: {{ command: x, args: [\"--key={}\"], tools: {{ f: {{ confers: [docs.search] }} }} }}\n  b: {{ command: x, env: {{ X: {{ literal: {} }} }} }}\n",
        secrets[0], secrets[1]
    );
    let bare = format!("servers:\n  c: {{ command: x, env: {{ PASSWORD: {} }} }}\n", secrets[2]);
    for rest in [servers, bare] {
        let project = Project::new();
        project.write(POLICY, policy("cursor: {}", &rest));
        for format in ["human", "json", "github", "sarif"] {
            let run = project.untouched(&["check", "--format", format], 3).says(&["literal-secret"]);
            for secret in secrets {
                assert!(!run.out.contains(secret) && !run.err.contains(secret), "{format}: {secret}");
            }
        }
        project.untouched(&["render"], 3).silent_on(&secrets);
    }
}

#[test]
fn a_secret_of_the_user_is_covered_in_diffs() {
    let secret = "ghp_0123456789abcdefghijklmnop";
    let project = Project::new();
    project.write(POLICY, policy("cursor: {}", SERVERS));
    project.write(
        ".cursor/mcp.json",
        format!("{{\n  \"mcpServers\": {{\n    \"mine\": {{ \"env\": {{ \"T\": \"{secret}\" }} }}\n  }}\n}}\n"),
    );
    project.untouched(&["check"], 1).says(&["docs-mcp", "\"T\": \"***"]).silent_on(&[secret]);
    project.untouched(&["render", "--dry-run"], 0).silent_on(&[secret]);
    project.render();
    assert!(project.text(".cursor/mcp.json").contains(secret));
    assert!(!project.text("shared-agent-rules/rolecast.lock").contains(secret));
}

#[test]
fn what_tsuka_cannot_be_told_is_an_error_also_through_the_gateway() {
    let taken_out = "hands no program a variable whose name has";
    for (via, why) in
        [("", taken_out), ("    via: gateway\n", taken_out), ("    via: direct\n", "hands no variable on")]
    {
        let project = Project::new();
        let servers = format!(
            "servers:\n  docs:\n    command: docs-mcp\n{via}    env: {{ DOCS_TOKEN: {{ env: DOCS_TOKEN }} }}\n    tools: {{ find: {{ confers: [docs.search] }} }}\n"
        );
        project.write(POLICY, policy("tsuka: {}", &servers));
        project.untouched(&["render"], 3).says(&["server-not-expressible", "DOCS_TOKEN", why]);
    }
}

#[test]
fn the_ledger_of_tsuka_says_what_no_setting_there_can_hold() {
    let project = Project::new();
    project.write(
        POLICY,
        policy(
            "tsuka: {}",
            &format!(
                "extends: [builtin]\n{}",
                SERVERS
                    .replace(", env: { DOCS_KEY: { env: DOCS_KEY } }", "")
                    .replace("    env: { DOCS_KEY: { env: DOCS_KEY } }\n", "")
            ),
        ),
    );
    project.render();
    assert!(project.text(".tsuka/config.json").contains("\"memoryMaxChars\": 100"));
    let json = project.untouched(&["explain", "--format", "json"], 0).out;
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    let text = all.to_string();
    assert!(text.contains("cannot be held whole: up to ten remembered facts"), "{all:#}");
    assert!(text.contains("\"hidden\"") && text.contains("model-tier") && text.contains("answers it for all of them"));
}
