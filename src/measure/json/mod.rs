//! Values of records, borrowed from the bytes of the log where they can be.
//!
//! They answer what `serde_json::Value` answers, as it does. But a text without escapes is not copied, what is beyond
//! [`KEEP`](super::skim::KEEP) is never held, and no table is made of an object's keys: a record has few, and most are not asked for.

mod parse;

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};

pub use parse::{record, skimmed};

/// A value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json<'a> {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, perhaps cut and marked ([`skim`](super::skim)).
    String(Cow<'a, str>),
    /// Values in a row.
    Array(Vec<Json<'a>>),
    /// Values with keys.
    Object(Object<'a>),
}

/// The keys of an object with their values, in the order of the log. No key is there twice.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// So many keys are compared with each other; more are sorted.
const FEW: usize = 16;

impl<'a> Json<'a> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The value at a path of keys and numbers, each after a `/`. Keys with `/` or `~` cannot be named.
    pub fn pointer(&self, path: &str) -> Option<&Self> {
        path.split('/').skip(1).try_fold(self, |value, part| match value {
            Self::Object(object) => object.get(part),
            Self::Array(items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The text it is.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items it is.
    pub const fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The object it is.
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Which of `true` and `false` it is.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    /// The number it is.
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether it is an object.
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// An object with one key.
    pub fn of(key: &'static str, value: Self) -> Self {
        Self::Object(Object(vec![(Cow::Borrowed(key), value)]))
    }

    /// The same, without the bytes it was read from.
    pub fn owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(yes) => Json::Bool(yes),
            Self::Number(number) => Json::Number(number),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::owned).collect()),
            Self::Object(object) => {
                let entries = object.0.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.owned()));
                Json::Object(Object(entries.collect()))
            }
        }
    }

    /// The same, as others take it.
    pub fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(yes) => Value::Bool(*yes),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone().into_owned()),
            Self::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.to_owned(), value.value())).collect())
            }
        }
    }
}

impl<'a> Object<'a> {
    /// From keys with values; of a key that is there twice, the last value counts, at the place of the first.
    pub fn new(entries: Vec<(Cow<'a, str>, Json<'a>)>) -> Self {
        if !twice(&entries) {
            return Self(entries);
        }
        Self(entries.into_iter().collect::<IndexMap<_, _>>().into_iter().collect())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// Keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }
}

fn twice(entries: &[(Cow<'_, str>, Json<'_>)]) -> bool {
    if entries.len() <= FEW {
        let before = |at: usize, key: &str| entries.iter().take(at).any(|(other, _)| other == key);
        return entries.iter().enumerate().any(|(at, (key, _))| before(at, key));
    }
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    !keys.is_sorted_by(|a, b| a < b)
}

impl fmt::Display for Json<'_> {
    /// Without spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(yes) => to.serialize_bool(*yes),
            Self::Number(number) => number.serialize(to),
            Self::String(text) => to.serialize_str(text),
            Self::Array(items) => to.collect_seq(items),
            Self::Object(object) => to.collect_map(object.iter()),
        }
    }
}
