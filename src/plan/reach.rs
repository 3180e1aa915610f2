//! What the delivery says to people: findings, and the ledger lines of rules.

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::{Adapter, Agent};
use crate::resolve::Policy;
use crate::text::glob;

use super::delivery::{Delivery, Finding, HostDelivery, How, Range, ScopedRoute, Text};
use super::ledger::{Line, State, Subject};

/// Reports what is not as it should be.
pub fn report(policy: &Policy, selected: &[&Adapter], delivery: &Delivery, sink: &mut Sink) {
    for finding in &delivery.findings {
        if let Some(d) = diagnostic(policy, selected, finding) {
            sink.push(d);
        }
    }
}

fn diagnostic(policy: &Policy, selected: &[&Adapter], finding: &Finding) -> Option<Diagnostic> {
    let title =
        |host: &str| selected.iter().find(|a| a.id == host).map_or_else(|| host.to_owned(), |a| a.title.clone());
    let files = |paths: &[String]| paths.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
    Some(match finding {
        Finding::Repeated { host, agent, text, times, via } => {
            // Where it is not known whether sub-agents are given the instructions, the ledger says so; a warning at each
            // compilation would only teach people to ignore warnings.
            if *agent == Agent::Roles {
                return None;
            }
            Diagnostic::new(
                Code::TextRepeated,
                format!("{} is given {} {times} times", title(host), text_name(policy, text)),
            )
            .path(via.first().cloned().unwrap_or_default())
            .note(format!("through {}", files(via)))
            .help("see `rolecast explain --delivery`; leave one of the hosts out, or remove the files of yours named here")
        }
        Finding::Never { host, agent, text } => Diagnostic::new(
            Code::TextNever,
            format!("{} does not reach {} of {}", text_name(policy, text), agent_name(*agent), title(host)),
        )
        .help("remove what stands in the way of the host's files (see `rolecast explain --delivery`), or leave the host out"),
        Finding::MainUntold { host } => Diagnostic::new(
            Code::MainUntold,
            format!("{} takes no instruction file: its main agent is given no rule", title(host)),
        )
        .note("each of its roles carries the rules")
        .help("work in one of the roles, not as its main agent"),
        Finding::UserUnread { host, file, because } => {
            Diagnostic::new(Code::UserFileUnread, format!("{} would no longer read your `{file}`", title(host)))
                .path(file.clone())
                .note(format!("because of {}", files(because)))
                .help("move your text into a rule of the policy, or leave the host out")
        }
        Finding::UserGained { host, file } => {
            Diagnostic::new(Code::UserFileGained, format!("{} would now also read your `{file}`", title(host)))
                .path(file.clone())
                .help("nothing to do if that is what you want; else delete the file, or leave the host out")
        }
        Finding::NoCardCarrier { host, taken } => {
            let d = Diagnostic::new(
                Code::CardHomeless,
                format!("no file of {} alone can carry its host notes", title(host)),
            )
            .note("they stand in its roles only; its main agent is not given them")
            .help("free one of the host's own files, or leave one of the hosts out");
            if taken.is_empty() { d } else { d.note(format!("also read by other hosts, or yours: {}", files(taken))) }
        }
        Finding::ForeignCard { host, card } => Diagnostic::new(
            Code::CardHomeless,
            format!("{} is also given the host notes of {}", title(host), title(card)),
        )
        .help("leave one of the two hosts out if the notes must not be seen"),
        Finding::ScopedAlways { host, carrier } => Diagnostic::new(
            Code::ScopedAlways,
            format!("{} is given the rules in `{}` all the time", title(host), carrier.replace("{rule}", "*")),
        )
        .path(carrier.replace("{rule}", "*"))
        .help("make the rule short, or give it `activation: { on-demand: … }`"),
        Finding::BorrowedRoles { host, from, file } => Diagnostic::new(
            Code::RolesBorrowed,
            format!("{} takes the role in `{file}`, which is rendered for {}", title(host), title(from)),
        )
        .path(file.clone())
        .help("leave one of the two hosts out"),
        Finding::MainOnlyReachesRoles { .. } | Finding::Perhaps { .. } => return None,
    })
}

fn text_name(policy: &Policy, text: &Text) -> String {
    match text {
        Text::Shared => "the shared text".to_owned(),
        Text::Card { .. } => "its host notes".to_owned(),
        Text::User { file, bytes } => format!("your `{file}` ({bytes} bytes)"),
        Text::Rules { rules } => {
            let names: Vec<String> =
                rules.iter().filter_map(|i| policy.rules.get(*i)).take(8).map(|r| format!("`{}`", r.id)).collect();
            format!("rule {}", names.join(", "))
        }
    }
}

const fn agent_name(agent: Agent) -> &'static str {
    match agent {
        Agent::Main => "the main agent",
        Agent::Roles => "the roles",
    }
}

/// One line for each rule, host and kind of agent.
pub fn lines(policy: &Policy, selected: &[&Adapter], delivery: &Delivery) -> Vec<Line> {
    let mut lines = Vec::new();
    for host in &delivery.hosts {
        let Some(adapter) = selected.iter().find(|a| a.id == host.host) else { continue };
        for (index, rule) in policy.rules.iter().enumerate() {
            let reach = host.arrivals[index];
            if rule.main {
                lines.push(line(
                    adapter,
                    &rule.id,
                    "main",
                    reach.main,
                    way(delivery, adapter, host, index, Agent::Main),
                ));
            }
            if rule.roles && !policy.roles.is_empty() {
                lines.push(line(
                    adapter,
                    &rule.id,
                    "roles",
                    reach.roles,
                    way(delivery, adapter, host, index, Agent::Roles),
                ));
            }
        }
    }
    lines
}

fn line(adapter: &Adapter, rule: &str, to: &str, times: Range, way: Way) -> Line {
    let arrives = match (times.min, times.max) {
        (1, 1) => "once".to_owned(),
        (min, max) if min == max => format!("{min} times"),
        (min, max) => format!("{min} to {max} times"),
    };
    Line {
        host: adapter.id.clone(),
        subject: Subject::Rule { rule: rule.to_owned(), to: to.to_owned() },
        state: if times.max == 0 { State::Unreachable } else { State::Granted },
        limited_by: None,
        guarantee: None,
        evidence: adapter.evidence.by,
        version: adapter.evidence.version.clone(),
        date: adapter.evidence.date.clone(),
        conditions: way.conditions,
        reason: format!("arrives {arrives} {}", way.words),
        lowered: None,
        measured: Vec::new(),
    }
}

/// How a rule comes to an agent.
struct Way {
    /// In words.
    words: String,
    /// Conditions of the reads on the way.
    conditions: Vec<String>,
}

impl Way {
    fn sure(words: impl Into<String>) -> Self {
        Self { words: words.into(), conditions: Vec::new() }
    }
}

fn way(delivery: &Delivery, adapter: &Adapter, host: &HostDelivery, index: usize, agent: Agent) -> Way {
    if let Some(scoped) = host.scoped.iter().find(|s| s.rule == index) {
        let route = if agent == Agent::Main { scoped.main } else { scoped.roles };
        return match route {
            ScopedRoute::Native { file } => {
                let path = &delivery.files[file].path;
                let words = format!("through `{path}`, when such files are touched");
                Way { words, conditions: read_under(adapter, path) }
            }
            ScopedRoute::CardLine => Way {
                words: "by a line among the host notes".to_owned(),
                conditions: host.card.as_ref().map_or_else(Vec::new, |card| card.conditions.clone()),
            },
            ScopedRoute::BodyLine => Way::sure("by a line in the role"),
            ScopedRoute::None => Way::sure("by no way"),
        };
    }
    match &host.shared {
        Some(route) if !(agent == Agent::Roles && host.body.shared) => {
            let words = match &route.how {
                How::Direct => format!("through `{}`", route.file),
                How::Linked { from } => format!("through `{from}`, a link to `{}`", route.file),
                How::Imported { by } => format!("through `{}`, included by `{by}`", route.file),
                How::Switched { output, pointer } => format!("through `{}`, named in `{output}:{pointer}`", route.file),
            };
            Way { words, conditions: route.conditions.clone() }
        }
        Some(route) if host.arrivals.get(index).is_some_and(|reach| reach.roles.max > 1) => {
            Way::sure(format!("in the role, perhaps also through `{}`", route.file))
        }
        None if agent == Agent::Main => Way::sure("by no way"),
        _ => Way::sure("in the role"),
    }
}

/// Conditions under which the host reads a file by itself; none when one of its reads has none.
fn read_under(adapter: &Adapter, path: &str) -> Vec<String> {
    let mut conditions = Vec::new();
    for read in adapter.reads.iter().filter(|r| glob::matches(&r.file, path)) {
        match &read.condition {
            None => return Vec::new(),
            Some(condition) if !conditions.contains(condition) => conditions.push(condition.clone()),
            Some(_) => {}
        }
    }
    conditions
}
