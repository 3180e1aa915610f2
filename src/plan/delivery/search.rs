//! The best layout: every home or pair of homes, with every combination of what can be done for the hosts.
//!
//! Exact, and quick for three reasons: what arrives at a host is counted once for all combinations that look the same
//! to it; of choices that look the same to everybody else only the best is tried; and a combination that is dear
//! already is not completed.

use std::collections::HashMap;

use crate::model::adapter::CarrierKind;

use super::cost::{self, Baseline, Cost};
use super::layout::{Choice, Layout};
use super::options;
use super::world::{FileId, HostId, World};

/// The layout with the least cost; the first one among equals, in an order that names and adapters give.
pub fn best(world: &World) -> Layout {
    let baselines: Vec<Baseline> = (0..world.hosts.len()).map(|h| Baseline::of(world, h)).collect();
    let candidates = candidates(world);
    let mut best: Option<(Cost, Layout)> = None;
    let mut attempt = |homes: &[FileId]| {
        let bounds: Vec<Cost> = baselines.iter().enumerate().map(|(h, b)| cost::at_least(world, homes, h, b)).collect();
        let bound = bounds.iter().fold(cost::of_homes(world, homes), |sum, b| sum + *b);
        if best.as_ref().is_none_or(|(least, _)| bound < *least) {
            Attempt::new(world, &baselines, homes, &bounds).run(&mut best);
        }
        best.as_ref().is_none_or(|(cost, _)| cost.is_exact())
    };
    let mut exact = candidates.is_empty() && attempt(&[]);
    for home in &candidates {
        exact = attempt(&[*home]);
    }
    let pairs = candidates.iter().enumerate().flat_map(|(i, a)| candidates[i + 1..].iter().map(|b| [*a, *b]));
    if !exact {
        for pair in pairs {
            attempt(&pair);
        }
    }
    best.map(|(_, layout)| layout).unwrap_or_default()
}

/// Files that may hold the shared text, the likeliest first; none when there is no such text.
fn candidates(world: &World) -> Vec<FileId> {
    if !world.has_shared {
        return Vec::new();
    }
    let mut out: Vec<FileId> =
        world.hosts.iter().flat_map(|h| h.slots(CarrierKind::Shared)).map(|slot| slot.file).collect();
    out.sort_by_cached_key(|f| (cost::of_homes(world, &[*f]), world.path(*f)));
    out.dedup();
    out
}

/// All combinations with one set of homes.
struct Attempt<'w> {
    world: &'w World<'w>,
    baselines: &'w [Baseline],
    homes: &'w [FileId],
    fixed: Cost,
    options: Vec<Vec<Choice>>,
    /// What the means of each option cost.
    means: Vec<Vec<Cost>>,
    /// Hosts in the order in which their choice is made: first those on whom nobody else's choice bears.
    order: Vec<HostId>,
    /// For each host, the hosts on whose choices its arrivals hang, with a class for each of their options.
    views: Vec<Vec<(HostId, Vec<usize>)>>,
    /// For each position in the order, the hosts that can be judged once that choice is made.
    ready: Vec<Vec<HostId>>,
    /// For each position in the order, the least that hosts add that are not judged by then.
    rest: Vec<Cost>,
    known: Vec<HashMap<usize, Cost>>,
}

impl<'w> Attempt<'w> {
    fn new(world: &'w World<'w>, baselines: &'w [Baseline], homes: &'w [FileId], bounds: &[Cost]) -> Self {
        let hosts = 0..world.hosts.len();
        let mut options: Vec<Vec<Choice>> =
            hosts.clone().map(|h| options::of_host(world, h, homes, &baselines[h])).collect();
        let touched: Vec<Vec<bool>> = hosts.clone().map(|h| touched(world, h, homes, &options)).collect();
        let bears =
            |on: HostId, by: HostId| on == by || options[by].iter().any(|c| files_of(c).any(|f| touched[on][f]));
        let bearing: Vec<Vec<HostId>> =
            hosts.clone().map(|on| hosts.clone().filter(|by| bears(on, *by)).collect()).collect();
        let mut order: Vec<HostId> = hosts.clone().collect();
        order.sort_by_key(|h| bearing[*h].len());
        for host in hosts.clone().filter(|h| bearing[*h].len() == 1) {
            keep_best_of_equals(world, baselines, homes, &touched, host, &mut options);
        }
        let views: Vec<Vec<(HostId, Vec<usize>)>> = hosts
            .clone()
            .map(|on| bearing[on].iter().map(|by| (*by, classes(&options[*by], on == *by, &touched[on]))).collect())
            .collect();
        let place = |h: &HostId| order.iter().position(|o| o == h).unwrap_or(0);
        let last = |on: HostId| bearing[on].iter().map(place).max().unwrap_or(0);
        let ready: Vec<Vec<HostId>> =
            (0..order.len()).map(|at| hosts.clone().filter(|h| last(*h) == at).collect()).collect();
        let later = |at: usize| ready[at..].iter().flatten().fold(Cost::default(), |sum, h| sum + bounds[*h]);
        let rest = (0..=order.len()).map(later).collect();
        let known = hosts.map(|_| HashMap::new()).collect();
        let means = options
            .iter()
            .enumerate()
            .map(|(host, choices)| choices.iter().map(|c| cost::of_means(world, host, c)).collect())
            .collect();
        let fixed = cost::of_homes(world, homes);
        Self { world, baselines, homes, fixed, options, means, order, views, ready, rest, known }
    }

    fn run(&mut self, best: &mut Option<(Cost, Layout)>) {
        let mut chosen = vec![0; self.options.len()];
        self.choose(0, self.fixed, &mut chosen, best);
    }

    fn choose(&mut self, at: usize, so_far: Cost, chosen: &mut [usize], best: &mut Option<(Cost, Layout)>) {
        if best.as_ref().is_some_and(|(least, _)| so_far + self.rest[at] >= *least) {
            return;
        }
        let Some(host) = self.order.get(at).copied() else {
            let layout = self.layout(chosen);
            let mut cost = so_far;
            cost.files += cost::files(&layout);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                *best = Some((cost, layout));
            }
            return;
        };
        for option in 0..self.options[host].len() {
            chosen[host] = option;
            let mut cost = so_far;
            cost += self.means[host][option];
            for judged in 0..self.ready[at].len() {
                cost += self.of_host(self.ready[at][judged], chosen);
            }
            self.choose(at + 1, cost, chosen, best);
        }
        // Later hosts are not looked at while they have no choice; the first one stands for "none yet".
        chosen[host] = 0;
    }

    /// What one host adds; counted once for each way in which the choices look to it.
    fn of_host(&mut self, host: HostId, chosen: &[usize]) -> Cost {
        let key = self.views[host].iter().fold(0_usize, |key, (by, classes)| {
            key.wrapping_mul(classes.len().max(1)).wrapping_add(classes[chosen[*by]])
        });
        if let Some(cost) = self.known[host].get(&key) {
            return *cost;
        }
        let cost = cost::of_host(self.world, &self.layout(chosen), host, &self.baselines[host]);
        self.known[host].insert(key, cost);
        cost
    }

    fn layout(&self, chosen: &[usize]) -> Layout {
        let choices = chosen.iter().zip(&self.options).map(|(i, o)| o[*i].clone()).collect();
        Layout { homes: self.homes.to_vec(), choices }
    }
}

/// Files a choice writes.
fn files_of(choice: &Choice) -> impl Iterator<Item = FileId> {
    choice.card.into_iter().chain(choice.import.as_ref().map(|(file, _)| *file))
}

/// Files whose text or existence can make a difference to a host.
fn touched(world: &World, host: HostId, homes: &[FileId], options: &[Vec<Choice>]) -> Vec<bool> {
    let mut out = vec![false; world.paths.len()];
    let h = &world.hosts[host];
    let mut next: Vec<FileId> = h.reads.iter().flat_map(|r| r.unless.iter().copied().chain([r.file])).collect();
    if h.import().is_some() {
        let targets = options.iter().flatten().filter_map(|c| c.import.as_ref()).flat_map(|(_, t)| t.iter().copied());
        next.extend(targets.chain(homes.iter().copied()));
    }
    while let Some(file) = next.pop() {
        if !std::mem::replace(&mut out[file], true)
            && let Some(user) = &world.user[file]
        {
            next.extend(user.imports.iter().copied().chain(user.link));
        }
    }
    out
}

/// Options that look the same to a host get the same number.
fn classes(options: &[Choice], own: bool, touched: &[bool]) -> Vec<usize> {
    let mut seen: Vec<Choice> = Vec::new();
    let class = |(index, choice): (usize, &Choice)| {
        if own {
            return index;
        }
        let view = seen_by(choice, touched);
        seen.iter().position(|s| *s == view).unwrap_or_else(|| {
            seen.push(view);
            seen.len() - 1
        })
    };
    options.iter().enumerate().map(class).collect()
}

/// What of a choice is in the files of a set.
fn seen_by(choice: &Choice, touched: &[bool]) -> Choice {
    Choice {
        card: choice.card.filter(|f| touched[*f]),
        import: choice.import.clone().filter(|(f, _)| touched[*f]),
        switches: Vec::new(),
    }
}

/// For a host on which no other bears: keeps, of the options that all others see alike, the cheapest, and puts the cheapest first.
fn keep_best_of_equals(
    world: &World,
    baselines: &[Baseline],
    homes: &[FileId],
    touched: &[Vec<bool>],
    host: HostId,
    options: &mut [Vec<Choice>],
) {
    let mut concerns_others = vec![false; world.paths.len()];
    for other in (0..world.hosts.len()).filter(|o| *o != host) {
        for (file, mark) in concerns_others.iter_mut().enumerate() {
            *mark |= touched[other][file] || world.hosts[other].slots.iter().any(|s| s.file == file);
        }
    }
    let mut layout = Layout { homes: homes.to_vec(), choices: vec![Choice::default(); world.hosts.len()] };
    let mut priced: Vec<(Cost, Choice)> = Vec::new();
    for choice in std::mem::take(&mut options[host]) {
        layout.choices[host] = choice.clone();
        let mut cost = cost::of_host(world, &layout, host, &baselines[host]);
        cost += cost::of_means(world, host, &choice);
        cost.files += cost::files(&layout);
        priced.push((cost, choice));
    }
    priced.sort_by_key(|(cost, _)| *cost);
    let mut views: Vec<Choice> = Vec::new();
    for (_, choice) in priced {
        let view = seen_by(&choice, &concerns_others);
        if !views.contains(&view) {
            views.push(view);
            options[host].push(choice);
        }
    }
}
