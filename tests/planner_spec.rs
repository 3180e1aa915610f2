//! The planner against tool lists and ledgers that were worked out by hand before it existed.

use indexmap::IndexMap;
use rolecast::compile::{Compiled, compile};
use rolecast::diag::{Sink, SourceId};
use rolecast::plan::ledger::{Line, Subject};
use rolecast::system::memory::Memory;
use serde_json::{Value, json};

const POLICY: &str = "version: 1\nhosts: { claude-code: {}, codex: {}, copilot: {}, cursor: {}, gemini-cli: {}, opencode: {}, qwen-code: {}, tsuka: {} }\nextends: [builtin]\n";

fn shipped() -> Compiled {
    let system = Memory::new().with("shared-agent-rules/policy.yaml", POLICY);
    let mut sink = Sink::new();
    let compiled = compile(&system, Some("shared-agent-rules"), &[], &mut sink);
    let found: Vec<String> = sink.iter().map(|d| format!("{}: {}", d.code.id(), d.message)).collect();
    assert!(!sink.has_errors(), "{found:#?}");
    compiled
}

type Roles = IndexMap<String, Value>;

#[test]
fn every_role_gets_the_tools_and_the_ledger_that_its_host_allows() {
    let compiled = shipped();
    let plan = compiled.plan.as_ref().unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for host in &plan.hosts {
        let path = format!("{}/tests/planner-spec/{}.yaml", env!("CARGO_MANIFEST_DIR"), host.host);
        let text = std::fs::read_to_string(&path).unwrap();
        let spec: IndexMap<String, Roles> = rolecast::yaml::parse(&text, SourceId(0), 0).unwrap();
        for (form, roles) in &spec {
            // Another form of the same files names only what differs, for every role.
            let roles: Roles = match (roles.get("like"), roles.get("every-role")) {
                (Some(other), Some(lines)) => spec[other.as_str().unwrap()]
                    .iter()
                    .map(|(role, same)| (role.clone(), json!({ "list": same["list"], "lines": lines })))
                    .collect(),
                _ => roles.clone(),
            };
            assert_eq!(roles.len(), 5, "{path}");
            for (role, expected) in &roles {
                let place = format!("{} {form} {role}", host.host);
                let on_host = host.roles.iter().find(|r| r.role == *role).unwrap();
                let own = on_host.forms.iter().find(|f| f.form == *form).unwrap_or_else(|| panic!("no form: {place}"));
                for (key, found) in [("list", &own.list), ("removed", &own.removed), ("inform", &own.inform)] {
                    if let Some(want) = expected.get(key).filter(|w| !w.is_null()) {
                        if *want != json!(found) {
                            wrong.push(format!("{place}: {key} is {found:?}, not {want}"));
                        }
                        seen += 1;
                    }
                }
                seen += ledger(&compiled, &place, form, role, expected, &host.host, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 1200, "only {seen} expectations");
}

/// Holds every capability's line against the expectation that names it, or `rest`.
fn ledger(
    compiled: &Compiled,
    place: &str,
    form: &str,
    role: &str,
    expected: &Value,
    host: &str,
    wrong: &mut Vec<String>,
) -> usize {
    let named = expected["lines"].as_object().cloned().unwrap_or_default();
    let lines = compiled.plan.as_ref().unwrap().ledger.lines.iter().filter_map(|line| match &line.subject {
        Subject::Role { role: r, form: f, capability } if r == role && f == form && line.host == host => {
            Some((capability, line))
        }
        _ => None,
    });
    let mut seen = 0;
    for (capability, line) in lines {
        let family = format!("{}.*", capability.split('.').next().unwrap());
        let want = named.get(capability).or_else(|| named.get(&family)).unwrap_or(&expected["rest"]);
        if want.is_null() {
            continue;
        }
        seen += 1;
        if let Some(why) = differs(line, want) {
            wrong.push(format!("{place} {capability}: {why} ({})", line.reason));
        }
    }
    seen
}

fn differs(line: &Line, want: &Value) -> Option<String> {
    let word = |v: &Value| v.as_str().map(str::to_owned);
    let found = serde_json::to_value(line).unwrap();
    for (key, own) in [("state", "state"), ("guarantee", "guarantee"), ("evidence", "evidence"), ("by", "limited-by")] {
        let want = word(&want[key]);
        let own = word(&found[own]);
        let checked = key == "state" || want.is_some() || (key == "guarantee" && want != own);
        if checked && want != own {
            return Some(format!("{key} is {own:?}, not {want:?}"));
        }
    }
    if let Some(conditions) = want["conditions"].as_array()
        && *conditions != json!(line.conditions).as_array().unwrap().clone()
    {
        return Some(format!("conditions are {:?}, not {conditions:?}", line.conditions));
    }
    for tool in want["tools"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !line.reason.contains(&format!("`{tool}`")) {
            return Some(format!("`{tool}` is not named"));
        }
    }
    None
}

/// The line of `docs_writer` in the form that is started as a process.
fn started<'a>(compiled: &'a Compiled, host: &str, form: &str, capability: &str) -> &'a Line {
    let about = |l: &&Line| {
        let subject = Subject::Role { role: "docs_writer".into(), form: form.into(), capability: capability.into() };
        l.host == host && l.subject == subject
    };
    compiled.plan.as_ref().unwrap().ledger.lines.iter().find(about).unwrap()
}

#[test]
fn a_started_process_holds_paths_as_far_as_its_host_does_and_says_what_stays_open() {
    let compiled = shipped();
    for (host, form, capability, guarantee, conditions, words) in [
        (
            "codex",
            "process",
            "repo.create",
            "enforced",
            &["run", "no-servers", "no-allow-rules"][..],
            "cannot be left out",
        ),
        (
            "codex",
            "process",
            "repo.edit",
            "enforced",
            &["run", "no-servers", "no-allow-rules"],
            "`README.md` cannot be opened here",
        ),
        // What is written into an open folder may be an instruction file of a folder.
        (
            "codex",
            "process",
            "policy.edit",
            "advised",
            &["run"],
            "only text forbids it in `docs/**`, and elsewhere it is refused",
        ),
        ("gemini-cli", "process", "repo.edit", "enforced", &["run", "session-allows"], "a symbolic link"),
        ("gemini-cli", "process", "policy.edit", "enforced", &["run"], "a symbolic link"),
        ("claude-code", "main", "repo.edit", "guarded", &["in-root", "on-path"], "a hook that exceeds its time"),
        ("claude-code", "subagent", "repo.edit", "guarded", &["in-root", "on-path"], "a hook that exceeds its time"),
        // A main agent has no name in what its hooks are told.
        ("copilot", "main", "repo.edit", "advised", &[], "nothing that is rendered here can narrow it"),
        ("opencode", "process", "repo.edit", "enforced", &["run", "git-root", "no-patches"], "a symbolic link"),
    ] {
        let line = started(&compiled, host, form, capability);
        let found = serde_json::to_value(line).unwrap();
        assert_eq!(found["guarantee"], guarantee, "{host} {capability}: {line:?}");
        assert_eq!(found["conditions"], json!(conditions), "{host} {capability}");
        assert!(line.reason.contains(words), "{host} {capability}: {}", line.reason);
    }
}

#[test]
fn only_what_a_hook_sees_of_every_tool_is_guarded() {
    let compiled = shipped();
    let policy = compiled.policy.as_ref().unwrap();
    let plan = compiled.plan.as_ref().unwrap();
    let mut guarded = 0;
    for line in &plan.ledger.lines {
        let Subject::Role { role, form, capability } = &line.subject else { continue };
        if serde_json::to_value(line).unwrap()["guarantee"] != "guarded" {
            continue;
        }
        guarded += 1;
        let host = plan.hosts.iter().find(|h| h.host == line.host).unwrap();
        let on_host = host.roles.iter().find(|r| r.role == *role).unwrap();
        let kept = on_host.forms.iter().find(|f| f.form == *form).unwrap();
        let hook = compiled.loaded.adapters[&line.host].hook.as_ref().unwrap();
        let cap = policy.catalogue.find(capability).unwrap();
        for tool in kept.tools.iter().filter(|t| t.confers.has(cap)) {
            let seen = hook.sees(&tool.name, rolecast::model::capability::ScopeKind::Paths);
            assert!(seen, "{} {role} {form}: {capability} by {}", line.host, tool.name);
        }
    }
    assert!(guarded >= 10, "only {guarded} lines");
}
