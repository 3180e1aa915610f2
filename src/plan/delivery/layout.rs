//! One way to lay the texts out.

use super::world::{FileId, HostId, World};

/// Where everything goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Files with the shared text.
    pub homes: Vec<FileId>,
    /// What is done for each host.
    pub choices: Vec<Choice>,
}

/// What is done for one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// File with its card.
    pub card: Option<FileId>,
    /// File with import lines, and what they include.
    pub import: Option<(FileId, Vec<FileId>)>,
    /// Files a setting makes it read.
    pub switches: Vec<FileId>,
}

impl Layout {
    /// Whether a file has text of ours.
    pub fn writes(&self, file: FileId) -> bool {
        self.homes.contains(&file) || self.choices.iter().any(|c| c.writes(file))
    }

    /// Whether there is text at a path: of the user, or of ours, also behind a link.
    pub fn exists(&self, world: &World, file: FileId) -> bool {
        world.resolve(file).is_some_and(|f| world.user[f].is_some() || self.writes(f))
    }

    /// Our import lines in a file that `reader` follows: its own, and those of hosts that write them alike.
    pub fn imports<'l>(&'l self, world: &'l World, file: FileId, reader: HostId) -> impl Iterator<Item = FileId> + 'l {
        let write = world.hosts[reader].line();
        let lines = self.choices.iter().enumerate().filter_map(move |(host, c)| {
            let (at, targets) = c.import.as_ref()?;
            let alike = write.is_some() && world.hosts[host].line() == write;
            (*at == file && alike).then_some((host, targets))
        });
        lines.flat_map(move |(host, targets)| {
            targets.iter().copied().filter(move |t| self.first_to_import(file, *t, write, world) == Some(host))
        })
    }

    /// Equal lines for several hosts are one line.
    fn first_to_import(&self, file: FileId, target: FileId, write: Option<&str>, world: &World) -> Option<HostId> {
        self.choices.iter().enumerate().position(|(host, c)| {
            c.import.as_ref().is_some_and(|(at, targets)| *at == file && targets.contains(&target))
                && world.hosts[host].line() == write
        })
    }
}

impl Choice {
    fn writes(&self, file: FileId) -> bool {
        self.card == Some(file) || self.import.as_ref().is_some_and(|(at, _)| *at == file)
    }
}
