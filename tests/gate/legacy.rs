//! Tools that stay as a legacy: their successors are preferred, by the plan and by the text.

use crate::support::{POLICY, Project};

const SERVERS: &str = "servers:
  tickets:
    command: tickets-mcp
    tools:
      read_ticket: { confers: [ticket.read] }
      add_note: { confers: [ticket.write] }
      manage: { confers: [ticket.read, ticket.write], covers: [ticket.read, ticket.write], legacy: { superseded-by: [read_ticket, add_note] } }
";

fn project(grants: &str, servers: &str) -> Project {
    let project = Project::new();
    project.write(POLICY, format!("version: 1\nhosts: {{ claude-code: {{}}, opencode: {{}} }}\n{servers}"));
    let role = format!("---\ndescription: Works on tickets.\ngrants: {{ {grants} }}\n---\nWork on tickets.\n");
    project.write("shared-agent-rules/roles/clerk.md", role);
    project.render();
    project.clean();
    project
}

#[test]
fn a_role_has_the_successors_and_not_the_legacy() {
    for grants in ["ticket.read: {}", "ticket.read: {}, ticket.write: {}"] {
        let role = project(grants, SERVERS).text(".claude/agents/clerk.md");
        assert!(role.contains("mcp__tickets__read_ticket") && !role.contains("mcp__tickets__manage"), "{role}");
    }
}

#[test]
fn a_role_keeps_the_legacy_for_what_no_successor_does() {
    let servers = SERVERS
        .replace("superseded-by: [read_ticket, add_note]", "superseded-by: [read_ticket]")
        .replace("      add_note: { confers: [ticket.write] }\n", "");
    let role = project("ticket.read: {}, ticket.write: {}", &servers).text(".claude/agents/clerk.md");
    assert!(role.contains("mcp__tickets__manage"), "{role}");
}

#[test]
fn the_card_prefers_the_successors_by_the_names_of_its_host() {
    let with = project("ticket.read: {}", SERVERS);
    let all: String = ["CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".opencode/agents/clerk.md"]
        .iter()
        .filter(|path| with.has(path))
        .map(|path| with.text(path))
        .collect();
    let line = "Prefer `mcp__tickets__read_ticket`, `mcp__tickets__add_note` to `mcp__tickets__manage`";
    assert!(all.contains(line), "{all}");
    let without =
        project("ticket.read: {}", &SERVERS.replace(", legacy: { superseded-by: [read_ticket, add_note] }", ""));
    for path in ["CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"] {
        assert!(!without.has(path) || !without.text(path).contains("Prefer"));
    }
}

#[test]
fn a_grant_that_a_legacy_serves_although_a_successor_would_is_warned_of() {
    let servers = SERVERS.replace(
        "read_ticket: { confers: [ticket.read] }",
        "read_ticket: { confers: [ticket.read, db.write, shell.run], covers: [ticket.read] }",
    );
    let project = project("ticket.read: {}, ticket.write: {}", &servers);
    project.untouched(&["check"], 0).says(&["legacy-tool", "role `clerk` is given `tickets/manage`", "`read_ticket`"]);
}
