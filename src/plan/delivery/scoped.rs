//! Rules for paths: which carriers hold them. All scoped rules fare alike, so the choice is made once
//! and costs nothing per rule.

use crate::model::adapter::{Adapter, Agent, CarrierKind, Inherit, Load, Read, Repeat};

use super::path;
use super::types::{HostInput, Input, Kind};

/// Most carriers that are tried against each other.
const MAX_CARRIERS: usize = 10;

/// What is done about scoped rules.
pub struct ScopedChoice {
    /// Whether there are any for main agents; others go into role bodies only.
    pub any: bool,
    /// The carriers used.
    pub carriers: Vec<PathCarrier>,
    /// How they come to each host, in the order of the input.
    pub hosts: Vec<Native>,
}

/// One file for each rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PathCarrier {
    /// Position of its host in the input.
    pub host: usize,
    /// Position among the host's carriers.
    pub carrier: usize,
}

/// How often a rule comes to a host by the host's own path rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Native {
    /// Main agent.
    pub main: u32,
    /// Sub-agents, if they are given instruction files at all.
    pub roles: u32,
    /// First of the used carriers that comes to it.
    pub by: Option<usize>,
    /// The used carrier whose files it takes without regard to their scope.
    pub always: Option<usize>,
}

impl ScopedChoice {
    /// Whether the card of the host at this position has lines for path rules.
    pub fn needs_lines(&self, position: usize) -> bool {
        self.any && self.hosts[position].main == 0
    }
}

/// The path with the rule's name in it.
pub fn file_of(adapter: &Adapter, carrier: usize, rule: &str) -> String {
    adapter.carriers[carrier].file.replace("{rule}", rule)
}

/// Hosts, by position, that take the files of a carrier.
pub fn readers(hosts: &[HostInput], carrier: PathCarrier) -> Vec<usize> {
    let file = file_of(hosts[carrier.host].adapter, carrier.carrier, "x");
    (0..hosts.len()).filter(|h| read_of(hosts[*h].adapter, &file).is_some()).collect()
}

/// Chooses the carriers: fewest hosts that a rule could not reach at all, then fewest repetitions, then fewest
/// hosts that ignore the scope, then fewest that need lines, then fewest files, then the carriers that stand first
/// in their adapters.
pub fn choose(input: &Input) -> ScopedChoice {
    let any = input.rules.iter().any(|r| r.activation == Kind::Paths && r.main);
    let candidates = if any { candidates(&input.hosts) } else { Vec::new() };
    let mut best: Option<([u32; 6], ScopedChoice)> = None;
    for mask in 0..1_usize << candidates.len() {
        let carriers: Vec<PathCarrier> =
            candidates.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, c)| *c).collect();
        let hosts: Vec<Native> = input.hosts.iter().map(|h| native(h, &input.hosts, &carriers)).collect();
        let cost = [
            input.hosts.iter().zip(&hosts).map(|(h, n)| u32::from(n.main == 0 && !has_card(h))).sum(),
            input.hosts.iter().zip(&hosts).map(|(h, n)| repetitions(h, n)).sum(),
            hosts.iter().map(|n| u32::from(n.always.is_some())).sum(),
            hosts.iter().map(|n| u32::from(n.main == 0)).sum(),
            carriers.len() as u32,
            carriers.iter().map(|c| c.carrier as u32).sum(),
        ];
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, ScopedChoice { any, carriers, hosts }));
        }
    }
    best.map_or_else(
        || ScopedChoice { any, carriers: Vec::new(), hosts: vec![Native::default(); input.hosts.len()] },
        |(_, choice)| choice,
    )
}

/// Every path carrier that a host of its own reads, by its file; one file for each rule is enough where two hosts name the same.
fn candidates(hosts: &[HostInput]) -> Vec<PathCarrier> {
    let mut out: Vec<(&str, &str, PathCarrier)> = Vec::new();
    for (host, input) in hosts.iter().enumerate() {
        for (carrier, c) in input.adapter.carriers.iter().enumerate() {
            let native = read_of(input.adapter, &file_of(input.adapter, carrier, "x"));
            if c.kinds.contains(&CarrierKind::Paths) && native.is_some_and(|r| r.scope_key.is_some()) {
                out.push((c.file.as_str(), input.adapter.id.as_str(), PathCarrier { host, carrier }));
            }
        }
    }
    out.sort_by_key(|(file, id, c)| (*file, *id, c.carrier));
    out.dedup_by_key(|(file, ..)| *file);
    out.truncate(MAX_CARRIERS);
    out.into_iter().map(|(.., c)| c).collect()
}

/// The read that takes a scoped rule's file: the exact one, else the first glob.
fn read_of<'a>(adapter: &'a Adapter, file: &str) -> Option<&'a Read> {
    let takes = |r: &&Read| matches!(r.load, Load::Start | Load::StartOrMatch | Load::StartOrListed | Load::Listed);
    let reads = || adapter.reads.iter().filter(takes).filter(|r| r.needs.is_none());
    reads().find(|r| r.file == file).or_else(|| reads().find(|r| path::matches(&r.file, file)))
}

fn native(host: &HostInput, hosts: &[HostInput], carriers: &[PathCarrier]) -> Native {
    let mut out = Native::default();
    let mut plain: Vec<Option<&str>> = Vec::new();
    for (index, carrier) in carriers.iter().enumerate() {
        let owner = hosts[carrier.host].adapter;
        let file = file_of(owner, carrier.carrier, "x");
        let Some(read) = read_of(host.adapter, &file) else { continue };
        let key = read_of(owner, &file).and_then(|r| r.scope_key.as_deref());
        // Two files of a rule without a template and under the same key are the same bytes.
        if owner.carriers[carrier.carrier].template.is_none() {
            if host.adapter.same_bytes == Repeat::Once && plain.contains(&key) {
                continue;
            }
            plain.push(key);
        }
        out.main += u32::from(read.agents.contains(&Agent::Main));
        out.roles += u32::from(read.agents.contains(&Agent::Roles));
        out.by = out.by.or(Some(index));
        if read.load != Load::Listed && read.scope_key.as_deref() != key {
            out.always = Some(index);
        }
    }
    if host.adapter.subagents.inherit == Inherit::Nothing {
        out.roles = 0;
    }
    out
}

/// Whether some file may carry the lines that point to a rule.
fn has_card(host: &HostInput) -> bool {
    host.adapter.carriers.iter().any(|c| c.kinds.contains(&CarrierKind::Card))
}

fn repetitions(host: &HostInput, native: &Native) -> u32 {
    let roles = host.has_roles && host.adapter.subagents.inherit == Inherit::Instructions;
    native.main.saturating_sub(1) + if roles { native.roles.saturating_sub(1) } else { 0 }
}
