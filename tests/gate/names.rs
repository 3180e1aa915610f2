//! Names that hosts make of the policy's: two that become one stop the compilation.

use crate::support::{POLICY, Project};

fn policy(host: &str, servers: &[(&str, &str)], more: &str) -> String {
    let mut text = format!("version: 1\nhosts: {{ {host}: {{}} }}\nservers:\n");
    for (server, tool) in servers {
        text += &format!("  {server}:\n    command: x\n{more}    tools: {{ {tool}: {{ confers: [docs.search] }} }}\n");
    }
    text
}

#[test]
fn pairs_that_a_host_joins_alike_are_named_both() {
    for (host, first, second, name) in [
        ("opencode", ("a", "b_c"), ("a_b", "c"), "a_b_c"),
        ("copilot", ("a", "b-c"), ("a-b", "c"), "a-b-c"),
        ("copilot", ("a", "x.y"), ("a2", "z"), ""),
        ("claude-code", ("a", "b__c"), ("a__b", "c"), "mcp__a__b__c"),
        ("codex", ("a-b", "c"), ("a_b", "c"), "mcp__a_b__c"),
        ("copilot", ("write", "bash"), ("z", "y"), "write-bash"),
    ] {
        let project = Project::new();
        project.write(POLICY, policy(host, &[first, second], ""));
        if name.is_empty() || name == "write-bash" {
            project.untouched(&["check"], 1).silent_on(&["name-collision"]);
        } else {
            let (one, two) = (format!("`{}/{}`", first.0, first.1), format!("`{}/{}`", second.0, second.1));
            project.untouched(&["check"], 3).says(&["name-collision", &one, &two, name]);
        }
    }
}

#[test]
fn a_tool_that_would_have_the_name_of_the_hosts_own_is_an_error() {
    let project = Project::new();
    // opencode joins with the character that this tool of its own has.
    project.write(POLICY, policy("opencode", &[("apply", "patch")], ""));
    project.untouched(&["check"], 3).says(&["name-collision", "which is a tool of its own"]);
}

#[test]
fn names_that_the_gateway_would_make_one_are_an_error() {
    let project = Project::new();
    project.write(POLICY, policy("claude-code", &[("a", "x"), ("b", "x"), ("c", "a_x")], "    via: gateway\n"));
    project.untouched(&["check"], 3).says(&["name-collision", "`a/x`", "`c/a_x`", "in the gateway"]);
}
