//! Documents as people write them for a store: one JSON object a line, with `id`, `text` and `metadata`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::store::{Document, admissible};

/// Longest text of a document, in bytes: a document is a passage that can be answered with.
const TEXT: usize = 32 << 10;
/// Longest id, in bytes.
const ID: usize = 512;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the whole text, in bytes.
    pub at: Range<usize>,
    /// In words.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// An earlier place that it clashes with.
    pub also: Option<Range<usize>>,
}

/// Reads every line; empty lines count as nothing.
///
/// # Errors
/// Every line that is no document.
pub fn read(text: &str) -> Result<Vec<Document>, Vec<Fault>> {
    let mut documents = Vec::new();
    let mut faults = Vec::new();
    let mut seen: BTreeMap<String, Range<usize>> = BTreeMap::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let from = start + line.len() - line.trim_start().len();
        start += line.len();
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let at = from..from + line.len();
        match one(line, &at) {
            Ok(document) => match seen.insert(document.id.clone(), at.clone()) {
                Some(first) => faults.push(Fault {
                    at,
                    message: format!("the id `{}` stands in two lines", document.id.escape_debug()),
                    help: "give each document an id of its own",
                    also: Some(first),
                }),
                None => documents.push(document),
            },
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(documents) } else { Err(faults) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    text: String,
    #[serde(default)]
    metadata: Unique,
}

fn one(line: &str, at: &Range<usize>) -> Result<Document, Fault> {
    let fault = |at: Range<usize>, message: String, help| Fault { at, message, help, also: None };
    let form = "a line is one document: `{\"id\": \"…\", \"text\": \"…\", \"metadata\": {…}}`";
    let read: Line = serde_json::from_str(line).map_err(|error| {
        let column = error.column().saturating_sub(1).min(line.len());
        let from = at.start + line.floor_char_boundary(column);
        let here =
            if error.is_syntax() || error.is_eof() { from.min(at.end.saturating_sub(1))..at.end } else { at.clone() };
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or("").to_owned();
        fault(here, format!("not a document: {words}"), form)
    })?;
    let key = |name: &str| {
        let found = line.find(&format!("\"{name}\"")).map_or(0, |found| found + at.start);
        if found == 0 { at.clone() } else { found..found + name.len() + 2 }
    };
    if read.id.is_empty() || read.id.len() > ID || read.id.chars().any(char::is_control) {
        let message = format!("an id has 1 to {ID} bytes and no control characters");
        return Err(fault(key("id"), message, "give the document a short name that stays"));
    }
    if read.text.trim().is_empty() || read.text.len() > TEXT {
        let message = format!("a text has 1 to {TEXT} bytes; this one has {}", read.text.len());
        return Err(fault(key("text"), message, "make one document of each passage"));
    }
    if let Err(why) = admissible(&read.metadata.0) {
        return Err(fault(
            key("metadata"),
            format!("the metadata {why}"),
            "write texts, numbers, truth values, lists of them, or objects",
        ));
    }
    Ok(Document { id: read.id, text: read.text, metadata: read.metadata.0 })
}

/// An object in which no key stands twice: of two tenants one would be lost.
#[derive(Default)]
struct Unique(Map<String, Value>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Unique;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
                let mut all = Map::new();
                while let Some(key) = map.next_key::<String>()? {
                    let value: Any = map.next_value()?;
                    if all.contains_key(&key) {
                        return Err(A::Error::custom(format!("the key `{}` stands twice", key.escape_debug())));
                    }
                    all.insert(key, value.0);
                }
                Ok(Unique(all))
            }
        }
        deserializer.deserialize_map(Shape)
    }
}

/// Any value, with unique keys at every depth.
struct Any(Value);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Any;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Any, E> {
                Ok(Any(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Any, E> {
                Ok(Any(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Any, E> {
                Ok(Any(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Any, E> {
                Ok(Any(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Any, E> {
                Ok(Any(value.into()))
            }
            fn visit_unit<E>(self) -> Result<Any, E> {
                Ok(Any(Value::Null))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Any, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element::<Any>()? {
                    all.push(item.0);
                }
                Ok(Any(Value::Array(all)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Any, A::Error> {
                let unique = Unique::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Any(Value::Object(unique.0)))
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_line_is_told_with_its_place() {
        let text = "{\"id\":\"a\",\"text\":\"x\"}\n\nnonsense\n  {\"id\":\"b\",\"text\":\"x\",\"metadata\":{\"t\":1,\"t\":2}}\n\
                    {\"id\":\"\",\"text\":\"x\"}\n{\"id\":\"c\",\"text\":\" \"}\n{\"id\":\"d\",\"text\":\"x\",\"metadata\":{\"a.b\":1}}\n\
                    {\"id\":\"e\",\"text\":\"x\",\"more\":1}\n{\"id\":\"a\",\"text\":\"y\"}\n[1]\n";
        let faults = read(text).unwrap_err();
        let told: Vec<(usize, &str)> =
            faults.iter().map(|f| (text[..f.at.start].matches('\n').count() + 1, f.message.as_str())).collect();
        let lines: Vec<usize> = told.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 8, 9, 10], "{told:#?}");
        for (at, words) in
            [(1, "`t` stands twice"), (4, "dot"), (5, "unknown field `more`"), (6, "stands in two lines")]
        {
            assert!(told[at].1.contains(words), "{:?}", told[at]);
        }
        assert!(
            faults.iter().all(|f| f.at.end <= text.len() && f.at.start < f.at.end && text.is_char_boundary(f.at.start))
        );
    }

    #[test]
    fn lines_are_documents() {
        let found = read("\n{\"id\":\"a\",\"text\":\"x\",\"metadata\":{\"n\":{\"k\":[1,\"b\"]}}}\r\n").unwrap();
        assert_eq!(found[0].metadata["n"]["k"], serde_json::json!([1, "b"]));
        assert_eq!(read("").unwrap(), []);
    }
}
