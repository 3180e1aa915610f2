//! Logs that are one JSON document: its head is one record, each of its messages another, read one by one.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Reader;
use super::chat::Chat;
use super::export::Export;
use crate::measure::event::{Damage, Kind};
use crate::measure::format::{Format, Out};

/// What is kept of the document beside its messages.
const HEAD: &[&str] = &["info", "sessionId", "projectHash", "startTime", "kind"];

/// Reads a document.
pub struct Document<'d, 'o> {
    path: PathBuf,
    out: &'d mut Out<'o>,
    head: Map<String, Value>,
    reader: Option<(Format, Box<dyn Reader>)>,
    records: u64,
}

impl<'d, 'o> Document<'d, 'o> {
    /// For one file.
    pub fn new(path: &Path, out: &'d mut Out<'o>) -> Self {
        Self { path: path.to_owned(), out, head: Map::new(), reader: None, records: 0 }
    }

    /// Reads it all; false when it ends too early or is no JSON.
    pub fn run(&mut self, from: impl Read) -> bool {
        let mut json = serde_json::Deserializer::from_reader(from);
        (&mut *self).deserialize(&mut json).is_ok()
    }

    /// What it is.
    pub fn format(&self) -> Option<Format> {
        self.reader.as_ref().map(|(format, _)| *format)
    }

    /// How many records there were.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// It is over.
    pub fn end(self, sound: bool) {
        if let Some((_, mut reader)) = self.reader {
            reader.end(self.out);
            if !sound {
                self.out.at.record = self.records + 1;
                let agent = reader.agent();
                self.out.put(&agent, None, Kind::Damaged(Damage::Unfinished));
            }
        }
    }

    fn decide(&mut self) {
        let has = |key: &str| self.head.contains_key(key);
        let new: (Format, Box<dyn Reader>) = if has("info") {
            (Format::Export, Box::new(Export::default()))
        } else if has("sessionId") && (has("projectHash") || has("startTime")) {
            (Format::Chat, Box::new(Chat::new(&self.path)))
        } else {
            return;
        };
        let (_, reader) = self.reader.insert(new);
        self.out.at.record = 0;
        reader.record(&Value::Object(std::mem::take(&mut self.head)), self.out);
    }
}

impl<'de> DeserializeSeed<'de> for &mut Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if HEAD.contains(&key.as_str()) {
                let value = map.next_value::<Value>()?;
                self.head.insert(key, value);
            } else if key == "messages" && self.reader.is_none() {
                self.decide();
                map.next_value_seed(Messages(self))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Messages<'m, 'd, 'o>(&'m mut Document<'d, 'o>);

impl<'de> DeserializeSeed<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let document = self.0;
        let Some((_, reader)) = &mut document.reader else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        while let Some(message) = seq.next_element::<Value>()? {
            document.records += 1;
            document.out.at.record = document.records;
            reader.record(&message, document.out);
        }
        Ok(())
    }
}
