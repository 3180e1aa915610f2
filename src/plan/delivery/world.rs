//! The facts a layout is judged against: files that may exist, who reads them, who may write them.

use indexmap::IndexSet;

use crate::model::adapter::{Adapter, Agent, Carrier, CarrierKind, CarrierOwn, Import, Inherit, Load, Read};

use super::path;
use super::scoped::ScopedChoice;
use super::types::{Input, Kind, UserFile};

/// Index of a path in [`World::paths`].
pub type FileId = usize;

/// Index of a host in [`World::hosts`], which are sorted by name so that the order of selection decides nothing.
pub type HostId = usize;

/// Links followed before a file counts as missing.
const MAX_LINKS: usize = 8;

/// Everything that does not change while layouts are tried.
pub struct World<'a> {
    /// Every path that exists or could be made.
    pub paths: IndexSet<&'a str>,
    /// What of the user is at each path.
    pub user: Vec<Option<User>>,
    /// Links of the user, and the files they lead to in the end.
    pub links: Vec<(FileId, FileId)>,
    /// The selected hosts, by name.
    pub hosts: Vec<Host<'a>>,
    /// Whether there is any shared text.
    pub has_shared: bool,
}

/// A file of the user.
pub struct User {
    /// What it links to.
    pub link: Option<FileId>,
    /// What its text includes.
    pub imports: Vec<FileId>,
    /// Size of its text.
    pub bytes: u64,
}

/// One host.
pub struct Host<'a> {
    /// Its adapter.
    pub adapter: &'a Adapter,
    /// Position in the input.
    pub position: usize,
    /// Whether it has text for a card.
    pub wants_card: bool,
    /// Whether it has roles.
    pub has_roles: bool,
    /// What it takes at the start, at most one for each file, in the adapter's order.
    pub reads: Vec<FileRead<'a>>,
    /// Where text may be put for it, in the adapter's order.
    pub slots: Vec<Slot>,
}

/// A read of one file.
pub struct FileRead<'a> {
    /// Which.
    pub file: FileId,
    /// The read it comes from.
    pub read: &'a Read,
    /// Those of its `unless` files that could exist.
    pub unless: Vec<FileId>,
}

/// A carrier that may be used: no link, and no whole file where the user has one.
pub struct Slot {
    /// Its file.
    pub file: FileId,
    /// Its position among the carriers.
    pub carrier: usize,
    /// Whether the host takes its file in no way of its own, so that only an import line brings what is in it.
    pub unread: bool,
}

impl FileRead<'_> {
    /// Whether it is for these agents.
    pub fn is_for(&self, agent: Agent) -> bool {
        self.read.agents.contains(&agent)
    }

    /// Whether it takes place whatever else happens.
    pub fn is_sure(&self) -> bool {
        self.read.condition.is_none() && self.read.unless.is_empty()
    }
}

impl<'a> Host<'a> {
    /// Whether it takes no text by itself, whatever is written.
    pub fn is_deaf(&self) -> bool {
        self.adapter.reads.is_empty() && self.adapter.carriers.is_empty()
    }

    /// How it includes files.
    pub fn import(&self) -> Option<&'a Import> {
        self.adapter.import.as_ref()
    }

    /// The line with which one file includes another; hosts with equal lines follow each other's.
    pub fn line(&self) -> Option<&'a str> {
        self.adapter.import.as_ref().map(|i| i.write.as_str())
    }

    /// Whether sub-agents are known to get what the reads say.
    pub fn roles_inherit(&self) -> bool {
        self.has_roles && self.adapter.subagents.inherit == Inherit::Instructions
    }

    /// Whether sub-agents may get what the reads say.
    pub fn roles_may_inherit(&self) -> bool {
        self.has_roles && self.adapter.subagents.inherit != Inherit::Nothing
    }

    /// Its usable carriers of one kind.
    pub fn slots(&self, kind: CarrierKind) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |s| self.adapter.carriers[s.carrier].kinds.contains(&kind))
    }

    /// Whether its card in this file would come by an import line only.
    pub fn imports_card(&self, file: FileId) -> bool {
        self.slots(CarrierKind::Card).any(|s| s.file == file && s.unread)
    }

    /// Its read of a file.
    pub fn read_of(&self, file: FileId) -> Option<&FileRead<'a>> {
        self.reads.iter().find(|r| r.file == file)
    }
}

impl<'a> World<'a> {
    /// Collects the facts.
    pub fn new(input: &Input<'a>, scoped: &ScopedChoice) -> Self {
        let mut order: Vec<usize> = (0..input.hosts.len()).collect();
        order.sort_by(|a, b| input.hosts[*a].adapter.id.cmp(&input.hosts[*b].adapter.id));
        let (paths, kept) = universe(input);
        let id = |path: &str| paths.get_index_of(path);
        let mut user: Vec<Option<User>> = paths.iter().map(|_| None).collect();
        for file in kept {
            if let Some(at) = id(&file.path) {
                user[at] = Some(User {
                    link: file.link_to.as_deref().and_then(id),
                    imports: file.imports.iter().filter_map(|i| id(i)).collect(),
                    bytes: file.bytes,
                });
            }
        }
        let hosts = order
            .into_iter()
            .map(|position| {
                let host = input.hosts[position];
                Host {
                    adapter: host.adapter,
                    position,
                    wants_card: host.wants_card || scoped.needs_lines(position),
                    has_roles: host.has_roles,
                    reads: file_reads(host.adapter, &paths),
                    slots: slots(host.adapter, &paths, &user),
                }
            })
            .collect();
        let has_shared = input.rules.iter().any(|r| r.main && r.activation != Kind::Paths);
        let mut out = Self { paths, user, links: Vec::new(), hosts, has_shared };
        let links = (0..out.paths.len()).filter(|f| out.is_link(*f));
        out.links = links.filter_map(|f| out.resolve(f).map(|to| (f, to))).collect();
        out
    }

    /// A path as text.
    pub fn path(&self, file: FileId) -> &'a str {
        self.paths.get_index(file).copied().unwrap_or_default()
    }

    /// The file whose text stands at a path, with links followed; none for a ring.
    pub fn resolve(&self, file: FileId) -> Option<FileId> {
        let mut at = file;
        for _ in 0..MAX_LINKS {
            match self.user[at].as_ref().and_then(|u| u.link) {
                Some(next) => at = next,
                None => return Some(at),
            }
        }
        None
    }

    /// Whether a path is a link.
    pub fn is_link(&self, file: FileId) -> bool {
        self.user[file].as_ref().is_some_and(|u| u.link.is_some())
    }
}

/// Whether a read takes place at the start of a session in the root folder. There a chain of folders is
/// the root alone, whose files an adapter names exactly.
pub fn at_start(read: &Read) -> bool {
    match read.load {
        Load::Start | Load::StartOrMatch | Load::StartOrListed => true,
        Load::CwdChain => !read.file.contains('*'),
        Load::Touched | Load::Listed => false,
    }
}

/// Paths that matter, and the user's files among them: carriers, files that a start read or an `unless` names, and what they lead to.
fn universe<'a>(input: &Input<'a>) -> (IndexSet<&'a str>, Vec<&'a UserFile>) {
    let adapters: Vec<&'a Adapter> = input.hosts.iter().map(|h| h.adapter).collect();
    let mut paths: Vec<&'a str> =
        adapters.iter().flat_map(|a| &a.carriers).map(|c| c.file.as_str()).filter(|f| !f.contains("{rule}")).collect();
    paths.sort_unstable();
    let mut paths: IndexSet<&'a str> = paths.into_iter().collect();
    let mut user: Vec<&'a UserFile> = input.user.iter().collect();
    user.sort_by(|a, b| a.path.cmp(&b.path));
    let named = |path: &str| {
        adapters
            .iter()
            .flat_map(|a| &a.reads)
            .any(|r| (at_start(r) && path::matches(&r.file, path)) || r.unless.iter().any(|u| u == path))
    };
    paths.extend(user.iter().map(|u| u.path.as_str()).filter(|p| named(p)));
    let mut next = 0;
    while let Some(path) = paths.get_index(next).copied() {
        if let Ok(at) = user.binary_search_by(|u| u.path.as_str().cmp(path)) {
            paths.extend(user[at].imports.iter().chain(&user[at].link_to).map(String::as_str));
        }
        next += 1;
    }
    user.retain(|u| paths.contains(u.path.as_str()));
    (paths, user)
}

/// A file that is named exactly is not also taken through a glob: the exact read knows its conditions.
fn file_reads<'a>(adapter: &'a Adapter, paths: &IndexSet<&'a str>) -> Vec<FileRead<'a>> {
    let exact = |path: &str| adapter.reads.iter().any(|r| at_start(r) && r.file == path);
    let mut out: Vec<FileRead> = Vec::new();
    for read in adapter.reads.iter().filter(|r| at_start(r)) {
        for (file, path) in paths.iter().enumerate() {
            let hit = read.file == *path || (!exact(path) && path::matches(&read.file, path));
            if hit && !out.iter().any(|r| r.file == file) {
                let unless = read.unless.iter().filter_map(|u| paths.get_index_of(u.as_str())).collect();
                out.push(FileRead { file, read, unless });
            }
        }
    }
    out
}

fn slots(adapter: &Adapter, paths: &IndexSet<&str>, user: &[Option<User>]) -> Vec<Slot> {
    let usable = |file: FileId, own: CarrierOwn| match &user[file] {
        None => true,
        Some(u) => u.link.is_none() && own == CarrierOwn::Block,
    };
    // Also a file that is taken later in the session is read: with an import line its text would come again then.
    let unread = |c: &Carrier| {
        c.output.is_none() && adapter.import.is_some() && !adapter.reads.iter().any(|r| path::matches(&r.file, &c.file))
    };
    adapter
        .carriers
        .iter()
        .enumerate()
        .filter_map(|(carrier, c)| {
            paths.get_index_of(c.file.as_str()).map(|file| (Slot { file, carrier, unread: unread(c) }, c))
        })
        .filter(|(slot, c)| usable(slot.file, c.own) || c.output.is_some())
        .map(|(slot, _)| slot)
        .collect()
}
