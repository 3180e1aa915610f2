//! `hosts` on the real program.

mod support;

use support::{FIVE, Repo};

#[test]
fn hosts_are_listed_with_their_evidence_and_what_they_can_hold() {
    insta::assert_snapshot!(Repo::with(FIVE).page(&["hosts"]), @"
    Claude Code (claude-code), selected
      evidence     ran on @anthropic-ai/claude-code 2.1.332, 2026-11-30
      verified     359 held, 29 untried, 0 broken on 2.1.332, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list does not name, ran
      main agent   enforced: a role lacks the tools that its list does not name, ran; `rolecast run ROLE` starts it
      detected by  CLAUDE.md, .claude; none is here

    Codex (codex), selected
      evidence     ran on @openai/codex 0.171.0, 2026-11-30
      verified     275 held, 113 untried, 0 broken on 0.171.0, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list removes, ran, if trusted (the project is trusted in Codex)
      own process  enforced: a role lacks the tools that its list removes, ran, if run (started by `rolecast run`);
                   `rolecast run ROLE` starts it
      detected by  .codex; none is here

    GitHub Copilot CLI (copilot), selected
      evidence     ran on @github/copilot 1.0.102, 2026-11-30
      verified     353 held, 1 better, 32 untried, 0 broken on 1.0.102, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list does not name, ran
      main agent   enforced: a role lacks the tools that its list does not name, ran; `rolecast run ROLE` starts it
      detected by  .github/copilot-instructions.md, .github/agents, .github/instructions, .github/copilot; none is here

    Cursor (cursor), selected
      evidence     source on @cursor/sdk 1.0.32, 2026-11-30
      verified     no way is known to run it without a network
      sub-agent    enforced: a role lacks the tools that its list removes, docs; the shell stays
      detected by  .cursor, .cursorrules; none is here

    Gemini CLI (gemini-cli), selected
      evidence     ran on @google/gemini-cli 0.61.0, 2026-11-30
      verified     338 held, 2 better, 45 untried, 0 broken on 0.61.0, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list does not name, ran, if acknowledged (the role's file was
                   acknowledged in Gemini since it was last rendered)
      own process  enforced: a role lacks the tools that its list does not name, ran, if run (started by `rolecast run`);
                   `rolecast run ROLE` starts it
      detected by  GEMINI.md, .gemini; none is here

    opencode (opencode), not selected
      evidence     ran on opencode-ai 1.18.33, 2026-11-30
      verified     359 held, 2 better, 26 untried, 0 broken on 1.18.33, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list does not name, ran
      own process  enforced: a role lacks the tools that its list does not name, ran, if run (started by `rolecast run`);
                   `rolecast run ROLE` starts it
      detected by  opencode.json, opencode.jsonc, .opencode; none is here

    Qwen Code (qwen-code), not selected
      evidence     ran on @qwen-code/qwen-code 0.24.4, 2026-11-30
      verified     192 held, 15 untried, 0 broken on 0.24.4, 2026-11-30 (shipped)
      sub-agent    enforced: a role lacks the tools that its list does not name, ran
      detected by  QWEN.md, .qwen; none is here

    TSUKA (tsuka), not selected
      evidence     source on TSUKA 0.6.0, 2026-11-30
      verified     no way is known to run it without a network
      sub-agent    hidden: a role lacks the tools that its list does not name, source, if valid-json (the role's file is
                   JSON that can be parsed, which `rolecast check` looks at); a call of a tool that is not listed runs all
                   the same, after the question that its risk asks; `always` on one restricted call answers it for all of
                   them
      detected by  .tsuka; none is here
    ");
}

#[test]
fn json_tells_which_are_selected_and_which_left_traces_here() {
    let repo = Repo::with("version: 1\nhosts: { codex: {} }\n").file("GEMINI.md", "mine\n");
    let hosts = repo.json(&["hosts"]);
    let of = |key: &str| -> Vec<String> {
        let on = |h: &&serde_json::Value| h[key] == true || h[key].as_array().is_some_and(|a| !a.is_empty());
        let all = hosts.as_array().expect("hosts").iter().filter(on);
        all.map(|h| h["host"].as_str().expect("id").to_owned()).collect()
    };
    assert_eq!(of("selected"), ["codex"]);
    assert_eq!(of("detected"), ["gemini-cli"]);
    assert_eq!(hosts.as_array().map(Vec::len), Some(8));
}

#[test]
fn a_list_needs_no_policy() {
    let page = Repo::empty().page(&["hosts"]);
    assert!(page.contains("Claude Code (claude-code), not selected"), "{page}");
}

#[test]
fn annotations_are_refused() {
    for format in ["github", "sarif"] {
        assert_eq!(Repo::with(FIVE).run(&["hosts", "--format", format]).code, 2);
    }
}
