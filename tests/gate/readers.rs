//! Files that a host reads more narrowly than an editor does: nothing is put into one that the host could not read.

use crate::support::{POLICY, Project};

const SERVERS: &str = "servers:\n  docs:\n    command: docs-mcp\n    tools: { find: { confers: [docs.search] } }\n";
const COMMENT: &str = "{\n  // mine\n  \"mine\": 1\n}\n";
const COMMA: &str = "{\n  \"mine\": [1, 2,],\n}\n";
const MARK: &str = "\u{feff}{\n  \"mine\": 1\n}\n";
const PLAIN: &str = "{\n  \"mine\": 1\n}\n";

fn with(host: &str, file: &str, text: &str) -> Project {
    let project = Project::new();
    project.write(POLICY, format!("version: 1\nextends: [builtin]\nhosts: {{ {host}: {{}} }}\n{SERVERS}"));
    project.write(file, text);
    project
}

/// Host, file, and which of comment, comma and mark its reader refuses.
const READERS: [(&str, &str, [bool; 3]); 8] = [
    ("tsuka", ".tsuka/config.json", [true, true, true]),
    ("codex", ".codex/hooks.json", [true, true, true]),
    ("copilot", ".github/mcp.json", [true, true, true]),
    ("claude-code", ".claude/settings.json", [true, true, false]),
    ("claude-code", ".mcp.json", [true, true, false]),
    ("gemini-cli", ".gemini/settings.json", [false, true, true]),
    ("qwen-code", ".qwen/settings.json", [false, true, false]),
    ("opencode", "opencode.json", [false, false, false]),
];

#[test]
fn what_a_host_cannot_read_stops_the_render_and_fails_the_check() {
    for (host, file, refuses) in READERS {
        for (text, refused) in [COMMENT, COMMA, MARK].into_iter().zip(refuses) {
            let project = with(host, file, text);
            if refused {
                project.untouched(&["check"], 1).says(&[file, "cannot be read: line "]);
                project.untouched(&["render"], 1).says(&[
                    "nothing was written",
                    "output-conflict",
                    "take out what is underlined",
                ]);
                project.untouched(&["render", "--force"], 1);
            } else {
                project.render();
                project.clean();
                assert!(project.text(file).contains("mine"), "{host} {file}");
            }
        }
        let project = with(host, file, PLAIN);
        project.render();
        project.clean();
        serde_json::from_str::<serde_json::Value>(&project.text(file)).unwrap();
    }
}

#[test]
fn every_place_is_underlined_with_what_the_host_would_do() {
    let project = with("tsuka", ".tsuka/config.json", "{\n  // mine\n  \"mine\": [1, 2,],\n}\n");
    let run = project.untouched(&["render"], 1);
    let told = run.err.clone();
    for line in
        [".tsuka/config.json:2:3", "^^^^^^^ a comment", "a comma with nothing after it", "puts a file of defaults"]
    {
        assert!(told.contains(line), "`{line}` is missing in {told}");
    }
    assert_eq!(told.matches("a comma with nothing after it").count(), 2, "{told}");
    let json = project.untouched(&["check", "--format", "json"], 1).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        json["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "output-conflict" && d["line"] == 2),
        "{json:#}"
    );
}

#[test]
fn a_file_of_two_hosts_is_as_narrow_as_the_narrower_reads_it() {
    let project = Project::new();
    project.write(POLICY, format!("version: 1\nhosts: {{ claude-code: {{}}, copilot: {{}} }}\n{SERVERS}"));
    project.write(".mcp.json", MARK);
    project.untouched(&["render"], 1).says(&["a byte order mark", "GitHub Copilot CLI starts none of its servers"]);
}

#[test]
fn a_comment_that_comes_later_is_found_by_the_check() {
    let project = with("tsuka", ".tsuka/config.json", PLAIN);
    project.render();
    project.edit(".tsuka/config.json", "\"mine\": 1", "\"mine\": 1 /* why */");
    project.untouched(&["check"], 1).says(&["/* why */", "a comment"]);
}

#[test]
fn a_role_of_the_user_that_its_host_cannot_read_is_warned_of() {
    let project = Project::of(&["tsuka"]);
    project.render();
    project.write(".tsuka/roles/reader.json", "{\n  \"name\": \"reader\",\n  \"allowedTools\": [\"read_file\"],\n}\n");
    project.untouched(&["check"], 0).says(&[
        "role-unread",
        ".tsuka/roles/reader.json:3",
        "lets a role that reads and writes files",
    ]);
    project.write(".tsuka/roles/reader.json", "{ \"name\": \"reader\", \"allowedTools\": [\"read_file\"] }\n");
    project.untouched(&["check"], 0).silent_on(&["role-unread"]);
}
