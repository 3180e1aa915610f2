//! From the bytes of a record to its value.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Json, Object};
use crate::measure::skim::{self, Skim};

/// A line of a log, with its long texts cut.
///
/// # Errors
/// It is no JSON. What is cut off need not be.
pub fn record(bytes: &[u8]) -> serde_json::Result<Json<'_>> {
    let whole = std::str::from_utf8(bytes).ok().and_then(|text| {
        let mut from = serde_json::Deserializer::from_str(text);
        let value = Texts::Long.deserialize(&mut from).ok()?;
        from.end().ok().map(|()| value)
    });
    if let Some(value) = whole {
        return Ok(value);
    }
    let (mut skim, mut kept) = (Skim::default(), Vec::new());
    skim.take(bytes, &mut kept);
    skimmed(&kept).map(Json::owned)
}

/// A line whose long texts were cut before.
///
/// # Errors
/// It is no JSON.
pub fn skimmed(bytes: &[u8]) -> serde_json::Result<Json<'_>> {
    serde_json::from_slice(bytes)
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Texts::Short.deserialize(from)
    }
}

/// How long texts are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// They may be long and are cut.
    Long,
    /// What was long was cut.
    Short,
}

impl<'de> DeserializeSeed<'de> for Texts {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json<'de>, D::Error> {
        from.deserialize_any(self)
    }
}

impl Texts {
    fn cut(self, text: &str) -> Option<String> {
        if self == Self::Long { skim::cut(text) } else { None }
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(yes))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(self.cut(text).map_or(Cow::Borrowed(text), Cow::Owned)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(self.cut(text).unwrap_or_else(|| text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = from.next_key_seed(Key(self))? {
            entries.push((key, from.next_value_seed(self)?));
        }
        Ok(Json::Object(Object::new(entries)))
    }
}

/// A key of an object.
struct Key(Texts);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(self.0.cut(text).map_or(Cow::Borrowed(text), Cow::Owned))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(self.0.cut(text).unwrap_or_else(|| text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// The same by the long way: each byte by itself, then the usual parser.
    fn slowly(line: &[u8]) -> Option<Value> {
        let (mut skim, mut kept) = (Skim::default(), Vec::new());
        line.iter().for_each(|byte| skim.feed(*byte, &mut kept));
        serde_json::from_slice(&kept).ok()
    }

    /// The inside of a text in JSON: plain, escaped, longer than what is kept or about as long.
    fn text() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\u0001",
            "\\u0041",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\\\u0001",
            "\\\\ud83d",
            "\\ud83d",
            "é",
            "漢",
            "😀",
            " ",
            "Zm9v",
            "\u{1}",
        ]);
        let pieces = prop::collection::vec(
            (prop_oneof![odd.clone().prop_map(str::to_owned), "[a-zA-Z0-9+/]{0,600}"], 1usize..90),
            0..5,
        );
        let long = prop_oneof![Just(0), skim::KEEP - 9..skim::KEEP + 3];
        (long, prop::collection::vec(odd, 0..9), pieces).prop_map(|(long, odd, pieces)| {
            let pieces: String = pieces.iter().map(|(unit, times)| unit.repeat(*times)).collect();
            format!("{}{}{pieces}", "a".repeat(long), odd.concat())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]
        #[test]
        fn a_record_is_what_it_is_byte_by_byte(texts in prop::collection::vec(text(), 3), harm in prop::option::of((0usize..200_000, prop::sample::select(vec![0u8, 1, b'"', b'\\', b'{', b',', b'0', b'\n', 0x80, 0xC3, 0xFF]))), end in prop::option::of(0usize..200_000)) {
            let [a, b, c] = [0, 1, 2].map(|n| &texts[n]);
            let mut line = format!("{{\"a\":\"{a}\",\"b\":[1.50,-7,1e400,18446744073709551616,null,{{\"{b}\":true}}],\"a\":\"{c}\"}}").into_bytes();
            let length = line.len();
            if let Some((at, byte)) = harm {
                line[at % length] = byte;
            }
            line.truncate(end.map_or(length, |end| end % length));
            prop_assert!(record(&line).ok().map(|json| json.value()) == slowly(&line));
        }

        #[test]
        fn a_key_that_is_there_twice_has_its_last_value(keys in prop::collection::vec("[a-f]{1,2}|\\\\u0061", 0..40)) {
            let entries: Vec<String> = keys.iter().zip(0..).map(|(key, n)| format!("\"{key}\":{n}")).collect();
            let text = format!("{{{}}}", entries.join(","));
            let (own, usual): (Json<'_>, Value) = (serde_json::from_str(&text).unwrap(), serde_json::from_str(&text).unwrap());
            // Also in the same order.
            prop_assert_eq!(own.to_string(), usual.to_string());
            for key in &keys {
                prop_assert_eq!(own.get(key).map(Json::value), usual.get(key).cloned());
            }
        }
    }

    #[test]
    fn nesting_is_bounded_and_paths_lead_into_it() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        for n in [100, 127, 128, 129, 100_000] {
            assert_eq!(record(deep(n).as_bytes()).is_ok(), slowly(deep(n).as_bytes()).is_some(), "{n}");
        }
        let value = record(br#"{"a":{"b":[1,{"c":"x"}]}}"#).unwrap();
        assert_eq!(value.pointer("/a/b/1/c").and_then(Json::as_str), Some("x"));
        assert_eq!((value.pointer("/a/b/2"), value.pointer("/a/c")), (None, None));
    }
}
