//! Logs that are one JSON document: its head is one record, each of its messages another, read one by one.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Reader;
use super::chat::Chat;
use super::export::Export;
use crate::measure::event::{Damage, Kind};
use crate::measure::format::{Format, Out};
use crate::measure::json::{Json, Object};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What is kept of the document beside its messages.
const HEAD: &[&str] = &["info", "sessionId", "projectHash", "startTime", "kind"];

/// Bytes of a document, without its long texts, that are held in memory.
const HELD: u64 = 4 << 20;

/// Reads a document.
pub struct Document<'d, 'o> {
    path: PathBuf,
    out: &'d mut Out<'o>,
    head: Vec<(Cow<'static, str>, Json<'static>)>,
    reader: Option<(Format, Box<dyn Reader>)>,
    records: u64,
}

impl<'d, 'o> Document<'d, 'o> {
    /// For one file.
    pub fn new(path: &Path, out: &'d mut Out<'o>) -> Self {
        Self { path: path.to_owned(), out, head: Vec::new(), reader: None, records: 0 }
    }

    /// Reads it all; false when it ends too early or is no JSON.
    pub fn run(&mut self, mut from: impl Read) -> bool {
        // A document in memory is read many times faster than one that comes byte by byte, and few are larger.
        let mut held = Vec::new();
        let read = from.by_ref().take(HELD).read_to_end(&mut held);
        let sound = if (held.len() as u64) < HELD {
            self.deserialize(&mut serde_json::Deserializer::from_slice(&held)).is_ok()
        } else {
            self.deserialize(&mut serde_json::Deserializer::from_reader(held.chain(from))).is_ok()
        };
        sound && read.is_ok()
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
        let has = |key: &str| self.head.iter().any(|(own, _)| own == key);
        let new: (Format, Box<dyn Reader>) = if has("info") {
            (Format::Export, Box::new(Export::default()))
        } else if has("sessionId") && (has("projectHash") || has("startTime")) {
            (Format::Chat, Box::new(Chat::new(&self.path)))
        } else {
            return;
        };
        let (_, reader) = self.reader.insert(new);
        self.out.at.record = 0;
        reader.record(&Json::Object(Object::new(std::mem::take(&mut self.head))), self.out);
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
                let value = map.next_value::<Json<'de>>()?;
                self.head.push((key.into(), value.owned()));
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
        while let Some(message) = seq.next_element::<Json<'de>>()? {
            document.records += 1;
            document.out.at.record = document.records;
            reader.record(&message, document.out);
        }
        Ok(())
    }
}
