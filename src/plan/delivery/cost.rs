//! What a layout costs.

use std::ops::{Add, AddAssign};

use crate::model::adapter::{Agent, CarrierKind};

use super::arrive::{Taken, Ways};
use super::layout::{Choice, Layout};
use super::path;
use super::world::{FileId, Host, HostId, World, at_start};

/// The price of a layout; the fields are compared one after the other, least first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Texts of the user that a host reads today and would not read any more.
    pub lost: u32,
    /// Hosts whose main agent never gets the shared text.
    pub never: u32,
    /// Arrivals beyond the first.
    pub extra: u32,
    /// Cards that come to another host.
    pub foreign: u32,
    /// Hosts whose main agent does not get the card.
    pub cardless: u32,
    /// Arrivals that hang on something we do not own.
    pub perhaps: u32,
    /// Hosts that do not know a home among their own files.
    pub unknown_home: u32,
    /// Homes that are some host's own file: text for several hosts belongs on neutral ground.
    pub owned_home: u32,
    /// Copies of the shared text.
    pub copies: u32,
    /// Files with text of ours.
    pub files: u32,
    /// Import lines and settings.
    pub aids: u32,
    /// Import lines: where a setting does as well, it is known to work for files in any folder.
    pub imports: u32,
    /// Other hosts that name a file with import lines of one host among their own: they had better not be shown it.
    pub shown: u32,
    /// Places down the adapters' lists of carriers.
    pub order: u32,
}

impl Cost {
    /// Whether nobody gets too little or too much, so that more copies cannot help.
    pub const fn is_exact(&self) -> bool {
        self.lost == 0 && self.never == 0 && self.extra == 0 && self.foreign == 0 && self.cardless == 0
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, o: Self) {
        self.lost += o.lost;
        self.never += o.never;
        self.extra += o.extra;
        self.foreign += o.foreign;
        self.cardless += o.cardless;
        self.perhaps += o.perhaps;
        self.unknown_home += o.unknown_home;
        self.owned_home += o.owned_home;
        self.copies += o.copies;
        self.files += o.files;
        self.aids += o.aids;
        self.imports += o.imports;
        self.shown += o.shown;
        self.order += o.order;
    }
}

/// What the user's own files do for a host today.
pub struct Baseline {
    /// For main agent and sub-agents.
    pub taken: [Taken; 2],
}

impl Baseline {
    /// Counts with nothing of ours in place.
    pub fn of(world: &World, host: HostId) -> Self {
        let nothing = Layout { homes: Vec::new(), choices: vec![Choice::default(); world.hosts.len()] };
        let count = |agent| Taken::count(world, &nothing, host, agent, Ways::All);
        Self { taken: [count(Agent::Main), count(Agent::Roles)] }
    }
}

/// What one host adds to the price.
pub fn of_host(world: &World, layout: &Layout, host: HostId, baseline: &Baseline) -> Cost {
    let mut cost = Cost::default();
    let h = &world.hosts[host];
    let agents: &[Agent] = if h.roles_may_inherit() { &[Agent::Main, Agent::Roles] } else { &[Agent::Main] };
    for agent in agents {
        let taken = Taken::count(world, layout, host, *agent, Ways::All);
        cost.foreign +=
            (0..world.hosts.len()).filter(|o| *o != host).map(|o| taken.card(world, layout, o)).sum::<u32>();
        let main = *agent == Agent::Main;
        if !main && !h.roles_inherit() {
            // What sub-agents perhaps get besides their bodies is an extra arrival in every layout.
            continue;
        }
        let shared = taken.shared(world, layout);
        let card = taken.card(world, layout, host);
        cost.extra += shared.saturating_sub(1) + card.saturating_sub(1);
        // No layout helps a host that takes nothing.
        let hears = main && !h.is_deaf();
        cost.never += u32::from(hears && world.has_shared && shared == 0);
        cost.cardless += u32::from(hears && h.wants_card && card == 0);
        if main && (shared > 0 || card > 0) {
            let sure = Taken::count(world, layout, host, *agent, Ways::Sure);
            cost.perhaps += u32::from(shared > 0 && sure.shared(world, layout) == 0);
            cost.perhaps += u32::from(card > 0 && sure.card(world, layout, host) == 0);
        }
        let before = &baseline.taken[usize::from(!main)];
        for file in users(world) {
            let (was, is) = (before.of(world, file), taken.of(world, file));
            cost.lost += u32::from(was > 0 && is == 0);
            cost.extra += is.saturating_sub(was.max(1));
        }
    }
    cost
}

/// Files with text of the user.
pub fn users<'w>(world: &'w World) -> impl Iterator<Item = FileId> + 'w {
    (0..world.paths.len()).filter(|f| world.user[*f].as_ref().is_some_and(|u| u.link.is_none()))
}

/// What the homes add, whatever is done for the hosts.
pub fn of_homes(world: &World, homes: &[FileId]) -> Cost {
    let mut cost = Cost { copies: homes.len() as u32, ..Cost::default() };
    for home in homes {
        let slots = world.hosts.iter().flat_map(|h| h.slots(CarrierKind::Shared)).filter(|s| s.file == *home);
        cost.order += slots.map(|s| s.carrier as u32).min().unwrap_or(0);
        let hearing = || world.hosts.iter().filter(|h| !h.is_deaf());
        if hearing().count() > 1 {
            let known =
                |h: &Host| h.adapter.reads.iter().any(|r| at_start(r) && path::matches(&r.file, world.path(*home)));
            cost.unknown_home += hearing().filter(|h| !known(h)).count() as u32;
            let owned = world.hosts.iter().any(|h| h.slots(CarrierKind::Card).any(|s| s.file == *home));
            cost.owned_home += u32::from(owned);
        }
    }
    cost
}

/// The least that a host adds in any layout with these homes. One that follows no lines gets the text from a home it reads, or
/// never. And where the existence of a file hides no other, whatever is added to the bare homes lets nothing arrive less often.
pub fn at_least(world: &World, homes: &[FileId], host: HostId, baseline: &Baseline) -> Cost {
    let h = &world.hosts[host];
    let mut cost = Cost::default();
    if h.import().is_none() && !h.is_deaf() {
        let home = h.reads.iter().any(|r| world.resolve(r.file).is_some_and(|f| homes.contains(&f)));
        cost.never = u32::from(world.has_shared && !home);
    }
    if h.reads.iter().any(|r| !r.unless.is_empty()) {
        return cost;
    }
    let bare = Layout { homes: homes.to_vec(), choices: vec![Choice::default(); world.hosts.len()] };
    let agents: &[Agent] = if h.roles_inherit() { &[Agent::Main, Agent::Roles] } else { &[Agent::Main] };
    for agent in agents {
        let taken = Taken::count(world, &bare, host, *agent, Ways::All);
        let before = &baseline.taken[usize::from(*agent != Agent::Main)];
        let more = |f: FileId| taken.of(world, f).saturating_sub(before.of(world, f).max(1));
        cost.extra += taken.shared(world, &bare).saturating_sub(1) + users(world).map(more).sum::<u32>();
    }
    cost
}

/// What the lines, settings and places of one host's choice add.
pub fn of_means(world: &World, host: HostId, choice: &Choice) -> Cost {
    let slots = &world.hosts[host].slots;
    let place = |f: FileId| slots.iter().find(|s| s.file == f).map_or(0, |s| s.carrier as u32);
    let (lines, at) = choice.import.as_ref().map_or((0, 0), |(at, targets)| (targets.len() as u32, place(*at)));
    let names = |f: FileId, h: &Host| h.read_of(f).is_some_and(|r| r.read.file == world.path(f));
    let others = || world.hosts.iter().enumerate().filter(|(id, _)| *id != host);
    Cost {
        shown: choice.import.as_ref().map_or(0, |(at, _)| others().filter(|(_, h)| names(*at, h)).count() as u32),
        aids: choice.switches.len() as u32 + lines,
        imports: lines,
        order: choice.card.map_or(0, place) + at,
        ..Cost::default()
    }
}

/// Number of files with text of ours.
pub fn files(layout: &Layout) -> u32 {
    let mut files: Vec<FileId> = layout.homes.clone();
    for choice in &layout.choices {
        files.extend(choice.card);
        files.extend(choice.import.as_ref().map(|(at, _)| *at));
    }
    files.sort_unstable();
    files.dedup();
    files.len() as u32
}
