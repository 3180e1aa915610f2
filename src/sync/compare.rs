//! What differs between the artifacts of a render and the disk, and what a render would do about it.

use super::claims::Claims;
use super::entries::entries;
use super::finding::{Cause, Conflict, Problem};
use super::group::{Group, Want, group};
use super::locate::{Place, locate};
use super::lock::Lock;
use super::state::{LockState, LockStatus};
use super::whole::{Verdict, block, only_our_block, orphan, whole};
use super::{Options, journal::Journal};
use crate::edit::Format;
use crate::render::artifact::Artifact;
use crate::system::{System, path::folded};
use crate::text::eol::content;
use std::collections::{BTreeMap, BTreeSet};

/// How the section of pins looks in a lock, read or not.
const PINS: &[u8] = b"\"pins\": {";

/// One file that is not as it should be.
#[derive(Debug, Clone)]
pub struct Change {
    /// The path as planned.
    pub path: String,
    /// The file it leads to, links followed.
    pub real: String,
    /// The bytes there now.
    pub before: Option<Vec<u8>>,
    /// The bytes it should have; `None` when it should go.
    pub after: Option<Vec<u8>>,
    /// Why.
    pub causes: Vec<Cause>,
    /// What keeps a render from writing.
    pub conflicts: Vec<Conflict>,
    /// The sources the content comes of, most specific first.
    pub sources: Vec<String>,
    /// Something of the user is overwritten by `--force`.
    pub forced: bool,
    /// It is the lock or the journal, not an output.
    pub own: bool,
}

impl Change {
    /// Whether a render would write or delete the file.
    pub fn writes(&self) -> bool {
        self.before != self.after
    }
}

/// Something worth knowing that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: String,
    /// What.
    pub text: String,
}

/// The answer of [`compare`].
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// Files that are not as they should be, by path; lock and journal last.
    pub changes: Vec<Change>,
    /// What no render can settle; with any of them nothing is written.
    pub problems: Vec<Problem>,
    /// What is kept, and why.
    pub notes: Vec<Note>,
    /// The journal that an interrupted render left.
    pub(super) journal: Option<Journal>,
    /// A journal is there, readable or not.
    pub(super) interrupted: bool,
    /// The lock as it should be.
    pub(super) lock_text: String,
    pub(super) lock_path: String,
    pub(super) journal_path: String,
}

impl Comparison {
    /// Whether the disk says exactly what the plan says.
    pub fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.problems.is_empty()
    }

    /// What keeps a render from writing, with the path.
    pub fn conflicts(&self) -> impl Iterator<Item = (&str, &Conflict)> {
        self.changes.iter().flat_map(|change| change.conflicts.iter().map(|conflict| (change.path.as_str(), conflict)))
    }
}

/// What is known while the files are gone through.
struct Run<'a> {
    system: &'a dyn System,
    state: &'a LockState,
    options: &'a Options<'a>,
    out: Comparison,
    lock: Lock,
    /// Real files, case folded, and the path that leads there.
    reals: BTreeMap<String, String>,
}

/// Reads the lock and compares all artifacts with the disk.
pub fn check(artifacts: &[Artifact], system: &dyn System, options: &Options<'_>) -> Comparison {
    match LockState::load(system, options) {
        Ok(state) => compare(artifacts, &state, system, options),
        Err(problem) => Comparison { problems: vec![problem], ..Comparison::default() },
    }
}

/// Compares all artifacts with the disk.
pub fn compare(artifacts: &[Artifact], state: &LockState, system: &dyn System, options: &Options<'_>) -> Comparison {
    // What an interrupted render began is completed for all hosts: only then does one lock describe it.
    let options = &Options { hosts: options.hosts.filter(|_| !state.interrupted), ..*options };
    let out = Comparison {
        journal: state.journal.clone(),
        interrupted: state.interrupted,
        lock_path: options.lock_path(),
        journal_path: options.journal_path(),
        ..Comparison::default()
    };
    let lock = Lock { files: BTreeMap::new(), pins: state.lock.pins.clone(), extra: state.lock.extra.clone() };
    let mut run = Run { system, state, options, out, lock, reals: BTreeMap::new() };
    let groups = group(artifacts, options, &mut run.out.problems);
    for (path, group) in &groups {
        run.planned(path, group);
    }
    run.orphans(&groups);
    run.finish()
}

impl Run<'_> {
    fn planned(&mut self, path: &str, group: &Group<'_>) {
        if !group.selected {
            if let Some(owned) = self.state.lock.files.get(path) {
                self.lock.files.insert(path.to_owned(), owned.clone());
            }
            return;
        }
        let place = match locate(self.system, path, self.options) {
            Ok(place) => place,
            Err(problem) => return self.out.problems.push(problem),
        };
        if let Some(other) = self.reals.insert(folded(&place.real), path.to_owned()) {
            return self.out.problems.push(Problem::new(path, format!("is the same file as `{other}`")));
        }
        let claims = Claims::of(self.state, path, &place.real);
        let bytes = place.bytes.as_deref();
        let verdict = match &group.want {
            Want::Whole(text) => whole(text, bytes, &claims, || self.all_ours(path, bytes, &claims), self.options),
            Want::Block(text) => block(text, bytes, &claims, self.options),
            Want::Entries(wanted) => match Format::read_by(path, group.refused()) {
                Some(format) => {
                    let mut verdict = entries(wanted, format, bytes, &claims, self.options);
                    for conflict in verdict.conflicts.iter_mut().filter(|c| !c.spots.is_empty()) {
                        conflict.notes = group.readers.iter().map(|reader| reader.otherwise.clone()).collect();
                    }
                    verdict
                }
                None => {
                    return self
                        .out
                        .problems
                        .push(Problem::new(path, "entries can be kept in .json, .jsonc and .toml only"));
                }
            },
        };
        self.settle(path, place, verdict, group.sources.iter().map(|source| (*source).to_owned()).collect());
    }

    /// Whether all that a file holds is ours by blocks or entries, so that a whole file may take its place.
    fn all_ours(&self, path: &str, bytes: Option<&[u8]>, claims: &Claims<'_>) -> bool {
        let Some(have) = bytes.filter(|_| claims.any()) else { return false };
        if claims.has_block() {
            return only_our_block(have, claims);
        }
        let plain = Options { force: false, ..*self.options };
        Format::of(path).is_some_and(|format| {
            let verdict = entries(&[], format, bytes, claims, &plain);
            verdict.conflicts.is_empty() && verdict.after.is_none()
        })
    }

    fn orphans(&mut self, groups: &BTreeMap<&str, Group<'_>>) {
        let state = self.state;
        let locks = std::iter::once(&state.lock).chain(&state.wanted);
        let owned: BTreeSet<&String> = locks.flat_map(|lock| lock.files.keys()).collect();
        let planned: BTreeMap<String, &str> = groups.keys().map(|path| (folded(path), *path)).collect();
        for path in owned.into_iter().filter(|path| !groups.contains_key(path.as_str())) {
            self.orphan(path, planned.get(&folded(path)).copied());
        }
    }

    fn orphan(&mut self, path: &str, twin: Option<&str>) {
        let state = self.state;
        let Some(record) = std::iter::once(&state.lock).chain(&state.wanted).find_map(|lock| lock.files.get(path))
        else {
            return;
        };
        let kept =
            |causes| Verdict { causes, owned: (!self.options.force).then(|| record.clone()), ..Verdict::default() };
        let place = match locate(self.system, path, self.options) {
            Ok(Place { bytes: None, .. }) => return,
            Ok(place) => place,
            // Something else took its place: it is not what we wrote, and not ours to remove.
            Err(_) => {
                let place = Place { real: path.to_owned(), linked: false, bytes: None };
                return self.settle(path, place, kept(vec![Cause::OrphanEdited]), Vec::new());
            }
        };
        if self.reals.contains_key(&folded(&place.real)) && twin.is_none() {
            return;
        }
        if let Some(twin) = twin {
            let message = format!("is not wanted any more and differs from `{twin}` only by case: delete it by hand");
            return self.out.problems.push(Problem::new(path, message));
        }
        let bytes = place.bytes.as_deref().unwrap_or_default();
        let claims = Claims::of(state, path, &place.real);
        let verdict = if place.linked {
            Verdict { after: place.bytes.clone(), ..kept(vec![Cause::OrphanEdited]) }
        } else {
            match Format::of(path).filter(|_| claims.has_entries()) {
                Some(format) => entries(&[], format, Some(bytes), &claims, self.options),
                None => orphan(bytes, record, &claims, self.options),
            }
        };
        // What we wrote cannot be found in a file that cannot be read: it was edited, and stays.
        let verdict = if verdict.causes.contains(&Cause::Unreadable) {
            Verdict { after: place.bytes.clone(), ..kept(vec![Cause::OrphanEdited]) }
        } else {
            verdict
        };
        self.settle(path, place, verdict, Vec::new());
    }

    fn settle(&mut self, path: &str, place: Place, verdict: Verdict, sources: Vec<String>) {
        if let Some(owned) = verdict.owned {
            self.lock.files.insert(path.to_owned(), owned);
        }
        self.out.notes.extend(verdict.notes.into_iter().map(|text| Note { path: path.to_owned(), text }));
        if verdict.causes.is_empty() && place.bytes == verdict.after {
            return;
        }
        self.out.changes.push(Change {
            path: path.to_owned(),
            real: place.real,
            before: place.bytes,
            after: verdict.after,
            causes: verdict.causes,
            conflicts: verdict.conflicts,
            sources,
            forced: verdict.forced,
            own: false,
        });
    }

    fn finish(mut self) -> Comparison {
        self.out.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.out.problems.sort_by(|a, b| a.path.cmp(&b.path));
        let own = |path: &str, before, after, cause| Change {
            path: path.to_owned(),
            real: path.to_owned(),
            before,
            after,
            causes: vec![cause],
            conflicts: Vec::new(),
            sources: Vec::new(),
            forced: false,
            own: true,
        };
        let text = self.lock.to_text();
        let before = self.state.bytes.as_deref();
        let had_pins = |bytes: &[u8]| bytes.windows(PINS.len()).any(|part| part == PINS);
        if matches!(self.state.status, LockStatus::Damaged(_)) && before.is_some_and(had_pins) {
            let text = "the pins of its servers are lost with it; `rolecast audit --accept` pins what they are now";
            self.out.notes.push(Note { path: self.out.lock_path.clone(), text: text.to_owned() });
        }
        let empty = self.lock.files.is_empty() && self.lock.pins.is_empty() && self.lock.extra.is_empty();
        let same = before.map_or(empty, |have| content(have).as_ref() == text.as_bytes());
        if !same {
            let cause = match &self.state.status {
                LockStatus::Absent => Cause::LockMissing,
                LockStatus::Good => Cause::LockStale,
                LockStatus::Damaged(why) => Cause::LockDamaged(why.clone()),
            };
            self.out.changes.push(own(
                &self.out.lock_path,
                self.state.bytes.clone(),
                Some(text.clone().into_bytes()),
                cause,
            ));
        }
        if self.state.interrupted {
            self.out.changes.push(own(&self.out.journal_path, None, None, Cause::Interrupted));
        }
        self.out.lock_text = text;
        self.out
    }
}
