//! TOML: tables under headers, dotted keys, inline tables and lists of tables, each edited as it is written.

use super::splice::{Comments, Container, Layout, apply, before_line_end, indent_of, line_end, line_start, next_line};
use super::toml_text::{item_value, table_value};
use super::{EditError, Notation, toml_text};
use crate::text::eol::Shape;
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Document, InlineTable, Item, Key, Table, Value as Node};

/// The notation.
pub(super) struct Toml;

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| EditError::Syntax {
        message: error.message().lines().next().unwrap_or("not well-formed").to_lowercase(),
        range: error.span().unwrap_or(0..0),
    })
}

fn unwritable(path: &[String], why: &'static str) -> EditError {
    EditError::Unwritable { path: path.to_vec(), why }
}

/// Where keys can be added.
enum Parent<'a> {
    Table(&'a Table),
    Inline(&'a InlineTable),
}

impl<'a> Parent<'a> {
    fn get(&self, key: &str) -> Option<(&'a Key, &'a Item)> {
        match self {
            Self::Table(table) => table.get_key_value(key),
            Self::Inline(table) => table.get_key_value(key),
        }
    }
}

/// What a path leads to: the deepest table on it, how many keys lead there, and what stands under the next.
struct Found<'a> {
    parent: Parent<'a>,
    depth: usize,
    item: Option<(&'a Key, &'a Item)>,
}

fn descend<'a>(root: &'a Table, path: &[String]) -> Result<Found<'a>, EditError> {
    let mut parent = Parent::Table(root);
    for (depth, name) in path.iter().enumerate() {
        let item = parent.get(name);
        let Some((_, inner)) = item.filter(|_| depth + 1 < path.len()) else {
            return Ok(Found { parent, depth, item });
        };
        parent = match inner {
            Item::Table(table) => Parent::Table(table),
            Item::Value(Node::InlineTable(table)) => Parent::Inline(table),
            other => {
                return Err(EditError::Blocked {
                    path: path[..=depth].to_vec(),
                    found: super::type_name(&item_value(other)),
                });
            }
        };
    }
    Ok(Found { parent, depth: path.len(), item: None })
}

/// The places of an item: one for each line with a key, one for each header.
fn places(text: &str, key: &Key, item: &Item, out: &mut Vec<(Range<usize>, bool)>) {
    match item {
        Item::None => {}
        Item::Value(node) => {
            if let (Some(start), Some(end)) = (key.span(), node.span()) {
                let line = line_start(text, start.start);
                out.push((line + indent_of(text, start.start).len()..end.end, false));
            }
        }
        Item::Table(table) => table_places(text, table, out),
        Item::ArrayOfTables(tables) => tables.iter().for_each(|table| table_places(text, table, out)),
    }
}

fn table_places(text: &str, table: &Table, out: &mut Vec<(Range<usize>, bool)>) {
    if !table.is_implicit() && !table.is_dotted() {
        out.extend(table.span().map(|span| (span, true)));
    }
    for (name, item) in table {
        if let Some((key, _)) = table.get_key_value(name) {
            places(text, key, item, out);
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// The lines to cut for places; comments behind them stay, the blank line before a header goes with it.
fn cuts(text: &str, places: &[(Range<usize>, bool)]) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = places.iter().map(|(place, header)| cut(text, place, *header)).collect();
    cuts.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in cuts {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    if let Some(last) = merged.last_mut()
        && last.end == text.len()
        && !text.ends_with('\n')
    {
        last.start = before_line_end(text, last.start);
    }
    merged
}

fn cut(text: &str, place: &Range<usize>, header: bool) -> Range<usize> {
    let behind = &text[place.end..line_end(text, place.end)];
    if !is_blank(behind) {
        return place.start..place.end + behind.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }
    let (start, end) = (line_start(text, place.start), next_line(text, place.end));
    let above = line_start(text, before_line_end(text, start));
    let blank_above = start > 0 && is_blank(&text[above..start]);
    if header && blank_above {
        return above..end;
    }
    let below = next_line(text, end);
    if !header && (start == 0 || blank_above) && end < text.len() && is_blank(&text[end..below]) {
        return start..below;
    }
    start..end
}

/// `lines`, which end in a line end, put at the start of a line or at the end of the text, whose own last
/// line keeps having an end or none.
fn put_lines(text: &str, at: usize, lines: &str, eol: &str) -> String {
    let open_end = at == text.len() && !text.is_empty() && !text.ends_with('\n');
    let new = if open_end { format!("{eol}{}", lines.strip_suffix(eol).unwrap_or(lines)) } else { lines.to_owned() };
    apply(text, vec![(at..at, new)])
}

fn append_table(text: &str, table: &str, eol: &str) -> String {
    let gap = if text.is_empty() { "" } else { eol };
    put_lines(text, text.len(), &format!("{gap}{table}"), eol)
}

/// The end of the last value that is set for this very table, dotted keys included.
fn last_key_end(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(node) => node.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => last_key_end(inner),
        _ => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

/// Where a first key at the top goes: before the first header, after comments set off by a blank line.
fn top(text: &str, root: &Table) -> Option<usize> {
    let mut all = Vec::new();
    table_places(text, root, &mut all);
    let first = all
        .iter()
        .filter(|(_, header)| *header)
        .map(|(place, _)| place.start)
        .filter(|start| text[*start..].starts_with('['))
        .min()?;
    let head = &text[..line_start(text, first)];
    let blank = |mark: &str| head.rfind(mark).map(|at| at + mark.len());
    Some(blank("\n\n").max(blank("\r\n\r\n")).unwrap_or(0))
}

fn nest(keys: &[String], value: &Value) -> Value {
    keys.iter().rev().fold(value.clone(), |inner, key| {
        let mut map = Map::new();
        map.insert(key.clone(), inner);
        Value::Object(map)
    })
}

/// Edits for one key in a table written on headers.
fn set_in_table(
    text: &str,
    root: &Table,
    table: &Table,
    path: &[String],
    depth: usize,
    value: &Value,
) -> Result<String, EditError> {
    let eol = Shape::of(text.as_bytes()).eol();
    let fail = |why| unwritable(path, why);
    let rest = &path[depth..];
    if table.is_dotted() {
        let owner = (0..depth).rev().find(|len| !matches!(descend(root, &path[..*len]), Ok(Found { item: Some((_, Item::Table(table))), .. }) if table.is_dotted()));
        let line = format!(
            "{} = {}{eol}",
            toml_text::dotted(&path[owner.unwrap_or(0)..]),
            toml_text::inline(value, eol).map_err(fail)?
        );
        let end = last_key_end(table).ok_or_else(|| fail("its table has no line of its own"))?;
        return Ok(put_lines(text, next_line(text, end), &format!("{}{line}", indent_of(text, end)), eol));
    }
    if let Value::Object(map) = value {
        return Ok(append_table(text, &toml_text::table(path, map, eol, false).map_err(fail)?, eol));
    }
    let (name, above) = path.split_last().ok_or_else(|| fail("the top has no name"))?;
    let line = format!("{} = {}{eol}", toml_text::key(name), toml_text::inline(value, eol).map_err(fail)?);
    let is_root = depth == 0;
    if rest.len() > 1 || (!is_root && table.is_implicit()) {
        return Ok(append_table(text, &format!("[{}]{eol}{line}", toml_text::dotted(above)), eol));
    }
    let header = table.span().filter(|_| !is_root);
    match last_key_end(table).or(header.map(|span| span.end)) {
        Some(end) => {
            let indent = if last_key_end(table).is_some() { last_indent(text, table) } else { "" };
            Ok(put_lines(text, next_line(text, end), &format!("{indent}{line}"), eol))
        }
        None => match top(text, root) {
            Some(at) => Ok(put_lines(text, at, &format!("{line}{eol}"), eol)),
            None => Ok(put_lines(text, text.len(), &line, eol)),
        },
    }
}

fn last_indent<'t>(text: &'t str, table: &Table) -> &'t str {
    let keys = table.iter().filter_map(|(name, item)| item.is_value().then(|| table.get_key_value(name)).flatten());
    keys.filter_map(|(key, _)| key.span()).max_by_key(|span| span.start).map_or("", |span| indent_of(text, span.start))
}

fn inline_container<'a>(text: &'a str, table: &InlineTable, eol: &'a str) -> Container<'a> {
    let mut items = Vec::new();
    for (name, _) in table {
        if let Some((key, item)) = table.get_key_value(name)
            && let (Some(start), Some(end)) = (key.span(), item.span())
        {
            items.push(start.start..end.end);
        }
    }
    Container { text, comments: Comments::Hash, range: table.span().unwrap_or(0..0), items, eol }
}

fn array_container<'a>(text: &'a str, array: &toml_edit::Array, eol: &'a str) -> Container<'a> {
    let items = array.iter().filter_map(Node::span).collect();
    Container { text, comments: Comments::Hash, range: array.span().unwrap_or(0..0), items, eol }
}

fn insert(container: &Container<'_>, item: &str) -> String {
    let edits = match container.items.last() {
        Some(last) if container.is_multiline() => {
            container.insert_after(last, item, &Layout::Line(indent_of(container.text, last.start)))
        }
        Some(last) => container.insert_after(last, item, &Layout::Inline),
        None => container.insert_first(item, &Layout::Inline, ""),
    };
    apply(container.text, edits)
}

/// Replaces an item written on headers by new lines at its first place.
fn replace_places(text: &str, key: &Key, item: &Item, lines: &str, eol: &str) -> String {
    let mut all = Vec::new();
    places(text, key, item, &mut all);
    let cuts = cuts(text, &all);
    let mut edits: Vec<(Range<usize>, String)> = cuts.into_iter().map(|range| (range, String::new())).collect();
    if let Some((range, new)) = edits.first_mut() {
        let old = &text[range.clone()];
        let lead = &old[..old.len() - old.trim_start_matches(['\r', '\n']).len()];
        let open = range.end == text.len() && !text.ends_with('\n');
        *new = format!("{lead}{}", if open { lines.strip_suffix(eol).unwrap_or(lines) } else { lines });
    }
    apply(text, edits)
}

/// Whether a value can only be set by giving a table a header that so far is there by the tables in it.
pub(super) fn needs_header(text: &str, path: &[String], value: &Value) -> bool {
    parse(text).is_ok_and(|document| match descend(document.as_table(), path) {
        Ok(Found { parent: Parent::Table(table), depth, item: None }) => {
            depth > 0 && depth + 1 == path.len() && table.is_implicit() && !table.is_dotted() && !value.is_object()
        }
        _ => false,
    })
}

/// Cuts the header of a table without keys of its own but with tables in it.
pub(super) fn remove_header(text: &str, path: &[String]) -> Result<String, EditError> {
    let document = parse(text)?;
    let Some((_, Item::Table(table))) = descend(document.as_table(), path)?.item else { return Ok(text.to_owned()) };
    let bare = !table.is_implicit() && !table.is_dotted() && !table.is_empty() && last_key_end(table).is_none();
    let places: Vec<_> = table.span().filter(|_| bare).map(|span| (span, true)).into_iter().collect();
    Ok(apply(text, cuts(text, &places).into_iter().map(|range| (range, String::new())).collect()))
}

impl Notation for Toml {
    fn parse(text: &str) -> Result<Value, EditError> {
        Ok(table_value(parse(text)?.as_table()))
    }

    fn set(text: &str, path: &[String], value: &Value) -> Result<String, EditError> {
        let document = parse(text)?;
        let eol = Shape::of(text.as_bytes()).eol();
        let fail = |why| unwritable(path, why);
        let Found { parent, depth, item } = descend(document.as_table(), path)?;
        match (item, &parent) {
            (Some((_, Item::Value(node))), _) => {
                let range = node.span().ok_or_else(|| fail("its place is not known"))?;
                Ok(apply(text, vec![(range, toml_text::inline(value, eol).map_err(fail)?)]))
            }
            (Some((key, item)), _) => match value {
                Value::Object(map) => {
                    Ok(replace_places(text, key, item, &toml_text::table(path, map, eol, false).map_err(fail)?, eol))
                }
                _ => Self::set(&Self::remove(text, path)?, path, value),
            },
            (None, Parent::Table(table)) => set_in_table(text, document.as_table(), table, path, depth, value),
            (None, Parent::Inline(table)) => {
                let new = toml_text::inline(&nest(&path[depth + 1..], value), eol).map_err(fail)?;
                Ok(insert(&inline_container(text, table, eol), &format!("{} = {new}", toml_text::key(&path[depth]))))
            }
        }
    }

    fn remove(text: &str, path: &[String]) -> Result<String, EditError> {
        let document = parse(text)?;
        let eol = Shape::of(text.as_bytes()).eol();
        let Found { parent, item, .. } = descend(document.as_table(), path)?;
        let Some((key, item)) = item else { return Ok(text.to_owned()) };
        if let Parent::Inline(table) = parent {
            let container = inline_container(text, table, eol);
            let index = table.iter().position(|(name, _)| name == key.get());
            return Ok(apply(text, index.map(|index| container.remove(index)).unwrap_or_default()));
        }
        let mut all = Vec::new();
        places(text, key, item, &mut all);
        Ok(apply(text, cuts(text, &all).into_iter().map(|range| (range, String::new())).collect()))
    }

    fn push(text: &str, path: &[String], value: &Value) -> Result<String, EditError> {
        let document = parse(text)?;
        let eol = Shape::of(text.as_bytes()).eol();
        let fail = |why| unwritable(path, why);
        match (descend(document.as_table(), path)?.item, value) {
            (Some((_, Item::Value(Node::Array(array)))), _) => {
                Ok(insert(&array_container(text, array, eol), &toml_text::inline(value, eol).map_err(fail)?))
            }
            (Some((_, Item::ArrayOfTables(_))), Value::Object(map)) => {
                Ok(append_table(text, &toml_text::table(path, map, eol, true).map_err(fail)?, eol))
            }
            _ => Err(fail("the list there takes tables only")),
        }
    }

    fn pull(text: &str, path: &[String], index: usize) -> Result<String, EditError> {
        let document = parse(text)?;
        let eol = Shape::of(text.as_bytes()).eol();
        match descend(document.as_table(), path)?.item {
            Some((_, Item::Value(Node::Array(array)))) => {
                Ok(apply(text, array_container(text, array, eol).remove(index)))
            }
            Some((_, Item::ArrayOfTables(tables))) => {
                let mut all = Vec::new();
                if let Some(table) = tables.get(index) {
                    table_places(text, table, &mut all);
                }
                Ok(apply(text, cuts(text, &all).into_iter().map(|range| (range, String::new())).collect()))
            }
            _ => Ok(text.to_owned()),
        }
    }
}
