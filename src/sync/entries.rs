//! Single entries of a user's JSON or TOML against what stands there.

use super::Options;
use super::claims::{Claims, claim};
use super::finding::{Cause, pointer};
use super::lock::{Owned, OwnedEntries, OwnedEntry};
use super::whole::Verdict;
use crate::edit::{Document, EditError, Format, type_name};
use crate::render::artifact::{Entry, EntryKind, EntryPolicy};
use crate::text::digest::value_digest;
use crate::text::json::offences;
use serde_json::Value;
use std::collections::BTreeSet;

/// One file under work.
struct Work<'a> {
    document: Document,
    claimed: OwnedEntries,
    owned: OwnedEntries,
    verdict: Verdict,
    /// Whatever is in the way may be overwritten.
    may: bool,
    wanted: &'a [Wanted<'a>],
}

/// An entry of the plan and what the lock says of it once it is there.
struct Wanted<'a> {
    entry: &'a Entry,
    selected: bool,
    record: OwnedEntry,
}

/// Brings the wanted entries in, takes orphaned ones out; `wanted` says for each whether it is selected.
pub(super) fn entries(
    wanted: &[(&Entry, bool)],
    format: Format,
    bytes: Option<&[u8]>,
    claims: &Claims<'_>,
    options: &Options<'_>,
) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes.unwrap_or_default()) else {
        return Verdict::refuse(bytes, Cause::Unreadable, "is not UTF-8");
    };
    let replaced = bytes.is_some_and(|have| claims.owns_whole(have));
    let document = match Document::parse(format, if replaced { "" } else { text }) {
        Ok(document) => document,
        Err(error) => return unreadable(&error, format, bytes, text),
    };
    let claimed = claims.entries();
    let mut owned = OwnedEntries { made: claimed.made.clone(), items: BTreeSet::new() };
    if replaced || bytes.is_none() {
        owned.made.insert(Vec::new());
    }
    let mut verdict = Verdict::default();
    if replaced && wanted.is_empty() {
        verdict.causes.push(Cause::Orphaned);
    }
    let may = options.force || bytes.is_some_and(|have| claims.given_up(have));
    // Digests are made once: a list of hundreds of elements is looked through for each of them.
    let wanted: Vec<Wanted<'_>> = wanted
        .iter()
        .map(|(entry, selected)| Wanted {
            entry,
            selected: *selected,
            record: OwnedEntry::new(&entry.path, entry.kind, value_digest(&entry.value)),
        })
        .collect();
    let mut work = Work { document, claimed, owned, verdict, may, wanted: &wanted };
    work.drop_orphans(options.force);
    for wanted in work.wanted {
        if wanted.selected { work.want(wanted) } else { work.carry(&wanted.record) }
    }
    work.prune();
    work.finish(bytes, text)
}

/// A file that is not what it must be, with every place that makes it so.
fn unreadable(error: &EditError, format: Format, bytes: Option<&[u8]>, text: &str) -> Verdict {
    let mut verdict = Verdict::refuse(bytes, Cause::Unreadable, place_of(error, text));
    let EditError::Syntax { message, range } = error else { return verdict };
    let mut spots = vec![(range.clone(), message.clone())];
    if let Format::NarrowJson(refused) = format {
        let others = offences(text, refused).into_iter().map(|o| (o.range, o.what));
        spots.extend(others.filter(|(place, _)| place != range));
    }
    for conflict in &mut verdict.conflicts {
        conflict.spots.clone_from(&spots);
    }
    verdict
}

fn place_of(error: &EditError, text: &str) -> String {
    match error {
        EditError::Syntax { message, range } => {
            let line = text[..range.start.min(text.len())].matches('\n').count() + 1;
            format!("cannot be read: line {line}: {message}")
        }
        other => other.to_string(),
    }
}

impl Work<'_> {
    fn fail(&mut self, cause: Cause, error: &EditError) {
        self.verdict.causes.push(cause);
        self.verdict.conflicts.push(super::Conflict::firm(error.to_string()));
    }

    fn drop_orphans(&mut self, force: bool) {
        let values: BTreeSet<&[String]> =
            self.wanted.iter().filter(|want| !want.record.element).map(|want| want.record.path.as_slice()).collect();
        let elements: BTreeSet<&OwnedEntry> =
            self.wanted.iter().map(|want| &want.record).filter(|record| record.element).collect();
        let is_wanted = |item: &OwnedEntry| {
            if item.element { elements.contains(item) } else { values.contains(item.path.as_slice()) }
        };
        let orphans: Vec<OwnedEntry> = self.claimed.items.iter().filter(|item| !is_wanted(item)).cloned().collect();
        for item in orphans {
            let done = if item.element { self.drop_element(&item) } else { self.drop_value(&item, force) };
            if let Err(error) = done {
                self.fail(Cause::EntryOrphaned(item.path), &error);
            }
        }
    }

    fn drop_element(&mut self, item: &OwnedEntry) -> Result<(), EditError> {
        let list = self.document.list(&item.path).ok().flatten().unwrap_or_default();
        if let Some(index) = list.iter().position(|value| value_digest(value) == item.digest) {
            self.document.pull(&item.path, index)?;
            self.verdict.causes.push(Cause::EntryOrphaned(item.path.clone()));
        }
        Ok(())
    }

    fn drop_value(&mut self, item: &OwnedEntry, force: bool) -> Result<(), EditError> {
        let Ok(Some(value)) = self.document.get(&item.path) else { return Ok(()) };
        if claim(&self.claimed, &item.path, &value_digest(value)).1 {
            self.document.remove(&item.path)?;
            self.verdict.causes.push(Cause::EntryOrphaned(item.path.clone()));
        } else {
            let cause = Cause::EntryOrphanEdited(item.path.clone());
            if !self.verdict.causes.contains(&cause) {
                self.verdict.causes.push(cause);
            }
            if !force {
                self.owned.items.insert(item.clone());
            }
        }
        Ok(())
    }

    /// Keeps what is owned of an entry that this run does not touch.
    fn carry(&mut self, record: &OwnedEntry) {
        let same = |item: &&OwnedEntry| {
            item.path == record.path && item.element == record.element && (!item.element || *item == record)
        };
        self.owned.items.extend(self.claimed.items.iter().filter(same).cloned());
    }

    fn want(&mut self, wanted: &Wanted<'_>) {
        let done = match wanted.entry.kind {
            EntryKind::Value => self.want_value(wanted),
            EntryKind::Element => self.want_element(wanted),
        };
        if let Err(error) = done {
            self.fail(Cause::EntryMissing(wanted.entry.path.clone()), &error);
        }
    }

    fn want_value(&mut self, wanted: &Wanted<'_>) -> Result<(), EditError> {
        let entry = wanted.entry;
        let path = &entry.path;
        let current = match self.document.get(path) {
            Ok(current) => current.cloned(),
            Err(EditError::Blocked { path: above, found }) => return self.unblock(&above, found, wanted),
            Err(error) => return Err(error),
        };
        match current {
            Some(value)
                if same(&value, &entry.value)
                    && (entry.policy != EntryPolicy::Ordered || ordered(&value, &entry.value)) => {}
            Some(_) if self.reclaim(path) => return self.want_value(wanted),
            Some(value) => {
                let (claimed, ours) = claim(&self.claimed, path, &value_digest(&value));
                if ours {
                    self.verdict.causes.push(Cause::EntryStale(path.clone()));
                } else if let (EntryPolicy::AtMost, Some(have), Some(most)) =
                    (entry.policy, value.as_f64(), entry.value.as_f64())
                {
                    if have <= most {
                        self.verdict
                            .notes
                            .push(format!("`{}` is {have}, tighter than the policy's {most}: kept", pointer(path)));
                        return Ok(());
                    }
                    self.verdict.causes.push(Cause::EntryLoose(path.clone()));
                } else {
                    // Nothing can be added to an order that decides: what is there may undo what is ours.
                    let (cause, what): (fn(Vec<String>) -> Cause, _) = match (claimed, entry.policy) {
                        (true, _) => (Cause::EntryEdited, "was edited since it was rendered"),
                        (false, EntryPolicy::Ordered) => (Cause::EntryUnowned, "has rules that are not ours"),
                        (false, _) => (Cause::EntryEdited, "has a value that is not ours"),
                    };
                    self.verdict.clash(cause(path.clone()), format!("`{}` {what}", pointer(path)), self.may);
                }
                if same(&value, &entry.value) {
                    // Only the order differs, which is no difference to whoever sets a value.
                    self.document.remove(path)?;
                }
                self.document.set(path, &entry.value)?;
            }
            None => {
                self.verdict.causes.push(Cause::EntryMissing(path.clone()));
                let made = self.document.set(path, &entry.value)?;
                self.owned.made.extend(made);
            }
        }
        self.owned.items.insert(wanted.record.clone());
        Ok(())
    }

    fn want_element(&mut self, wanted: &Wanted<'_>) -> Result<(), EditError> {
        let entry = wanted.entry;
        let path = &entry.path;
        let present = match self.document.list(path) {
            Ok(list) => list.is_some_and(|list| list.iter().any(|value| same(value, &entry.value))),
            Err(EditError::Blocked { path: above, found }) => return self.unblock(&above, found, wanted),
            Err(error) => return Err(error),
        };
        if !present {
            self.verdict.causes.push(Cause::EntryMissing(path.clone()));
            let made = self.document.push(path, &entry.value)?;
            self.owned.made.extend(made);
        }
        self.owned.items.insert(wanted.record.clone());
        Ok(())
    }

    /// Something of another type is in the way.
    fn unblock(&mut self, above: &[String], found: &'static str, wanted: &Wanted<'_>) -> Result<(), EditError> {
        let entry = wanted.entry;
        if self.reclaim(above) {
            self.want(wanted);
            return Ok(());
        }
        let want = if above.len() == entry.path.len() { "a list" } else { "a table" };
        let message = format!("`{}` is {found} where {want} is needed", pointer(above));
        self.verdict.clash(Cause::EntryEdited(entry.path.clone()), message, self.may);
        if self.may {
            self.document.remove(above)?;
            let made = match entry.kind {
                EntryKind::Value => self.document.set(&entry.path, &entry.value)?,
                EntryKind::Element => self.document.push(&entry.path, &entry.value)?,
            };
            self.owned.made.extend(made);
            self.owned.items.insert(wanted.record.clone());
        }
        Ok(())
    }

    /// Removes a table or list that we made and that is empty, with such in it; whether it is gone.
    fn reclaim(&mut self, above: &[String]) -> bool {
        let made: Vec<Vec<String>> =
            self.owned.made.iter().rev().filter(|path| path.starts_with(above)).cloned().collect();
        for path in made {
            if !path.is_empty() && self.document.is_empty_at(&path) && self.document.remove(&path).is_ok() {
                self.owned.made.remove(&path);
            }
        }
        matches!(self.document.get(above), Ok(None))
    }

    /// Removes tables and lists that we made and nobody uses, deepest first; forgets those the user took over.
    fn prune(&mut self) {
        let made: Vec<Vec<String>> = self.owned.made.iter().rev().filter(|path| !path.is_empty()).cloned().collect();
        for path in made {
            let used = self.wanted.iter().any(|want| want.entry.path.starts_with(&path))
                || self.owned.items.iter().any(|item| item.path.starts_with(&path));
            if used && matches!(self.document.get(&path), Ok(Some(_))) {
                continue;
            }
            if !used && self.document.is_empty_at(&path) {
                // A table that cannot be taken out stays, empty.
                let _ = self.document.remove(&path);
            } else if !used {
                // The same for a header that tables of the user do not need.
                let _ = self.document.remove_header(&path);
            }
            self.owned.made.remove(&path);
        }
    }

    fn finish(mut self, bytes: Option<&[u8]>, text: &str) -> Verdict {
        let wanted = !self.wanted.is_empty() || !self.owned.items.is_empty();
        let made_file = self.owned.made.contains(&Vec::new());
        if !wanted {
            self.owned.made.clear();
        }
        self.verdict.after = if !wanted && made_file && self.document.is_blank() {
            None
        } else if self.document.text() == text {
            bytes.map(<[u8]>::to_vec)
        } else {
            Some(self.document.text().as_bytes().to_vec())
        };
        if self.verdict.after.is_none() && self.owned.items.is_empty() {
            self.owned.made.clear();
        }
        if !self.owned.items.is_empty() || !self.owned.made.is_empty() {
            self.verdict.owned = Some(Owned::Entries(self.owned));
        }
        self.verdict
    }
}

/// Whether two equal values have their keys in one order.
fn ordered(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            x.keys().eq(y.keys()) && x.values().zip(y.values()).all(|(x, y)| ordered(x, y))
        }
        _ => true,
    }
}

/// Equal values; numbers by value, as a host may write `1.0` for `1`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || (x.as_f64() == y.as_f64() && x.is_f64() != y.is_f64()),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => type_name(a) == type_name(b) && a == b,
    }
}
