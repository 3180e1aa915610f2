//! Projects in temporary folders, runs of the binary, and pictures of a tree.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The hosts of the shipped adapters, sorted.
pub const HOSTS: [&str; 8] =
    ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];
/// The policy of most tests.
pub const POLICY: &str = "shared-agent-rules/policy.yaml";
/// The lock.
pub const LOCK: &str = "shared-agent-rules/rolecast.lock";
/// The journal.
pub const JOURNAL: &str = "shared-agent-rules/rolecast.journal";

/// How a run ended.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
    args: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`rolecast {}` exit {}\n--- stdout\n{}--- stderr\n{}", self.args, self.code, self.out, self.err)
    }
}

impl Run {
    /// Fails unless the run ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Fails unless each text stands in the output, on either stream.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.out.contains(text) || self.err.contains(text), "`{text}` is not said by {self}");
        }
        self
    }

    /// Fails when one of the texts stands in the output.
    #[track_caller]
    pub fn silent_on(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(!self.out.contains(text) && !self.err.contains(text), "`{text}` is said by {self}");
        }
        self
    }
}

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    Dir,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dir => f.write_str("dir"),
            Self::File(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Self::Link(target) => write!(f, "-> {}", target.display()),
            Self::Other => f.write_str("other"),
        }
    }
}

/// Everything below a folder.
pub type Tree = BTreeMap<String, Node>;

/// A picture of `dir`; `.git` is left out.
pub fn tree(dir: &Path) -> Tree {
    let mut tree = Tree::new();
    picture(dir, "", &mut tree);
    tree
}

fn picture(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if name == ".git" {
            continue;
        }
        let meta = fs::symlink_metadata(entry.path()).unwrap();
        let node = if meta.is_symlink() {
            Node::Link(fs::read_link(entry.path()).unwrap())
        } else if meta.is_dir() {
            picture(&entry.path(), &format!("{name}/"), tree);
            Node::Dir
        } else if meta.is_file() {
            Node::File(fs::read(entry.path()).unwrap())
        } else {
            Node::Other
        };
        tree.insert(name, node);
    }
}

/// Fails with the paths that differ.
#[track_caller]
pub fn assert_same(now: &Tree, before: &Tree, why: &str) {
    let mut paths: Vec<&String> = now.keys().chain(before.keys()).filter(|p| now.get(*p) != before.get(*p)).collect();
    paths.sort();
    paths.dedup();
    let lines: Vec<String> =
        paths.iter().map(|p| format!("{p}\n   now {:?}\n   was {:?}", now.get(*p), before.get(*p))).collect();
    assert!(lines.is_empty(), "{why}:\n{}", lines.join("\n"));
}

/// A folder with a repository in it.
pub struct Project {
    dir: TempDir,
}

impl Project {
    /// An empty folder; in memory where the machine has such a place, as every file is synced to disk.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() {
            tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir())
        } else {
            tempfile::tempdir()
        };
        Self { dir: dir.unwrap() }
    }

    /// A folder whose policy selects `hosts` and inherits the shipped rules and roles.
    pub fn of(hosts: &[&str]) -> Self {
        let project = Self::new();
        project.select(hosts);
        project
    }

    /// A rendered folder of all hosts.
    pub fn rendered() -> Self {
        let project = Self::of(&HOSTS);
        project.render();
        project
    }

    /// Writes the smallest policy for `hosts`.
    pub fn select(&self, hosts: &[&str]) {
        self.write(POLICY, smallest(hosts));
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    /// Replaces the one place where `from` stands.
    #[track_caller]
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.text(path);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {path}:\n{text}");
        self.write(path, text.replace(from, to));
    }

    pub fn append(&self, path: &str, more: &str) {
        self.write(path, self.text(path) + more);
    }

    pub fn tree(&self) -> Tree {
        tree(self.path())
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        command.args(args).current_dir(self.path()).env_clear().stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        ended(self.command(args), args)
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    pub fn render(&self) -> Run {
        self.run(&["render"]).exits(0)
    }

    #[track_caller]
    pub fn clean(&self) -> Run {
        self.run(&["check"]).exits(0).silent_on(&["---"])
    }

    /// Runs and fails when anything below the root changed, or the exit code is another.
    #[track_caller]
    pub fn untouched(&self, args: &[&str], code: i32) -> Run {
        let before = self.tree();
        let run = self.run(args).exits(code);
        assert_same(&self.tree(), &before, &format!("`{}` changed the tree", run.args));
        run
    }

    /// A git repository with everything committed.
    pub fn commit(&self) {
        for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "x"]] {
            let done = Command::new("git")
                .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "core.autocrlf=false"])
                .args(args)
                .current_dir(self.path())
                .output()
                .unwrap();
            assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
}

/// Runs a command to its end.
pub fn ended(mut command: Command, args: &[&str]) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        args: args.join(" "),
    }
}

/// The smallest policy for `hosts`.
pub fn smallest(hosts: &[&str]) -> String {
    let hosts: Vec<String> = hosts.iter().map(|h| format!("{h}: {{}}")).collect();
    format!("version: 1\nhosts: {{ {} }}\nextends: [builtin]\n", hosts.join(", "))
}
