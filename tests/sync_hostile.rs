//! Nothing leaves the root: hostile names, links, devices and locks.
#![cfg(unix)]

mod sync_support;

use rolecast::render::artifact::Artifact;
use rolecast::sync::{ApplyError, LockState, Problem, render};
use rolecast::system::os::Os;
use rolecast::system::{Kind, System, Writer};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use sync_support::*;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("root/sub")).unwrap();
        fs::create_dir_all(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/secret"), "secret").unwrap();
        Self { dir }
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("root")
    }

    fn os(&self) -> Os {
        Os::new(self.root()).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.root().join(path)).unwrap();
    }

    /// Renders and expects a problem naming `path`, and nothing written anywhere.
    fn refuses(&self, plan: &[Artifact], path: &str) -> Problem {
        let mut plan = plan.to_vec();
        plan.push(whole("innocent.md", "x\n"));
        let comparison = refused(&plan, &self.os());
        let forced = render(&plan, &self.os(), &forced()).1;
        assert!(forced.is_err());
        assert!(!self.root().join("innocent.md").exists());
        assert_eq!(fs::read_to_string(self.dir.path().join("outside/secret")).unwrap(), "secret");
        assert_eq!(fs::read_dir(self.dir.path().join("outside")).unwrap().count(), 1);
        assert_eq!(comparison.problems[0].path, path, "{:?}", comparison.problems);
        comparison.problems[0].clone()
    }
}

#[test]
fn names_that_leave_the_root_are_refused() {
    for path in [
        "../outside/secret",
        "/etc/passwd",
        "a/../../outside/x",
        "sub\\..\\..\\x",
        "C:/x",
        "nul",
        ".git/hooks/pre-commit",
    ] {
        Place::new().refuses(&[whole(path, "x")], path);
        let os = Place::new().os();
        assert!(
            os.kind(path).is_err()
                && os.read(path, 9).is_err()
                && os.resolve(path).is_err()
                && os.remove_file(path).is_err()
        );
        assert!(
            os.create(path, b"x", None).is_err() && os.create_dir(path).is_err() && os.rename("sub", path).is_err()
        );
    }
}

#[test]
fn links_that_lead_out_are_refused_for_reading_and_writing() {
    let targets: [(&str, &str, &str); 5] = [
        ("../outside", "dir", "dir/new.md"),
        ("../outside/secret", "file.md", "file.md"),
        ("../outside/nothing", "dangling.md", "dangling.md"),
        ("sub/../../outside/secret", "round.md", "round.md"),
        ("loop.md", "loop.md", "loop.md"),
    ];
    for (target, link, path) in targets {
        let place = Place::new();
        place.link(target, link);
        let os = place.os();
        assert!(os.resolve(path).is_err() && os.read(path, 99).is_err(), "{path}");
        place.refuses(&[whole(path, "x\n")], path);
        place.refuses(&[block(path, "x")], path);
    }
    let place = Place::new();
    place.link(place.dir.path().join("outside"), "absolute");
    place.refuses(&[whole("absolute/x.md", "x\n")], "absolute/x.md");
}

#[test]
fn a_link_inside_the_root_is_written_through_and_stays_a_link() {
    let place = Place::new();
    fs::write(place.root().join("AGENTS.md"), "# Mine\n").unwrap();
    place.link("AGENTS.md", "CLAUDE.md");
    place.link(place.root().join("sub"), "alias");
    let plan = [block("CLAUDE.md", "x"), whole("alias/a.md", "a\n")];
    write(&plan, &place.os());
    assert_clean(&plan, &place.os());
    assert_eq!(place.os().kind("CLAUDE.md").unwrap(), Some(Kind::Link));
    assert!(fs::read_to_string(place.root().join("AGENTS.md")).unwrap().starts_with("# Mine\n\n<!-- rolecast:begin"));
    assert!(place.root().join("sub/a.md").exists());
    place.refuses(&[block("CLAUDE.md", "x"), block("AGENTS.md", "x")], "CLAUDE.md");
}

#[test]
fn a_dangling_link_inside_the_root_and_one_into_the_policy_are_refused() {
    let place = Place::new();
    place.link("nowhere.md", "a.md");
    assert!(place.refuses(&[whole("a.md", "x\n")], "a.md").message.contains("nothing is"));
    let place = Place::new();
    fs::create_dir(place.root().join(POLICY)).unwrap();
    fs::write(place.root().join(POLICY).join("core.md"), "core").unwrap();
    place.link("shared-agent-rules/core.md", "AGENTS.md");
    place.refuses(&[block("AGENTS.md", "x")], "AGENTS.md");
}

#[test]
fn devices_pipes_and_directories_in_the_way_are_named_and_never_read() {
    let place = Place::new();
    place.link("/dev/null", "null.md");
    place.refuses(&[whole("null.md", "x\n")], "null.md");
    assert!(Command::new("mkfifo").arg(place.root().join("pipe.md")).status().unwrap().success());
    assert!(place.refuses(&[whole("pipe.md", "x\n")], "pipe.md").message.contains("pipe"));
    assert!(place.os().read("pipe.md", 9).is_err());
    fs::create_dir(place.root().join("dir.md")).unwrap();
    assert!(place.refuses(&[whole("dir.md", "x\n")], "dir.md").message.contains("directory"));
    fs::write(place.root().join("file"), "x").unwrap();
    place.refuses(&[whole("file/below.md", "x\n")], "file/below.md");
}

#[test]
fn a_file_over_the_limit_is_not_read_whole() {
    let place = Place::new();
    let file = fs::File::create(place.root().join("big.json")).unwrap();
    file.set_len(60 << 20).unwrap();
    assert!(place.os().read("big.json", 100).is_err());
    place.refuses(&[entries("big.json", vec![value("a", json!(1))])], "big.json");
}

#[test]
fn twins_by_case_are_refused() {
    let place = Place::new();
    place.refuses(&[whole("docs/A.md", "x\n"), whole("Docs/a.md", "y\n")], "docs/A.md");
    let place = Place::new();
    write(&[whole("Foo.md", "x\n")], &place.os());
    place.refuses(&[whole("foo.md", "x\n")], "Foo.md");
}

#[test]
fn a_hostile_lock_or_journal_deletes_nothing_outside() {
    let place = Place::new();
    let digest = rolecast::text::digest::content_digest(b"secret");
    fs::create_dir(place.root().join(POLICY)).unwrap();
    let lock = place.root().join(POLICY).join("rolecast.lock");
    for path in ["../outside/secret", "/etc/hostname", "a/../../outside/secret"] {
        fs::write(&lock, json!({"version": 1, "owned": [{"path": path, "whole": digest}]}).to_string()).unwrap();
        assert!(LockState::load(&place.os(), &options()).is_err());
        assert!(render(&[], &place.os(), &forced()).1.is_err());
    }
    // By a link: not what we wrote, so it stays.
    place.link("../outside", "out");
    fs::write(&lock, json!({"version": 1, "owned": [{"path": "out/secret", "whole": digest}]}).to_string()).unwrap();
    assert_eq!(causes(&check(&[], &place.os()))[0], "out/secret: orphan-edited");
    render(&[], &place.os(), &forced()).1.unwrap();
    let journal = json!({"version": 1, "locks": [json!({"version": 1, "owned": [{"path": "../outside/secret", "whole": digest}]}).to_string()],
        "files": [{"path": "../outside/secret", "old": null, "new": digest, "temp": "../outside/secret"}, {"path": "a", "old": null, "new": null, "temp": "sub/mine"}]});
    fs::write(place.root().join("sub/mine"), "mine").unwrap();
    fs::write(place.root().join(POLICY).join("rolecast.journal"), journal.to_string()).unwrap();
    write(&[], &place.os());
    assert!(place.root().join("sub/mine").exists());
    assert!(place.dir.path().join("outside/secret").exists());
    fs::remove_file(&lock).unwrap();
    place.link("../../outside/secret", "shared-agent-rules/rolecast.lock");
    assert!(render(&[whole("a.md", "x")], &place.os(), &options()).1.is_err());
    assert_eq!(fs::read_to_string(place.dir.path().join("outside/secret")).unwrap(), "secret");
}

#[test]
fn the_mode_of_a_file_is_kept() {
    let place = Place::new();
    let file = place.root().join("AGENTS.md");
    fs::write(&file, "# Mine\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    write(&[block("AGENTS.md", "x")], &place.os());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_read_only_file_is_not_replaced_and_nothing_else_is_written() {
    let place = Place::new();
    let file = place.root().join("AGENTS.md");
    fs::write(&file, "# Mine\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let (_, result) = render(&[whole("A.md", "x\n"), block("AGENTS.md", "x")], &place.os(), &options());
    assert!(matches!(result, Err(ApplyError::Unwritable { path, .. }) if path == "AGENTS.md"));
    let names: Vec<String> = place.os().list("").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["AGENTS.md", "sub"]);
}

#[test]
fn a_link_that_a_checkout_made_a_text_file_is_still_a_link() {
    let place = Place::new();
    let git = |args: &[&str]| {
        assert!(Command::new("git").arg("-C").arg(place.root()).args(args).output().unwrap().status.success())
    };
    fs::write(place.root().join("AGENTS.md"), "# Mine\n").unwrap();
    place.link("AGENTS.md", "CLAUDE.md");
    place.link("../outside/secret", "OUT.md");
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    for (path, text) in [("CLAUDE.md", "AGENTS.md"), ("OUT.md", "../outside/secret")] {
        fs::remove_file(place.root().join(path)).unwrap();
        fs::write(place.root().join(path), text).unwrap();
    }
    assert!(place.os().recorded_as_link("CLAUDE.md") && !place.os().recorded_as_link("AGENTS.md"));
    place.refuses(&[block("OUT.md", "x")], "OUT.md");
    write(&[block("CLAUDE.md", "x")], &place.os());
    assert_eq!(fs::read_to_string(place.root().join("CLAUDE.md")).unwrap(), "AGENTS.md");
    assert!(fs::read_to_string(place.root().join("AGENTS.md")).unwrap().contains("rolecast:begin"));
    assert_clean(&[block("CLAUDE.md", "x")], &place.os());
    place.refuses(&[block("CLAUDE.md", "x"), block("AGENTS.md", "x")], "CLAUDE.md");
}
