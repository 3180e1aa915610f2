//! What must hold for every role on every host: random roles, denials, servers and host sets against the shipped
//! adapters, held by plain recomputation.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use rolecast::compile::{Compiled, compile};
use rolecast::diag::{Code, Severity, Sink, SourceId};
use rolecast::model::adapter::{Adapter, List, Mechanism, Narrow, Sense};
use rolecast::model::capability::{BUILTIN, ScopeKind};
use rolecast::model::scalar::{Guarantee, Risk};
use rolecast::plan::ledger::{LimitedBy, Line, State, Subject};
use rolecast::plan::narrow::Said;
use rolecast::plan::offer::{self, Origin, Tool};
use rolecast::plan::role::RolePlan;
use rolecast::render::artifact::Content;
use rolecast::resolve::{CapSet, Policy};
use rolecast::system::memory::Memory;
use rolecast::text::frontmatter;

const HOSTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];
const GUARANTEES: [&str; 4] = ["enforced", "hidden", "prompted", "advised"];

#[derive(Debug, Clone)]
struct Case {
    hosts: BTreeSet<usize>,
    grants: BTreeSet<usize>,
    scoped: bool,
    deny: BTreeSet<usize>,
    guarantee: usize,
    tools: Vec<BTreeSet<usize>>,
}

fn case() -> impl Strategy<Value = Case> {
    let caps = || prop::collection::btree_set(0..BUILTIN.len(), 0..7);
    let tools = prop::collection::vec(prop::collection::btree_set(0..BUILTIN.len(), 1..4), 0..5);
    (prop::collection::btree_set(0usize..HOSTS.len(), 1..=HOSTS.len()), caps(), any::<bool>(), caps(), 0usize..4, tools)
        .prop_map(|(hosts, grants, scoped, deny, guarantee, tools)| {
            let deny = deny.difference(&grants).copied().collect();
            Case { hosts, grants, scoped, deny, guarantee, tools }
        })
}

fn name(cap: usize) -> &'static str {
    BUILTIN[cap].name
}

/// The repository of a case.
fn repository(case: &Case) -> Memory {
    // What the guard may claim is looked at by itself, in the planner's own tests.
    let mut policy = String::from("version: 1\nguard: { roles: false }\nhosts:\n");
    for host in &case.hosts {
        let _ = writeln!(policy, "  {}: {{}}", HOSTS[*host]);
    }
    if !case.tools.is_empty() {
        policy.push_str("servers:\n  srv:\n    command: srv\n    tools:\n");
        for (i, caps) in case.tools.iter().enumerate() {
            let caps: Vec<&str> = caps.iter().map(|c| name(*c)).collect();
            let _ = writeln!(policy, "      tool{i}: {{ confers: [{}] }}", caps.join(", "));
        }
    }
    let mut role = String::from("---\ndescription: Does something.\ngrants:\n");
    for cap in &case.grants {
        let paths = case.scoped && BUILTIN[*cap].scope == Some(ScopeKind::Paths);
        let scope = if paths { "{ paths: [\"docs/**\"] }" } else { "{}" };
        let _ = writeln!(role, "  {}: {scope}", name(*cap));
    }
    if case.grants.is_empty() {
        role = role.replace("grants:\n", "grants: {}\n");
    }
    if !case.deny.is_empty() {
        role.push_str("deny:\n");
        for cap in &case.deny {
            let _ = writeln!(role, "  {}: {}", name(*cap), GUARANTEES[case.guarantee]);
        }
    }
    role.push_str("---\nDo it.\n");
    Memory::new().with("shared-agent-rules/policy.yaml", policy).with("shared-agent-rules/roles/worker.md", role)
}

fn lines<'a>(compiled: &'a Compiled, host: &str, form: &str) -> Vec<(&'a str, &'a Line)> {
    let all = &compiled.plan.as_ref().unwrap().ledger.lines;
    all.iter()
        .filter(|l| l.host == host)
        .filter_map(|line| match &line.subject {
            Subject::Role { form: f, capability, .. } if f == form => Some((capability.as_str(), line)),
            _ => None,
        })
        .collect()
}

fn set(policy: &Policy, caps: impl IntoIterator<Item = usize>) -> CapSet {
    caps.into_iter().filter_map(|c| policy.catalogue.find(name(c))).collect()
}

/// How many random cases; `PROPTEST_CASES` asks for more of them.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(250)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_role_is_as_tight_as_its_host_allows_and_the_ledger_says_what_is_left(case in case()) {
        let mut sink = Sink::new();
        let compiled = compile(&repository(&case), Some("shared-agent-rules"), &[], &mut sink);
        let errors: Vec<Code> = sink.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
        prop_assert!(errors.iter().all(|c| *c == Code::DenyNotHeld), "{errors:?}");
        let (Some(policy), Some(plan)) = (&compiled.policy, &compiled.plan) else {
            return Err(TestCaseError::fail("no plan"));
        };
        let mut missed = false;
        for host in &plan.hosts {
            let adapter = &compiled.loaded.adapters[&host.host];
            for form in &host.roles[0].forms {
                known(adapter, form)?;
                tightest(&case, adapter, policy, form)?;
                missed |= ledger(&case, adapter, policy, form, &lines(&compiled, &host.host, &form.form))?;
            }
            rendered(&compiled, adapter, &host.roles[0].forms)?;
        }
        // The compilation fails exactly when some denial is not held by its line.
        prop_assert_eq!(missed, errors.contains(&Code::DenyNotHeld));
        prop_assert_eq!(compiled.rendered.is_some(), errors.is_empty());
    }
}

/// A tool that neither the adapter nor a server of the policy knows is never given.
fn known(adapter: &Adapter, plan: &RolePlan) -> Result<(), TestCaseError> {
    for tool in &plan.tools {
        let native = adapter.tools.contains_key(&tool.name) || adapter.inert.contains(&tool.name);
        prop_assert!(native || matches!(tool.origin, Origin::Mcp { .. }), "{}", tool.name);
    }
    Ok(())
}

/// No other set of words covers more grants, or as many with less excess: all sets of accepted excess are tried.
fn tightest(case: &Case, adapter: &Adapter, policy: &Policy, plan: &RolePlan) -> Result<(), TestCaseError> {
    let form = &adapter.forms[&plan.form];
    let list = offer::list(adapter, form).unwrap();
    let offered = offer::offer(adapter, form, list, policy);
    let grants = set(policy, case.grants.iter().copied());
    let forbidden =
        if GUARANTEES[case.guarantee] == "advised" { CapSet::EMPTY } else { set(policy, case.deny.iter().copied()) };
    let risky = |caps: CapSet| {
        let (d, r) = (policy.catalogue.of_risk(Risk::Dangerous), policy.catalogue.of_risk(Risk::Restricted));
        (caps.and(d).without(grants), caps.and(r).without(grants))
    };
    let base = offered.fixed.iter().fold(CapSet::EMPTY, |all, t| all.union(t.confers));
    let base_covers = offered.fixed.iter().fold(CapSet::EMPTY, |all, t| all.union(t.covers));
    let words: Vec<(CapSet, CapSet)> = offered
        .words
        .iter()
        .map(|w| (w.selector.covers, w.selector.confers))
        .filter(|(covers, confers)| !covers.and(grants).is_empty() && confers.and(forbidden).is_empty())
        .collect();
    let excess = |confers: CapSet| {
        let (d, r) = risky(confers);
        d.union(r)
    };
    let mut masks: Vec<CapSet> = words.iter().map(|(_, confers)| excess(*confers).without(excess(base))).collect();
    masks.sort_by_key(|m| m.0);
    masks.dedup();
    prop_assume!(masks.len() <= 14);
    let worth = |covers: CapSet, confers: CapSet| {
        let (d, r) = risky(confers);
        (-i64::from(covers.and(grants).len()), d.len(), r.len())
    };
    let best = (0u32..1 << masks.len())
        .map(|bits| {
            let union = masks
                .iter()
                .enumerate()
                .filter(|(i, _)| bits & (1 << i) != 0)
                .fold(CapSet::EMPTY, |all, (_, m)| all.union(*m));
            let inside = words.iter().filter(|(_, confers)| excess(*confers).without(excess(base)).within(union));
            let (covers, confers) = inside.fold((base_covers, base), |(a, b), (c, d)| (a.union(*c), b.union(*d)));
            worth(covers, confers)
        })
        .min();
    let own =
        plan.tools.iter().fold((CapSet::EMPTY, CapSet::EMPTY), |(a, b), t| (a.union(t.covers), b.union(t.confers)));
    prop_assert_eq!(Some(worth(own.0, own.1)), best, "{} {}: {:?}", adapter.id, plan.form, plan.list);
    Ok(())
}

/// Each capability has one line that says what really holds; returns whether a denial is missed.
fn ledger(
    case: &Case,
    adapter: &Adapter,
    policy: &Policy,
    plan: &RolePlan,
    lines: &[(&str, &Line)],
) -> Result<bool, TestCaseError> {
    prop_assert_eq!(lines.len(), policy.catalogue.ids().count());
    let list = offer::list(adapter, &adapter.forms[&plan.form]).unwrap();
    let session = list.mcp == rolecast::model::adapter::ListMcp::Session;
    let mut missed = false;
    for (index, (capability, line)) in lines.iter().enumerate() {
        let cap = policy.catalogue.find(capability).unwrap();
        let conferred = plan.tools.iter().any(|t| t.confers.has(cap));
        let granted = case.grants.contains(&index);
        let state = match (granted, conferred) {
            (true, true) => State::Granted,
            (true, false) => State::Unreachable,
            (false, _) => State::Denied,
        };
        prop_assert_eq!(line.state, state, "{}: {}", adapter.id, capability);
        // Whatever a kept tool confers is text unless rules in the role's file refuse it, and so is what an unseen
        // server may bring.
        let by: Vec<&Tool> = plan.tools.iter().map(AsRef::as_ref).filter(|t: &&Tool| t.confers.has(cap)).collect();
        let rules = rules(adapter, &plan.form);
        let refused = rules.is_some_and(|r| r.refuse(case, policy, capability, &by));
        let open = (conferred && !refused) || (session && policy.catalogue.get(cap).via_mcp);
        let outside = outside(adapter, &plan.form).filter(|_| conferred && state != State::Unreachable);
        if let Some(narrow) = outside {
            prop_assert!(confined(narrow, line, BUILTIN[index].scope, &by), "{}: {line:?}", adapter.id);
        } else if !granted {
            let expected = if open { Guarantee::Advised } else { list.claim.guarantee };
            prop_assert_eq!(line.guarantee, Some(expected), "{}: {}", adapter.id, capability);
        }
        let policy_too = case.grants.contains(&index_of("policy.edit"));
        if outside.is_none() && granted && conferred && BUILTIN[index].scope == Some(ScopeKind::Paths) {
            // All scopes of a case are the same globs, so that no word opens more than a scope.
            let held = rules.is_some_and(|r| r.see(&by));
            let expected = match (case.scoped || !policy_too, held) {
                (false, _) => None,
                (true, true) => Some(Guarantee::Enforced),
                (true, false) => Some(Guarantee::Advised),
            };
            let person = expected.is_none() && asked(line, &by);
            prop_assert!(person || line.guarantee == expected, "{}: {line:?}", adapter.id);
        }
        prop_assert!(
            list.claim.conditions.iter().all(|c| line.conditions.contains(c)),
            "{}: {}",
            adapter.id,
            capability
        );
        if case.deny.contains(&index) {
            let wanted: Guarantee = serde_json::from_value(GUARANTEES[case.guarantee].into()).unwrap();
            let known = line.evidence != rolecast::model::scalar::EvidenceKind::Docs || wanted != Guarantee::Enforced;
            let closed = wanted == Guarantee::Advised
                || line
                    .conditions
                    .iter()
                    .all(|c| adapter.conditions[c].fails == rolecast::model::adapter::Fails::Closed);
            missed |= line.guarantee < Some(wanted) || !known || !closed;
        }
    }
    Ok(missed)
}

fn index_of(capability: &str) -> usize {
    BUILTIN.iter().position(|b| b.name == capability).unwrap()
}

/// Rules in the role's own file, as the adapter's data says them.
#[derive(Clone, Copy)]
struct InFile<'a> {
    adapter: &'a Adapter,
    list: &'a List,
    narrow: &'a Narrow,
}

fn rules<'a>(adapter: &'a Adapter, form: &str) -> Option<InFile<'a>> {
    let form = &adapter.forms[form];
    let list = form.list.as_ref().filter(|l| l.sense == Sense::Rules)?;
    let narrow = form.narrow.iter().find(|n| n.by == Mechanism::Rules)?;
    Some(InFile { adapter, list, narrow })
}

/// What confines a process of this form from outside of its list.
fn outside<'a>(adapter: &'a Adapter, form: &str) -> Option<&'a Narrow> {
    let form = &adapter.forms[form];
    let in_list = form.list.as_ref().is_some_and(|l| l.sense == Sense::Rules);
    let by = |n: &&Narrow| matches!(n.by, Mechanism::Rules | Mechanism::Sandbox);
    form.narrow.iter().find(by).filter(|_| form.launch.is_some() && !in_list)
}

/// A grant for which every tool of a server asks a person first.
fn asked(line: &Line, by: &[&Tool]) -> bool {
    let mut servers = by.iter().filter(|t| t.origin != Origin::Native).peekable();
    let asks = servers.peek().is_some() && servers.all(|t| t.asks());
    line.state == State::Granted && line.limited_by == Some(LimitedBy::Approval) && asks
}

/// A limit that is more than text is no stronger than what confines the process, and that sees every tool in question.
fn confined(narrow: &Narrow, line: &Line, kind: Option<ScopeKind>, by: &[&Tool]) -> bool {
    let seen = by.iter().all(|t| t.origin == Origin::Native && narrow.tools.contains(&t.name));
    let path = kind == Some(ScopeKind::Paths) || line.limited_by == Some(LimitedBy::Path);
    asked(line, by)
        || line.guarantee <= Some(Guarantee::Advised)
        || (seen && path && line.guarantee == Some(narrow.claim.guarantee))
}

impl InFile<'_> {
    /// Whether the patterns see every one of these tools.
    fn see(&self, tools: &[&Tool]) -> bool {
        tools.iter().all(|t| t.origin == Origin::Native && self.narrow.tools.contains(&t.name))
    }

    /// Whether calls of all these tools are refused where the capability is not granted.
    fn refuse(&self, case: &Case, policy: &Policy, capability: &str, tools: &[&Tool]) -> bool {
        let after = &self.list.rules.as_ref().unwrap().after;
        let taken = |tool: &Tool| {
            tool.origin == Origin::Native
                && after.iter().any(|a| a.unless.as_deref() == Some(capability) && a.tools.contains(&tool.name))
        };
        if tools.iter().all(|t| taken(t)) {
            return !tools.is_empty();
        }
        let scoped = policy.catalogue.get(policy.catalogue.find(capability).unwrap()).scope == Some(ScopeKind::Paths);
        // A word that is kept opens the paths of whatever is granted of what it covers.
        let opens = |tool: &Tool| {
            let word = self.list.selectors.values().find(|tools| tools.contains(&tool.name)).unwrap();
            let covers = word.iter().filter_map(|t| self.adapter.tools.get(t)).flat_map(|t| &t.covers);
            covers.map(|c| index_of(c)).any(|c| BUILTIN[c].scope == Some(ScopeKind::Paths) && case.grants.contains(&c))
        };
        self.see(tools) && (capability == "policy.edit" || (scoped && !tools.iter().any(|t| opens(t))))
    }
}

/// The file says exactly what was planned, and never leaves the list out.
fn rendered(compiled: &Compiled, adapter: &Adapter, plans: &[RolePlan]) -> Result<(), TestCaseError> {
    let Some(rendered) = &compiled.rendered else { return Ok(()) };
    let path = adapter.outputs["role"].file.replace("{name}", "worker");
    let artifact = rendered.artifacts.iter().find(|a| a.path == path).unwrap();
    let Content::Whole(text) = &artifact.content else { return Err(TestCaseError::fail("not whole")) };
    let plan = &plans[0];
    let list = adapter.forms[&plan.form].list.as_ref().unwrap();
    if path.ends_with(".toml") {
        let document: toml_edit::DocumentMut = text.parse().unwrap();
        let off = document.get("features").and_then(|f| f.get("shell_tool")).and_then(toml_edit::Item::as_bool);
        prop_assert_eq!(off, plan.removed.contains(&"shell".to_owned()).then_some(false));
    } else if path.ends_with(".json") {
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        prop_assert_eq!(&file["allowedTools"], &serde_json::json!(plan.list));
    } else if list.sense == Sense::Rules {
        let head: serde_json::Value =
            rolecast::yaml::parse(frontmatter::split(text).unwrap().yaml, SourceId(0), 0).unwrap();
        let rules = flattened(&head["permission"]);
        let planned = plan.permissions.iter().flat_map(|p| match &p.said {
            Said::Always(verdict) => vec![(p.word.clone(), "*".to_owned(), verdict.clone())],
            Said::By(map) => map.iter().map(|(at, verdict)| (p.word.clone(), at.clone(), verdict.clone())).collect(),
        });
        prop_assert_eq!(&rules, &planned.collect::<Vec<_>>());
        decides(adapter, list, plan, &rules, compiled)?;
    } else if list.sense == Sense::Deny {
        let head = frontmatter::split(text).unwrap().yaml;
        let tools = head.lines().find_map(|l| l.strip_prefix("tools:")).unwrap().trim();
        prop_assert_eq!(tools, plan.inform.join(", "));
        prop_assert_eq!(head.lines().any(|l| l == "readonly: true"), plan.removed.contains(&"readonly".to_owned()));
    } else {
        let head: serde_json::Value =
            rolecast::yaml::parse(frontmatter::split(text).unwrap().yaml, SourceId(0), 0).unwrap();
        prop_assert_eq!(&head["tools"], &serde_json::json!(plan.list));
    }
    Ok(())
}

type Rule = (String, String, String);

/// An ordered map of verdicts, one rule a line.
fn flattened(map: &serde_json::Value) -> Vec<Rule> {
    let mut all = Vec::new();
    for (word, said) in map.as_object().unwrap() {
        match said.as_str() {
            Some(verdict) => all.push((word.clone(), "*".to_owned(), verdict.to_owned())),
            None => all.extend(
                said.as_object()
                    .unwrap()
                    .iter()
                    .map(|(at, v)| (word.clone(), at.clone(), v.as_str().unwrap().to_owned())),
            ),
        }
    }
    all
}

/// What the last rule that fits says; `*` is any text.
fn last_match<'r>(rules: &'r [Rule], word: &str, with: &str) -> &'r str {
    fn fits(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some(b'*'), _) => fits(&pattern[1..], text) || (!text.is_empty() && fits(pattern, &text[1..])),
            (Some(a), Some(b)) if a == b => fits(&pattern[1..], &text[1..]),
            _ => false,
        }
    }
    let fit = |(w, at, _): &&Rule| fits(w.as_bytes(), word.as_bytes()) && fits(at.as_bytes(), with.as_bytes());
    rules.iter().rfind(fit).map_or("allow", |(_, _, verdict)| verdict)
}

/// The rules let through exactly the planned tools, the scope's paths, and nothing of ours.
fn decides(
    adapter: &Adapter,
    list: &List,
    plan: &RolePlan,
    rules: &[Rule],
    compiled: &Compiled,
) -> Result<(), TestCaseError> {
    for (word, tools) in &list.selectors {
        let kept = tools.iter().all(|t| plan.tools.iter().any(|p| p.name == *t));
        let some = ["x", "docs/a.md", "src/a.rs"].iter().any(|with| last_match(rules, word, with) == "allow");
        prop_assert_eq!(some, kept, "{}: {} {:?}", adapter.id, word, rules);
    }
    prop_assert_eq!(last_match(rules, "a-tool-of-no-policy", "x"), "deny");
    let policy = compiled.policy.as_ref().unwrap();
    let grant = |name: &str| policy.roles[0].grants.get(&policy.catalogue.find(name).unwrap());
    let writes: Vec<_> = ["repo.edit", "repo.create", "repo.delete"].into_iter().filter_map(grant).collect();
    let everywhere = writes.iter().any(|scope| scope.paths.is_none());
    prop_assert_eq!(
        last_match(rules, "edit", "src/a.rs") == "allow",
        plan.list.iter().any(|w| w == "edit") && everywhere
    );
    if plan.list.iter().any(|w| w == "edit") && grant("policy.edit").is_none() {
        let ours = compiled.rendered.iter().flat_map(|r| &r.artifacts).map(|a| a.path.as_str());
        for path in ours.chain(["shared-agent-rules/rolecast.lock", "docs/deep/AGENTS.md", ".opencode/plugin/x.ts"]) {
            prop_assert_eq!(last_match(rules, "edit", path), "deny", "{}", path);
        }
    }
    Ok(())
}
