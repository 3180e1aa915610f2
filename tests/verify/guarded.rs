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
        // Its hook is not told which agent calls: commands of a role are text.
        ("gemini-cli", &["budget file-read", "budget delegation-packet"]),
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

const FETCHER: &str = "---\ndescription: Fetches pages of the documentation.\ngrants:\n  repo.read: {}\n  web.fetch: { domains: [\"docs.example.org\", \"*.pages.example.org\"] }\n---\nFetch pages, and report what they say.\n";

#[test]
fn domains_copies_targets_context_readers_and_a_broken_guard_are_tried_where_there_is_a_hook() {
    let Some(bin) = programs("domains, copies, targets, the context, readers of JSON and a broken guard") else {
        return;
    };
    for (host, held) in [
        ("claude-code", &["fetcher: web.fetch", "guard: history", "guard: context"][..]),
        ("qwen-code", &["fetcher: web.fetch", "guard: history"]),
        ("codex", &["guard: history", "guard: context"]),
        ("copilot", &[]),
        ("gemini-cli", &[]),
        ("opencode", &["guard: context"]),
    ] {
        let repository = Repository::rendered(&[host], &[("fetcher", FETCHER)]);
        let (code, report) = repository.verify(&bin, &["--host", host, "--role", "fetcher"]);
        assert_eq!((code, with(&report, "broken"), with(&report, "unclear")), (0, vec![], vec![]), "{report:#}");
        let found = with(&report, "held");
        // It follows redirects: that the first address is held is more than is claimed.
        if host == "copilot" {
            assert!(with(&report, "better").contains(&"fetcher: web.fetch".to_owned()), "{report:#}");
        }
        let read = match host {
            "claude-code" => &[".claude/settings.json", ".mcp.json"][..],
            "qwen-code" => &[".qwen/settings.json"],
            "codex" => &[".codex/hooks.json"],
            "copilot" => &[".github/mcp.json"],
            "gemini-cli" => &[".gemini/settings.json"],
            // Nothing is known of its reader.
            _ => &[],
        };
        for (file, form) in
            read.iter().flat_map(|f| ["comments", "trailing commas", "a byte order mark"].map(|w| (f, w)))
        {
            assert!(found.contains(&format!("{file} with {form}")), "{host}: {file} with {form}: {found:?}");
        }
        let targets = Some(&"guard: targets").filter(|_| !["gemini-cli", "opencode"].contains(&host));
        for line in held.iter().chain(targets).chain(&["guard: edited", "guard: missing"]) {
            assert!(found.contains(&(*line).to_owned()), "{host}: {line}: {found:?}");
        }
    }
}

#[test]
fn a_guard_that_lets_everything_through_is_found() {
    let Some(bin) = programs("a hook that asks nobody") else { return };
    for (host, file, lines) in [
        (
            "claude-code",
            ".claude/settings.json",
            &["tester: shell.run", "budget file-read", "budget delegation-packet"][..],
        ),
        ("gemini-cli", ".gemini/settings.json", &["budget file-read", "budget delegation-packet"]),
    ] {
        let repository = Repository::rendered(&[host], &[("tester", TESTER)]);
        repository.change(file, "rolecast guard --host", "true --host");
        let (code, report) = repository.verify(&bin, &["--host", host, "--role", "tester"]);
        let broken = with(&report, "broken");
        assert_eq!(code, 1, "{report:#}");
        for line in lines {
            assert!(broken.contains(&(*line).to_owned()), "{host}: {line}: {broken:?}");
        }
    }
}
