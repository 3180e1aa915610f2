//! Holds what a run showed against what the ledger claims. Pure: the runs are over.

use crate::model::adapter::{Adapter, Driver, Form, Never};
use crate::model::scalar::Guarantee;
use crate::plan::ledger::{LimitedBy, Line, State, Subject};
use crate::plan::offer::{Origin, Tool};
use crate::plan::role::RolePlan;
use crate::plan::{names, offer};
use crate::resolve::CapSet;
use crate::resolve::policy::{Policy, Role};

use crate::text::glob;

use super::listed;
use super::observe::{Observed, Tried};
use super::place::Place;
use super::report::{About, Finding, Verdict};

/// Most characters of an answer that are shown.
const MAX_ANSWER: usize = 120;

/// One role on one host, and what a run showed of it.
pub struct Case<'a> {
    /// What is known of the host.
    pub adapter: &'a Adapter,
    /// How it was run.
    pub driver: &'a Driver,
    /// The policy.
    pub policy: &'a Policy,
    /// The form that was tried.
    pub form: &'a Form,
    /// The role.
    pub role: &'a Role,
    /// What was planned for it.
    pub plan: &'a RolePlan,
    /// What was seen.
    pub seen: &'a Observed,
}

impl Case<'_> {
    /// One finding for the tools, and one for each line of this role and form.
    pub fn findings(&self, lines: &[Line]) -> Vec<Finding> {
        let mut out = vec![self.tools()];
        for line in lines.iter().filter(|l| l.host == self.adapter.id) {
            let Subject::Role { role, form, capability } = &line.subject else { continue };
            if *role != self.role.id || *form != self.plan.form {
                continue;
            }
            let (verdict, seen) = if self.seen.role.is_none() {
                (Verdict::Untried, "the role was not started".to_owned())
            } else {
                self.line(line, capability)
            };
            out.push(self.detailed(line, capability, Finding::of(line, verdict, seen)));
        }
        out
    }

    /// Offered = planned + residue, but for what this way of running never has and for what does nothing.
    fn tools(&self) -> Finding {
        let about = About::Tools { role: self.role.id.clone(), form: self.plan.form.clone() };
        let finding = |claim: String, verdict, seen: String| Finding::new(about, claim, verdict, seen);
        let planned: Vec<&str> = self.plan.tools.iter().map(|t| t.name.as_str()).collect();
        let claim = format!("{} planned", listed(&planned));
        if self.seen.role.is_none() {
            return finding(claim, Verdict::Broken, format!("the role was not started: {}", self.seen.trouble));
        }
        let expected = |name: &str| planned.contains(&name) || self.form.residue.iter().any(|r| r == name);
        let extra: Vec<&str> = self.offered().filter(|n| !expected(n) && !self.inert(n)).collect();
        let absent = planned.iter().copied().filter(|n| !self.offers(n) && self.never(n).is_none() && !self.inert(n));
        let (away, missing): (Vec<&str>, Vec<&str>) = absent.partition(|n| self.unconnected(n).is_some());
        let mut seen = Vec::new();
        if !extra.is_empty() {
            seen.push(format!("offered and not planned: {}", listed(&extra)));
        }
        if !missing.is_empty() {
            seen.push(format!("planned and not offered: {}", listed(&missing)));
        }
        if self.driver.nested.is_some() && self.seen.offered.iter().all(|n| self.adapter.inert.contains(n)) {
            seen.push("the tools inside could not be listed".to_owned());
        }
        if seen.is_empty() {
            let mut held = format!("offered: {}", listed(&self.offered().collect::<Vec<_>>()));
            if !self.seen.deferred.is_empty() {
                held.push_str("; some are only named at first");
            }
            return match away.first().and_then(|n| self.unconnected(n)) {
                Some(server) => {
                    finding(claim, Verdict::Untried, format!("{held}; {}: {}", not_connected(server), listed(&away)))
                }
                None => finding(claim, Verdict::Held, held),
            };
        }
        let strange = |n: &&str| !self.adapter.tools.contains_key(*n) && self.conferred(n).is_empty();
        let unknown = extra.iter().copied().filter(strange).map(str::to_owned).collect();
        Finding { unknown, ..finding(claim, Verdict::Broken, seen.join("; ")) }
    }

    fn line(&self, line: &Line, capability: &str) -> (Verdict, String) {
        let tried = self.tried(capability);
        let conferring: Vec<&str> = self.offered().filter(|n| self.confers(n, capability)).collect();
        match line.state {
            State::Denied => self.denied(line, &tried, &conferring),
            State::Granted => self.granted(line, capability, &tried, &conferring),
            State::Unreachable if conferring.is_empty() => (Verdict::Held, "no offered tool does it".to_owned()),
            State::Unreachable => (Verdict::Better, format!("offered: {}", listed(&conferring))),
        }
    }

    fn denied(&self, line: &Line, tried: &[&Tried], offered: &[&str]) -> (Verdict, String) {
        let done = self.did(tried);
        match line.guarantee.unwrap_or(Guarantee::Advised) {
            Guarantee::Advised => match (done, all_refused(tried)) {
                (Some(tool), _) => (Verdict::Held, format!("possible, as said: `{tool}` did it")),
                (None, Some(answer)) if offered.is_empty() => (Verdict::Better, format!("refused: {answer}")),
                (None, _) if self.ran(offered).is_some() => {
                    let tool = self.ran(offered).unwrap_or_default();
                    (Verdict::Held, format!("possible, as said: `{tool}` runs, and confers it"))
                }
                _ if offered.is_empty() => {
                    (Verdict::Untried, "nothing is offered for it here, and nothing was tried".to_owned())
                }
                _ => (Verdict::Untried, format!("offered: {}; {}", listed(offered), no_effect(tried))),
            },
            Guarantee::Hidden => match offered {
                [] => (
                    Verdict::Held,
                    done.map_or_else(
                        || "not offered".to_owned(),
                        |t| format!("not offered; a forged call of `{t}` ran"),
                    ),
                ),
                _ => (Verdict::Broken, format!("offered: {}", listed(offered))),
            },
            Guarantee::Prompted | Guarantee::Guarded | Guarantee::Enforced => {
                if let Some(tool) = done {
                    return (Verdict::Broken, format!("a forged call of `{tool}` had its effect"));
                }
                if line.limited_by == Some(LimitedBy::Absence) && !offered.is_empty() {
                    return (Verdict::Broken, format!("offered: {}", listed(offered)));
                }
                self.without_effect(tried)
            }
        }
    }

    fn without_effect(&self, tried: &[&Tried]) -> (Verdict, String) {
        if tried.is_empty() {
            return (Verdict::Held, "no offered tool does it; no call was tried".to_owned());
        }
        if tried.iter().any(|t| t.answer.is_none()) {
            return (Verdict::Unclear, "a forged call was never answered".to_owned());
        }
        match all_refused(tried) {
            Some(answer) => (Verdict::Held, format!("{} forged, all refused: {answer}", calls(tried.len()))),
            None => (Verdict::Unclear, format!("not refused in words that the adapter knows: {}", no_effect(tried))),
        }
    }

    fn granted(&self, line: &Line, capability: &str, tried: &[&Tried], offered: &[&str]) -> (Verdict, String) {
        if offered.is_empty() {
            let planned: Vec<&str> =
                self.plan.tools.iter().map(|t| t.name.as_str()).filter(|n| self.confers(n, capability)).collect();
            return match planned.iter().map(|n| self.never(n)).collect::<Option<Vec<_>>>() {
                Some(reasons) => {
                    (Verdict::Untried, format!("not here: {}", reasons.first().copied().unwrap_or("no tool")))
                }
                None => match planned.iter().map(|n| self.unconnected(n)).collect::<Option<Vec<_>>>() {
                    Some(servers) if !servers.is_empty() => (Verdict::Untried, not_connected(servers[0])),
                    _ => (Verdict::Broken, format!("not offered: {}", listed(&planned))),
                },
            };
        }
        let (inside, tried): (Vec<&Tried>, Vec<&Tried>) = tried.iter().partition(|t| t.place == Place::Inside);
        let tried = tried.as_slice();
        if let Some(why) = self.shut(&inside) {
            return (Verdict::Broken, why);
        }
        let followed = self.form.narrow.iter().any(|n| n.follows_links);
        let (linked, tried): (Vec<&Tried>, Vec<&Tried>) =
            tried.iter().partition(|t| followed && t.place == Place::Linked);
        let (verdict, mut seen) = self.limits(line, capability, &tried, offered);
        if linked.iter().any(|t| t.effect) {
            seen.push_str("; through a link it is possible, as said");
        }
        if inside.iter().any(|t| t.effect) {
            seen.push_str("; inside it works");
        }
        (verdict, seen)
    }

    /// What a grant's limit did where it forbids.
    fn limits(&self, line: &Line, capability: &str, tried: &[&Tried], offered: &[&str]) -> (Verdict, String) {
        let id = self.policy.catalogue.find(capability);
        let scoped = id.and_then(|id| self.role.grants.get(&id)).is_some_and(|s| s.paths.is_some());
        let done = self.did(tried);
        match (line.limited_by, line.guarantee) {
            // Without a scope the limit is that of our own files.
            (Some(LimitedBy::Path), Some(guarantee)) if !scoped => {
                self.excluded(guarantee, &self.tried("policy.edit"), offered)
            }
            (Some(LimitedBy::Path), _) if tried.is_empty() => match self.ran(offered) {
                Some(tool) if line.guarantee == Some(Guarantee::Advised) => {
                    (Verdict::Held, format!("outside of the scope it is possible, as said: `{tool}` runs"))
                }
                _ => (Verdict::Untried, "nothing was tried".to_owned()),
            },
            (Some(LimitedBy::Path), Some(guarantee)) => self.limited(guarantee, tried, "outside of the scope"),
            // The line that is tried writes a file, which no prefix can let through.
            (Some(LimitedBy::Command), Some(guarantee)) if !tried.is_empty() => {
                self.limited(guarantee, tried, "with another command")
            }
            (Some(LimitedBy::Approval), _) if done.is_some() => {
                (Verdict::Untried, "it runs where everything is let pass without a person, as here".to_owned())
            }
            (Some(LimitedBy::Approval), Some(Guarantee::Prompted)) if all_refused(tried).is_some() => {
                (Verdict::Held, format!("without a person it is refused: {}", all_refused(tried).unwrap_or_default()))
            }
            (Some(limit), _) => {
                (Verdict::Untried, format!("offered: {}; its limit by {} is not tried", listed(offered), limit.word()))
            }
            (None, _) if tried.is_empty() => (Verdict::Held, format!("offered: {}", listed(offered))),
            (None, _) => match done {
                Some(tool) => (Verdict::Held, format!("`{tool}` did it")),
                None => (Verdict::Untried, format!("offered: {}; {}", listed(offered), no_effect(tried))),
            },
        }
    }

    /// Why what is granted does not work inside of the scope, with any tool that is offered.
    fn shut(&self, inside: &[&Tried]) -> Option<String> {
        let tool = |t: &&&Tried| self.driver.attempts.get(t.attempt).is_some_and(|a| self.has(&a.call.tool));
        let own: Vec<&Tried> = inside.iter().filter(tool).copied().collect();
        let shut = !own.is_empty() && own.iter().all(|t| !t.effect);
        shut.then(|| format!("{}: {}", Place::Inside.words(), no_effect(&own)))
    }

    /// Whether the role was to have this tool, and has it.
    fn has(&self, tool: &str) -> bool {
        self.offers(tool) && self.plan.tools.iter().any(|t| t.name == tool)
    }

    /// A limit by paths, tried where it forbids.
    fn limited(&self, guarantee: Guarantee, tried: &[&Tried], place: &str) -> (Verdict, String) {
        let by = tried.iter().find(|t| t.effect && t.place != Place::Outside).map(|t| t.place.words());
        let place = match tried.iter().any(|t| t.effect && t.place == Place::Outside) {
            true => place,
            false => by.unwrap_or(place),
        };
        match (self.did(tried), guarantee) {
            (Some(tool), Guarantee::Advised | Guarantee::Hidden) => {
                (Verdict::Held, format!("{place} it is possible, as said: `{tool}` did it"))
            }
            (Some(tool), _) => (Verdict::Broken, format!("`{tool}` did it {place}")),
            (None, Guarantee::Advised) => match all_refused(tried) {
                Some(answer) => (Verdict::Better, format!("{place} it is refused: {answer}")),
                None => (Verdict::Untried, no_effect(tried)),
            },
            (None, _) => self.without_effect(tried),
        }
    }

    fn excluded(&self, guarantee: Guarantee, tried: &[&Tried], offered: &[&str]) -> (Verdict, String) {
        let place = "in a file that is rendered";
        match (self.did(tried), self.ran(offered), guarantee) {
            // The host refuses to touch that file with the tool that was tried, not with every tool.
            (None, Some(tool), Guarantee::Advised) => {
                (Verdict::Held, format!("{place} it is possible, as said: `{tool}` runs"))
            }
            _ => self.limited(guarantee, tried, place),
        }
    }

    pub(super) fn tried(&self, capability: &str) -> Vec<&Tried> {
        let means =
            |t: &&Tried| self.driver.attempts.get(t.attempt).is_some_and(|a| a.tries.iter().any(|c| c == capability));
        self.seen.tried.iter().filter(means).collect()
    }

    /// The tool of the first try that had an effect.
    fn did(&self, tried: &[&Tried]) -> Option<&str> {
        let done = tried.iter().find(|t| t.effect)?;
        self.driver.attempts.get(done.attempt).map(|a| a.call.tool.as_str())
    }

    /// The first of these tools that a try showed to run.
    fn ran(&self, tools: &[&str]) -> Option<&str> {
        let ran = self.seen.tried.iter().filter(|t| t.effect);
        let mut ran = ran.filter_map(|t| self.driver.attempts.get(t.attempt)).map(|a| a.call.tool.as_str());
        ran.find(|tool| tools.contains(tool))
    }

    pub(super) fn offered(&self) -> impl Iterator<Item = &str> {
        self.seen.offered.iter().map(String::as_str)
    }

    pub(super) fn offers(&self, name: &str) -> bool {
        self.offered().any(|n| n == name)
    }

    fn inert(&self, name: &str) -> bool {
        self.adapter.inert.iter().any(|n| n == name)
    }

    /// Why this way of running never has a tool.
    fn never(&self, name: &str) -> Option<&str> {
        let fits = |pattern: &str| glob::matches(pattern, name);
        let holds = |n: &Never| n.beside.as_ref().is_none_or(|other| self.offers(other));
        self.driver.never.iter().find(|(glob, never)| fits(glob) && holds(never)).map(|(_, never)| never.why.as_str())
    }

    /// The server of a planned tool, when the run had none of its tools: what such a run shows of it is nothing.
    fn unconnected(&self, name: &str) -> Option<&str> {
        let tool = self.plan.tools.iter().find(|t| t.name == name)?;
        let Origin::Mcp { server, .. } = &tool.origin else { return None };
        let connected = self.seen.connected.unwrap_or_else(|| {
            let own = self.policy.offered().filter(|s| s.name == *server);
            let own = own.flat_map(|s| s.tools.keys()).filter_map(|tool| self.spelt(server, tool));
            let of = |t: &Tool| matches!(&t.origin, Origin::Mcp { server: s, .. } if s == server);
            let planned = self.plan.tools.iter().filter(|t| of(t)).map(|t| t.name.clone());
            let mut names = own.chain(planned);
            let main = self.seen.main.as_ref();
            names.any(|n| self.offers(&n) || main.is_some_and(|m| m.offered.contains(&n) || m.told.contains(&n)))
        });
        (!connected).then_some(server)
    }

    fn spelt(&self, server: &str, tool: &str) -> Option<String> {
        names::tool(&self.adapter.names.tool, server, tool).ok()
    }

    pub(super) fn confers(&self, tool: &str, capability: &str) -> bool {
        self.policy.catalogue.find(capability).is_some_and(|cap| self.conferred(tool).has(cap))
    }

    fn conferred(&self, tool: &str) -> CapSet {
        if self.adapter.tools.contains_key(tool) {
            return offer::native(self.adapter, tool, &self.policy.catalogue).confers;
        }
        if let Some(own) = self.plan.tools.iter().find(|t| t.name == tool) {
            return own.confers;
        }
        let servers = self.policy.offered();
        let mut tools = servers.flat_map(|s| s.tools.iter().map(move |(name, class)| (s, name, class)));
        tools
            .find(|(server, name, _)| self.spelt(&server.name, name).is_some_and(|n| n == tool))
            .map_or(CapSet::EMPTY, |(_, _, class)| class.confers)
    }
}

/// Why nothing is known of a server's tools.
pub(super) fn not_connected(server: &str) -> String {
    format!("server `{server}` was not connected")
}

/// The first answer, when every try was answered with a refusal; nothing when there was none.
fn all_refused(tried: &[&Tried]) -> Option<String> {
    let all = !tried.is_empty() && tried.iter().all(|t| t.refused && !t.effect);
    all.then(|| tried.first().and_then(|t| t.answer.as_deref()).map(shown).unwrap_or_default())
}

fn no_effect(tried: &[&Tried]) -> String {
    match tried.iter().find(|t| !t.refused).or_else(|| tried.first()) {
        None => "nothing was tried".to_owned(),
        Some(Tried { answer: None, .. }) => "a call was never answered".to_owned(),
        Some(Tried { answer: Some(answer), .. }) => {
            format!("{} without effect, answered: {}", calls(tried.len()), shown(answer))
        }
    }
}

fn calls(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}

pub(super) fn shown(answer: &str) -> String {
    let line = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(MAX_ANSWER).collect();
    format!("\"{short}\"")
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
