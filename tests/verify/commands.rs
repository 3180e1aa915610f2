//! Forbidden commands on the real programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{Repository, programs, said, with};

const POLICY: &str = "version: 1\nhosts: { HOSTS }\nextends: [builtin]\ncommands:\n  forbid:\n    - { run: \"rm *\", because: 'no \"way\" \\ back – ä' }\n    - { run: git push --force }\n    - { run: a b }\n    - { run: ab }\n";

fn forbidding(hosts: &[&str]) -> Repository {
    let repository = Repository::empty();
    let hosts: Vec<String> = hosts.iter().map(|h| format!("{h}: {{}}")).collect();
    repository.write("shared-agent-rules/policy.yaml", &POLICY.replace("HOSTS", &hosts.join(", ")));
    let rendered = repository.command(&["render"]).output().unwrap();
    assert!(rendered.status.success(), "{}", said(&rendered));
    repository
}

/// The program of Codex below `bin`; the folder has the name of the machine.
fn codex(bin: &Path) -> PathBuf {
    let all = walkdir::WalkDir::new(bin.join("node_modules/@openai")).into_iter().flatten();
    let is = |p: &PathBuf| p.ends_with("bin/codex") && p.components().any(|c| c.as_os_str() == "vendor");
    all.map(walkdir::DirEntry::into_path).find(is).expect("the program of Codex")
}

/// What `codex execpolicy check` decides of a command, if anything.
fn decides(program: &Path, rules: &Path, argv: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(["execpolicy", "check", "--rules"]).arg(rules).arg("--").args(argv);
    let out = command.output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    answer.get("decision").map(|d| d.as_str().unwrap().to_owned())
}

#[test]
fn the_rules_of_codex_forbid_what_they_say_and_nothing_else() {
    let Some(bin) = programs("the command rules of Codex") else { return };
    let (repository, program) = (forbidding(&["codex"]), codex(&bin));
    let rules = repository.root().join(".codex/rules/rolecast.rules");
    let decides = |argv: &[&str]| decides(&program, &rules, argv);
    let forbidden = Some("forbidden".to_owned());
    for argv in [&["rm", "-rf", "x"][..], &["rm"], &["git", "push", "--force", "origin"]] {
        assert_eq!(decides(argv), forbidden, "{argv:?}");
    }
    // Of a line for another shell it sees nothing, which is why the ledger says no more than `advised`.
    for argv in [&["rmdir", "x"][..], &["git", "push"], &["bash", "-lc", "rm -rf x"], &["env", "rm", "x"]] {
        assert_eq!(decides(argv), None, "{argv:?}");
    }
    // All short commands of three words: the pattern is a prefix of words, here and there.
    let words = ["a", "b", "ab"];
    for first in words {
        for second in words {
            for argv in [vec![first], vec![first, second], vec![first, second, "a"]] {
                let meant = argv.starts_with(&["a", "b"]) || argv[0] == "ab";
                assert_eq!(decides(&argv), forbidden.clone().filter(|_| meant), "{argv:?}");
            }
        }
    }
}

#[test]
fn a_forbidden_command_is_refused_on_every_host_that_is_said_to() {
    let Some(bin) = programs("forbidden commands") else { return };
    let hosts = ["claude-code", "codex", "copilot", "gemini-cli", "opencode", "qwen-code"];
    let repository = forbidding(&hosts);
    let (code, report) = repository.verify(&bin, &["--role", "explorer"]);
    assert_eq!((with(&report, "broken"), with(&report, "unclear")), (vec![], vec![]), "{report:#}");
    assert_eq!(code, 0);
    for (host, told) in hosts.iter().zip(report["hosts"].as_array().unwrap()) {
        assert_eq!(told["host"], *host);
        let findings = told["findings"].as_array().unwrap();
        let about = findings.iter().find(|f| f["about"]["line"]["command"]["command"] == "touch");
        let seen = about.unwrap_or_else(|| panic!("{host}: not tried"))["seen"].as_str().unwrap().to_owned();
        assert!(seen.starts_with("refused: "), "{host}: {seen}");
        assert!(seen.ends_with("inside of `sh -c` it ran, which nothing is claimed of"), "{host}: {seen}");
    }
}
