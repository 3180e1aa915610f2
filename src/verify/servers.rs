//! Tries the whole way of an MCP server, from the policy to the tools of each role, with a server whose calls one
//! can see.

use crate::model::adapter::{Adapter, Attempt, Driver, ListMcp, ToolCall};
use crate::model::scalar::Guarantee;
use crate::plan::ledger::{Line, Subject};
use crate::plan::names;
use crate::plan::role::RolePlan;

use super::derived::Derived;
use super::judge::{Case, not_connected};
use super::report::{About, Finding, Verdict};
use super::session::{self as host, Trial};
use super::tryout::TOOLS;
use super::{All, Problem, Seen, slots};

/// The driver of runs with the server, whose tools are found under the name `entry`: each role calls each of its tools, and nothing else is tried.
pub fn driver(adapter: &Adapter, driver: &Driver, entry: &str) -> Driver {
    let attempts = TOOLS.iter().map(|tool| Attempt {
        tries: tool.confers.iter().map(|c| (*c).to_owned()).collect(),
        before: Vec::new(),
        call: ToolCall { tool: spelt(adapter, entry, tool.name), args: indexmap::IndexMap::new(), input: None },
    });
    let args = driver.servers.args.clone().unwrap_or_else(|| driver.args.clone());
    Driver { attempts: attempts.collect(), args, flood: None, budgets: Vec::new(), touch: None, ..driver.clone() }
}

/// A tool of the server as the host calls it; one that cannot be spelt is not offered, and its call is refused.
fn spelt(adapter: &Adapter, entry: &str, tool: &str) -> String {
    names::tool(&adapter.names.tool, entry, tool).unwrap_or_else(|_| format!("{entry}_{tool}"))
}

/// What the runs showed, held against the derived policy's ledger.
pub fn findings(adapter: &Adapter, driver: &Driver, derived: &Derived, seen: &[Seen]) -> Vec<Finding> {
    let lines: Vec<Line> = derived.plan.ledger.lines.iter().filter(|l| l.host == adapter.id).cloned().collect();
    let mut out = Vec::new();
    for run in seen {
        let Some(plan) = planned(adapter, derived, run) else { continue };
        let driver = &self::driver(adapter, driver, &derived.entry(plan, &adapter.id));
        let Some(case) = case(adapter, driver, derived, run, plan) else { continue };
        let about_server = |l: &&Line| match &l.subject {
            Subject::Role { capability, .. } => TOOLS.iter().any(|t| t.confers == Some(capability)),
            _ => false,
        };
        let own: Vec<Line> = lines.iter().filter(about_server).cloned().collect();
        out.extend(case.findings(&own));
    }
    let session = Session::of(adapter, driver, seen, derived);
    for line in &lines {
        let Subject::Server { server, tool } = &line.subject else { continue };
        let tried = tool == "*" || TOOLS.iter().any(|t| t.name == tool);
        if *server == session.entry && tried {
            let (verdict, said) = session.line(line, tool);
            out.push(Finding::of(line, verdict, said));
        }
    }
    let about = if derived.through() { About::ThroughGateway } else { About::WithServer };
    out.into_iter().map(|f| Finding { about: about(Box::new(f.about)), ..f }).collect()
}

impl All<'_> {
    /// Tries the way of a server to the roles, and says whether a session started it by itself.
    pub(super) async fn with_server(&self, session: &host::Session<'_>) -> Result<(Vec<Finding>, bool), Problem> {
        let planned = |derived: &'_ Derived| derived.plan.hosts.iter().position(|h| h.host == session.adapter.id);
        let all = self.derived.iter().filter_map(|d| Some((d, d.plan.hosts.get(planned(d)?)?)));
        let ways = all.map(async |(derived, host)| {
            let seen = self.runs(session, host, &Trial { derived: Some(derived), ..Trial::default() }).await?;
            let connected = !derived.through() && seen.iter().any(|s| s.observed.connected == Some(true));
            Ok((findings(session.adapter, session.driver, derived, &seen), connected))
        });
        let ways = slots::all(ways).await?;
        let connected = ways.iter().any(|(_, connected)| *connected);
        Ok((ways.into_iter().flat_map(|(findings, _)| findings).collect(), connected))
    }
}

fn planned<'a>(adapter: &Adapter, derived: &'a Derived, run: &Seen) -> Option<&'a RolePlan> {
    let host = derived.plan.hosts.iter().find(|h| h.host == adapter.id)?;
    host.roles.iter().find(|r| r.role == run.role)?.forms.iter().find(|f| f.form == run.form)
}

fn case<'a>(
    adapter: &'a Adapter,
    driver: &'a Driver,
    derived: &'a Derived,
    run: &'a Seen,
    plan: &'a RolePlan,
) -> Option<Case<'a>> {
    let role = derived.policy.roles.iter().find(|r| r.id == run.role)?;
    let form = adapter.forms.get(&plan.form)?;
    Some(Case { adapter, driver, policy: &derived.policy, form, role, plan, seen: &run.observed })
}

/// What a session without a role is offered of the server.
struct Session<'a> {
    adapter: &'a Adapter,
    /// The name under which its tools are found.
    entry: String,
    /// Names of tools; none = it is not known.
    offered: Option<&'a [String]>,
    /// Whether the server was started and asked for its tools.
    connected: bool,
    /// What it was told: hosts may only name a tool at first.
    told: &'a str,
}

impl<'a> Session<'a> {
    fn of(adapter: &'a Adapter, driver: &Driver, seen: &'a [Seen], derived: &Derived) -> Self {
        let entry = derived.shared(&adapter.id);
        let main = seen.iter().find_map(|s| s.observed.main.as_ref());
        let shared = |s: &&Seen| {
            adapter.forms.get(&s.form).is_some_and(|f| f.list.as_ref().is_some_and(|l| l.mcp == ListMcp::Session))
        };
        let offered = match &driver.nested {
            None => main.map(|m| m.offered.as_slice()),
            // Only roles are asked for the tools inside of another one; where they keep the session's servers, that tells.
            Some(_) => {
                let started = seen.iter().filter(shared).find(|s| s.observed.role.is_some());
                started.map(|s| s.observed.offered.as_slice())
            }
        };
        let connected = seen.iter().any(|s| s.observed.connected != Some(false));
        Self { adapter, entry, offered, connected, told: main.map_or("", |m| m.told.as_str()) }
    }

    /// How a tool is before the session, in words; nothing when it is not.
    fn has(&self, offered: &[String], tool: &str) -> Option<String> {
        let name = spelt(self.adapter, &self.entry, tool);
        if offered.contains(&name) {
            return Some(format!("offered: `{name}`"));
        }
        self.told.contains(&name).then(|| format!("named at first: `{name}`"))
    }

    fn line(&self, line: &Line, tool: &str) -> (Verdict, String) {
        let Some(offered) = self.offered else {
            return (Verdict::Untried, "what a session without a role is offered was not seen".to_owned());
        };
        if !self.connected {
            return (Verdict::Untried, not_connected(&self.entry));
        }
        if tool != "*" {
            return match self.has(offered, tool) {
                Some(how) => (Verdict::Held, format!("{how}; whether a person is asked is not tried")),
                None => (Verdict::Broken, format!("not offered: `{}`", spelt(self.adapter, &self.entry, tool))),
            };
        }
        let hard = matches!(line.guarantee, Some(Guarantee::Enforced | Guarantee::Guarded | Guarantee::Hidden));
        let unnamed = TOOLS.iter().filter(|t| t.confers.is_none()).find_map(|t| self.has(offered, t.name));
        match (unnamed, hard) {
            (None, true) => (Verdict::Held, "no tool that the policy does not name is offered".to_owned()),
            (None, false) => (Verdict::Better, "no tool that the policy does not name is offered".to_owned()),
            (Some(how), true) => (Verdict::Broken, format!("not named in the policy, and {how}")),
            (Some(how), false) => (Verdict::Held, format!("as said, {how}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sink;
    use crate::load::load;
    use crate::model::scalar::EvidenceKind;
    use crate::plan::ledger::State;
    use crate::system::memory::Memory;
    use crate::verify::tryout::NAME;

    fn line(tool: &str, guarantee: Option<Guarantee>) -> Line {
        Line {
            host: "claude-code".into(),
            subject: Subject::Server { server: NAME.into(), tool: tool.into() },
            state: State::Granted,
            limited_by: None,
            guarantee,
            evidence: EvidenceKind::Ran,
            version: String::new(),
            date: String::new(),
            conditions: vec![],
            reason: String::new(),
            lowered: None,
            measured: Vec::new(),
        }
    }

    #[test]
    fn a_session_has_what_the_policy_names_and_the_rest_as_hard_as_it_is_said() {
        let adapter = load(&Memory::new(), None, &mut Sink::new()).adapters.swap_remove("claude-code").unwrap();
        let offered = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let (few, all) = (offered(&["mcp__tryout__look"]), offered(&["mcp__tryout__look", "mcp__tryout__extra"]));
        let told = "You may search for mcp__tryout__find.";
        let session = |offered| Session { adapter: &adapter, entry: NAME.to_owned(), offered, connected: true, told };
        for (offered, tool, guarantee, verdict) in [
            (Some(few.as_slice()), "look", None, Verdict::Held),
            (Some(few.as_slice()), "find", None, Verdict::Held),
            (Some(few.as_slice()), "change", None, Verdict::Broken),
            (Some(few.as_slice()), "*", Some(Guarantee::Enforced), Verdict::Held),
            (Some(few.as_slice()), "*", Some(Guarantee::Prompted), Verdict::Better),
            (Some(all.as_slice()), "*", Some(Guarantee::Enforced), Verdict::Broken),
            (Some(all.as_slice()), "*", Some(Guarantee::Prompted), Verdict::Held),
            (None, "look", None, Verdict::Untried),
        ] {
            assert_eq!(session(offered).line(&line(tool, guarantee), tool).0, verdict, "{tool} {guarantee:?}");
        }
        let away = Session { connected: false, ..session(Some(few.as_slice())) };
        for tool in ["change", "*"] {
            let found = away.line(&line(tool, Some(Guarantee::Enforced)), tool);
            assert_eq!(found, (Verdict::Untried, "server `tryout` was not connected".to_owned()));
        }
    }
}
