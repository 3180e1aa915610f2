//! Vectors that were read, one after another in memory, so that the next search need not read them again: they are most of
//! what a file has.
//!
//! An item never changes and its number is never another's, so that what is kept under a number is right as long as the
//! number is there; which are there is asked of the file each time. When another connection wrote, all is read anew, in
//! case it was not one of ours.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::rank::Candidate;
use crate::primitives::embed::dot;

/// Most bytes that are kept.
const MOST: usize = 32 << 20;

/// Vectors in memory.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    /// What SQLite says of the file; another number after others wrote.
    version: Option<i64>,
    /// Numbers of a vector.
    length: usize,
    /// By the item's number: how many words it has, and where its vector starts. None = it has no vector of this length.
    places: BTreeMap<i64, (i64, Option<usize>)>,
    values: Vec<f32>,
}

impl Vectors {
    /// How near the vectors of these items are to one, in their order.
    pub(super) fn near(
        &mut self,
        base: &Connection,
        numbers: &[i64],
        vector: &[f32],
    ) -> Result<Vec<Candidate>, rusqlite::Error> {
        let version = Some(base.query_row("pragma data_version", [], |row| row.get(0))?);
        if version != self.version || vector.len() != self.length {
            *self = Self { version, length: vector.len(), ..Self::default() };
        }
        let mut read = base.prepare_cached("select words, vector from items where n = ?1")?;
        let mut near = Vec::with_capacity(numbers.len());
        for &n in numbers {
            near.extend(match self.places.get(&n) {
                Some((words, at)) => {
                    Some(Candidate { n, words: *words, near: at.map_or(0.0, |at| self.dot(at, vector)) })
                }
                None => self.read(&mut read, n, vector)?,
            });
        }
        Ok(near)
    }

    fn dot(&self, at: usize, vector: &[f32]) -> f32 {
        self.values.get(at..at + vector.len()).map_or(0.0, |kept| dot(kept, vector))
    }

    /// Reads an item, and keeps its vector as long as there is room. None when somebody removed it meanwhile.
    fn read(
        &mut self,
        query: &mut CachedStatement<'_>,
        n: i64,
        vector: &[f32],
    ) -> Result<Option<Candidate>, rusqlite::Error> {
        let room = (self.values.len() + vector.len()) * size_of::<f32>() <= MOST;
        let start = self.values.len();
        let read = query.query_row(params![n], |row| {
            let words: i64 = row.get(0)?;
            let found = match row.get_ref(1)? {
                ValueRef::Blob(blob) if blob.len() == size_of_val(vector) => {
                    self.values.extend(blob.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)));
                    true
                }
                _ => false,
            };
            let near = if found { self.dot(start, vector) } else { 0.0 };
            if room {
                self.places.insert(n, (words, found.then_some(start)));
            } else {
                self.values.truncate(start);
            }
            Ok(Candidate { n, words, near })
        });
        read.optional()
    }
}
