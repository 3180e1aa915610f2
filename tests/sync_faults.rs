//! A fault at each single changing operation: no user byte lost, no half file, the next render completes.

mod sync_support;

use rolecast::render::artifact::Artifact;
use rolecast::sync::{ApplyError, render};
use rolecast::system::fault::{Fault, Faulty};
use rolecast::system::memory::{Memory, Node};
use rolecast::system::os::Os;
use rolecast::system::{Kind, System, Writer};
use serde_json::json;
use std::collections::BTreeMap;
use sync_support::*;

type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Files with their bytes, directories with none.
fn tree(system: &dyn System) -> Tree {
    fn walk(system: &dyn System, dir: &str, out: &mut Tree) {
        for (name, kind) in system.list(dir).unwrap() {
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            if kind == Kind::Dir {
                out.insert(path.clone(), None);
                walk(system, &path, out);
            } else {
                out.insert(path.clone(), Some(system.read(&path, u64::MAX - 1).unwrap()));
            }
        }
    }
    let mut out = Tree::new();
    walk(system, "", &mut out);
    out
}

const SETTINGS: &str = "{\n\t// mine\n\t\"model\": \"x\", // beside\n}\n";
const CONFIG: &str = "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.mine]\r\ncommand = \"c\"\r\n";

fn users() -> Vec<(&'static str, &'static str)> {
    vec![
        ("AGENTS.md", "# Mine\n"),
        (".claude/settings.json", SETTINGS),
        (".codex/config.toml", CONFIG),
        ("src/main.rs", "fn main() {}\n"),
    ]
}

fn first() -> Vec<Artifact> {
    vec![
        whole(".claude/agents/a.md", "one\n"),
        whole(".cursor/rules/gone.mdc", "gone\n"),
        block("AGENTS.md", "one"),
        block("GONE.md", "one"),
        entries(".claude/settings.json", vec![value("hooks.start", json!("one")), element("deny", json!("x"))]),
        entries(".codex/config.toml", vec![value("mcp_servers.play", json!({"command": "one"}))]),
    ]
}

fn second() -> Vec<Artifact> {
    vec![
        whole(".claude/agents/a.md", "two\n"),
        whole(".gemini/new/b.md", "new\n"),
        block("AGENTS.md", "two\nlines"),
        entries(".claude/settings.json", vec![value("hooks.stop", json!("two")), element("deny", json!("y"))]),
        entries(
            ".codex/config.toml",
            vec![value("mcp_servers.play", json!({"command": "two", "args": ["x"]})), value("top", json!(1))],
        ),
        entries("made.json", vec![value("a.b", json!(true))]),
    ]
}

fn third() -> Vec<Artifact> {
    vec![
        whole(".gemini/new/c.md", "c\n"),
        block("AGENTS.md", "three"),
        entries(".claude/settings.json", vec![value("hooks.x", json!(3))]),
    ]
}

/// What a stopped render left: each file old or new, whole.
fn assert_old_or_new(now: &Tree, old: &Tree, new: &Tree, what: &str) {
    for (path, bytes) in now {
        if path.ends_with("rolecast.journal") || path.rsplit('/').next().unwrap().starts_with(".rolecast-") {
            continue;
        }
        let known = old.get(path) == Some(bytes) || new.get(path) == Some(bytes);
        assert!(known, "{what}: `{path}` is neither old nor new: {:?}", bytes.as_deref().map(String::from_utf8_lossy));
    }
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        assert!(now.contains_key(path), "{what}: `{path}` is lost");
    }
}

/// Runs `second` over a tree made by `start` with each fault at each operation.
fn try_all<W: Writer>(start: impl Fn() -> W) -> usize {
    let whole_run = start();
    let old = tree(&whole_run);
    let counter = Faulty::new(&whole_run, Fault::None, 0);
    write(&second(), &counter);
    let (new, count) = (tree(&whole_run), counter.count());
    let after_third = {
        let system = start();
        write(&third(), &system);
        tree(&system)
    };
    for at in 0..count {
        for fault in [Fault::Error, Fault::Crash, Fault::Torn] {
            let what = format!("{fault:?} at {at} of {count}");
            let system = start();
            let (_, result) = render(&second(), &Faulty::new(&system, fault, at), &options());
            let now = tree(&system);
            match result {
                Err(ApplyError::Unwritable { .. }) if fault == Fault::Error => assert_eq!(now, old, "{what}"),
                Err(ApplyError::Unwritable { .. } | ApplyError::Interrupted { .. }) => {
                    assert_old_or_new(&now, &old, &new, &what)
                }
                other => panic!("{what}: {other:?}"),
            }
            let journal = now.contains_key("shared-agent-rules/rolecast.journal");
            let told = causes(&check(&second(), &system))
                .contains(&"shared-agent-rules/rolecast.journal: interrupted".to_owned());
            assert_eq!(journal, told, "{what}");
            // The policy may move before the next render.
            let (moved, result) = render(&third(), &system, &options());
            result.unwrap_or_else(|error| panic!("{what}, then third: {error} {:?}", causes(&moved)));
            assert_clean(&third(), &system);
            let left = tree(&system);
            let left_paths: Vec<_> = left.keys().collect();
            assert_eq!(left_paths, after_third.keys().collect::<Vec<_>>(), "{what}");
            assert_eq!(left, after_third, "{what}");

            let system = start();
            let _ = render(&second(), &Faulty::new(&system, fault, at), &options());
            write(&second(), &system);
            assert_clean(&second(), &system);
            assert_eq!(tree(&system), new, "{what}");
        }
    }
    count
}

fn memory(rendered: bool) -> Memory {
    let memory = users().into_iter().fold(Memory::new(), |memory, (path, text)| memory.with(path, text));
    if rendered {
        write(&first(), &memory);
    }
    memory
}

#[test]
fn each_fault_in_memory_is_survived() {
    assert!(try_all(|| memory(true)) > 30);
    assert!(try_all(|| memory(false)) > 20);
}

#[test]
fn a_second_interruption_with_a_moved_policy_is_survived_too() {
    let count = {
        let system = memory(true);
        let counter = Faulty::new(&system, Fault::None, 0);
        write(&second(), &counter);
        counter.count()
    };
    let end = {
        let system = memory(true);
        write(&[], &system);
        tree(&system)
    };
    for at in 0..count {
        for again in (0..count).step_by(4) {
            let system = memory(true);
            let _ = render(&second(), &Faulty::new(&system, Fault::Torn, at), &options());
            let _ = render(&third(), &Faulty::new(&system, Fault::Torn, again), &options());
            write(&[], &system);
            assert_clean(&[], &system);
            assert_eq!(tree(&system), end, "{at}, {again}");
        }
    }
}

#[test]
fn a_forced_overwrite_that_was_interrupted_completes_without_force() {
    let start = || Memory::new().with("a.md", "mine\n").with("s.json", "{\"a\": 2}").with("z.md", "z");
    let plan = [whole("a.md", "ours\n"), entries("s.json", vec![value("a", json!(1))])];
    let counter = start();
    let counter = Faulty::new(&counter, Fault::None, 0);
    render(&plan, &counter, &forced()).1.unwrap();
    for at in 0..counter.count() {
        let system = start();
        let _ = render(&plan, &Faulty::new(&system, Fault::Crash, at), &forced());
        let begun = system.text("shared-agent-rules/rolecast.journal").is_some();
        let untouched = system.text("a.md").unwrap() == "mine\n" && system.text("s.json").unwrap() == "{\"a\": 2}";
        assert!(begun || untouched || at + 1 == counter.count());
        if begun {
            write(&plan, &system);
            assert_clean(&plan, &system);
        }
    }
}

#[test]
fn an_edit_made_after_a_crash_is_the_users() {
    let system = memory(true);
    // Far enough for the first renames.
    let _ = render(&second(), &Faulty::new(&system, Fault::Crash, 24), &options());
    system.put(".claude/agents/a.md", Node::File(b"mine\n".to_vec()));
    let comparison = refused(&second(), &system);
    assert!(causes(&comparison).contains(&".claude/agents/a.md: edited".to_owned()));
    assert_eq!(system.text(".claude/agents/a.md").unwrap(), "mine\n");
}

/// A real directory that goes with the value.
struct Real {
    os: Os,
    _dir: tempfile::TempDir,
}

fn real(rendered: bool) -> Real {
    // Thousands of syncs: in memory where the system has a file system there.
    let memory = std::path::Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    for (path, text) in users() {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let os = Os::new(dir.path()).unwrap();
    if rendered {
        write(&first(), &os);
    }
    Real { os, _dir: dir }
}

impl System for Real {
    fn kind(&self, path: &str) -> std::io::Result<Option<Kind>> {
        self.os.kind(path)
    }
    fn resolve(&self, path: &str) -> std::io::Result<String> {
        self.os.resolve(path)
    }
    fn read(&self, path: &str, max: u64) -> std::io::Result<Vec<u8>> {
        self.os.read(path, max)
    }
    fn list(&self, path: &str) -> std::io::Result<Vec<(String, Kind)>> {
        self.os.list(path)
    }
}

impl Writer for Real {
    fn exclusive(&self) -> std::io::Result<Box<dyn rolecast::system::Guard>> {
        self.os.exclusive()
    }
    fn create(&self, path: &str, bytes: &[u8], like: Option<&str>) -> std::io::Result<()> {
        self.os.create(path, bytes, like)
    }
    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.os.rename(from, to)
    }
    fn remove_file(&self, path: &str) -> std::io::Result<()> {
        self.os.remove_file(path)
    }
    fn create_dir(&self, path: &str) -> std::io::Result<()> {
        self.os.create_dir(path)
    }
    fn remove_dir(&self, path: &str) -> std::io::Result<()> {
        self.os.remove_dir(path)
    }
    fn sync_dir(&self, path: &str) -> std::io::Result<()> {
        self.os.sync_dir(path)
    }
}

#[test]
fn each_fault_on_a_real_disk_is_survived() {
    assert!(try_all(|| real(true)) > 30);
}

#[test]
fn two_renders_at_once_corrupt_nothing() {
    let start = real(true);
    let root = start.os.root().to_owned();
    let run = |plan: fn() -> Vec<Artifact>| {
        let root = root.clone();
        std::thread::spawn(move || {
            for _ in 0..15 {
                let os = Os::new(&root).unwrap();
                render(&plan(), &os, &options()).1.unwrap();
            }
        })
    };
    let (one, two) = (run(first), run(second));
    one.join().unwrap();
    two.join().unwrap();
    let now = tree(&start);
    let fresh = |plan: Vec<Artifact>| {
        let system = real(true);
        write(&plan, &system);
        tree(&system)
    };
    assert!(!now.keys().any(|path| path.contains("journal") || path.ends_with(".tmp")));
    write(&third(), &start);
    assert_clean(&third(), &start);
    assert_eq!(tree(&start), fresh(third()));
}
