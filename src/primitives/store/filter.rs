//! Which rows may be seen at all.

use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

use super::{Space, facts};

/// Most conditions of one filter.
const CONDITIONS: usize = 32;
/// Most values of one condition.
const VALUES: usize = 256;

/// Conditions that all must hold: a path, and the values of which a row must have one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter(Vec<(String, Vec<String>)>);

impl Filter {
    /// From JSON: paths as nested objects, one value or a list of them at the end.
    ///
    /// # Errors
    /// What is no condition. Whatever could be read as "no condition" is an error: a filter must never widen by
    /// accident.
    pub fn of(filter: &Map<String, Value>) -> Result<Self, String> {
        let mut conditions = Vec::new();
        for (key, value) in filter {
            add(key, key, value, &mut conditions)?;
        }
        if conditions.len() > CONDITIONS {
            return Err(format!("`filter` has more than {CONDITIONS} conditions"));
        }
        Ok(Self(conditions))
    }

    /// Adds a condition.
    pub(super) fn and(mut self, path: &str, value: &str) -> Self {
        self.0.push((path.to_owned(), vec![value.to_owned()]));
        self
    }

    /// Whether it names a path: such are not shown in answers, because a bound value would show there.
    pub(super) fn names(&self, path: &str) -> bool {
        self.0.iter().any(|(own, _)| own == path)
    }

    /// Whether it names something below a path.
    pub(super) fn reaches_into(&self, path: &str) -> bool {
        self.0.iter().any(|(own, _)| own.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    /// The condition of SQL that holds exactly for its rows of a space, and its values. No text of a caller is in it.
    pub(super) fn sql(&self, space: Space) -> (String, Vec<Sql>) {
        let mut text = String::from("space = ?");
        let mut values = vec![Sql::Integer(space as i64)];
        for (path, any) in &self.0 {
            let marks = vec!["?"; any.len()].join(", ");
            text.push_str(&format!(" and n in (select item from facts where key = ? and value in ({marks}))"));
            values.push(Sql::Text(path.clone()));
            values.extend(any.iter().cloned().map(Sql::Text));
        }
        (text, values)
    }
}

fn add(key: &str, path: &str, value: &Value, conditions: &mut Vec<(String, Vec<String>)>) -> Result<(), String> {
    if key.is_empty() || key.contains('.') {
        return Err("`filter` has a name that is empty or has a dot in it; nest objects instead".to_owned());
    }
    let text = |value: &Value| {
        facts::plain(value).ok_or_else(|| format!("`filter.{path}` is no text, number, truth value or list of them"))
    };
    match value {
        Value::Object(inner) if inner.is_empty() => Err(format!("`filter.{path}` is empty")),
        Value::Object(inner) => {
            inner.iter().try_for_each(|(key, value)| add(key, &format!("{path}.{key}"), value, conditions))
        }
        Value::Array(items) if items.len() > VALUES => Err(format!("`filter.{path}` has more than {VALUES} values")),
        Value::Array(items) if items.is_empty() => Err(format!("`filter.{path}` is empty")),
        Value::Array(items) => {
            conditions.push((path.to_owned(), items.iter().map(text).collect::<Result<_, _>>()?));
            Ok(())
        }
        value => {
            conditions.push((path.to_owned(), vec![text(value)?]));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: &Value) -> Result<Filter, String> {
        Filter::of(value.as_object().unwrap())
    }

    #[test]
    fn nested_and_listed_conditions_are_told_apart() {
        let filter = of(&json!({ "a": { "b": 1, "c": ["x", true] }, "d": 2.0 })).unwrap();
        let wanted = [("a.b", vec!["1"]), ("a.c", vec!["x", "true"]), ("d", vec!["2"])]
            .map(|(path, any)| (path.to_owned(), any.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        assert_eq!(filter.0, wanted);
        assert!(filter.names("a.b") && !filter.names("a") && filter.reaches_into("a") && !filter.reaches_into("a.b"));
    }

    #[test]
    fn nothing_is_read_as_no_condition() {
        for wrong in [
            json!({ "a": [] }),
            json!({ "a": {} }),
            json!({ "a": null }),
            json!({ "a": [null] }),
            json!({ "a": [["x"]] }),
            json!({ "a": [{ "b": 1 }] }),
            json!({ "a.b": 1 }),
            json!({ "": 1 }),
        ] {
            assert!(of(&wrong).is_err(), "{wrong}");
        }
    }
}
