//! The best layout: every home or pair of homes, with every combination of what can be done for the hosts.

use crate::model::adapter::CarrierKind;

use super::cost::{self, Baseline, Cost};
use super::layout::{Choice, Layout};
use super::options;
use super::world::{FileId, World};

/// The layout with the least cost; the first one among equals, files in the order of their names.
pub fn best(world: &World) -> Layout {
    let baselines: Vec<Baseline> = (0..world.hosts.len()).map(|h| Baseline::of(world, h)).collect();
    let candidates = candidates(world);
    let mut best: Option<(Cost, Layout)> = None;
    if candidates.is_empty() || !world.has_shared {
        try_homes(world, &baselines, &[], &mut best);
    }
    if world.has_shared {
        for home in &candidates {
            try_homes(world, &baselines, &[*home], &mut best);
        }
        if !best.as_ref().is_some_and(|(cost, _)| cost.is_exact()) {
            for (i, first) in candidates.iter().enumerate() {
                for second in &candidates[i + 1..] {
                    try_homes(world, &baselines, &[*first, *second], &mut best);
                }
            }
        }
    }
    best.map(|(_, layout)| layout).unwrap_or_default()
}

/// Files that may hold the shared text, by name.
fn candidates(world: &World) -> Vec<FileId> {
    let mut out: Vec<FileId> =
        world.hosts.iter().flat_map(|h| h.slots(CarrierKind::Shared)).map(|slot| slot.file).collect();
    out.sort_by_key(|f| world.path(*f));
    out.dedup();
    out
}

fn try_homes(world: &World, baselines: &[Baseline], homes: &[FileId], best: &mut Option<(Cost, Layout)>) {
    let fixed = cost::of_homes(world, homes);
    let options: Vec<Vec<Choice>> =
        (0..world.hosts.len()).map(|h| options::of_host(world, h, homes, &baselines[h])).collect();
    let mut at = vec![0; options.len()];
    loop {
        let choices = at.iter().zip(&options).map(|(i, o)| o[*i].clone()).collect();
        let layout = Layout { homes: homes.to_vec(), choices };
        let mut cost = fixed;
        cost += cost::of_means(world, &layout);
        for (host, baseline) in baselines.iter().enumerate() {
            cost += cost::of_host(world, &layout, host, baseline);
        }
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            *best = Some((cost, layout));
        }
        if !advance(&mut at, &options) {
            return;
        }
    }
}

/// The next combination; false after the last.
fn advance(at: &mut [usize], options: &[Vec<Choice>]) -> bool {
    for (i, n) in at.iter_mut().zip(options.iter().map(Vec::len)).rev() {
        *i += 1;
        if *i < n {
            return true;
        }
        *i = 0;
    }
    false
}
