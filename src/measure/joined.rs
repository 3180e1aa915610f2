//! Calls that stand in two logs: a host's, and the gateway's own, which alone has what a server gave before it was cut.
//!
//! Two are one call when the tool and the digest of the arguments are the same, the gateway's began while the host's was
//! under way, and neither has another that fits: equal calls at the same time are left apart.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::event::{AgentKey, Outcome};
use super::format::Format;

/// Milliseconds by which the clocks that two programs write down may differ.
const SLACK: i64 = 1000;

/// Calls of the gateway's tools, as the logs have them.
#[derive(Debug, Default)]
pub struct Joins {
    calls: Vec<Crossing>,
    open: BTreeMap<(Rc<AgentKey>, String), usize>,
}

#[derive(Debug)]
struct Crossing {
    agent: Rc<AgentKey>,
    tool: String,
    digest: Option<String>,
    from: Option<i64>,
    to: Option<i64>,
    sizes: (u64, u64),
}

/// What an agent called through the gateway, and what of that is in the other log as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Through {
    /// Calls.
    pub calls: u64,
    /// Of these, in both.
    pub joined: u64,
    /// Bytes that servers gave in those, as the gateway's log says.
    pub bytes_in: u64,
    /// Bytes that were passed on.
    pub bytes_out: u64,
    /// Sessions of the other log.
    pub with: BTreeSet<Rc<str>>,
}

impl Joins {
    /// A call of one of the gateway's tools begins.
    pub fn call(&mut self, agent: &Rc<AgentKey>, id: &str, tool: &str, digest: Option<String>, at: Option<i64>) {
        self.open.insert((Rc::clone(agent), id.to_owned()), self.calls.len());
        let agent = Rc::clone(agent);
        self.calls.push(Crossing { agent, tool: tool.to_owned(), digest, from: at, to: None, sizes: (0, 0) });
    }

    /// A call ends; one of another tool is none of ours.
    pub fn result(&mut self, agent: &Rc<AgentKey>, outcome: &Outcome, at: Option<i64>) {
        if self.open.is_empty() {
            return;
        }
        let call = self.open.remove(&(Rc::clone(agent), outcome.id.clone()));
        if let Some(call) = call.and_then(|number| self.calls.get_mut(number)) {
            call.to = at;
            call.sizes = (outcome.raw.map_or(0, |raw| raw.bytes), outcome.visible.unwrap_or(0));
        }
    }

    /// What each agent called, of hosts and of the gateway.
    pub fn through(&self) -> BTreeMap<&AgentKey, Through> {
        let mut all: BTreeMap<&AgentKey, Through> = BTreeMap::new();
        for call in &self.calls {
            all.entry(call.agent.as_ref()).or_default().calls += 1;
        }
        for (host, own) in self.pairs() {
            for (one, other) in [(host, own), (own, host)] {
                let through = all.entry(one.agent.as_ref()).or_default();
                through.joined += 1;
                through.bytes_in += own.sizes.0;
                through.bytes_out += own.sizes.1;
                through.with.insert(Rc::clone(&other.agent.session));
            }
        }
        all
    }

    /// A host's call and the gateway's that are one.
    fn pairs(&self) -> Vec<(&Crossing, &Crossing)> {
        let mut hosts: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        let mut fitting: Vec<(usize, usize)> = Vec::new();
        let of = |gateway: bool| {
            self.calls.iter().enumerate().filter(move |(_, c)| (c.agent.format == Format::Gateway) == gateway)
        };
        for (number, call) in of(false) {
            if let Some(digest) = &call.digest {
                hosts.entry((&call.tool, digest)).or_default().push(number);
            }
        }
        for (number, own) in of(true) {
            let Some(digest) = &own.digest else { continue };
            let same = hosts.get(&(own.tool.as_str(), digest.as_str())).into_iter().flatten();
            fitting.extend(
                same.filter(|host| self.calls.get(**host).is_some_and(|h| within(own, h))).map(|host| (*host, number)),
            );
        }
        let (mut by_host, mut by_own): (BTreeMap<usize, u32>, BTreeMap<usize, u32>) = Default::default();
        for (host, own) in &fitting {
            *by_host.entry(*host).or_default() += 1;
            *by_own.entry(*own).or_default() += 1;
        }
        fitting.retain(|(host, own)| by_host.get(host) == Some(&1) && by_own.get(own) == Some(&1));
        fitting.into_iter().filter_map(|(host, own)| self.calls.get(host).zip(self.calls.get(own))).collect()
    }
}

/// Whether the gateway's call began while the host's was under way.
fn within(own: &Crossing, host: &Crossing) -> bool {
    let (Some(began), Some(from), Some(to)) = (own.from, host.from, host.to) else { return false };
    began >= from - SLACK && began <= to + SLACK
}
