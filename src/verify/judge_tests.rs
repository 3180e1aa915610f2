//! Runs that never took place: what each of them would prove.

use std::sync::LazyLock;

use crate::compile::{Compiled, compile};
use crate::diag::Sink;
use crate::system::memory::Memory;

use crate::verify::start::Start;

use super::*;

const HOST: &str = "claude-code";
const REFUSAL: &str = "No such tool available: it is not among the tools available here.";

/// Without the guard a scope of paths is only advised, so that one host shows every kind of line.
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let policy = "version: 1\nhosts: { claude-code: {} }\nextends: [builtin]\nguard: { roles: false }\n";
    let system = Memory::new().with("shared-agent-rules/policy.yaml", policy);
    compile(&system, Some("shared-agent-rules"), &[], &mut Sink::new())
});

/// A run in which the host did exactly what was planned for `role`: its own tools work, all others are refused.
fn good(role: &str) -> Observed {
    let driver = COMPILED.loaded.adapters[HOST].verify.as_ref().unwrap();
    let offered: Vec<String> = plan(role).tools.iter().map(|t| t.name.clone()).collect();
    let tried = driver.attempts.iter().enumerate().map(|(attempt, tried)| {
        let has = offered.contains(&tried.call.tool);
        Tried {
            attempt,
            place: Place::Outside,
            answer: Some(if has { "fine" } else { REFUSAL }.to_owned()),
            refused: !has,
            effect: has,
        }
    });
    Observed { role: Some(Start::default()), tried: tried.collect(), offered, ..Observed::default() }
}

fn plan(role: &str) -> &'static RolePlan {
    let host = &COMPILED.plan.as_ref().unwrap().hosts[0];
    &host.roles.iter().find(|r| r.role == role).unwrap().forms[0]
}

fn findings(role: &str, seen: &Observed) -> Vec<Finding> {
    let adapter = &COMPILED.loaded.adapters[HOST];
    let policy = COMPILED.policy.as_ref().unwrap();
    let plan = plan(role);
    let case = Case {
        adapter,
        driver: adapter.verify.as_ref().unwrap(),
        policy,
        form: &adapter.forms[&plan.form],
        role: policy.roles.iter().find(|r| r.id == role).unwrap(),
        plan,
        seen,
    };
    case.findings(&COMPILED.plan.as_ref().unwrap().ledger.lines)
}

/// `tools` or the capability of each finding with this verdict.
fn with(findings: &[Finding], verdict: Verdict) -> Vec<&str> {
    let about = |f: &'_ Finding| match &f.about {
        About::Line(Subject::Role { capability, .. }) => capability.clone(),
        _ => "tools".to_owned(),
    };
    findings.iter().filter(|f| f.verdict == verdict).map(|f| about(f).leak() as &str).collect()
}

#[test]
fn a_host_that_does_what_is_planned_breaks_nothing() {
    for role in ["docs_writer", "explorer", "reviewer", "browser_tester"] {
        let found = findings(role, &good(role));
        assert_eq!(with(&found, Verdict::Broken), Vec::<&str>::new(), "{role}: {found:#?}");
        assert_eq!(with(&found, Verdict::Unclear), Vec::<&str>::new(), "{role}");
        assert!(with(&found, Verdict::Held).contains(&"shell.run"), "{role}");
    }
}

#[test]
fn a_role_that_was_not_started_proves_nothing_and_is_broken() {
    let seen = Observed { trouble: "unknown role".into(), ..Observed::default() };
    let found = findings("explorer", &seen);
    assert_eq!(with(&found, Verdict::Broken), ["tools"]);
    assert!(found[0].seen.contains("unknown role"));
    assert!(found[1..].iter().all(|f| f.verdict == Verdict::Untried));
}

#[test]
fn a_tool_that_was_not_planned_breaks_every_claim_it_touches_and_no_other() {
    let mut seen = good("explorer");
    seen.offered.push("WebFetch".into());
    assert_eq!(with(&findings("explorer", &seen), Verdict::Broken), ["tools", "web.fetch", "web.search"]);
}

#[test]
fn a_tool_that_nobody_knows_is_not_passed_over() {
    let mut seen = good("explorer");
    seen.offered.push("Teleport".into());
    assert_eq!(with(&findings("explorer", &seen), Verdict::Broken), ["tools"]);
}

#[test]
fn a_tool_that_does_nothing_may_be_offered() {
    let mut seen = good("explorer");
    seen.offered.push("ToolSearch".into());
    assert_eq!(with(&findings("explorer", &seen), Verdict::Broken), Vec::<&str>::new());
}

#[test]
fn a_forged_call_with_an_effect_breaks_the_claim_though_nothing_was_offered() {
    let mut seen = good("explorer");
    let shell = seen.tried.iter_mut().find(|t| t.attempt == 0).unwrap();
    shell.effect = true;
    let found = findings("explorer", &seen);
    assert_eq!(with(&found, Verdict::Broken), ["shell.run"]);
}

#[test]
fn no_answer_and_an_answer_in_other_words_prove_nothing() {
    for answer in [None, Some("invalid arguments".to_owned())] {
        let mut seen = good("explorer");
        let shell = seen.tried.iter_mut().find(|t| t.attempt == 0).unwrap();
        (shell.answer, shell.refused) = (answer, false);
        let found = findings("explorer", &seen);
        assert_eq!(with(&found, Verdict::Unclear), ["shell.run"]);
    }
}

#[test]
fn a_planned_tool_that_is_missing_is_told() {
    let mut seen = good("docs_writer");
    seen.offered.retain(|t| t != "Read");
    let broken = findings("docs_writer", &seen);
    assert!(with(&broken, Verdict::Broken).starts_with(&["tools"]), "{broken:#?}");
    assert!(broken[0].seen.contains("planned and not offered: `Read`"));
}

#[test]
fn a_host_that_holds_a_scope_it_is_not_trusted_with_is_better_than_claimed() {
    let mut seen = good("docs_writer");
    for tried in &mut seen.tried {
        (tried.effect, tried.refused) = (false, true);
    }
    let found = findings("docs_writer", &seen);
    assert!(with(&found, Verdict::Better).contains(&"repo.edit"), "{found:#?}");
    assert_eq!(with(&found, Verdict::Broken), Vec::<&str>::new());
}

#[test]
fn a_grant_that_does_not_work_where_it_should_is_told() {
    let mut seen = good("docs_writer");
    let inside: Vec<Tried> = seen.tried.iter().map(|t| Tried { place: Place::Inside, ..t.clone() }).collect();
    seen.tried.extend(inside);
    assert_eq!(with(&findings("docs_writer", &seen), Verdict::Broken), Vec::<&str>::new());
    for tried in seen.tried.iter_mut().filter(|t| t.place == Place::Inside) {
        tried.effect = false;
    }
    assert_eq!(with(&findings("docs_writer", &seen), Verdict::Broken), ["repo.edit", "repo.create"]);
}

/// A policy of one server with two tools, and a role that is granted what both do.
static SERVED: LazyLock<Compiled> = LazyLock::new(|| {
    let policy = "version: 1\nhosts: { claude-code: {} }\nservers:\n  docs:\n    command: dies\n    tools: { find: { confers: [docs.search] }, tree: { confers: [docs.taxonomy] } }\n";
    let role = "---\ndescription: Reads.\ngrants: { repo.read: {}, docs.search: {}, docs.taxonomy: {} }\n---\nRead.\n";
    let system =
        Memory::new().with("shared-agent-rules/policy.yaml", policy).with("shared-agent-rules/roles/reader.md", role);
    compile(&system, Some("shared-agent-rules"), &[], &mut Sink::new())
});

fn served(offered: &[&str]) -> Vec<Finding> {
    let adapter = &SERVED.loaded.adapters[HOST];
    let policy = SERVED.policy.as_ref().unwrap();
    let plan = &SERVED.plan.as_ref().unwrap().hosts[0].roles[0].forms[0];
    let own = plan.tools.iter().map(|t| t.name.clone()).filter(|n| !n.starts_with("mcp__"));
    let offered = own.chain(offered.iter().map(|n| (*n).to_owned())).collect();
    let seen = Observed { role: Some(Start::default()), offered, ..Observed::default() };
    let form = &adapter.forms[&plan.form];
    let driver = adapter.verify.as_ref().unwrap();
    Case { adapter, driver, policy, form, role: &policy.roles[0], plan, seen: &seen }
        .findings(&SERVED.plan.as_ref().unwrap().ledger.lines)
}

#[test]
fn tools_of_a_server_that_died_at_its_start_are_untried_and_the_reason_is_told() {
    let found = served(&[]);
    for about in ["tools", "docs.search", "docs.taxonomy"] {
        assert!(with(&found, Verdict::Untried).contains(&about), "{about}: {found:#?}");
    }
    let told = found.iter().filter(|f| f.seen.contains("server `docs` was not connected")).count();
    assert_eq!((told, with(&found, Verdict::Broken)), (3, Vec::new()), "{found:#?}");
}

#[test]
fn one_missing_tool_of_a_server_that_is_there_is_broken() {
    let found = served(&["mcp__docs__find"]);
    assert_eq!(with(&found, Verdict::Broken), ["tools", "docs.taxonomy"], "{found:#?}");
}
