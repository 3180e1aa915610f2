//! Filling a store: all or nothing.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::{Map, Value};

use super::file::bytes;
use super::{Space, Store, facts};
use crate::primitives::embed::ngrams;

/// A document to be put into a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its id; one that is there already is replaced.
    pub id: String,
    /// Its text.
    pub text: String,
    /// What filters ask for.
    pub metadata: Map<String, Value>,
}

/// What a load did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Documents that were not there.
    pub added: usize,
    /// Documents that were there and are replaced.
    pub replaced: usize,
    /// Documents that were there and are gone.
    pub removed: usize,
}

/// One item as it is written.
pub(super) struct Item<'a> {
    pub(super) space: Space,
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) metadata: &'a Map<String, Value>,
    pub(super) facts: &'a [(String, String)],
    pub(super) vector: &'a [f32],
}

impl Store {
    /// Puts documents; with `whole`, documents that are not among them go. Nothing is changed on an error.
    ///
    /// # Errors
    /// Metadata that cannot be, an embedder that fails, or a file that cannot be written.
    pub fn put(&mut self, documents: &[Document], whole: bool) -> Result<Loaded, String> {
        let facts: Vec<Vec<(String, String)>> = documents
            .iter()
            .map(|d| facts::of(&d.metadata).map_err(|why| format!("the metadata of `{}` {why}", d.id)))
            .collect::<Result<_, _>>()?;
        let texts: Vec<&str> = documents.iter().map(|d| d.text.as_str()).collect();
        let vectors = self.vectors(&texts)?;
        let items = documents.iter().zip(&facts).zip(&vectors).map(|((document, facts), vector)| Item {
            space: Space::Documents,
            id: &document.id,
            text: &document.text,
            metadata: &document.metadata,
            facts,
            vector,
        });
        let items: Vec<Item<'_>> = items.collect();
        let done = written(&mut self.base, &items, whole);
        done.map_err(|e| self.failed(&e))
    }
}

/// Whether metadata can be kept.
///
/// # Errors
/// Why not.
pub fn admissible(metadata: &Map<String, Value>) -> Result<(), String> {
    facts::of(metadata).map(|_| ())
}

fn written(base: &mut Connection, items: &[Item<'_>], whole: bool) -> Result<Loaded, rusqlite::Error> {
    let transaction = base.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut loaded = Loaded::default();
    for item in items {
        if remove(&transaction, item.space, item.id)? {
            loaded.replaced += 1;
        } else {
            loaded.added += 1;
        }
        insert(&transaction, item)?;
    }
    if whole {
        let kept: BTreeSet<&str> = items.iter().map(|item| item.id).collect();
        let mut query = transaction.prepare("select id from items where space = ?1")?;
        let all: Vec<String> =
            query.query_map([Space::Documents as i64], |row| row.get(0))?.collect::<Result<_, _>>()?;
        drop(query);
        for id in all.iter().filter(|id| !kept.contains(id.as_str())) {
            remove(&transaction, Space::Documents, id)?;
            loaded.removed += 1;
        }
    }
    transaction.commit()?;
    Ok(loaded)
}

/// Removes an item; whether it was there.
fn remove(base: &Connection, space: Space, id: &str) -> Result<bool, rusqlite::Error> {
    let find = "select n from items where space = ?1 and id = ?2";
    let found: Option<i64> =
        base.prepare_cached(find)?.query_row(params![space as i64, id], |row| row.get(0)).optional()?;
    let Some(n) = found else { return Ok(false) };
    for table in
        ["delete from texts where rowid = ?1", "delete from facts where item = ?1", "delete from items where n = ?1"]
    {
        base.prepare_cached(table)?.execute([n])?;
    }
    Ok(true)
}

/// Writes an item, always under a number that no other ever had: what an index still says of an old one is nobody's.
pub(super) fn insert(base: &Connection, item: &Item<'_>) -> Result<(), rusqlite::Error> {
    let words = i64::try_from(ngrams::words(item.text).count()).unwrap_or(i64::MAX);
    let metadata = Value::Object(item.metadata.clone()).to_string();
    base.prepare_cached(
        "insert into items (space, id, text, metadata, words, vector) values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![item.space as i64, item.id, item.text, metadata, words, bytes(item.vector)])?;
    let n = base.last_insert_rowid();
    base.prepare_cached("insert into texts (rowid, text) values (?1, ?2)")?.execute(params![n, item.text])?;
    let mut facts = base.prepare_cached("insert into facts (key, value, item) values (?1, ?2, ?3)")?;
    for (key, value) in item.facts {
        facts.execute(params![key, value, n])?;
    }
    Ok(())
}
