//! Tries what the guard does beside the scopes of grants: copies of the conversation, agents that are none of the
//! repository's, the line about the context, an edited file of its own, and a program that is not there.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::model::adapter::{Adapter, ToolCall};
use crate::model::guard::FILE;

use super::copy::Files;
use super::derived::Derived;
use super::guarded_report::{Ran, Runs};
use super::model::{Limits, Script, Server};
use super::probe::{self, MAIN, ROLE, SPAWNED, UNTOUCHED, fill};
use super::process::Interrupt;
use super::reap;
use super::report::Finding;
use super::session::{Place, RUN_TIME, Session, values, write};
use super::{All, Problem, slots};

/// By what the line about the context is told.
const CONTEXT: &str = "of the context window is used";

/// The policy of a run, and what is done to the copy before it.
struct Setting<'a> {
    derived: &'a Derived,
    policy_dir: &'a str,
    /// The role, as the host spells it.
    role: &'a str,
    /// Whether the compiled file of the guard is edited.
    edited: bool,
}

impl Session<'_> {
    /// The main agent asks for a copy of the conversation and starts the role, which starts an agent of the host's own.
    async fn guarded(&self, set: &Setting<'_>, files: &Files, interrupt: &mut Interrupt) -> io::Result<Ran> {
        let place = Place::new()?;
        files.copy(&place.root, &place.home, self.platform, interrupt).await?;
        set.derived.render(&place.root, set.policy_dir)?;
        if set.edited {
            edit(&place.root.join(FILE))?;
        }
        // With an edited file nothing is refused to the main agent.
        let copy = self.copying().filter(|_| !set.edited);
        let own = probe::start(self.adapter, self.driver, set.role, ROLE);
        // Some hosts know a figure only of the request before: one more call follows.
        let more = self.more();
        let main: Vec<ToolCall> = copy.iter().chain([&own]).chain(&self.driver.wait).chain(&more).cloned().collect();
        // Twice, and what a role has of it.
        let foreign = self.foreign().into_iter().chain(self.reading()).chain(&more).chain(&more);
        let foreign: Vec<ToolCall> = foreign.cloned().collect();
        let root = place.root.to_string_lossy();
        write(&place.root.join(probe::LONG), UNTOUCHED)?;
        // A copy has the words of its parent too.
        let rules = [(SPAWNED, &[][..]), (MAIN, main.as_slice()), (ROLE, foreign.as_slice())];
        let rules = rules.map(|(name, calls)| probe::calling(self.driver, name, &root, calls)).to_vec();
        let script = Script { rules, otherwise: "ok".to_owned() };
        let limits =
            Limits { life: RUN_TIME + Duration::from_secs(30), tokens: self.driver.half_full, ..Limits::default() };
        let server = Server::start(|_| script, limits).await?;
        let values = values(&place, &server.url(), set.role);
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, &values))?;
        }
        self.acknowledge(&place)?;
        self.start(&self.driver.args, &values, &place, RUN_TIME, interrupt).await?;
        reap::stragglers(&place.home);
        let recorded = server.recorded();
        let of = |rule: &'static str| {
            let own = recorded.iter().filter(move |r| r.answer.rule.as_deref() == Some(rule));
            own.max_by_key(|r| r.digest.results.len())
        };
        let results = |rule| of(rule).map(|r| r.digest.results.clone());
        let told = |rule| {
            of(rule).is_some_and(|r| r.digest.told().contains(CONTEXT) || r.digest.results.join("\n").contains(CONTEXT))
        };
        let mut said = results(MAIN).unwrap_or_default().into_iter();
        let copied = copy.is_some().then(|| said.next()).flatten();
        let mut role = results(ROLE).unwrap_or_default().into_iter();
        let foreign = self.foreign().and_then(|_| role.next());
        Ok(Ran {
            copied,
            started: said.next(),
            role: of(ROLE).is_some(),
            foreign,
            reading: role.next(),
            spawned: of(SPAWNED).is_some(),
            told: told(MAIN),
            role_told: told(ROLE),
        })
    }

    /// Calls after which an agent may be told of its context, of which every agent has one.
    fn more(&self) -> Vec<ToolCall> {
        let all = self.reading().into_iter().chain(&self.driver.shell).cloned();
        all.filter(|_| self.driver.half_full.is_some()).collect()
    }

    /// The call that would hand over the conversation; none where no call of the host does.
    fn copying(&self) -> Option<ToolCall> {
        self.adapter.hook.as_ref()?;
        let call = &self.adapter.subagents.call;
        match self.adapter.subagents.copies.as_ref().and_then(|c| c.agents.first()) {
            Some(name) => Some(probe::start(self.adapter, self.driver, name, SPAWNED)),
            None if call.extra.is_empty() => None,
            None => {
                let mut whole = self.foreign()?.clone();
                whole.args.retain(|name, _| !call.extra.contains_key(name));
                Some(whole)
            }
        }
    }

    /// The call that starts an agent of the host's own.
    fn foreign(&self) -> Option<&ToolCall> {
        self.driver.attempts.iter().find(|a| a.tries.iter().any(|c| c == "agent.spawn")).map(|a| &a.call)
    }

    /// A call that the hook watches and that a role has which can start nobody: the read of a part.
    fn reading(&self) -> Option<&ToolCall> {
        self.driver.budgets.iter().find(|b| b.tries == "file-read")?.within.first()
    }
}

/// Changes it so that it says the same.
fn edit(file: &Path) -> io::Result<()> {
    let text = std::fs::read_to_string(file)?;
    std::fs::write(file, format!("{text} \n"))
}

impl All<'_> {
    /// Tries it where the host has a hook, with the first role that is tried at all.
    pub(super) async fn guarded(&self, session: &Session<'_>) -> Result<Vec<Finding>, Problem> {
        let adapter: &Adapter = session.adapter;
        let Some((derived, name)) = self.guarding(session)? else { return Ok(Vec::new()) };
        let away = session.platform.clone().without("rolecast");
        let (here, dir) = (session.platform, self.options.policy_dir);
        let ways = [
            ("trying the guard", false, here),
            ("trying the guard with an edited file", true, here),
            ("trying the guard where it is not there", false, &away),
        ];
        let runs = ways.into_iter().map(|(words, edited, platform)| {
            let set = Setting { derived: &derived, policy_dir: dir, role: &name, edited };
            let session = Session { platform, ..*session };
            let run = async move |stop: &mut Interrupt| session.guarded(&set, self.files, stop).await;
            self.turn(session, words, run)
        });
        let runs = slots::all(runs).await?;
        let [plain, edited, away] = runs.as_slice() else { return Ok(Vec::new()) };
        let runs = Runs { plain, edited, away };
        let named = adapter.hook.as_ref().is_some_and(|hook| !hook.nameless);
        Ok(runs.findings(session.copying().is_some(), session.driver.half_full.is_some(), named))
    }

    /// The policy whose guard looks at everything, and the first role that is tried at all, as the host spells it; nothing
    /// where the host has no hook that everybody is held by.
    pub(super) fn guarding(&self, session: &Session<'_>) -> Result<Option<(Derived, String)>, Problem> {
        let adapter = session.adapter;
        let claimed = adapter.hook.as_ref().is_some_and(|hook| hook.everybody.is_some());
        let wanted = |id: &String| self.options.roles.is_empty() || self.options.roles.contains(id);
        let Some(role) = self.policy.roles.iter().map(|r| r.id.clone()).find(wanted).filter(|_| claimed) else {
            return Ok(None);
        };
        let failed = |source| Problem::Io { what: "cannot make a policy for trials".to_owned(), source };
        let Some(derived) = Derived::guarding(self.compiled, self.options.root, &role).map_err(failed)? else {
            return Ok(None);
        };
        let host = derived.plan.hosts.iter().find(|h| h.host == adapter.id);
        let name = host.and_then(|h| h.roles.iter().find(|r| r.role == role)).map(|r| r.name.clone());
        Ok(name.map(|name| (derived, name)))
    }
}
