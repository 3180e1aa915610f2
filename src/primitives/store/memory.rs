//! Conversations: turns in their order. Those of one owner and those of nobody are apart, even under one name.

use rusqlite::{TransactionBehavior, params_from_iter, types::Value as Sql};
use serde_json::{Map, Value, json};

use super::put::{self, Item};
use super::search::{Kept, read};
use super::{Filter, Space, Store};

/// Which conversation.
pub(super) struct Conversation<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Whose it is; empty = nobody's.
    pub(super) owner: &'a str,
}

impl Conversation<'_> {
    pub(super) fn filter(&self) -> Filter {
        Filter::default().and("conversation", self.name).and("owner", self.owner)
    }
}

impl Store {
    /// Adds a turn; its place in the conversation, from 1.
    pub(super) fn remember(&mut self, of: &Conversation<'_>, speaker: &str, text: &str) -> Result<i64, String> {
        let vector = self.vectors(&[text])?.pop().unwrap_or_default();
        self.write(of, speaker, text, &vector).map_err(|e| self.failed(&e))
    }

    fn write(
        &mut self,
        of: &Conversation<'_>,
        speaker: &str,
        text: &str,
        vector: &[f32],
    ) -> Result<i64, rusqlite::Error> {
        let (condition, values) = of.filter().sql(Space::Turns);
        let transaction = self.base.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last = format!("select count(*) from items where {condition}");
        let before: i64 = transaction.query_row(&last, params_from_iter(values), |row| row.get(0))?;
        let turn = before + 1;
        let metadata = Map::from_iter([("turn".to_owned(), json!(turn)), ("speaker".to_owned(), json!(speaker))]);
        let facts = [("conversation", of.name), ("owner", of.owner)].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let id = Value::from(vec![of.owner.to_owned(), of.name.to_owned(), turn.to_string()]).to_string();
        let item = Item { space: Space::Turns, id: &id, text, metadata: &metadata, facts: &facts, vector };
        put::insert(&transaction, &item)?;
        transaction.commit()?;
        Ok(turn)
    }

    /// The last turns before one of them, oldest first.
    pub(super) fn turns(
        &self,
        of: &Conversation<'_>,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<Kept>, rusqlite::Error> {
        let (condition, mut values) = of.filter().sql(Space::Turns);
        values.push(Sql::Integer(before.unwrap_or(i64::MAX)));
        values.push(Sql::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let text = format!(
            "select id, text, metadata from items where {condition} and json_extract(metadata, '$.turn') < ? \
             order by n desc limit ?"
        );
        let mut query = self.base.prepare_cached(&text)?;
        let mut kept: Vec<Kept> = query.query_map(params_from_iter(values), read)?.collect::<Result<_, _>>()?;
        kept.reverse();
        Ok(kept)
    }
}
