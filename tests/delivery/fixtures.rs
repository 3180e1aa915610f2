//! The shipped adapters and small rule sets.

use std::path::PathBuf;

use rolecast::diag::SourceId;
use rolecast::model::adapter::{Adapter, Agent, Inherit};
use rolecast::plan::delivery::{Delivery, Finding, HostInput, Input, Kind, RuleInfo, Text, UserFile, plan};

use crate::simulator::{Got, Repository};

/// Those that take instruction files by themselves.
pub const HOSTS: [&str; 7] = ["claude-code", "codex", "cursor", "copilot", "gemini-cli", "opencode", "qwen-code"];

pub fn shipped() -> Vec<Adapter> {
    HOSTS.iter().map(|h| adapter(h)).collect()
}

pub fn adapter(id: &str) -> Adapter {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("adapters").join(format!("{id}.yaml"));
    let text = std::fs::read_to_string(path).unwrap();
    rolecast::yaml::parse(&text, SourceId(0), 0).unwrap_or_else(|e| panic!("{id}: {e:?}"))
}

pub fn rule(id: &str, activation: Kind, main: bool, roles: bool) -> RuleInfo {
    RuleInfo { id: id.into(), activation, main, roles }
}

/// Two of everything for both audiences, and one of everything for roles only.
pub fn rules() -> Vec<RuleInfo> {
    vec![
        rule("core", Kind::Always, true, true),
        rule("web", Kind::Paths, true, true),
        rule("browser", Kind::OnDemand, true, true),
        rule("returning", Kind::Always, false, true),
        rule("api", Kind::Paths, true, true),
        rule("fixtures", Kind::Paths, false, true),
        rule("late", Kind::OnDemand, false, true),
    ]
}

pub fn file(path: &str) -> UserFile {
    UserFile { path: path.into(), imports: vec![], link_to: None, bytes: 100 }
}

pub fn importing(path: &str, target: &str) -> UserFile {
    UserFile { imports: vec![target.into()], ..file(path) }
}

pub fn link(path: &str, target: &str) -> UserFile {
    UserFile { link_to: Some(target.into()), bytes: 0, ..file(path) }
}

pub fn input<'a>(adapters: &[&'a Adapter], rules: &'a [RuleInfo], user: &'a [UserFile]) -> Input<'a> {
    let hosts = adapters.iter().map(|a| HostInput { adapter: a, wants_card: true, has_roles: true }).collect();
    Input { hosts, rules, roles: &[], user }
}

/// The planner's numbers are the simulator's.
pub fn assert_counts(input: &Input, plan: &Delivery) -> Result<(), String> {
    let repository = Repository::rendered(input, plan);
    for (host, delivered) in input.hosts.iter().zip(&plan.hosts) {
        let id = &host.adapter.id;
        let main = repository.main(host.adapter);
        let check = |what: String, claimed: rolecast::plan::delivery::Reach| {
            let got = main.get(&what).copied().unwrap_or(0);
            let roles = if host.has_roles { repository.role(host.adapter, &what) } else { (0, 0) };
            let claim = (claimed.main.min, claimed.main.max, claimed.roles.min, claimed.roles.max);
            if claim == (got, got, roles.0, roles.1) {
                Ok(())
            } else {
                Err(format!("{id}: {what} is claimed {claim:?} and comes {got} times, to roles {roles:?}"))
            }
        };
        for (rule, reach) in input.rules.iter().zip(&delivered.arrivals) {
            check(format!("[rule {}]", rule.id), *reach)?;
        }
        check(format!("[card {id}]"), delivered.card_arrivals)?;
    }
    Ok(())
}

/// Every text comes exactly once to main agent and role, on hosts that do not leave it open.
pub fn assert_exactly_once(input: &Input, plan: &Delivery) {
    let repository = Repository::rendered(input, plan);
    for host in &input.hosts {
        let id = &host.adapter.id;
        let main = repository.main(host.adapter);
        for rule in input.rules {
            let marker = format!("[rule {}]", rule.id);
            assert_eq!(main.get(&marker).copied().unwrap_or(0), u32::from(rule.main), "{id} main: {marker}\n{plan:#?}");
            let most = if host.adapter.subagents.inherit == Inherit::Unknown && rule.main { 2 } else { 1 };
            let (min, max) = repository.role(host.adapter, &marker);
            assert!(min == 1 && max <= most, "{id} role: {marker} {min}–{max}\n{plan:#?}");
        }
        assert_eq!(main.get(&format!("[card {id}]")), Some(&1), "{id}: card\n{plan:#?}");
        for other in input.hosts.iter().filter(|o| o.adapter.id != *id) {
            assert_eq!(main.get(&format!("[card {}]", other.adapter.id)), None, "{id} gets another card\n{plan:#?}");
        }
    }
}

/// Text of the user that a host takes today is still taken, and as often.
pub fn assert_user_text_kept(input: &Input, plan: &Delivery) {
    let (before, after) = (Repository::of_user(input), Repository::rendered(input, plan));
    for host in &input.hosts {
        let (was, is) = (before.main(host.adapter), after.main(host.adapter));
        for (marker, times) in was {
            assert_eq!(is.get(&marker), Some(&times), "{}: {marker}\n{plan:#?}", host.adapter.id);
        }
    }
}

pub fn paths(plan: &Delivery) -> Vec<&str> {
    plan.files.iter().map(|f| f.path.as_str()).collect()
}

pub fn planned(input: &Input) -> Delivery {
    let plan = plan(input);
    assert_counts(input, &plan).unwrap();
    plan
}

/// What does not come once to a main agent is among the findings, text by text.
pub fn assert_reported(input: &Input, plan: &Delivery) -> Result<(), String> {
    let (before, after) = (Repository::of_user(input), Repository::rendered(input, plan));
    for host in &input.hosts {
        let id = &host.adapter.id;
        let (was, is) = (before.main(host.adapter), after.main(host.adapter));
        let times = |got: &Got, marker: &str| got.get(marker).copied().unwrap_or(0);
        let said = |what: String, wrong: bool, is_it: &dyn Fn(&Finding) -> bool| match plan.findings.iter().any(is_it) {
            said if said == wrong => Ok(()),
            said => Err(format!("{id}: {what}: wrong {wrong}, reported {said}")),
        };
        let deaf = host.adapter.reads.is_empty() && host.adapter.carriers.is_empty();
        let shared = times(&is, "[shared]");
        let wanted = input.rules.iter().any(|r| r.main && r.activation != Kind::Paths);
        said(
            "shared text missing".into(),
            wanted && shared == 0 && !deaf,
            &|f| matches!(f, Finding::Never { host, agent: Agent::Main, text: Text::Shared } if host == id),
        )?;
        said(
            "that nothing comes".into(),
            deaf && input.rules.iter().any(|r| r.main),
            &|f| matches!(f, Finding::MainUntold { host } if host == id),
        )?;
        said(
            "shared text repeated".into(),
            shared > 1,
            &|f| matches!(f, Finding::Repeated { host, agent: Agent::Main, text: Text::Shared, .. } if host == id),
        )?;
        for other in input.hosts.iter().map(|o| &o.adapter.id) {
            let came = times(&is, &format!("[card {other}]"));
            let roles =
                if host.has_roles { times(&after.inherited(host.adapter), &format!("[card {other}]")) } else { 0 };
            let roles = if host.adapter.subagents.inherit == Inherit::Nothing { 0 } else { roles };
            said(
                format!("card of {other}"),
                other != id && came + roles > 0,
                &|f| matches!(f, Finding::ForeignCard { host, card } if host == id && card == other),
            )?;
        }
        for user in input.user.iter().filter(|u| u.link_to.is_none()) {
            let marker = format!("[user {}]", user.path);
            let (was, is) = (times(&was, &marker), times(&is, &marker));
            said(
                format!("{marker} gained"),
                was == 0 && is > 0,
                &|f| matches!(f, Finding::UserGained { host, file } if host == id && *file == user.path),
            )?;
            let unread = plan
                .findings
                .iter()
                .any(|f| matches!(f, Finding::UserUnread { host, file, .. } if host == id && *file == user.path));
            if was > 0 && is == 0 && !unread {
                return Err(format!("{id}: {marker} is lost unsaid"));
            }
        }
    }
    Ok(())
}

/// How many random cases; `PROPTEST_CASES` asks for more of them.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
