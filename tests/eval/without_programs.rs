//! A program that stands for a host and its model: all but the model is as in a run that is paid for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{Repository, said};

/// The beginning of the program: it answers for its version, and has `log CWD TOOL…`, which writes a session.
const HEAD: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo 9.9.9 && exit
log() {
  folder="$HOME/.claude/projects/p"; mkdir -p "$folder"
  id="s$$-$(echo "$1" | cksum | cut -d' ' -f1)"; cwd="$1"; shift
  common="\"sessionId\":\"$id\",\"cwd\":\"$cwd\",\"version\":\"9.9.9\",\"timestamp\":\"2026-11-30T10:00:00Z\""
  {
    echo "{\"type\":\"user\",\"uuid\":\"u-$id\",$common,\"message\":{\"role\":\"user\",\"content\":\"x\"}}"
    for tool in "$@"; do
      echo "{\"type\":\"assistant\",\"uuid\":\"a-$id-$tool\",$common,\"message\":{\"id\":\"m-$id-$tool\",\"model\":\"some-model-1\",\"role\":\"assistant\",\"usage\":{\"input_tokens\":10,\"output_tokens\":1},\"content\":[{\"type\":\"tool_use\",\"id\":\"t-$id-$tool\",\"name\":\"$tool\",\"input\":{}}]}}"
      echo "{\"type\":\"user\",\"uuid\":\"r-$id-$tool\",$common,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t-$id-$tool\",\"content\":\"ok\"}]}}"
    done
  } > "$folder/$id.jsonl"
}
"#;

/// A repository with a scenario, a home, and a program.
struct Stand {
    repository: Repository,
    dir: tempfile::TempDir,
}

impl Stand {
    fn new(script: &str) -> Self {
        let repository = Repository::rendered(&["claude-code"], &[]);
        let policy = "version: 1\nhosts: { claude-code: {} }\nextends: [builtin]\nservers:\n  handbook:\n    command: handbook\n    tools: { search: { confers: [docs.search] } }\n";
        repository.write("shared-agent-rules/policy.yaml", policy);
        let scenario = "title: Small\nprompt: Change it.\nrepository: { files: { a.txt: old, b.txt: old } }\nexpect: { docs-calls: 0 }\noutcome: { changed: [a.txt], unchanged: [b.txt], answer: [done] }\n";
        repository.write("shared-agent-rules/scenarios/small.yaml", scenario);
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "bin", "tmp"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let program = dir.path().join("bin/claude");
        fs::write(&program, format!("{HEAD}{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { repository, dir }
    }

    fn below(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.repository.command(args);
        let path = format!("{}:{}", self.below("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("HOME", self.below("home")).env("TMPDIR", self.below("tmp"));
        command.env_remove("CLAUDE_CONFIG_DIR").env("OWN_KEY", "secret").stdin(Stdio::null());
        command
    }

    fn eval(&self, runs: &str, args: &[&str]) -> Output {
        let usual = ["eval", "small", "--host", "claude-code", "--yes", "--runs", runs];
        self.command(&[&usual[..], args].concat()).output().unwrap()
    }

    fn json(&self, runs: &str, args: &[&str]) -> (Option<i32>, Value) {
        let out = self.eval(runs, &[&["--format", "json"], args].concat());
        let json = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&out)));
        (out.status.code(), json)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    all.sort();
    all
}

/// Does as asked, but for every third run. Another session of the user's goes on meanwhile.
const MOSTLY: &str = r#"
[ "$OWN_KEY" = secret ] || exit 9
case "$1 $3 $4" in "-p --permission-mode acceptEdits") ;; *) exit 8 ;; esac
echo run >> "$HOME/count"
log /elsewhere mcp__handbook__search
if [ $(($(wc -l < "$HOME/count") % 3)) = 0 ]; then log "$PWD" mcp__handbook__search; else log "$PWD" Edit; fi
echo new > a.txt
echo "All is Done."
"#;

#[test]
fn rates_are_counted_told_and_become_evidence_that_raises_nothing() {
    let stand = Stand::new(MOSTLY);
    let before = stand.repository.files();
    let (code, report) = stand.json("6", &[]);
    let row = &report["rows"][0];
    assert_eq!((code, &row["passed"], &row["runs"]), (Some(1), &Value::from(4), &Value::from(6)), "{report:#}");
    let docs = row["keys"].as_array().unwrap().iter().find(|k| k["key"] == "docs-calls").unwrap();
    assert_eq!((&docs["held"], docs["failed"].as_array().unwrap().len()), (&Value::from(4), 2), "{docs}");
    assert!(docs["failed"][0]["what"].as_str().unwrap().starts_with("1, at most 0: handbook/search at "), "{docs}");
    assert_eq!((&row["models"][0], &row["version"]), (&Value::from("some-model-1"), &Value::from("9.9.9")));
    // Nothing is written but the logs of the host itself.
    assert_eq!(names(&stand.below("home")), [".claude", "count"]);
    assert!(names(&stand.below("tmp")).is_empty());
    assert_eq!(stand.repository.files(), before);

    let lines = |stand: &Stand| -> Value {
        let out = stand.command(&["explain", "--format", "json"]).output().unwrap();
        serde_json::from_slice::<Value>(&out.stdout).unwrap()["lines"].clone()
    };
    let claims = lines(&stand);
    let out = stand.eval("3", &["--accept"]);
    assert!(said(&out).contains("wrote shared-agent-rules/evidence/claude-code.yaml"), "{}", said(&out));
    let mut measured = lines(&stand);
    let mut seen = 0;
    for line in measured.as_array_mut().unwrap() {
        let Some(eval) = line.as_object_mut().unwrap().shift_remove("measured") else { continue };
        seen += 1;
        assert_eq!((&eval[0]["held"], &eval[0]["runs"], &eval[0]["key"]), (&2.into(), &3.into(), &"docs-calls".into()));
    }
    assert_eq!((seen, &measured), (2, &claims), "the rule and the budget, and nothing else of them");
    let page = said(&stand.command(&["explain"]).output().unwrap());
    assert!(page.contains("advised by size, ran, eval 2/3"), "{page}");
    assert!(page.contains("lazy-discovery  claude-code  eval 2/3 (21–94 %)"), "{page}");
    let hosts = said(&stand.command(&["hosts"]).output().unwrap());
    assert!(hosts.contains("small: 2/3 (21–94 %), some-model-1, on 9.9.9, "), "{hosts}");
    // What agents are told now is not what was measured.
    stand
        .repository
        .write("shared-agent-rules/own.md", "---\ntitle: Own\nactivation: always\naudience: [main]\n---\nBe brief.\n");
    let page = said(&stand.command(&["explain"]).output().unwrap());
    assert!(!page.contains("eval 2/3"), "{page}");
}

#[test]
fn policies_are_compared_and_only_ones_own_decides() {
    let obeys = "if grep -qs 'Be brief' AGENTS.md CLAUDE.md; then log \"$PWD\" Edit; else log \"$PWD\" mcp__handbook__search; fi; echo new > a.txt; echo done";
    let stand = Stand::new(obeys);
    let root = stand.repository.root();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        assert!(Command::new("git").args(who).args(args).current_dir(root).status().unwrap().success());
    };
    git(&["add", "-A"]);
    git(&["commit", "-qm", "old"]);
    stand
        .repository
        .write("shared-agent-rules/own.md", "---\ntitle: Own\nactivation: always\naudience: [main]\n---\nBe brief.\n");
    let old = "version: 1\nhosts: { claude-code: {} }\nextends: [builtin]\n";
    stand.repository.write("policies/old/policy.yaml", old);
    for base in ["none", "HEAD", "policies/old"] {
        let (code, report) = stand.json("1", &["--compare", base]);
        let passed = |at: usize| report["rows"][at]["passed"].clone();
        assert_eq!((code, passed(0), passed(1)), (Some(0), 1.into(), 0.into()), "{base}: {report:#}");
        assert_eq!((&report["rows"][1]["policy"], &report["rows"][1]["compared"]), (&base.into(), &true.into()));
    }
}

#[test]
fn a_copy_of_the_repository_itself_is_worked_in() {
    let stand = Stand::new("log \"$PWD\" Edit; cp only-here.txt a.txt && echo done");
    stand.repository.write("only-here.txt", "x");
    assert_eq!(stand.json("1", &["--here"]).0, Some(0));
    assert!(!stand.repository.files().contains_key("a.txt"));
    assert_eq!(stand.json("1", &[]).0, Some(4), "the scenario's own repository has no such file");
}

#[test]
fn a_host_that_does_not_get_to_work_is_given_up_and_counts_for_nothing() {
    let stand = Stand::new("echo 'please log in' >&2; exit 1");
    let (code, report) = stand.json("5", &["--accept"]);
    let row = &report["rows"][0];
    assert_eq!((code, &row["runs"], &row["interval"]), (Some(4), &0.into(), &Value::Null), "{report:#}");
    assert_eq!(row["not-judged"].as_array().unwrap().len(), 2);
    assert!(row["not-judged"][0]["why"].as_str().unwrap().contains("please log in"), "{row}");
    assert!(!stand.repository.root().join("shared-agent-rules/evidence").exists());
}

#[test]
fn what_the_log_does_not_tell_is_no_pass() {
    let stand = Stand::new("log \"$PWD\" Agent; echo new > a.txt; echo done");
    let (code, report) = stand.json("1", &[]);
    let key = &report["rows"][0]["keys"][0];
    assert_eq!((code, &key["failed"][0]["verdict"]), (Some(1), &"not-recorded".into()), "{report:#}");
}

#[test]
fn time_and_a_person_end_everything_that_was_started() {
    let stand =
        Stand::new("log \"$PWD\" Edit; echo new > a.txt; echo done; sleep 61 & echo $! > \"$HOME/child\"; sleep 60");
    let started = Instant::now();
    let gone = || {
        let id = fs::read_to_string(stand.below("home").join("child")).unwrap();
        !fs::read_to_string(format!("/proc/{}/stat", id.trim())).is_ok_and(|s| !s.contains(") Z "))
    };
    let (code, report) = stand.json("1", &["--timeout", "2"]);
    let ends = report["rows"][0]["keys"].as_array().unwrap().iter().find(|k| k["key"] == "ends").cloned();
    assert_eq!((code, ends.map(|e| e["held"].clone())), (Some(1), Some(0.into())), "{report:#}");
    assert!(gone());
    fs::remove_file(stand.below("home").join("child")).unwrap();
    let usual = ["eval", "small", "--host", "claude-code", "--yes", "--runs", "3"];
    let child = stand.command(&usual).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !stand.below("home").join("child").exists() && started.elapsed() < Duration::from_secs(40) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(4), "{}", said(&out));
    assert!(said(&out).contains("interrupted") && gone());
    assert!(names(&stand.below("tmp")).is_empty(), "{:?}", names(&stand.below("tmp")));
    assert!(started.elapsed() < Duration::from_secs(50));
}
