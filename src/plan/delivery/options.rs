//! What can be done for one host, given the homes.

use crate::model::adapter::CarrierKind;

use super::cost::Baseline;
use super::layout::Choice;
use super::world::{FileId, HostId, World};

/// Most files that one host's import lines are tried with; each doubles the number of layouts.
const MAX_TARGETS: usize = 4;

/// All choices for a host that could be worth something.
pub fn of_host(world: &World, host: HostId, homes: &[FileId], baseline: &Baseline) -> Vec<Choice> {
    let mut out = Vec::new();
    for card in cards(world, host, homes) {
        for import in imports(world, host, homes, card, baseline) {
            for switched in subsets(&switchable(world, host, homes)) {
                let bare = Choice { card, import: import.clone(), switches: switched };
                let full = switch_on_own(world, host, &bare);
                // What the user includes or links may arrive without the setting.
                let reached = full != bare && written(&bare).any(|f| is_named(world, f));
                for choice in reached.then_some(bare).into_iter().chain([full]) {
                    if !out.contains(&choice) {
                        out.push(choice);
                    }
                }
            }
        }
    }
    out
}

/// Files for the card. Doing without is worth a thought only where every carrier may disturb somebody.
fn cards(world: &World, host: HostId, homes: &[FileId]) -> Vec<Option<FileId>> {
    let h = &world.hosts[host];
    if !h.wants_card {
        return vec![None];
    }
    let files: Vec<FileId> = h.slots(CarrierKind::Card).map(|s| s.file).collect();
    let none = (!files.iter().any(|f| !homes.contains(f) && is_private(world, host, *f))).then_some(None);
    files.into_iter().map(Some).chain(none).collect()
}

/// Whether the host reads a file by itself, and its existence and text can concern nobody else.
fn is_private(world: &World, host: HostId, file: FileId) -> bool {
    let concerned = |(id, h): (HostId, &super::world::Host)| {
        h.reads.iter().any(|r| (id != host && r.file == file) || r.unless.contains(&file))
    };
    !is_named(world, file)
        && world.hosts[host].read_of(file).is_some()
        && !world.hosts.iter().enumerate().any(concerned)
}

/// Carriers with import lines, each with every set of files worth including: the homes, and files of the user
/// that another file could keep from being read. A card that the host does not read by itself needs a line, unless somebody
/// else may have one for its file.
fn imports(
    world: &World,
    host: HostId,
    homes: &[FileId],
    card: Option<FileId>,
    baseline: &Baseline,
) -> Vec<Option<(FileId, Vec<FileId>)>> {
    let h = &world.hosts[host];
    if h.import().is_none() {
        return vec![None];
    }
    let card = card.filter(|f| h.imports_card(*f));
    // Lines of other hosts include homes and files of the user.
    let needed = card.filter(|f| !is_named(world, *f) && !homes.contains(f) && world.user[*f].is_none());
    let mut out: Vec<Option<(FileId, Vec<FileId>)>> = needed.is_none().then_some(None).into_iter().collect();
    let mut targets: Vec<FileId> = homes.iter().copied().filter(|f| Some(*f) != card).collect();
    targets.extend(at_risk(world, host, baseline).into_iter().filter(|f| !homes.contains(f) && Some(*f) != card));
    targets.truncate(MAX_TARGETS - usize::from(card.is_some()));
    targets.extend(card);
    for slot in h.slots(CarrierKind::Import) {
        let others: Vec<FileId> = targets.iter().copied().filter(|t| *t != slot.file).collect();
        let worth = |s: &Vec<FileId>| !s.is_empty() && needed.is_none_or(|f| s.contains(&f));
        out.extend(subsets(&others).into_iter().filter(worth).map(|s| Some((slot.file, s))));
    }
    out
}

/// Files of the user that are read today and that the existence of another file could hide.
fn at_risk(world: &World, host: HostId, baseline: &Baseline) -> Vec<FileId> {
    let taken = |f: FileId| world.user[f].is_some() && baseline.taken.iter().any(|t| t.times[f] > 0);
    let reads = world.hosts[host].reads.iter().filter(|r| !r.unless.is_empty() && taken(r.file));
    let mut out: Vec<FileId> = reads.map(|r| r.file).collect();
    let mut next = 0;
    while let Some(file) = out.get(next).copied() {
        let imports = world.user[file].iter().flat_map(|u| u.imports.iter().copied()).filter(|f| taken(*f));
        let new: Vec<FileId> = imports.filter(|f| !out.contains(f)).collect();
        out.extend(new);
        next += 1;
    }
    out
}

/// Files that the host reads only when a setting names them, and that are a home, may have lines of another host that writes them
/// alike, or lead to such a file or to one of the host's own; its own ones themselves are named when they are written.
fn switchable(world: &World, host: HostId, homes: &[FileId]) -> Vec<FileId> {
    let h = &world.hosts[host];
    let alike =
        world.hosts.iter().enumerate().filter(|(id, o)| *id != host && o.line().is_some() && o.line() == h.line());
    let mut worth: Vec<FileId> = alike.flat_map(|(_, o)| o.slots(CarrierKind::Import)).map(|s| s.file).collect();
    worth.extend(homes);
    let own: Vec<FileId> = h.slots(CarrierKind::Card).chain(h.slots(CarrierKind::Import)).map(|s| s.file).collect();
    let reads = h.reads.iter().filter(|r| r.read.needs.is_some()).map(|r| r.file);
    reads.filter(|f| user_leads_to(world, *f, &worth) || (!own.contains(f) && user_leads_to(world, *f, &own))).collect()
}

/// Whether a file is one of those, or links and import lines of the user go from it to one.
fn user_leads_to(world: &World, file: FileId, those: &[FileId]) -> bool {
    let mut seen = vec![file];
    let mut next = 0;
    while let Some(at) = seen.get(next).copied() {
        let user = world.user[at].iter().flat_map(|u| u.imports.iter().copied().chain(u.link));
        let new: Vec<FileId> = user.filter(|f| !seen.contains(f)).collect();
        seen.extend(new);
        next += 1;
    }
    seen.iter().any(|f| those.contains(f))
}

/// Names the files written for a host that reads them only when a setting names them.
fn switch_on_own(world: &World, host: HostId, choice: &Choice) -> Choice {
    let mut out = choice.clone();
    for file in written(choice) {
        let needs = world.hosts[host].read_of(file).is_some_and(|r| r.read.needs.is_some());
        if needs && !out.switches.contains(&file) {
            out.switches.push(file);
        }
    }
    out
}

fn written(choice: &Choice) -> impl Iterator<Item = FileId> {
    choice.card.into_iter().chain(choice.import.as_ref().map(|i| i.0))
}

/// Whether a file of the user links to or includes this one.
fn is_named(world: &World, file: FileId) -> bool {
    world.user.iter().flatten().any(|u| u.link == Some(file) || u.imports.contains(&file))
}

fn subsets(of: &[FileId]) -> Vec<Vec<FileId>> {
    (0..1_usize << of.len())
        .map(|mask| of.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, f)| *f).collect())
        .collect()
}
