//! The index and `HEAD` of a real repository as a tree of files.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use rolecast::compile::compile;
use rolecast::diag::Sink;
use rolecast::system::git::{Tree, Which};
use rolecast::system::os::Os;
use rolecast::system::{Kind, System};
use tempfile::TempDir;

const MAX: u64 = 1 << 20;

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let identity = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    command.envs(identity.map(|name| (name, "somebody@example.org")));
    let done = command.output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn put(dir: &Path, path: &str, text: &str) {
    let full = dir.join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

fn repository() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    dir
}

fn committed(files: &[(&str, &str)]) -> TempDir {
    let dir = repository();
    for (path, text) in files {
        put(dir.path(), path, text);
    }
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "x"]);
    dir
}

fn text(tree: &Tree, path: &str) -> String {
    String::from_utf8(tree.read(path, MAX).unwrap()).unwrap()
}

fn names(tree: &Tree, path: &str) -> Vec<String> {
    tree.list(path).unwrap().into_iter().map(|(name, _)| name).collect()
}

/// Every path of a tree with its kind and text, links as links.
fn walk(system: &dyn System, dir: &str, out: &mut Vec<(String, Kind, Option<Vec<u8>>)>) {
    for (name, kind) in system.list(dir).unwrap() {
        let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
        if path == ".git" {
            continue;
        }
        let bytes = matches!(kind, Kind::File(_)).then(|| system.read(&path, MAX).unwrap());
        let below = kind == Kind::Dir;
        out.push((path.clone(), kind, bytes));
        if below {
            walk(system, &path, out);
        }
    }
}

#[test]
fn a_clean_work_tree_its_index_and_its_commit_are_one_tree() {
    let dir =
        committed(&[("a.md", "a"), ("x/y/z.md", ""), ("x/ü q.md", "text\n"), ("x.y", "\u{0}\n\n"), ("x-/f", "1")]);
    let seen = |system: &dyn System| {
        let mut all = Vec::new();
        walk(system, "", &mut all);
        all
    };
    let disk = seen(&Os::new(dir.path()).unwrap());
    assert_eq!(disk.len(), 8);
    for which in [Which::Index, Which::Head] {
        assert_eq!(seen(&Tree::open(dir.path(), which).unwrap()), disk, "{which:?}");
    }
}

#[test]
fn staged_committed_and_dirty_texts_are_kept_apart() {
    let dir = committed(&[("a.md", "committed"), ("gone.md", "x")]);
    put(dir.path(), "a.md", "staged");
    put(dir.path(), "new.md", "new");
    git(dir.path(), &["add", "a.md", "new.md"]);
    git(dir.path(), &["rm", "-q", "--cached", "gone.md"]);
    put(dir.path(), "a.md", "dirty");
    put(dir.path(), "untracked.md", "x");
    let before = fs::read(dir.path().join(".git/index")).unwrap();
    let (index, head) = (Tree::open(dir.path(), Which::Index).unwrap(), Tree::open(dir.path(), Which::Head).unwrap());
    assert_eq!((text(&index, "a.md").as_str(), text(&head, "a.md").as_str()), ("staged", "committed"));
    assert_eq!(
        (names(&index, ""), names(&head, "")),
        (vec!["a.md".to_owned(), "new.md".to_owned()], vec!["a.md".to_owned(), "gone.md".to_owned()])
    );
    assert_eq!(index.kind("untracked.md").unwrap(), None);
    assert_eq!(index.read("untracked.md", MAX).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read_to_string(dir.path().join("a.md")).unwrap(), "dirty");
    assert_eq!(fs::read(dir.path().join(".git/index")).unwrap(), before, "the index was written");
}

#[test]
fn a_root_below_the_top_sees_only_what_is_below_it() {
    let dir = committed(&[("top.md", "t"), ("sub/in.md", "i"), ("sub/deep/x.md", "x"), ("subway.md", "s")]);
    for which in [Which::Index, Which::Head] {
        let tree = Tree::open(&dir.path().join("sub"), which).unwrap();
        assert_eq!(names(&tree, ""), ["deep", "in.md"]);
        assert_eq!(text(&tree, "deep/x.md"), "x");
        assert_eq!(tree.kind("top.md").unwrap(), None);
    }
}

#[test]
fn texts_over_the_bound_are_refused_and_the_next_one_is_still_right() {
    let big = "x".repeat(300_000);
    let dir = committed(&[("big", &big), ("small", "s")]);
    let tree = Tree::open(dir.path(), Which::Head).unwrap();
    let error = tree.read("big", 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("`big`"), "{error}");
    assert_eq!(text(&tree, "small"), "s");
    assert_eq!(tree.kind("big").unwrap(), Some(Kind::File(300_000)));
    assert_eq!(tree.read("big", 300_000).unwrap().len(), 300_000);
}

#[cfg(unix)]
#[test]
fn links_lead_through_the_tree_and_never_out_of_it() {
    use std::os::unix::fs::symlink;
    let dir = committed(&[("sub/real/a.md", "a"), ("top.md", "t")]);
    let sub = dir.path().join("sub");
    let here = sub.canonicalize().unwrap();
    for (name, target) in [("in", "real"), ("up", "../top.md"), ("loop", "loop"), ("etc", "/etc"), ("dead", "gone/x")] {
        symlink(target, sub.join(name)).unwrap();
    }
    symlink(here.join("real/a.md"), sub.join("full")).unwrap();
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "y"]);
    for which in [Which::Index, Which::Head] {
        let tree = Tree::open(&sub, which).unwrap();
        assert_eq!(tree.kind("in").unwrap(), Some(Kind::Link));
        assert_eq!((tree.resolve("in/a.md").unwrap().as_str(), text(&tree, "in/a.md").as_str()), ("real/a.md", "a"));
        assert_eq!(text(&tree, "full"), "a");
        assert_eq!(tree.kind("in/a.md").unwrap(), Some(Kind::File(1)));
        assert_eq!(tree.resolve("dead").unwrap(), "gone/x");
        for out in ["up", "etc", "etc/passwd"] {
            assert_eq!(tree.read(out, MAX).unwrap_err().kind(), ErrorKind::PermissionDenied, "{out}");
        }
        assert!(tree.read("loop", MAX).unwrap_err().to_string().contains("loop of links"));
        assert_eq!(tree.resolve("real/a.md/x").unwrap_err().kind(), ErrorKind::NotADirectory);
    }
}

#[test]
fn another_repository_inside_is_neither_file_nor_folder() {
    let dir = committed(&[("a.md", "a")]);
    let inner = committed(&[("b.md", "b")]);
    let id = Command::new("git").arg("-C").arg(inner.path()).args(["rev-parse", "HEAD"]).output().unwrap();
    let id = String::from_utf8(id.stdout).unwrap();
    git(dir.path(), &["update-index", "--add", "--cacheinfo", &format!("160000,{},inner", id.trim())]);
    let tree = Tree::open(dir.path(), Which::Index).unwrap();
    assert_eq!(tree.kind("inner").unwrap(), Some(Kind::Other));
    assert!(tree.read("inner", MAX).is_err());
    assert_eq!(names(&tree, ""), ["a.md", "inner"]);
}

#[cfg(target_os = "linux")]
#[test]
fn hostile_names_are_listed_and_using_one_that_is_no_text_names_it() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = committed(&[("p/a\nb.md", "n"), ("p/q\"'`$x.md", "q"), ("p/good.md", "g")]);
    fs::write(dir.path().join(OsStr::from_bytes(b"p/bad\xff.md")), "x").unwrap();
    git(dir.path(), &["add", "-A"]);
    let tree = Tree::open(dir.path(), Which::Index).unwrap();
    assert_eq!(names(&tree, "p"), ["a\nb.md", "bad\u{fffd}.md", "good.md", "q\"'`$x.md"]);
    assert_eq!(text(&tree, "p/good.md"), "g");
    for error in [tree.read("p/bad\u{fffd}.md", MAX).unwrap_err(), tree.kind("p/bad\u{fffd}.md").unwrap_err()] {
        assert_eq!(error.to_string(), "the name of `p/bad\u{fffd}.md` is not UTF-8");
    }
    assert_eq!(tree.read("p/a\nb.md", MAX).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn an_unresolved_merge_is_an_error_that_names_the_file() {
    let dir = committed(&[("a.md", "base"), ("b.md", "b")]);
    let commit = |text: &str| {
        put(dir.path(), "a.md", text);
        git(dir.path(), &["commit", "-q", "-a", "-m", text]);
    };
    git(dir.path(), &["checkout", "-q", "-b", "other"]);
    commit("theirs");
    git(dir.path(), &["checkout", "-q", "main"]);
    commit("ours");
    let merge = Command::new("git").current_dir(dir.path()).args(["merge", "-q", "other"]).output().unwrap();
    assert!(!merge.status.success());
    let error = Tree::open(dir.path(), Which::Index).unwrap_err();
    assert_eq!(error.to_string(), "`a.md` has an unresolved merge");
    assert_eq!(text(&Tree::open(dir.path(), Which::Head).unwrap(), "a.md"), "ours");
}

#[test]
fn no_repository_and_no_commit_are_told_apart() {
    let bare = tempfile::tempdir().unwrap();
    for which in [Which::Index, Which::Head] {
        let error = Tree::open(bare.path(), which).unwrap_err().to_string();
        assert!(error.starts_with("git: not a git repository"), "{error}");
    }
    let dir = repository();
    assert_eq!(Tree::open(dir.path(), Which::Head).unwrap_err().to_string(), "`HEAD` has no commit yet");
    assert!(names(&Tree::open(dir.path(), Which::Index).unwrap(), "").is_empty());
}

#[test]
fn an_object_that_git_lost_is_an_error_and_no_empty_file() {
    let dir = committed(&[("a.md", "a")]);
    let id = Command::new("git").current_dir(dir.path()).args(["rev-parse", "HEAD:a.md"]).output().unwrap();
    let id = String::from_utf8(id.stdout).unwrap().trim().to_owned();
    fs::remove_file(dir.path().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let tree = Tree::open(dir.path(), Which::Head).unwrap();
    assert!(tree.read("a.md", MAX).unwrap_err().to_string().contains(&id));
    assert!(tree.kind("a.md").is_err());
    // Not "nothing there" either, which a comparison would take for a missing file.
    assert!(tree.find("a.md", MAX).is_err());
    assert_eq!(tree.find("b.md", MAX).unwrap(), ("b.md".to_owned(), None));
}

#[test]
fn a_policy_compiles_from_the_index_as_it_does_from_the_disk() {
    let policy = "version: 1\nhosts: { claude-code: {}, gemini-cli: {} }\nextends: [builtin]\n";
    let role = "---\ndescription: Mine\ngrants: { repo.read: {} }\n---\nText\n";
    let dir =
        committed(&[("sub/shared-agent-rules/policy.yaml", policy), ("sub/shared-agent-rules/roles/mine.md", role)]);
    let sub = dir.path().join("sub");
    let artifacts = |system: &dyn System| {
        let mut sink = Sink::new();
        let made = compile(system, Some("shared-agent-rules"), &[], &mut sink);
        let said: Vec<&str> = sink.iter().map(|d| d.message.as_str()).collect();
        format!("{:?}", made.rendered.unwrap_or_else(|| panic!("{said:?}")).artifacts)
    };
    let from_disk = artifacts(&Os::new(&sub).unwrap());
    put(dir.path(), "sub/shared-agent-rules/roles/mine.md", "not a role any more");
    for which in [Which::Index, Which::Head] {
        assert_eq!(artifacts(&Tree::open(&sub, which).unwrap()), from_disk, "{which:?}");
    }
    assert!(from_disk.contains("mine"));
}

/// Not a test of its own: what the next one runs with a hook's variables, as they cannot be set in this process.
#[test]
#[ignore = "started by a_hooks_own_index_is_used_and_other_repositories_are_not"]
fn probe() {
    let tree = Tree::open(Path::new(&std::env::var("PROBE_ROOT").unwrap()), Which::Index).unwrap();
    println!("<{}>", text(&tree, "a.md"));
}

#[test]
fn a_hooks_own_index_is_used_and_other_repositories_are_not() {
    let (dir, other) = (committed(&[("a.md", "first")]), committed(&[("a.md", "other")]));
    fs::copy(dir.path().join(".git/index"), dir.path().join(".git/next-index-1.lock")).unwrap();
    put(dir.path(), "a.md", "second");
    git(dir.path(), &["add", "a.md"]);
    let probe = |variables: &[(&str, &Path)]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "probe", "--ignored", "--nocapture"]).env("PROBE_ROOT", dir.path());
        let done = command.current_dir(dir.path()).envs(variables.iter().copied()).output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        out.split_once('<').and_then(|(_, rest)| rest.split_once('>')).unwrap_or_else(|| panic!("{out}")).0.to_owned()
    };
    assert_eq!(probe(&[]), "second");
    assert_eq!(probe(&[("GIT_INDEX_FILE", Path::new(".git/next-index-1.lock"))]), "first");
    assert_eq!(probe(&[("GIT_INDEX_FILE", &other.path().join(".git/index"))]), "second");
    assert_eq!(probe(&[("GIT_DIR", &other.path().join(".git")), ("GIT_WORK_TREE", other.path())]), "second");
}
