//! Exit code 4: something on disk that no render can settle. The path is named, and nothing is written.
//!
//! The permission bits of files mean nothing to root, as which these tests may run; what root cannot write
//! either is a path below a file, a directory in the way, or a folder of `/proc`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{HOSTS, Project, assert_same, tree};

/// `check` and `render --force` exit 4, name `path`, and change nothing below the root.
#[track_caller]
fn blocked(project: &Project, path: &str, words: &[&str]) {
    for args in [&["check"][..], &["render", "--force"]] {
        project.untouched(args, 4).says(&[path]).says(words);
    }
}

#[test]
fn a_file_that_is_a_link_out_of_the_root() {
    let outside = Project::new();
    outside.write("target.md", "outside\n");
    for path in ["AGENTS.md", ".codex/config.toml", ".codex/agents/explorer.toml"] {
        for target in [outside.at("target.md"), outside.at("not-there.md")] {
            let project = Project::of(&["codex"]);
            fs::create_dir_all(project.at(path).parent().unwrap()).unwrap();
            symlink(target, project.at(path)).unwrap();
            blocked(&project, path, &["leads out of the root"]);
        }
    }
    assert_eq!(outside.text("target.md"), "outside\n");
    assert!(!outside.has("not-there.md"));
}

#[test]
fn every_verb_and_format_is_blocked_alike() {
    let project = Project::rendered();
    project.remove("AGENTS.md");
    fs::create_dir(project.at("AGENTS.md")).unwrap();
    for args in [&["check"][..], &["render"], &["render", "--dry-run"], &["render", "--host", "codex"]] {
        project.untouched(args, 4).says(&["AGENTS.md"]);
        for format in ["json", "github", "sarif"] {
            let run = project.untouched(&[args, &["--format", format][..]].concat(), 4);
            assert!(run.out.contains("AGENTS.md") && run.out.contains("a directory stands"), "{run}");
        }
    }
}

#[test]
fn a_rendered_file_replaced_by_a_link_out_never_passes() {
    let outside = Project::new();
    let project = Project::rendered();
    // The same bytes, but not in the repository.
    outside.write("agents.md", project.text("AGENTS.md"));
    project.remove("AGENTS.md");
    symlink(outside.at("agents.md"), project.at("AGENTS.md")).unwrap();
    blocked(&project, "AGENTS.md", &["leads out of the root"]);
}

#[test]
fn a_folder_that_is_a_link_out_of_the_root() {
    let outside = Project::new();
    let before = outside.tree();
    for dir in [".codex", ".codex/agents", ".rolecast"] {
        for target in [outside.path().to_owned(), "../".into(), "..".into(), "/".into()] {
            let project = Project::of(&["codex"]);
            fs::create_dir_all(project.at(dir).parent().unwrap()).unwrap();
            symlink(target, project.at(dir)).unwrap();
            // `..` from `.codex/agents` is `.codex`, which is inside and harmless.
            if dir == ".codex/agents" && fs::read_link(project.at(dir)).unwrap().is_relative() {
                continue;
            }
            blocked(&project, dir, &["leads out of the root"]);
        }
    }
    assert_same(&outside.tree(), &before, "written outside of the root");
}

#[test]
fn a_loop_of_links() {
    let project = Project::of(&["codex"]);
    symlink("AGENTS.md", project.at("AGENTS.md")).unwrap();
    blocked(&project, "AGENTS.md", &["loop of links"]);
}

#[test]
fn a_directory_where_a_file_must_be() {
    for path in ["AGENTS.md", ".claude/settings.json", ".claude/agents/explorer.md", ".github/copilot-instructions.md"]
    {
        let project = Project::of(&HOSTS);
        fs::create_dir_all(project.at(path)).unwrap();
        blocked(&project, path, &["a directory stands where a file must be"]);
    }
}

#[test]
fn a_file_where_a_folder_must_be() {
    for (file, output) in [(".codex", ".codex/agents"), (".codex/agents", ".codex/agents"), (".rolecast", ".rolecast")]
    {
        let project = Project::of(&["codex"]);
        project.write(file, "mine\n");
        blocked(&project, output, &["is not a directory"]);
    }
}

#[test]
fn a_pipe_or_socket_is_not_opened() {
    let project = Project::of(&["codex"]);
    let _socket = UnixListener::bind(project.at("AGENTS.md")).unwrap();
    blocked(&project, "AGENTS.md", &["a device, pipe or socket stands where a file must be"]);
    let project = Project::of(&["codex"]);
    let made = Command::new("mkfifo").arg(project.at("AGENTS.md")).status().unwrap();
    assert!(made.success());
    blocked(&project, "AGENTS.md", &["a device, pipe or socket"]);
}

#[test]
fn the_lock_and_the_policy_folder_obey_the_same_rules() {
    let outside = Project::new();
    outside.write("lock", "mine\n");
    let project = Project::of(&["codex"]);
    symlink(outside.at("lock"), project.at("shared-agent-rules/rolecast.lock")).unwrap();
    for args in [&["check"][..], &["render"], &["render", "--force"]] {
        project.untouched(args, 4).says(&["rolecast.lock"]);
    }
    assert_eq!(outside.text("lock"), "mine\n");

    let project = Project::of(&["codex"]);
    fs::create_dir(project.at("shared-agent-rules/rolecast.lock")).unwrap();
    for args in [&["check"][..], &["render"]] {
        project.untouched(args, 4).says(&["rolecast.lock"]);
    }

    let project = Project::new();
    symlink(outside.path(), project.at("shared-agent-rules")).unwrap();
    for args in [&["init", "--host", "codex"][..], &["render", "--host", "codex"], &["check"]] {
        let run = project.untouched(args, project.run(args).code);
        assert!(run.code != 0, "{run}");
    }
    assert!(!outside.has("policy.yaml"));
}

#[test]
fn a_lock_with_hostile_paths_or_of_a_newer_program_stops_everything() {
    for text in [
        "{\"version\":2,\"owned\":[]}",
        "{\"version\":1,\"owned\":[{\"path\":\"../x\",\"whole\":\"sha256:1\"}]}",
        "{\"version\":1,\"owned\":[{\"path\":\"/etc/passwd\",\"whole\":\"sha256:1\"}]}",
    ] {
        let project = Project::of(&["codex"]);
        project.write("shared-agent-rules/rolecast.lock", text);
        for args in [&["check"][..], &["render"], &["render", "--force"]] {
            project.untouched(args, 4).says(&["rolecast.lock"]);
        }
    }
}

#[test]
fn a_path_that_cannot_be_written_is_named_and_everything_is_taken_back() {
    let project = Project::of(&["claude-code", "codex"]);
    fs::create_dir_all(project.at(".codex/agents")).unwrap();
    let before = project.tree();
    let dir = project.at(".codex/agents");
    let Some(held) = Unwritable::new(&dir) else {
        // Neither permission bits nor attributes hold this user back on this machine.
        return;
    };
    let run = project.run(&["render"]).exits(4).says(&[".codex/agents/"]);
    assert!(!run.err.contains("internal"), "{run}");
    assert_same(&project.tree(), &before, "something stayed behind");
    drop(held);
    project.render();
    project.clean();
}

/// A folder in which no file can be made, also by root, until it is dropped.
struct Unwritable(PathBuf);

impl Unwritable {
    fn new(dir: &Path) -> Option<Self> {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o555)).unwrap();
        let held = Self(dir.to_owned());
        held.attribute("+i");
        let probe = dir.join("probe");
        if fs::write(&probe, "x").is_ok() {
            fs::remove_file(probe).unwrap();
            return None;
        }
        Some(held)
    }

    fn attribute(&self, flag: &str) {
        // Not every machine has the program, and not every file system the attribute.
        let _ = Command::new("chattr").arg(flag).arg(&self.0).stderr(Stdio::null()).status();
    }
}

impl Drop for Unwritable {
    fn drop(&mut self) {
        self.attribute("-i");
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_policy_folder_in_a_place_without_writing_is_named() {
    // `/proc/self` exists, and nobody can create a file in it.
    let project = Project::new();
    let run = project.run(&["init", "--host", "codex", "--root", "/proc/self"]).exits(4);
    assert!(run.err.contains("shared-agent-rules"), "{run}");
}

#[test]
fn a_link_inside_the_root_is_followed_and_kept() {
    let project = Project::of(&["claude-code", "codex"]);
    project.write("CLAUDE.md", "mine\n");
    symlink("CLAUDE.md", project.at("AGENTS.md")).unwrap();
    project.render();
    project.clean();
    assert!(fs::symlink_metadata(project.at("AGENTS.md")).unwrap().is_symlink());
    let text = project.text("CLAUDE.md");
    assert!(text.starts_with("mine\n") && text.matches("## Read on demand").count() == 1, "{text}");
}

#[test]
fn a_link_to_a_file_that_no_host_reads_is_never_written_through_unasked() {
    let project = Project::of(&["codex"]);
    project.write("docs/agents.md", "mine\n");
    symlink("docs/agents.md", project.at("AGENTS.md")).unwrap();
    project.untouched(&["render"], 3).says(&["Codex"]);
}

#[test]
fn two_outputs_that_are_one_file_are_refused() {
    let project = Project::of(&["claude-code", "cursor"]);
    project.write(".claude/x", "");
    symlink("agents", project.at(".claude/other")).unwrap();
    // Cursor's roles would go through a link into the folder of Claude Code's.
    fs::create_dir_all(project.at(".claude/agents")).unwrap();
    fs::create_dir_all(project.at(".cursor")).unwrap();
    symlink("../.claude/agents", project.at(".cursor/agents")).unwrap();
    blocked(&project, ".cursor/agents/", &["is the same file as"]);
}

#[test]
fn hostile_names_in_a_policy_are_refused() {
    for name in ["CON.md", "a:b.md", "x .md", "\u{202e}x.md", "-x.md"] {
        let project = Project::of(&["codex"]);
        let before = tree(project.path());
        project.write(
            &format!("shared-agent-rules/roles/{name}"),
            "---\ndescription: d\ngrants:\n  repo.read: {}\n---\nb\n",
        );
        let run = project.run(&["render"]).exits(3);
        assert!(run.err.contains("role-name") || run.err.contains("source-unreadable"), "{name}: {run}");
        project.remove(&format!("shared-agent-rules/roles/{name}"));
        fs::remove_dir(project.at("shared-agent-rules/roles")).unwrap();
        assert_same(&project.tree(), &before, name);
    }
}

/// A repository in which git records `AGENTS.md` as a link to `target`, checked out where links cannot be made.
fn link_as_text(target: &str) -> Project {
    let project = Project::of(&["codex"]);
    project.write("docs/agents.md", "mine\n");
    symlink(target, project.at("AGENTS.md")).unwrap();
    project.commit();
    project.remove("AGENTS.md");
    project.write("AGENTS.md", target);
    project
}

#[test]
fn a_link_that_a_checkout_made_a_text_is_still_a_link() {
    for target in ["../out.md", "/etc/motd", "docs/../../out.md"] {
        let project = link_as_text(target);
        blocked(&project, "AGENTS.md", &["link out of the root"]);
        assert_eq!(project.text("AGENTS.md"), target);
    }
    let project = link_as_text("docs/agents.md");
    project.render();
    project.clean();
    assert_eq!(project.text("AGENTS.md"), "docs/agents.md");
    assert!(
        project.text("docs/agents.md").starts_with("mine\n")
            && project.text("docs/agents.md").contains("rolecast:begin")
    );
}
