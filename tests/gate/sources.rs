//! Exit code 3: sources that are no policy. Each says where, shows it, and leaves the last good output alone.

use std::process::Command;

use crate::support::{HOSTS, POLICY, Project, assert_same, ended, smallest};

const ROLE: &str = "---\ndescription: d\ngrants:\n  repo.read: {}\n---\nbody\n";

/// A rendered project, broken by `break_it`: render and check both exit 3, say `words`, and nothing changes.
#[track_caller]
fn refused(break_it: impl Fn(&Project), words: &[&str]) {
    let project = Project::of(&["claude-code", "codex"]);
    project.write("shared-agent-rules/roles/mine.md", ROLE);
    project
        .write("shared-agent-rules/house.md", "---\ntitle: House\nactivation: always\naudience: [main]\n---\ntext\n");
    project.render();
    break_it(&project);
    for args in [&["check"][..], &["render", "--force"]] {
        project.untouched(args, 3).says(words);
    }
}

#[test]
fn every_verb_and_format_fails_alike() {
    let project = Project::rendered();
    project.append(POLICY, "budgts: {}\n");
    for args in [&["check"][..], &["render"], &["render", "--dry-run"], &["render", "--host", "codex"]] {
        project.untouched(args, 3).says(&["unknown-key", "budgts"]);
        for format in ["json", "github", "sarif"] {
            let run = project.untouched(&[args, &["--format", format][..]].concat(), 3);
            assert!(run.out.contains("unknown-key") && run.out.contains("budgts"), "{run}");
        }
        let quiet = project.untouched(&[args, &["-q"][..]].concat(), 3);
        assert!(quiet.err.contains("unknown-key"), "{quiet}");
    }
}

#[track_caller]
fn policy_refused(text: &str, words: &[&str]) {
    refused(|p| p.write(POLICY, text), words);
}

#[track_caller]
fn role_refused(text: &str, words: &[&str]) {
    refused(|p| p.write("shared-agent-rules/roles/mine.md", text), words);
}

const HEAD: &str = "version: 1\nhosts: { claude-code: {}, codex: {} }\nextends: [builtin]\n";

#[test]
fn a_missing_brace_is_shown_where_it_is_missed() {
    policy_refused(
        "version: 1\nhosts: { claude-code: {}, codex: {}\nextends: [builtin]\n",
        &["yaml-syntax", "shared-agent-rules/policy.yaml:"],
    );
}

#[test]
fn an_unknown_key_is_underlined_with_the_nearest_one() {
    policy_refused(
        &format!("{HEAD}budgts: {{}}\n"),
        &["unknown-key", "policy.yaml:4:1", "budgts: {}", "^^^^^^", "did you mean `budgets`"],
    );
    policy_refused(
        &format!("{HEAD}budgets:\n  tool-result: {{ targt: 1KiB }}\n"),
        &["unknown-key", "policy.yaml:5:18", "^^^^^", "did you mean `target`"],
    );
    policy_refused(
        &format!("{HEAD}budgets:\n  tool-resul: {{ target: 1KiB }}\n"),
        &["policy.yaml:5:3", "^^^^^^^^^^", "did you mean `tool-result`"],
    );
}

#[test]
fn a_duplicate_key_is_underlined() {
    policy_refused(
        &format!("{HEAD}budgets: {{}}\nbudgets: {{}}\n"),
        &["duplicate-key", "policy.yaml:5:1", "^^^^^^^", "`budgets`"],
    );
    role_refused(
        "---\ndescription: d\ngrants:\n  repo.read: {}\n  repo.read: {}\n---\nbody\n",
        &["duplicate-key", "roles/mine.md:5:3", "repo.read"],
    );
}

#[test]
fn a_value_of_the_wrong_kind_or_range_is_underlined() {
    policy_refused(
        &format!("{HEAD}budgets:\n  tool-result: {{ target: 12KB }}\n"),
        &["invalid-value", "policy.yaml:5:26", "12KB", "^^^^"],
    );
    policy_refused(&format!("{HEAD}budgets: []\n"), &["policy.yaml:4:10"]);
    policy_refused("version: 2\nhosts: { codex: {} }\n", &["policy-version", "policy.yaml:1:10"]);
    policy_refused("hosts: { codex: {} }\n", &["policy-version", "policy.yaml"]);
    policy_refused(
        &format!("{HEAD}budgets:\n  tool-result: {{ target: 64KiB, limit: 32KiB }}\n"),
        &["budget-order", "policy.yaml:5"],
    );
}

#[test]
fn an_unknown_host_in_the_policy_is_underlined_with_the_nearest_one() {
    policy_refused(
        "version: 1\nhosts: { claude-code: {}, codx: {} }\nextends: [builtin]\n",
        &["unknown-host", "policy.yaml:2:27", "^^^^", "did you mean `codex`"],
    );
}

#[test]
fn a_policy_without_hosts_renders_nothing_and_never_passes() {
    policy_refused("version: 1\nhosts: {}\nextends: [builtin]\n", &["no-hosts", "policy.yaml:2:1", "codex"]);
    policy_refused("version: 1\nextends: [builtin]\n", &["no-hosts", "policy.yaml", "codex"]);
    policy_refused("", &["policy-version", "policy.yaml"]);
    refused(|p| p.remove(POLICY), &["policy-missing", "shared-agent-rules"]);
}

#[test]
fn a_typo_in_a_capability_is_underlined_with_the_nearest_one() {
    role_refused(
        "---\ndescription: d\ngrants:\n  repo.raed: {}\n---\nbody\n",
        &["unknown-capability", "roles/mine.md:4:3", "^^^^^^^^^", "did you mean `repo.read`"],
    );
    role_refused(
        "---\ndescription: d\ngrants:\n  repo.read: {}\ndeny:\n  shel.run: enforced\n---\nbody\n",
        &["unknown-capability", "roles/mine.md:6:3", "did you mean `shell.run`"],
    );
    role_refused(
        "---\ndescription: d\ngrants:\n  repo.read: {}\ndeny:\n  shell.run: enforcd\n---\nbody\n",
        &["roles/mine.md:6:14", "enforcd", "did you mean `enforced`"],
    );
}

#[test]
fn tools_by_host_name_have_no_place_in_a_role() {
    role_refused(
        "---\ndescription: d\ntools: [\"Raed\"]\ngrants:\n  repo.read: {}\n---\nbody\n",
        &["unknown-key", "roles/mine.md:3:1", "tools: [\"Raed\"]", "^^^^^"],
    );
}

#[test]
fn two_roles_that_some_host_writes_alike_are_refused() {
    refused(
        |p| {
            p.write("shared-agent-rules/roles/a_b.md", ROLE);
            p.write("shared-agent-rules/roles/a-b.md", ROLE);
        },
        &["duplicate-role", "roles/a_b.md", "a-b"],
    );
    refused(|p| p.write("shared-agent-rules/roles/Mine.md", ROLE), &["roles/Mine.md"]);
    refused(|p| p.write("shared-agent-rules/roles/doc s.md", ROLE), &["role-name", "roles/doc s.md"]);
}

#[test]
fn a_role_or_rule_without_complete_front_matter_is_refused() {
    role_refused("body only\n", &["front-matter", "roles/mine.md"]);
    role_refused("---\ndescription: d\n", &["front-matter", "roles/mine.md"]);
    role_refused("---\ndescription: d\ngrants:\n  repo.read: {}\n---\n", &["role-empty", "roles/mine.md"]);
    role_refused("---\ngrants:\n  repo.read: {}\n---\nbody\n", &["missing-key", "roles/mine.md", "description"]);
    refused(|p| p.write("shared-agent-rules/house.md", "text\n"), &["front-matter", "shared-agent-rules/house.md"]);
    refused(
        |p| p.write("shared-agent-rules/house.md", "---\ntitle: t\nactivation: alway\n---\nx\n"),
        &["house.md:3:13", "alway", "did you mean `always`"],
    );
}

#[test]
fn text_that_is_not_utf8_names_the_byte() {
    refused(
        |p| p.write("shared-agent-rules/house.md", b"---\ntitle: t\nactivation: always\n---\ncaf\xe9\n"),
        &["encoding", "house.md:5:4", "UTF-8"],
    );
    refused(|p| p.write("shared-agent-rules/house.md", b"\xff\xfe-\0-\0-\0\n\0"), &["encoding", "house.md", "UTF-16"]);
    refused(
        |p| p.write("shared-agent-rules/roles/mine.md", "---\ndescription: d\n---\na\0b\n"),
        &["encoding", "mine.md:4:2", "NUL"],
    );
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let project = Project::of(&["codex"]);
    project.write(POLICY, format!("\u{feff}{}", smallest(&["codex"])));
    project.write("shared-agent-rules/roles/mine.md", format!("\u{feff}{ROLE}"));
    project.render();
    project.clean();
    assert!(!project.text(".codex/agents/mine.toml").contains('\u{feff}'));
}

#[test]
fn a_source_of_sixty_megabytes_is_refused_in_little_memory() {
    let project = Project::of(&HOSTS);
    project.write("shared-agent-rules/roles/mine.md", ROLE);
    project.render();
    let before = project.tree();
    for name in ["shared-agent-rules/big.md", "shared-agent-rules/big.yaml", "shared-agent-rules/roles/big.md"] {
        project.write(name, vec![b'a'; 60 << 20]);
        for verb in ["check", "render"] {
            // 100 MB of address space, of which the program itself and its libraries take the most.
            let script = format!("ulimit -v 100000; exec {:?} {verb}", env!("CARGO_BIN_EXE_rolecast"));
            let mut command = Command::new("bash");
            command.args(["-c", &script]).current_dir(project.path()).env_clear();
            ended(command, &[verb]).exits(3).says(&["encoding", name, "62914560"]);
        }
        project.remove(name);
    }
    assert_same(&project.tree(), &before, "the last good output changed");
}

#[test]
fn a_user_file_of_sixty_megabytes_is_refused_in_little_memory() {
    let project = Project::of(&["codex", "claude-code"]);
    project.write("AGENTS.md", vec![b'a'; 60 << 20]);
    let script = format!("ulimit -v 200000; exec {:?} render", env!("CARGO_BIN_EXE_rolecast"));
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(project.path()).env_clear();
    let run = ended(command, &["render"]);
    assert!(matches!(run.code, 3 | 4), "{run}");
    run.says(&["AGENTS.md"]);
    assert!(!project.has(".codex") && !project.has(".claude"));
}

#[test]
fn nesting_and_aliases_without_bound_are_refused() {
    policy_refused(&format!("{HEAD}budgets: {}\n", "[".repeat(100_000)), &["policy.yaml"]);
    let mut bomb = format!("{HEAD}x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n");
    for n in 1..12 {
        let before = vec![format!("*x{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("x{n}: &x{n} [{before}]\n"));
    }
    policy_refused(&bomb, &["policy.yaml"]);
}

#[test]
fn a_file_that_would_be_ignored_is_refused() {
    refused(|p| p.write("shared-agent-rules/more.yml", "budgets: {}\n"), &["unread-file", "more.yml"]);
}

#[test]
fn one_section_in_two_files_is_refused() {
    refused(
        |p| {
            p.write(POLICY, format!("{HEAD}budgets: {{}}\n"));
            p.write("shared-agent-rules/more.yaml", "budgets: {}\n");
        },
        &["duplicate-section", "budgets"],
    );
}

#[test]
fn all_faults_are_shown_at_once() {
    refused(
        |p| {
            p.write("shared-agent-rules/roles/mine.md", "---\ndescription: d\ngrants:\n  repo.raed: {}\n---\nb\n");
            p.write("shared-agent-rules/roles/other.md", "---\ndescription: d\ngrants:\n  repo.serch: {}\n---\nb\n");
        },
        &["roles/mine.md:4:3", "roles/other.md:4:3"],
    );
}

#[test]
fn sources_that_lead_out_of_the_root_are_refused() {
    let outside = Project::new();
    outside.write("secret.md", ROLE);
    refused(
        |p| std::os::unix::fs::symlink(outside.at("secret.md"), p.at("shared-agent-rules/roles/x.md")).unwrap(),
        &["source-unreadable", "roles/x.md"],
    );
    refused(
        |p| std::os::unix::fs::symlink("nowhere", p.at("shared-agent-rules/roles/x.md")).unwrap(),
        &["source-unreadable", "roles/x.md"],
    );
    for named in ["../x", "/etc", "a/../../x"] {
        policy_refused(&format!("{HEAD}layout: {{ roles: {named:?} }}\n"), &["path-outside", "policy.yaml:4:"]);
        policy_refused(
            &format!("version: 1\nhosts: {{ codex: {{}} }}\nextends: [{named:?}]\n"),
            &["path-outside", "policy.yaml:3:"],
        );
    }
}

#[test]
fn a_denial_that_a_host_cannot_hold_stops_the_compilation() {
    role_refused(
        "---\ndescription: d\ngrants:\n  repo.read: {}\ndeny:\n  shell.run: enforced\n---\nbody\n",
        &["deny-not-held", "roles/mine.md:6:3", "Codex", "shell.run"],
    );
}

#[test]
fn a_literal_secret_is_refused_and_not_repeated() {
    let text = format!("{HEAD}servers:\n  s:\n    command: x\n    env: {{ TOKEN: sk-live-1234567890 }}\n");
    policy_refused(&text, &["policy.yaml:7:"]);
}
