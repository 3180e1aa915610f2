//! Search and lists: always within what a filter lets through.

use std::collections::BTreeMap;

use rusqlite::types::Value as Sql;
use rusqlite::{params_from_iter, types::ValueRef};
use serde_json::{Map, Value, json};

use super::file::floats;
use super::rank::{self, Candidate, Found};
use super::{Filter, Space, Store};
use crate::primitives::embed::dot;

/// Most words of a query that are looked up.
const WORDS: usize = 64;

/// An item as it is kept.
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) metadata: Map<String, Value>,
}

impl Store {
    /// The best items for a query, and how many the filter let through.
    pub(super) fn search(
        &mut self,
        space: Space,
        query: &str,
        filter: &Filter,
        most: usize,
    ) -> Result<(Vec<(Found, Kept)>, usize), String> {
        let vector = self.vectors(&[query])?.pop().unwrap_or_default();
        let candidates = self.candidates(space, filter, &vector).map_err(|e| self.failed(&e))?;
        let counts = self.counts(query, &candidates).map_err(|e| self.failed(&e))?;
        let best = rank::best(&candidates, &counts);
        let rows = best.into_iter().take(most).map(|found| Ok((found, self.kept(found.n)?)));
        let rows = rows.collect::<Result<Vec<_>, rusqlite::Error>>().map_err(|e| self.failed(&e))?;
        Ok((rows, candidates.len()))
    }

    /// Everything a filter lets through, by number, with how near its vector is.
    fn candidates(&self, space: Space, filter: &Filter, vector: &[f32]) -> Result<Vec<Candidate>, rusqlite::Error> {
        let (condition, values) = filter.sql(space);
        let mut query =
            self.base.prepare_cached(&format!("select n, words, vector from items where {condition} order by n"))?;
        let mut rows = query.query(params_from_iter(values))?;
        let mut candidates = Vec::new();
        while let Some(row) = rows.next()? {
            let near = match row.get_ref(2)? {
                ValueRef::Blob(blob) if blob.len() == vector.len() * 4 => dot(&floats(blob), vector),
                _ => 0.0,
            };
            candidates.push(Candidate { n: row.get(0)?, words: row.get(1)?, near });
        }
        Ok(candidates)
    }

    /// For each word of a text, how often the candidates have it. The text is cut into words by the same code that
    /// cut the documents, and no part of it is read as a query language.
    fn counts(&self, text: &str, candidates: &[Candidate]) -> Result<Vec<BTreeMap<i64, i64>>, rusqlite::Error> {
        self.base.prepare_cached("delete from temp.asked")?.execute([])?;
        self.base.prepare_cached("insert into temp.asked (text) values (?1)")?.execute([text])?;
        let mut words = self.base.prepare_cached("select term from temp.asked_words order by term")?;
        let words: Vec<String> = words.query_map([], |row| row.get(0))?.take(WORDS).collect::<Result<_, _>>()?;
        let mut places =
            self.base.prepare_cached("select doc, count(*) from temp.places where term = ?1 group by doc")?;
        let mut counts = Vec::new();
        for word in words {
            let mut having = BTreeMap::new();
            let mut rows = places.query([word])?;
            while let Some(row) = rows.next()? {
                let n: i64 = row.get(0)?;
                if candidates.binary_search_by_key(&n, |c| c.n).is_ok() {
                    having.insert(n, row.get(1)?);
                }
            }
            counts.push(having);
        }
        Ok(counts)
    }

    fn kept(&self, n: i64) -> Result<Kept, rusqlite::Error> {
        self.base.prepare_cached("select id, text, metadata from items where n = ?1")?.query_row([n], read)
    }

    /// Items in the order of their ids, after one of them.
    pub(super) fn listed(
        &self,
        filter: &Filter,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Kept>, rusqlite::Error> {
        let (condition, mut values) = filter.sql(Space::Documents);
        values.push(Sql::Text(after.unwrap_or("").to_owned()));
        values.push(Sql::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let text = format!("select id, text, metadata from items where {condition} and id > ? order by id limit ?");
        let mut query = self.base.prepare_cached(&text)?;
        query.query_map(params_from_iter(values), read)?.collect()
    }

    /// How many documents a filter lets through.
    pub(super) fn count(&self, filter: &Filter) -> Result<i64, rusqlite::Error> {
        let (condition, values) = filter.sql(Space::Documents);
        let text = format!("select count(*) from items where {condition}");
        self.base.prepare_cached(&text)?.query_row(params_from_iter(values), |row| row.get(0))
    }

    /// Which paths the metadata have, with how many documents have them and how many values there are.
    pub(super) fn paths(&self, filter: &Filter, most: usize) -> Result<Vec<Value>, rusqlite::Error> {
        let (condition, mut values) = filter.sql(Space::Documents);
        values.push(Sql::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let text = format!(
            "select key, count(distinct item), count(distinct value) from facts \
             where item in (select n from items where {condition}) group by key order by key limit ?"
        );
        let mut query = self.base.prepare_cached(&text)?;
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let rows = query.query_map(params_from_iter(values), read)?.collect::<Result<Vec<_>, _>>()?;
        let shown = rows.into_iter().filter(|(key, ..)| !filter.names(key));
        Ok(shown
            .map(|(key, documents, values)| json!({ "key": key, "documents": documents, "values": values }))
            .collect())
    }

    /// The values of a path, the most frequent first.
    pub(super) fn values(&self, filter: &Filter, key: &str, most: usize) -> Result<Vec<Value>, rusqlite::Error> {
        if filter.names(key) {
            return Ok(Vec::new());
        }
        let (condition, mut values) = filter.sql(Space::Documents);
        values.insert(0, Sql::Text(key.to_owned()));
        values.push(Sql::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let text = format!(
            "select value, count(*) from facts where key = ? and item in (select n from items where {condition}) \
             group by value order by count(*) desc, value limit ?"
        );
        let mut query = self.base.prepare_cached(&text)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let rows = query.query_map(params_from_iter(values), read)?.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().map(|(value, documents)| json!({ "value": value, "documents": documents })).collect())
    }
}

pub(super) fn read(row: &rusqlite::Row<'_>) -> Result<Kept, rusqlite::Error> {
    let metadata: String = row.get(2)?;
    let metadata = match serde_json::from_str(&metadata) {
        Ok(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    Ok(Kept { id: row.get(0)?, text: row.get(1)?, metadata })
}
