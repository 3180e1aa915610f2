//! The artifacts of each path brought together, before anything is read.

use super::finding::{Problem, pointer};
use super::{Options, journal};
use crate::render::artifact::{Artifact, Content, Entry, EntryKind, Reader};
use crate::system::{parent, path};
use crate::text::json::Refused;
use std::collections::{BTreeMap, BTreeSet};

/// All that is wanted at one path.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub want: Want<'a>,
    pub sources: Vec<&'a str>,
    /// Some host of the selection needs it.
    pub selected: bool,
    /// Those who read the file more narrowly than editors do.
    pub readers: Vec<&'a Reader>,
}

/// What is wanted in a file.
#[derive(Debug)]
pub(super) enum Want<'a> {
    Whole(&'a str),
    Block(&'a str),
    /// Entries, and whether each is selected.
    Entries(Vec<(&'a Entry, bool)>),
}

impl Group<'_> {
    /// What one of the readers refuses.
    pub(super) fn refused(&self) -> Refused {
        self.readers.iter().fold(Refused::default(), |all, reader| all.or(reader.refused))
    }
}

pub(super) fn group<'a>(
    artifacts: &'a [Artifact],
    options: &Options<'_>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<&'a str, Group<'a>> {
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    let reserved = [options.lock_path(), options.journal_path(), journal::temp_for(&options.lock_path())];
    for artifact in artifacts {
        let at = artifact.path.as_str();
        if let Err(why) = path::check(at) {
            problems.push(Problem::new(at, format!("the path {why}")));
            continue;
        }
        if reserved.iter().any(|own| path::folded(own) == path::folded(at)) {
            problems.push(Problem::new(at, "the path is rolecast's own"));
            continue;
        }
        let selected = options.hosts.is_none_or(|hosts| artifact.hosts.iter().any(|host| hosts.contains(host)));
        add(&mut groups, artifact, selected, problems);
    }
    twins(&groups, problems);
    groups
}

fn add<'a>(
    groups: &mut BTreeMap<&'a str, Group<'a>>,
    artifact: &'a Artifact,
    selected: bool,
    problems: &mut Vec<Problem>,
) {
    let want = match &artifact.content {
        Content::Whole(text) => Want::Whole(text),
        Content::Block(text) => Want::Block(text),
        Content::Entries(entries) => Want::Entries(entries.iter().map(|entry| (entry, selected)).collect()),
    };
    let sources = artifact.sources.iter().map(String::as_str);
    let Some(group) = groups.get_mut(artifact.path.as_str()) else {
        groups.insert(
            &artifact.path,
            Group { want, sources: sources.collect(), selected, readers: artifact.reader.iter().collect() },
        );
        return;
    };
    let first = group.sources.first().copied().unwrap_or("the plan").to_owned();
    let second = artifact.sources.first().map_or("the plan", String::as_str);
    match (&mut group.want, want) {
        (Want::Whole(old), Want::Whole(new)) | (Want::Block(old), Want::Block(new)) if *old == new => {}
        (Want::Entries(old), Want::Entries(new)) => {
            for (entry, selected) in new {
                match old.iter_mut().find(|(other, _)| same_place(other, entry)) {
                    Some((other, chosen)) if other.value == entry.value => *chosen |= selected,
                    Some(_) => problems.push(Problem::new(
                        &artifact.path,
                        format!("`{first}` and `{second}` want different values at `{}`", pointer(&entry.path)),
                    )),
                    None => old.push((entry, selected)),
                }
            }
        }
        _ => problems.push(Problem::new(
            &artifact.path,
            format!("`{first}` and `{second}` both want this file, with different content"),
        )),
    }
    group.selected |= selected;
    group.readers.extend(&artifact.reader);
    for source in sources {
        if !group.sources.contains(&source) {
            group.sources.push(source);
        }
    }
}

fn same_place(a: &Entry, b: &Entry) -> bool {
    a.path == b.path && a.kind == b.kind && (a.kind == EntryKind::Value || a.value == b.value)
}

/// Paths that are one file or one inside the other, and entries that overlap.
fn twins(groups: &BTreeMap<&str, Group<'_>>, problems: &mut Vec<Problem>) {
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for at in groups.keys() {
        if let Some(other) = folded.insert(path::folded(at), at) {
            problems.push(Problem::new(*at, format!("differs from `{other}` only by case")));
        }
    }
    for (at, group) in groups {
        let mut dir = parent(at);
        while !dir.is_empty() {
            if let Some(other) = folded.get(&path::folded(dir)) {
                problems.push(Problem::new(*at, format!("lies below `{other}`, which must be a file")));
            }
            dir = parent(dir);
        }
        if let Want::Entries(entries) = &group.want {
            overlaps(at, entries, problems);
        }
    }
}

fn overlaps(at: &str, entries: &[(&Entry, bool)], problems: &mut Vec<Problem>) {
    let values: BTreeSet<&[String]> = entries
        .iter()
        .filter(|(entry, _)| entry.kind == EntryKind::Value)
        .map(|(entry, _)| entry.path.as_slice())
        .collect();
    let lists: BTreeSet<&[String]> = entries
        .iter()
        .filter(|(entry, _)| entry.kind == EntryKind::Element)
        .map(|(entry, _)| entry.path.as_slice())
        .collect();
    for (entry, _) in entries {
        let whole = usize::from(entry.kind == EntryKind::Element);
        let above = (0..entry.path.len() + whole).map(|len| &entry.path[..len]);
        if let Some(outer) = above
            .into_iter()
            .find(|above| values.contains(above) || (above.len() < entry.path.len() && lists.contains(above)))
        {
            problems.push(Problem::new(
                at,
                format!("`{}` lies inside `{}`, and both are wanted", pointer(&entry.path), pointer(outer)),
            ));
        }
        if entry.path.is_empty() {
            problems.push(Problem::new(at, "an entry without keys is wanted"));
        }
    }
}
