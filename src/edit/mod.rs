//! Single values in JSON, JSONC and TOML files of the user. Every edit is a splice into the text as it is,
//! so what is not ours keeps its bytes; and every result is parsed again before it is believed.

pub mod json;
mod splice;
pub mod toml;
mod toml_text;

use crate::text::json::{Refused, offences};
use serde_json::{Map, Value};
use std::ops::Range;

/// A notation a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas where the file has them.
    Json,
    /// JSON for readers that refuse a part of that.
    NarrowJson(Refused),
    /// TOML.
    Toml,
}

impl Format {
    /// The notation by a path's ending, for a reader that refuses a part of it.
    pub fn read_by(path: &str, refused: Refused) -> Option<Self> {
        match Self::of(path)? {
            Self::Json if refused != Refused::default() => Some(Self::NarrowJson(refused)),
            other => Some(other),
        }
    }

    /// The notation by a path's ending.
    pub fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "json" | "jsonc" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// Why an edit is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is not what its ending says.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// Where, in bytes of the text.
        range: Range<usize>,
    },
    /// Something of another type stands where a table or list is needed.
    #[error("`{}` is {found}", .path.join("."))]
    Blocked {
        /// Keys down to it.
        path: Vec<String>,
        /// What it is, with its article.
        found: &'static str,
    },
    /// The value cannot be written in this notation or at this place without touching the user's text.
    #[error("`{}` cannot be written here: {why}", .path.join("."))]
    Unwritable {
        /// Keys down to it.
        path: Vec<String>,
        /// The reason.
        why: &'static str,
    },
}

/// A text under edit and the value it says.
#[derive(Debug, Clone)]
pub struct Document {
    format: Format,
    text: String,
    value: Value,
}

/// A text that is spliced, as the notations see it.
trait Notation {
    fn parse(text: &str) -> Result<Value, EditError>;
    fn set(text: &str, path: &[String], value: &Value) -> Result<String, EditError>;
    fn remove(text: &str, path: &[String]) -> Result<String, EditError>;
    fn push(text: &str, path: &[String], value: &Value) -> Result<String, EditError>;
    fn pull(text: &str, path: &[String], index: usize) -> Result<String, EditError>;
}

impl Document {
    /// Reads a text; a byte order mark is kept and an empty text is an empty document.
    ///
    /// # Errors
    /// [`EditError::Syntax`]: not well-formed by the strict rules, a key twice, or no table at the top.
    pub fn parse(format: Format, text: &str) -> Result<Self, EditError> {
        let mark = text.len() - bare(text).len();
        if let Format::NarrowJson(Refused { mark: true, .. }) = format
            && mark > 0
        {
            return Err(EditError::Syntax { message: "a byte order mark".into(), range: 0..mark });
        }
        let value = parse(format, bare(text)).map_err(|error| match error {
            EditError::Syntax { message, range } => {
                EditError::Syntax { message, range: range.start + mark..range.end + mark }
            }
            other => other,
        })?;
        Ok(Self { format, text: text.to_owned(), value })
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the text says as a whole.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// The value at a path.
    ///
    /// # Errors
    /// [`EditError::Blocked`] when something on the way is no table.
    pub fn get(&self, path: &[String]) -> Result<Option<&Value>, EditError> {
        let mut here = &self.value;
        for (depth, key) in path.iter().enumerate() {
            let Value::Object(map) = here else {
                return Err(EditError::Blocked { path: path[..depth].to_vec(), found: type_name(here) });
            };
            match map.get(key) {
                Some(next) => here = next,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// The list at a path.
    ///
    /// # Errors
    /// [`EditError::Blocked`] when it, or something on the way, is of another type.
    pub fn list(&self, path: &[String]) -> Result<Option<&[Value]>, EditError> {
        match self.get(path)? {
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(EditError::Blocked { path: path.to_vec(), found: type_name(other) }),
            None => Ok(None),
        }
    }

    /// Sets the value at a path; returns the tables that had to be made for it, or to get a header.
    ///
    /// # Errors
    /// [`EditError::Blocked`] or [`EditError::Unwritable`]; the text is then unchanged.
    pub fn set(&mut self, path: &[String], value: &Value) -> Result<Vec<Vec<String>>, EditError> {
        if self.get(path)? == Some(value) {
            return Ok(Vec::new());
        }
        let above = &path[..path.len().saturating_sub(1)];
        let mut made = self.missing(above);
        if self.format == Format::Toml && toml::needs_header(bare(&self.text), path, value) {
            made.push(above.to_vec());
        }
        let mut want = self.value.clone();
        *slot(&mut want, path)? = value.clone();
        self.accept(want, path, |format, text| match format {
            Format::Json | Format::NarrowJson(_) => json::Json::set(text, path, value),
            Format::Toml => toml::Toml::set(text, path, value),
        })?;
        Ok(made)
    }

    /// Removes the value at a path; `false` when there is none.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn remove(&mut self, path: &[String]) -> Result<bool, EditError> {
        if self.get(path)?.is_none() {
            return Ok(false);
        }
        let mut want = self.value.clone();
        if let Some((key, above)) = path.split_last()
            && let Value::Object(map) = slot(&mut want, above)?
        {
            map.shift_remove(key);
        }
        self.accept(want, path, |format, text| match format {
            Format::Json | Format::NarrowJson(_) => json::Json::remove(text, path),
            Format::Toml => toml::Toml::remove(text, path),
        })?;
        Ok(true)
    }

    /// Takes the header of a TOML table away that has no keys of its own and is there by the tables in it.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn remove_header(&mut self, path: &[String]) -> Result<(), EditError> {
        if self.format != Format::Toml {
            return Ok(());
        }
        let want = self.value.clone();
        self.accept(want, path, |_, text| toml::remove_header(text, path))
    }

    /// Appends an element to the list at a path; returns the tables and the list that had to be made.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn push(&mut self, path: &[String], value: &Value) -> Result<Vec<Vec<String>>, EditError> {
        if self.list(path)?.is_none() {
            let mut made = self.set(path, &Value::Array(vec![value.clone()]))?;
            made.push(path.to_vec());
            return Ok(made);
        }
        let mut want = self.value.clone();
        if let Value::Array(items) = slot(&mut want, path)? {
            items.push(value.clone());
        }
        self.accept(want, path, |format, text| match format {
            Format::Json | Format::NarrowJson(_) => json::Json::push(text, path, value),
            Format::Toml => toml::Toml::push(text, path, value),
        })?;
        Ok(Vec::new())
    }

    /// Removes the element at `index` of the list at a path; `false` when there is none.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn pull(&mut self, path: &[String], index: usize) -> Result<bool, EditError> {
        if self.list(path)?.is_none_or(|items| items.len() <= index) {
            return Ok(false);
        }
        let mut want = self.value.clone();
        if let Value::Array(items) = slot(&mut want, path)? {
            items.remove(index);
        }
        self.accept(want, path, |format, text| match format {
            Format::Json | Format::NarrowJson(_) => json::Json::pull(text, path, index),
            Format::Toml => toml::Toml::pull(text, path, index),
        })?;
        Ok(true)
    }

    /// Whether the table or list at a path holds nothing.
    pub fn is_empty_at(&self, path: &[String]) -> bool {
        match self.get(path) {
            Ok(Some(Value::Object(map))) => map.is_empty(),
            Ok(Some(Value::Array(items))) => items.is_empty(),
            _ => false,
        }
    }

    /// Whether the text holds nothing but an empty top-level table: no value and no comment.
    pub fn is_blank(&self) -> bool {
        self.value.as_object().is_some_and(Map::is_empty) && matches!(bare(&self.text).trim(), "" | "{}")
    }

    /// The tables on a path that do not exist yet.
    fn missing(&self, path: &[String]) -> Vec<Vec<String>> {
        (1..=path.len()).map(|len| path[..len].to_vec()).filter(|at| matches!(self.get(at), Ok(None))).collect()
    }

    /// Takes a splice over when its result says exactly what it should.
    fn accept(
        &mut self,
        want: Value,
        path: &[String],
        splice: impl FnOnce(Format, &str) -> Result<String, EditError>,
    ) -> Result<(), EditError> {
        let body = bare(&self.text);
        let mark = &self.text[..self.text.len() - body.len()];
        let text = splice(self.format, body)?;
        match parse(self.format, &text) {
            Ok(value) if agrees(&value, &want, path) => {
                self.text = format!("{mark}{text}");
                self.value = value;
                Ok(())
            }
            _ => Err(EditError::Unwritable { path: path.to_vec(), why: "the text around it does not allow it" }),
        }
    }
}

/// Whether two documents say the same; tables above a removed value that are now empty may be gone, because
/// in TOML a table can be there only for what is in it.
fn agrees(have: &Value, want: &Value, path: &[String]) -> bool {
    if have == want {
        return true;
    }
    let (Some(have), Some(want), Some((key, below))) = (have.as_object(), want.as_object(), path.split_first()) else {
        return false;
    };
    let others = |from: &Map<String, Value>, to: &Map<String, Value>| {
        from.iter().all(|(name, value)| name == key || to.get(name) == Some(value))
    };
    if !others(have, want) || !others(want, have) {
        return false;
    }
    match (have.get(key), want.get(key)) {
        (Some(have), Some(want)) => agrees(have, want, below),
        (None, Some(want)) => hollow(want, below),
        (have, want) => have == want,
    }
}

/// Whether a value is nothing but the empty tables of a path.
fn hollow(value: &Value, path: &[String]) -> bool {
    value.as_object().is_some_and(|map| {
        !path.is_empty() && map.iter().all(|(name, inner)| path.first() == Some(name) && hollow(inner, &path[1..]))
    })
}

fn bare(text: &str) -> &str {
    text.strip_prefix(crate::text::eol::BOM).unwrap_or(text)
}

fn parse(format: Format, text: &str) -> Result<Value, EditError> {
    match format {
        Format::Json => json::Json::parse(text),
        Format::NarrowJson(refused) => {
            let value = json::Json::parse(text)?;
            match offences(text, refused).into_iter().next() {
                Some(first) if !text.trim().is_empty() => {
                    Err(EditError::Syntax { message: first.what, range: first.range })
                }
                _ => Ok(value),
            }
        }
        Format::Toml => toml::Toml::parse(text),
    }
}

/// The place of a path in a value, made where missing.
fn slot<'a>(value: &'a mut Value, path: &[String]) -> Result<&'a mut Value, EditError> {
    let mut here = value;
    for (depth, key) in path.iter().enumerate() {
        let found = type_name(here);
        let Value::Object(map) = here else {
            return Err(EditError::Blocked { path: path[..depth].to_vec(), found });
        };
        let last = depth + 1 == path.len();
        here = map.entry(key.clone()).or_insert_with(|| if last { Value::Null } else { Value::Object(Map::new()) });
    }
    Ok(here)
}

/// What a value is, with its article.
pub const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
