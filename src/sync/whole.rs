//! Whole files and blocks against what stands there.

use super::Options;
use super::claims::Claims;
use super::finding::{Cause, Conflict};
use super::lock::Owned;
use crate::text::block;
use crate::text::digest::digest;
use crate::text::eol::{BOM, Shape, content};

/// What is to become of one file.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The bytes it should have; `None` when it should not be there.
    pub after: Option<Vec<u8>>,
    pub causes: Vec<Cause>,
    pub conflicts: Vec<Conflict>,
    pub notes: Vec<String>,
    /// What is ours in it afterwards.
    pub owned: Option<Owned>,
    /// Something of the user is overwritten because of `--force`.
    pub forced: bool,
}

impl Verdict {
    pub(super) fn keep(bytes: Option<&[u8]>) -> Self {
        Self { after: bytes.map(<[u8]>::to_vec), ..Self::default() }
    }

    /// Notes that something of the user is in the way, unless it may be overwritten.
    pub(super) fn clash(&mut self, cause: Cause, message: impl Into<String>, may: bool) {
        self.causes.push(cause);
        if may {
            self.forced = true;
        } else {
            self.conflicts.push(Conflict::forceable(message));
        }
    }

    pub(super) fn refuse(bytes: Option<&[u8]>, cause: Cause, message: impl Into<String>) -> Self {
        Self { causes: vec![cause], conflicts: vec![Conflict::firm(message)], ..Self::keep(bytes) }
    }
}

pub(super) fn whole(
    want: &str,
    bytes: Option<&[u8]>,
    claims: &Claims<'_>,
    all_ours: impl Fn() -> bool,
    options: &Options<'_>,
) -> Verdict {
    let owned = Some(Owned::Whole(digest(&content(want.as_bytes()))));
    let Some(have) = bytes else {
        return Verdict { after: Some(want.into()), causes: vec![Cause::Missing], owned, ..Verdict::default() };
    };
    if have == want.as_bytes() {
        return Verdict { owned, ..Verdict::keep(bytes) };
    }
    if content(have) == content(want.as_bytes()) {
        let mut verdict = Verdict { owned, ..Verdict::keep(bytes) };
        if options.strict_eol {
            verdict.after = Some(want.into());
            verdict.causes.push(Cause::LineEndings);
        }
        return verdict;
    }
    let after = if options.strict_eol { want.to_owned() } else { Shape::of(have).restore(want) };
    let mut verdict = Verdict { after: Some(after.into()), owned, ..Verdict::default() };
    let may = options.force || claims.given_up(have);
    if claims.owns_whole(have) || all_ours() {
        verdict.causes.push(Cause::Stale);
    } else if claims.has_whole() {
        verdict.clash(Cause::Edited, "was edited since it was rendered", may);
    } else {
        verdict.clash(Cause::Unowned, "exists already and was not written by rolecast", may);
    }
    verdict
}

pub(super) fn block(want: &str, bytes: Option<&[u8]>, claims: &Claims<'_>, options: &Options<'_>) -> Verdict {
    let owned = Some(Owned::Block(digest(want.as_bytes())));
    let Ok(text) = std::str::from_utf8(bytes.unwrap_or_default()) else {
        return Verdict::refuse(bytes, Cause::Unreadable, "is not UTF-8");
    };
    // A file that was wholly ours has no text of the user to keep.
    let replaced = bytes.is_some_and(|have| claims.owns_whole(have));
    let base = if replaced { "" } else { text };
    let found = match block::find(base) {
        Ok(found) => found.map(|found| found.body(base)),
        Err(damage) => {
            return Verdict::refuse(bytes, Cause::BlockDamaged, format!("the markers are damaged: {damage}"));
        }
    };
    if found.as_deref() == Some(want) {
        return Verdict { owned, ..Verdict::keep(bytes) };
    }
    let after = match block::put(base, want) {
        Ok(after) => after.into_bytes(),
        Err(damage) => {
            return Verdict::refuse(bytes, Cause::BlockDamaged, format!("no block can be put there: {damage}"));
        }
    };
    let mut verdict = Verdict { after: Some(after), owned, ..Verdict::default() };
    match found {
        None if bytes.is_none() => verdict.causes.push(Cause::Missing),
        None if replaced => verdict.causes.push(Cause::Stale),
        None => verdict.causes.push(Cause::BlockMissing),
        Some(body) if claims.owns_block(&body) => verdict.causes.push(Cause::Stale),
        Some(_) => {
            let may = options.force || bytes.is_some_and(|have| claims.given_up(have));
            let what =
                if claims.has_block() { "was edited since it was rendered" } else { "was not written by rolecast" };
            verdict.clash(Cause::Edited, format!("the rolecast block {what}"), may);
        }
    }
    verdict
}

/// A file of which nothing is wanted any more.
pub(super) fn orphan(bytes: &[u8], record: &Owned, claims: &Claims<'_>, options: &Options<'_>) -> Verdict {
    let mut verdict = Verdict::keep(Some(bytes));
    let edited = |mut verdict: Verdict, cause| {
        verdict.causes.push(cause);
        verdict.owned = (!options.force).then(|| record.clone());
        verdict
    };
    if claims.owns_whole(bytes) {
        return Verdict { causes: vec![Cause::Orphaned], ..Verdict::default() };
    }
    if !claims.has_block() {
        return edited(verdict, Cause::OrphanEdited);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return edited(verdict, Cause::OrphanEdited) };
    match block::find(text) {
        Ok(None) => verdict,
        Ok(Some(found)) if claims.owns_block(&found.body(text)) => {
            verdict.causes.push(Cause::Orphaned);
            let rest = block::foreign_text(text);
            verdict.after = (!matches!(rest.as_str(), "" | BOM)).then(|| rest.into_bytes());
            verdict
        }
        Ok(Some(_)) => edited(verdict, Cause::OrphanEdited),
        Err(_) => edited(verdict, Cause::BlockDamaged),
    }
}

/// Whether a file is nothing but our block as we wrote it.
pub(super) fn only_our_block(bytes: &[u8], claims: &Claims<'_>) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        matches!(block::find(text), Ok(Some(found)) if claims.owns_block(&found.body(text)))
            && matches!(block::foreign_text(text).as_str(), "" | BOM)
    })
}
