//! Agents put together to sessions.

use indexmap::IndexMap;

use super::event::{AgentKey, Place};
use super::format::{Fact, Format};
use super::found::Found;
use super::judge::{Given, Judge};
use super::tally::{Counted, Tally};
use crate::model::scalar::EvidenceKind;

/// A session: its main agent, and those it started.
pub struct Session<'t, 'p> {
    judge: &'p Judge<'p>,
    /// The kind of its logs.
    pub format: Format,
    /// Its name.
    pub id: String,
    /// Its agents; the main one first, where its log is among those that were read.
    pub agents: Vec<(&'t AgentKey, &'t Counted<'p>)>,
}

/// The sessions in the order of the logs.
pub fn sessions<'t, 'p>(tally: &'t Tally<'p>) -> Vec<Session<'t, 'p>> {
    let mut parents: IndexMap<(Format, &str), &str> = IndexMap::new();
    for (key, _) in tally.agents() {
        if !key.agent.is_empty() {
            parents.insert((key.format, key.agent.as_ref()), key.session.as_ref());
        }
    }
    let mut all: IndexMap<(Format, String), Vec<(&AgentKey, &Counted<'_>)>> = IndexMap::new();
    for (key, counted) in tally.agents() {
        let mut root = key.session.as_ref();
        // An agent of an agent belongs to the session of the first; a log that goes in circles is no reason to.
        for _ in 0..32 {
            match parents.get(&(key.format, root)) {
                Some(above) if *above != root => root = above,
                _ => break,
            }
        }
        all.entry((key.format, root.to_owned())).or_default().push((key, counted));
    }
    let session = |((format, id), mut agents): ((Format, String), Vec<(&'t AgentKey, &'t Counted<'p>)>)| {
        agents.sort_by_key(|(_, counted)| !counted.main());
        Session { judge: tally.judge(), format, id, agents }
    };
    all.into_iter().map(session).collect()
}

/// A figure of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What was counted.
    pub found: Found,
    /// What the logs do not record, so that it may be more.
    pub unknown: Option<&'static str>,
    /// By what it is known, where the logs alone do not tell.
    pub by: Option<String>,
}

/// Agents of whom nothing can be counted.
const UNREAD: &str = "what a sub-agent did: its log is not among the files";

impl<'t, 'p> Session<'t, 'p> {
    /// Agents that work for the user: all but the host's reviewer.
    pub fn working(&self) -> impl Iterator<Item = &(&'t AgentKey, &'t Counted<'p>)> {
        self.agents.iter().filter(|(_, counted)| counted.known.place != Some(Place::Reviewer))
    }

    /// The agents that were started by others.
    pub fn subs(&self) -> impl Iterator<Item = &(&'t AgentKey, &'t Counted<'p>)> {
        self.working().filter(|(_, counted)| !counted.main())
    }

    /// What all agents have of a count.
    pub fn sum(&self, of: impl for<'c> Fn(&'c Counted<'p>) -> &'c Found) -> Found {
        let mut all = Found::default();
        self.working().for_each(|(_, counted)| all.join(of(counted)));
        all
    }

    /// Sub-agents that were started, and of whom no log was read.
    pub fn unread(&self) -> u64 {
        let started: u64 = self.working().map(|(_, counted)| counted.started).sum();
        let read = self.subs().filter(|(_, counted)| counted.context.requests + counted.calls > 0).count() as u64;
        started.saturating_sub(read)
    }

    /// A count over all agents, with what is not known of it.
    pub fn figure(&self, found: Found, unknown: Option<&'static str>) -> Figure {
        Figure { found, unknown: unknown.or_else(|| (self.unread() > 0).then_some(UNREAD)), by: None }
    }

    /// Whether an agent was given the history of its parent.
    pub fn history(&self, counted: &Counted<'p>) -> Option<Given> {
        self.judge.history(self.format, &counted.known)
    }

    /// Agents that were given the history of their parent.
    pub fn full_history(&self) -> Figure {
        let (mut found, mut unknown, mut by) = (Found::default(), None, None);
        for (key, counted) in self.subs() {
            let given = self.history(counted);
            match given {
                Some(Given { history: true, .. }) => {
                    let name = counted.known.role.as_deref().unwrap_or(&key.agent).to_owned();
                    found.add(counted.at, || format!("{name} was given the history"));
                }
                Some(Given { history: false, .. }) => {}
                None => unknown = Some("whether a sub-agent was given the history"),
            }
            by = by.or_else(|| given.and_then(|given| given.by));
        }
        // Where no agent ever is given it, those whose logs were not read were not either.
        let never = self.judge.never_copies(self.format).filter(|_| found.count == 0);
        if never.is_some() {
            (unknown, by) = (None, never);
        }
        let title = self.judge.title(self.format);
        let known = |by: EvidenceKind| format!("the adapter of {title}, not the log ({})", by.word());
        let figure = if never.is_some() { Figure { found, unknown, by: None } } else { self.figure(found, unknown) };
        Figure { by: by.map(known), ..figure }
    }

    /// Tokens of copied history that an agent began with: what its first request had more than that of the main agent.
    pub fn inherited(&self, counted: &Counted<'p>) -> u64 {
        let first = |c: &Counted<'p>| c.context.first.and_then(|(_, r)| r.context);
        if !self.history(counted).is_some_and(|given| given.history) {
            return 0;
        }
        let main = self.working().find(|(_, c)| c.main()).and_then(|(_, c)| first(c));
        first(counted).zip(main).map_or(0, |(own, main)| own.saturating_sub(main))
    }

    /// Compactions that need not have been.
    pub fn avoidable(&self) -> Figure {
        let (mut found, mut unknown) = (Found::default(), None);
        let mut any = false;
        for (_, counted) in self.working() {
            // Only the first one had to do with what was inherited.
            let mut inherited = self.inherited(counted);
            for compacted in &counted.context.compactions {
                any = true;
                match compacted.avoidable(std::mem::take(&mut inherited)) {
                    Some(true) => found.add(compacted.at, || {
                        format!(
                            "compaction at {} tokens, of which {} need not have been there",
                            compacted.before.unwrap_or(0),
                            compacted.waste
                        )
                    }),
                    Some(false) => {}
                    None => unknown = Some("how large the context was before a compaction"),
                }
            }
        }
        if !any && !self.format.records(Fact::Compactions) {
            unknown = Some("compactions");
        }
        self.figure(found, unknown)
    }
}
