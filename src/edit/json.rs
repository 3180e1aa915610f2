//! JSON and JSONC. Files of these hosts hold comments and trailing commas whatever their ending; everything
//! looser is refused, because two readers would not agree on what it says.

use super::splice::{Comments, Container, Layout, apply, indent_of};
use super::{EditError, Notation};
use crate::text::eol::Shape;
use crate::text::json::LOOSE;
use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::{Range as NodeRange, Ranged};
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::Range;

/// The notation.
pub(super) struct Json;

fn span(range: NodeRange) -> Range<usize> {
    range.start..range.end
}

fn syntax(message: impl Into<String>, range: Range<usize>) -> EditError {
    EditError::Syntax { message: message.into(), range }
}

fn parse(text: &str) -> Result<Option<Object<'_>>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &LOOSE)
        .map_err(|error| syntax(error.kind().to_string().to_lowercase(), span(error.range())))?;
    match parsed.value {
        None => Ok(None),
        Some(Node::Object(object)) => Ok(Some(object)),
        Some(other) => Err(syntax("the top level is not an object", span(other.range()))),
    }
}

fn to_value(node: &Node<'_>) -> Result<Value, EditError> {
    Ok(match node {
        Node::StringLit(lit) => Value::String(lit.value.to_string()),
        Node::NumberLit(lit) => serde_json::from_str(lit.value)
            .map_err(|_| syntax(format!("the number `{}` is out of range", lit.value), span(lit.range)))?,
        Node::BooleanLit(lit) => Value::Bool(lit.value),
        Node::NullKeyword(_) => Value::Null,
        Node::Array(array) => Value::Array(array.elements.iter().map(to_value).collect::<Result<_, _>>()?),
        Node::Object(object) => to_map(object)?,
    })
}

fn to_map(object: &Object<'_>) -> Result<Value, EditError> {
    let mut map = Map::new();
    let mut seen = BTreeSet::new();
    for property in &object.properties {
        let name = property.name.as_str();
        if !seen.insert(name.to_owned()) {
            return Err(syntax(format!("the key `{name}` stands twice"), span(property.name.range())));
        }
        map.insert(name.to_owned(), to_value(&property.value)?);
    }
    Ok(Value::Object(map))
}

/// What new text must look like to fit in.
struct Style<'a> {
    eol: &'static str,
    unit: &'a str,
    /// The whole document is one line with something in it.
    compact: bool,
    colon: &'static str,
}

impl<'a> Style<'a> {
    fn of(text: &'a str, root: Option<&Object<'_>>) -> Self {
        let eol = Shape::of(text.as_bytes()).eol();
        let first = root.and_then(|root| root.properties.first());
        let multiline = text.trim().contains('\n');
        let behind_name = first.map_or("", |property| &text[span(property.name.range()).end..]);
        let tight = !multiline && behind_name.starts_with(':') && !behind_name.starts_with(": ");
        let colon = if tight { ":" } else { ": " };
        let unit = first.map_or("", |property| indent_of(text, property.range.start));
        Self {
            eol,
            unit: if unit.is_empty() || !multiline { "  " } else { unit },
            compact: first.is_some() && !multiline,
            colon,
        }
    }

    /// A value as text whose first line stands after `indent`.
    fn write(&self, value: &Value, indent: &str) -> String {
        if self.compact {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Writing a value to memory cannot fail; its line ends are only the formatter's.
        let _ = serde::Serialize::serialize(value, &mut serializer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indent}", self.eol))
    }

    fn property(&self, key: &str, value: &Value, indent: &str) -> String {
        format!("{}{}{}", Value::String(key.to_owned()), self.colon, self.write(value, indent))
    }
}

fn blocked(path: &[String], node: &Node<'_>) -> EditError {
    let found = match node {
        Node::StringLit(_) => "a string",
        Node::NumberLit(_) => "a number",
        Node::BooleanLit(_) => "a boolean",
        Node::NullKeyword(_) => "null",
        Node::Array(_) => "a list",
        Node::Object(_) => "a table",
    };
    EditError::Blocked { path: path.to_vec(), found }
}

/// The deepest object on a path that exists, how many keys lead to it, and what stands under the next key.
fn descend<'n, 'a>(
    root: &'n Object<'a>,
    path: &[String],
) -> Result<(&'n Object<'a>, usize, Option<&'n Node<'a>>), EditError> {
    let mut here = root;
    for (depth, key) in path.iter().enumerate() {
        let Some(property) = here.properties.iter().find(|property| property.name.as_str() == key) else {
            return Ok((here, depth, None));
        };
        if depth + 1 == path.len() {
            return Ok((here, depth, Some(&property.value)));
        }
        match &property.value {
            Node::Object(object) => here = object,
            other => return Err(blocked(&path[..=depth], other)),
        }
    }
    Ok((here, path.len(), None))
}

fn container<'a>(text: &'a str, style: &Style<'_>, range: NodeRange, items: Vec<Range<usize>>) -> Container<'a> {
    Container { text, comments: Comments::Slash, range: span(range), items, eol: style.eol }
}

fn properties(object: &Object<'_>) -> Vec<Range<usize>> {
    object.properties.iter().map(|property| span(property.range)).collect()
}

/// Adds one item at the end of a container.
fn insert(text: &str, style: &Style<'_>, container: &Container<'_>, item: impl Fn(&str) -> String) -> String {
    let edits = match container.items.last() {
        Some(last) if container.is_multiline() => {
            let indent = indent_of(text, last.start);
            container.insert_after(last, &item(indent), &Layout::Line(indent))
        }
        Some(last) => container.insert_after(last, &item(indent_of(text, last.start)), &Layout::Inline),
        None if style.compact => container.insert_first(&item(""), &Layout::Inline, ""),
        None => {
            let outer = indent_of(text, container.range.start);
            let indent = format!("{outer}{}", style.unit);
            container.insert_first(&item(&indent), &Layout::Line(&indent), outer)
        }
    };
    apply(text, edits)
}

/// A text with an object in it: an empty one becomes `{}`, one of comments only gets it after them.
fn with_root(text: &str) -> String {
    let eol = Shape::of(text.as_bytes()).eol();
    let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { eol };
    if text.trim().is_empty() { format!("{{}}{eol}") } else { format!("{text}{gap}{{}}{eol}") }
}

impl Notation for Json {
    fn parse(text: &str) -> Result<Value, EditError> {
        parse(text)?.map_or_else(|| Ok(Value::Object(Map::new())), |root| to_map(&root))
    }

    fn set(text: &str, path: &[String], value: &Value) -> Result<String, EditError> {
        let Some(root) = parse(text)? else { return Self::set(&with_root(text), path, value) };
        let style = Style::of(text, Some(&root));
        let (object, depth, found) = descend(&root, path)?;
        if let Some(node) = found {
            let range = span(node.range());
            let new = style.write(value, indent_of(text, range.start));
            return Ok(apply(text, vec![(range, new)]));
        }
        let nested = path[depth + 1..].iter().rev().fold(value.clone(), |inner, key| {
            let mut map = Map::new();
            map.insert(key.clone(), inner);
            Value::Object(map)
        });
        let container = container(text, &style, object.range, properties(object));
        Ok(insert(text, &style, &container, |indent| style.property(&path[depth], &nested, indent)))
    }

    fn remove(text: &str, path: &[String]) -> Result<String, EditError> {
        let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
        let style = Style::of(text, Some(&root));
        let (object, depth, _) = descend(&root, path)?;
        let index =
            path.get(depth).and_then(|key| object.properties.iter().position(|property| property.name.as_str() == key));
        let edits = index.map(|index| container(text, &style, object.range, properties(object)).remove(index));
        Ok(apply(text, edits.unwrap_or_default()))
    }

    fn push(text: &str, path: &[String], value: &Value) -> Result<String, EditError> {
        let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
        let style = Style::of(text, Some(&root));
        let (_, _, Some(Node::Array(array))) = descend(&root, path)? else { return Ok(text.to_owned()) };
        let items = array.elements.iter().map(|element| span(element.range())).collect();
        let container = container(text, &style, array.range, items);
        Ok(insert(text, &style, &container, |indent| style.write(value, indent)))
    }

    fn pull(text: &str, path: &[String], index: usize) -> Result<String, EditError> {
        let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
        let style = Style::of(text, Some(&root));
        let (_, _, Some(Node::Array(array))) = descend(&root, path)? else { return Ok(text.to_owned()) };
        let items = array.elements.iter().map(|element| span(element.range())).collect();
        Ok(apply(text, container(text, &style, array.range, items).remove(index)))
    }
}
