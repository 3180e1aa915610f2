//! Where in the YAML text an error belongs. The parser gives one point; people want the whole word, the
//! start of the mapping, the first of two twins. Works on text alone and never fails: when the text
//! does not look as expected, the parser's own place stays.

use std::ops::Range;

/// Byte offset of a line and column, both from 1, the column in characters.
pub(super) fn offset_of(text: &str, line: u64, column: u64) -> usize {
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for _ in 1..line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let skip = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    text[start..].char_indices().nth(skip).map_or(text.len(), |(at, _)| start + at)
}

/// Widens the parser's place of a value to what a person would underline: a flow collection up to its
/// end on the line, the first word of a block collection, and for a value that is not there the key or
/// word that lacks it.
pub(super) fn widen(text: &str, at: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(at.start);
    let end = text.floor_char_boundary(at.end).max(start);
    let first_line = first_line_end(text, start, end);
    match text[start..].chars().next() {
        Some('[' | '{') => start..flow_end(text, start).unwrap_or(start + 1),
        // The parser stands after a value that is not there.
        Some(':' | ',' | ']' | '}') if end <= start + 1 => lacking(text, start),
        _ if !text[start..end].trim().is_empty() => start..start + text[start..first_line].trim_end().len(),
        Some(c) if !c.is_whitespace() => start..word_end(text, start),
        _ => lacking(text, start),
    }
}

fn first_line_end(text: &str, start: usize, end: usize) -> usize {
    text[start..end].find(['\n', '\r']).map_or(end, |at| start + at)
}

/// End of the line's text, without the newline.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |found| at + found)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// The end of the flow collection that opens at `start`, when it closes on the same line.
fn flow_end(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text[start..line_end(text, start)].char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(start + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The end of the key, list dash or plain value at `start`.
pub(super) fn word_end(text: &str, start: usize) -> usize {
    let line = &text[start..line_end(text, start)];
    if line.starts_with("- ") || line == "-" {
        return start + 1;
    }
    if let Some(quote) = line.chars().next().filter(|c| ['"', '\''].contains(c)) {
        return start + line[1..].find(quote).map_or(line.len(), |at| at + 2);
    }
    let ends = [": ", ", ", " #", "]", "}"];
    let end = ends.iter().filter_map(|stop| line.find(stop)).min().unwrap_or(line.len());
    let word = line[..end].trim_end();
    start + word.strip_suffix(':').unwrap_or(word).len().max(usize::from(!line.is_empty()))
}

/// Nothing stands at `at`: the key (without its colon) or word before it.
fn lacking(text: &str, at: usize) -> Range<usize> {
    let before = text[..at].trim_end();
    let end = before.strip_suffix(':').unwrap_or(before).trim_end().len();
    let start = text[..end]
        .rfind(|c: char| c.is_whitespace() || ",[{".contains(c))
        .map_or(0, |found| found + text[found..].chars().next().map_or(1, char::len_utf8));
    if start < end { start..end } else { at..at }
}

/// The value of the key at `key`, up to the end of its word; `None` when no colon follows.
pub(super) fn value_of(text: &str, key: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(key.end..)?;
    let after = rest.trim_start_matches(' ').strip_prefix(':')?;
    let start = text.len() - after.trim_start().len();
    Some(widen(text, start..word_end(text, start).max(start)))
}

/// The tag before the value at `value`, on its line.
pub(super) fn tag_before(text: &str, value: usize) -> Option<Range<usize>> {
    let before = text[line_start(text, value)..value].trim_end();
    let length = before.len() - before.rfind('!')?;
    let end = line_start(text, value) + before.len();
    let start = end - length;
    (!text[start..end].contains(' ')).then_some(start..end)
}

/// The first key of the mapping that has a key at `key`.
pub(super) fn mapping_start(text: &str, key: usize) -> usize {
    if let Some(open) = flow_open(text, key) {
        return open;
    }
    siblings(text, key).into_iter().next().unwrap_or(key)
}

/// The brace of the flow mapping around `key`, when it is on the same line.
fn flow_open(text: &str, key: usize) -> Option<usize> {
    let start = line_start(text, key);
    let mut open = Vec::new();
    let mut quote = None;
    for (at, c) in text[start..key].char_indices() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => open.push(start + at),
            (None, ']' | '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// Byte offsets of the earlier keys of the block mapping that has a key at `key`, in order.
fn siblings(text: &str, key: usize) -> Vec<usize> {
    let mut start = line_start(text, key);
    let column = text[start..key].chars().count();
    let mut found = Vec::new();
    // A dash before the key itself makes it the first of its mapping.
    if !text[start..key].trim().is_empty() {
        return found;
    }
    while start > 0 {
        let end = start - 1;
        start = line_start(text, end);
        let line = text[start..end].trim_start_matches('\u{feff}').trim_end();
        let content = line.trim_start_matches([' ', '-']);
        if content.is_empty() || content.starts_with('#') {
            if line.starts_with("---") {
                break;
            }
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        if indent > column {
            continue;
        }
        let width = line.len() - content.len();
        if width != column || (indent < column && !line[indent..].starts_with("- ")) {
            break;
        }
        let at = text[start..end].trim_end().len() - content.len();
        found.insert(0, start + at);
        if indent < column {
            break;
        }
    }
    found
}

/// The earlier of two equal keys; `twin` is the later one as written.
pub(super) fn first_twin(text: &str, twin: Range<usize>) -> Option<Range<usize>> {
    let key = text.get(twin.clone())?;
    let is_key =
        |at: usize| text[at..].strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':'));
    let at = match flow_open(text, twin.start) {
        Some(open) => (open + 1..twin.start)
            .find(|at| text.is_char_boundary(*at) && is_key(*at) && text[..*at].trim_end().ends_with(['{', ','])),
        None => siblings(text, twin.start).into_iter().find(|at| is_key(*at)),
    }?;
    Some(at..at + key.len())
}

/// The first tab on the line of `from` or later: the parser reports one beside it.
pub(super) fn tab_near(text: &str, from: usize) -> Option<Range<usize>> {
    let start = line_start(text, from);
    let at = start + text[start..].find('\t')?;
    Some(at..at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_starts_at_its_first_key() {
        let start = |text: &str, key: &str| {
            let at = mapping_start(text, text.rfind(key).unwrap());
            text[at..word_end(text, at)].to_owned()
        };
        assert_eq!(start("a:\n  b: 1\n\n  # note\n  c:\n    x: 1\n  d: 2\n", "d: 2"), "b");
        assert_eq!(start("a: 1\nb: 2\n", "b"), "a");
        assert_eq!(start("\u{feff}a: 1\nb: 2\n", "b"), "a");
        assert_eq!(start("l:\n  - n: 1\n    m: 2\n  - n: 3\n    o: 4\n", "o"), "n");
        assert_eq!(start("l:\n- n: 1\n  m: 2\n", "m"), "n");
        assert_eq!(start("l:\n- n: 1\n- o: 2\n", "o"), "o");
        assert_eq!(&"s: { a: {}, b: 1 }"[mapping_start("s: { a: {}, b: 1 }", 12)..4], "{");
    }

    #[test]
    fn twins_are_found_in_block_and_flow_style() {
        let twin = |text: &str, key: &str| {
            let at = text.rfind(key).unwrap();
            first_twin(text, at..at + key.len()).map(|range| range.start)
        };
        assert_eq!(twin("ab: 1\nb: 2\nb: 3\n", "b"), Some(6));
        assert_eq!(twin("x: { ab: 1, b: 2, b: 3 }", "b"), Some(12));
        assert_eq!(twin("x: { ü: 1, ü: 3 }", "ü"), Some(5));
        assert_eq!(twin("b: 1\nx:\n  b: 2\n", "b"), None);
    }
}
