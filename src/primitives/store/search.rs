//! Search and lists: always within what a filter lets through.

use rusqlite::types::Value as Sql;
use rusqlite::{OptionalExtension, params_from_iter};
use serde_json::{Map, Value, json};

use super::rank::{self, Candidate, Counts, Found};
use super::{Filter, Space, Store};

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
        let best = rank::best(&candidates, &counts, most);
        let rows = best.into_iter().filter_map(|found| Some(self.kept(found.n).transpose()?.map(|kept| (found, kept))));
        let rows = rows.collect::<Result<Vec<_>, rusqlite::Error>>().map_err(|e| self.failed(&e))?;
        Ok((rows, candidates.len()))
    }

    /// Everything a filter lets through, by number, with how near its vector is.
    fn candidates(&mut self, space: Space, filter: &Filter, vector: &[f32]) -> Result<Vec<Candidate>, rusqlite::Error> {
        let (condition, values) = filter.sql(space);
        // Without an order the index of ids answers, which is small; with one, every page of the table would be read.
        let mut query = self.base.prepare_cached(&format!("select n from items where {condition}"))?;
        let numbers = query.query_map(params_from_iter(values), |row| row.get(0))?;
        let mut numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
        numbers.sort_unstable();
        self.vectors.near(&self.base, &numbers, vector)
    }

    /// For each word of a text, how often the candidates have it. The text is cut into words by the same code that
    /// cut the documents, and no part of it is read as a query language.
    fn counts(&self, text: &str, candidates: &[Candidate]) -> Result<Vec<Counts>, rusqlite::Error> {
        self.base.prepare_cached("delete from temp.asked")?.execute([])?;
        self.base.prepare_cached("insert into temp.asked (text) values (?1)")?.execute([text])?;
        let mut words = self.base.prepare_cached("select term from temp.asked_words order by term")?;
        let words: Vec<String> = words.query_map([], |row| row.get(0))?.take(WORDS).collect::<Result<_, _>>()?;
        // One row for each time that an item has the word; those of one item come together.
        let mut places = self.base.prepare_cached("select doc from temp.places where term = ?1")?;
        let mut counts = Vec::new();
        for word in words {
            let mut having = vec![0_i64; candidates.len()];
            let mut rows = places.query([word])?;
            let mut last = None;
            while let Some(row) = rows.next()? {
                let n: i64 = row.get(0)?;
                let at = match last {
                    Some((same, at)) if same == n => at,
                    _ => candidates.binary_search_by_key(&n, |c| c.n).ok(),
                };
                last = Some((n, at));
                if let Some(at) = at {
                    having[at] += 1;
                }
            }
            counts.push(having);
        }
        Ok(counts)
    }

    /// An item; none when somebody removed it meanwhile.
    fn kept(&self, n: i64) -> Result<Option<Kept>, rusqlite::Error> {
        self.base.prepare_cached("select id, text, metadata from items where n = ?1")?.query_row([n], read).optional()
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
