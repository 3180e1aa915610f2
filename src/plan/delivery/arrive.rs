//! What one host is given: a walk over its reads.

use std::collections::VecDeque;

use crate::model::adapter::{Agent, Repeat};

use super::layout::Layout;
use super::world::{FileId, FileRead, HostId, World};

/// Most files one walk takes; ill-meant imports of the user would otherwise multiply without end.
const MAX_TAKEN: usize = 1024;

/// Which ways count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// All that work as things stand.
    All,
    /// Only those that hang on nothing: no condition, no file that must not exist, nothing of the user.
    Sure,
}

/// How often each path is taken.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    /// By path.
    pub times: Vec<u32>,
}

impl Taken {
    /// How often a host's agents are given the text of each path, each link counted as a path of its own.
    pub fn count(world: &World, layout: &Layout, host: HostId, agent: Agent, ways: Ways) -> Self {
        let mut walk = Walk { world, layout, host, ways, taken: vec![0; world.paths.len()], left: MAX_TAKEN };
        let start = walk.start(agent);
        match world.hosts[host].import().map(|i| i.same_file) {
            Some(Repeat::Once) => walk.once(start),
            _ => walk.again(&start),
        }
        Self { times: walk.taken }
    }

    /// How often the text that stands in `file` arrives, by whatever path.
    pub fn of(&self, world: &World, file: FileId) -> u32 {
        let linked = world.links.iter().filter(|(_, target)| *target == file).map(|(link, _)| self.times[*link]);
        let direct = if world.is_link(file) { 0 } else { self.times[file] };
        direct + linked.sum::<u32>()
    }

    /// How often the shared text arrives.
    pub fn shared(&self, world: &World, layout: &Layout) -> u32 {
        layout.homes.iter().map(|h| self.of(world, *h)).sum()
    }

    /// How often a host's card arrives.
    pub fn card(&self, world: &World, layout: &Layout, of: HostId) -> u32 {
        layout.choices[of].card.map_or(0, |file| self.of(world, file))
    }
}

struct Walk<'w> {
    world: &'w World<'w>,
    layout: &'w Layout,
    host: HostId,
    ways: Ways,
    taken: Vec<u32>,
    left: usize,
}

impl Walk<'_> {
    /// Files taken without an import.
    fn start(&self, agent: Agent) -> Vec<FileId> {
        let host = &self.world.hosts[self.host];
        let mut out: Vec<FileId> = Vec::new();
        for read in host.reads.iter().filter(|r| r.is_for(agent) && self.happens(r)) {
            let copy = host.adapter.same_bytes == Repeat::Once && out.iter().any(|f| self.same_text(*f, read.file));
            if !copy {
                out.push(read.file);
            }
        }
        out
    }

    fn happens(&self, read: &FileRead) -> bool {
        is_active(self.world, self.layout, self.host, read)
            && (self.ways == Ways::All || (read.is_sure() && !self.world.is_link(read.file)))
    }

    /// Whether two files have the same bytes, as far as we know them.
    fn same_text(&self, a: FileId, b: FileId) -> bool {
        let (Some(a), Some(b)) = (self.world.resolve(a), self.world.resolve(b)) else { return false };
        let only_shared = |f: FileId| {
            self.world.user[f].is_none()
                && self.layout.homes.contains(&f)
                && self.layout.choices.iter().all(|c| c.card != Some(f) && c.import.as_ref().is_none_or(|i| i.0 != f))
        };
        a == b || (only_shared(a) && only_shared(b))
    }

    /// Files that the text at `file` includes and that exist.
    fn included(&self, file: FileId) -> Vec<FileId> {
        let Some(text) = self.world.resolve(file) else { return Vec::new() };
        if self.world.hosts[self.host].import().is_none() {
            return Vec::new();
        }
        let users =
            self.world.user[text].iter().filter(|_| self.ways == Ways::All).flat_map(|u| u.imports.iter().copied());
        users
            .chain(self.layout.imports(self.world, text, self.host))
            .filter(|f| self.ways == Ways::All || !self.world.is_link(*f))
            .filter(|f| self.layout.exists(self.world, *f))
            .collect()
    }

    fn depth(&self) -> u32 {
        self.world.hosts[self.host].import().map_or(0, |i| i.depth)
    }

    /// Every file once, however many ways lead to it; breadth first, so that each is met at its least depth.
    fn once(&mut self, start: Vec<FileId>) {
        let mut queue: VecDeque<(FileId, u32)> = start.into_iter().map(|f| (f, 0)).collect();
        while let Some((file, depth)) = queue.pop_front() {
            if self.taken[file] > 0 {
                continue;
            }
            self.taken[file] = 1;
            if depth < self.depth() {
                queue.extend(self.included(file).into_iter().map(|f| (f, depth + 1)));
            }
        }
    }

    /// Every file as often as something names it; only rings are cut.
    fn again(&mut self, start: &[FileId]) {
        for file in start {
            self.descend(*file, &mut Vec::new());
        }
    }

    fn descend(&mut self, file: FileId, above: &mut Vec<FileId>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        self.taken[file] += 1;
        if above.len() < self.depth() as usize {
            above.push(file);
            for next in self.included(file) {
                if !above.contains(&next) {
                    self.descend(next, above);
                }
            }
            above.pop();
        }
    }
}

/// Whether a read takes place in this layout, conditions granted.
pub fn is_active(world: &World, layout: &Layout, host: HostId, read: &FileRead) -> bool {
    layout.exists(world, read.file)
        && !read.unless.iter().any(|u| layout.exists(world, *u))
        && (read.read.needs.is_none() || layout.choices[host].switches.contains(&read.file))
}
