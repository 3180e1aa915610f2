//! What the guard refuses on the real programs, to roles and to the main agent.

use super::support::{Repository, programs, with};

const TESTER: &str = "---\ndescription: Runs the tests.\ngrants:\n  repo.read: {}\n  shell.run: { commands: [\"git status\"] }\n---\nRun the tests, and report what they say.\n";

#[test]
fn commands_reads_and_packets_are_refused_over_their_limits_and_pass_within() {
    let Some(bin) = programs("commands, first reads and packets under the guard") else { return };
    for (host, held) in [
        ("claude-code", &["tester: shell.run", "budget file-read", "budget delegation-packet"][..]),
        ("copilot", &["tester: shell.run", "budget file-read", "budget delegation-packet"]),
        ("qwen-code", &["tester: shell.run", "budget file-read", "budget delegation-packet"]),
        ("codex", &["budget delegation-packet"]),
    ] {
        let repository = Repository::rendered(&[host], &[("tester", TESTER)]);
        let (code, report) = repository.verify(&bin, &["--host", host, "--role", "tester"]);
        assert_eq!((code, with(&report, "broken"), with(&report, "unclear")), (0, vec![], vec![]), "{report:#}");
        let all = report["hosts"][0]["findings"].as_array().unwrap().iter();
        for line in held {
            assert!(with(&report, "held").contains(&(*line).to_owned()), "{host}: {line}");
        }
        let guarded = all.filter(|f| f["claim"].as_str().is_some_and(|c| c.contains("guarded")));
        let seen: Vec<&str> = guarded.filter_map(|f| f["seen"].as_str()).filter(|s| s.contains("rolecast: ")).collect();
        assert!(seen.len() >= held.len(), "{host}: {seen:?}");
    }
}

#[test]
fn a_guard_that_lets_everything_through_is_found() {
    let Some(bin) = programs("a hook taken out of Claude Code's settings") else { return };
    let repository = Repository::rendered(&["claude-code"], &[("tester", TESTER)]);
    repository.change(".claude/settings.json", "rolecast guard --host", "true --host");
    let (code, report) = repository.verify(&bin, &["--host", "claude-code", "--role", "tester"]);
    let broken = with(&report, "broken");
    assert_eq!(code, 1, "{report:#}");
    for line in ["tester: shell.run", "budget file-read", "budget delegation-packet"] {
        assert!(broken.contains(&line.to_owned()), "{line}: {broken:?}");
    }
}
