//! Line ends: a checkout that rewrites them is equal in content, unless one asks for bytes.

use crate::support::{HOSTS, JOURNAL, Node, Project};

fn to_crlf(project: &Project) {
    for (path, node) in project.tree() {
        if let Node::File(bytes) = node {
            let text = String::from_utf8(bytes).unwrap();
            project.write(&path, text.replace('\n', "\r\n"));
        }
    }
}

#[test]
fn a_checkout_with_other_line_ends_is_clean_and_stays_as_it_is() {
    let project = Project::of(&HOSTS);
    project.write(
        "shared-agent-rules/house.md",
        "---\ntitle: House\nactivation: always\naudience: [main, roles]\n---\na\n\nb\n",
    );
    project.write(
        "shared-agent-rules/web.md",
        "---\ntitle: Web\nactivation: { paths: [\"web/**\"] }\naudience: [main, roles]\n---\na\n\nb\n",
    );
    project.write("shared-agent-rules/roles/mine.md", "---\ndescription: d\ngrants:\n  repo.read: {}\n---\na\n\nb\n");
    project.render();
    to_crlf(&project);
    project.untouched(&["check"], 0);
    project.untouched(&["render"], 0);
}

#[test]
fn asked_for_bytes_the_line_ends_are_drift() {
    let project = Project::rendered();
    project.untouched(&["check", "--strict-eol"], 0);
    to_crlf(&project);
    project.untouched(&["check", "--strict-eol"], 1).says(&[
        ".claude/agents/explorer.md: line endings differ",
        ".codex/agents/explorer.toml: line endings differ",
        ".rolecast/rules/budgets.md: line endings differ",
    ]);
}

#[test]
fn a_change_in_such_a_checkout_keeps_its_line_ends() {
    let project = Project::of(&["claude-code", "codex"]);
    project.write(
        "shared-agent-rules/house.md",
        "---\ntitle: House\nactivation: always\naudience: [main, roles]\n---\none\n",
    );
    project.render();
    to_crlf(&project);
    project.write(
        "shared-agent-rules/house.md",
        "---\r\ntitle: House\r\nactivation: always\r\naudience: [main, roles]\r\n---\r\ntwo\r\n",
    );
    let run = project.untouched(&["check"], 1).says(&["-one", "+two"]);
    let changed =
        run.out.lines().filter(|l| l.starts_with('+') && !l.starts_with("+++") && !l.contains("sha256")).count();
    assert_eq!(changed, 1, "only the line that changed is shown: {run}");
    project.render();
    let text = project.text("AGENTS.md");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    project.clean();
    assert!(!project.has(JOURNAL));
}

#[test]
fn sources_with_other_line_ends_render_the_same_bytes() {
    let (lf, crlf) = (Project::of(&["codex"]), Project::of(&["codex"]));
    let rule = "---\ntitle: House\nactivation: { on-demand: now }\naudience: [main]\n---\na\n\n```\nb\n```\n";
    lf.write("shared-agent-rules/house.md", rule);
    crlf.write("shared-agent-rules/house.md", rule.replace('\n', "\r\n"));
    lf.render();
    crlf.render();
    assert_eq!(lf.text(".rolecast/rules/house.md"), crlf.text(".rolecast/rules/house.md"));
}
