//! Items between brackets: where a new one goes and what goes with an old one, whatever the notation.

use std::ops::Range;

/// How comments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` and `/* */`.
    Slash,
    /// `#`.
    Hash,
}

/// A bracketed container in a text.
pub(super) struct Container<'a> {
    pub text: &'a str,
    pub comments: Comments,
    /// From the opening to past the closing bracket.
    pub range: Range<usize>,
    /// The items, in order.
    pub items: Vec<Range<usize>>,
    /// The line end to use.
    pub eol: &'a str,
}

/// How a new item is laid out.
pub(super) enum Layout<'a> {
    /// Beside the others.
    Inline,
    /// On a line of its own after this indentation.
    Line(&'a str),
}

/// Replaces ranges of a text; they must not overlap.
pub(super) fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    // Stable: two insertions at one place stay in the order they were asked for.
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The start of the line a place is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the line a place is on, before its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}

/// The start of the next line, or the end of the text.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The white space a line begins with.
pub(super) fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

impl Container<'_> {
    /// Whether the last item stands on a line of its own.
    pub(super) fn is_multiline(&self) -> bool {
        self.items.last().is_some_and(|last| self.starts_line(last.start))
    }

    fn starts_line(&self, at: usize) -> bool {
        let start = line_start(self.text, at);
        start > self.range.start && is_blank(&self.text[start..at])
    }

    /// The comma after a place, past white space and comments.
    fn comma_after(&self, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < self.range.end {
            match bytes[at] {
                b',' => return Some(at),
                byte if byte.is_ascii_whitespace() => at += 1,
                _ => at = self.comment_end(at)?,
            }
        }
        None
    }

    /// The end of the comment at a place, line end excluded.
    fn comment_end(&self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        let line = || Some(line_end(self.text, at));
        match self.comments {
            Comments::Hash if rest.starts_with('#') => line(),
            Comments::Slash if rest.starts_with("//") => line(),
            Comments::Slash if rest.starts_with("/*") => rest.find("*/").map(|end| at + end + 2),
            _ => None,
        }
    }

    /// Whether a comment between two items runs to the end of its line at a place, so that nothing may join it.
    fn comment_ends_at(&self, from: usize, place: usize) -> bool {
        let mut at = from;
        while at < place {
            match self.comment_end(at) {
                Some(end) if end == place => return true,
                Some(end) => at = end,
                None => at += 1,
            }
        }
        false
    }

    /// The end of what follows a place on its line: white space and comments.
    fn trailing_end(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut end) = (from, from);
        while at < self.range.end - 1 {
            match bytes[at] {
                b'\n' | b'\r' => break,
                b' ' | b'\t' => at += 1,
                _ => match self.comment_end(at) {
                    Some(past) => {
                        at = past;
                        end = past;
                    }
                    None => break,
                },
            }
        }
        end
    }

    /// Edits that add `item` after the last one of a container that has some.
    pub(super) fn insert_after(
        &self,
        last: &Range<usize>,
        item: &str,
        layout: &Layout<'_>,
    ) -> Vec<(Range<usize>, String)> {
        let comma = self.comma_after(last.end);
        let from = comma.map_or(last.end, |at| at + 1);
        let tail = if comma.is_some() { "," } else { "" };
        let mut edits = Vec::new();
        if comma.is_none() {
            edits.push((last.end..last.end, ",".to_owned()));
        }
        let (at, text) = match layout {
            Layout::Line(indent) => (self.trailing_end(from), format!("{}{indent}{item}{tail}", self.eol)),
            Layout::Inline => (from, format!(" {item}{tail}")),
        };
        edits.push((at..at, text));
        edits
    }

    /// Edits that put `item` into an empty container, whose closing bracket then stands after `outer`.
    pub(super) fn insert_first(&self, item: &str, layout: &Layout<'_>, outer: &str) -> Vec<(Range<usize>, String)> {
        let inside = &self.text[self.range.start + 1..self.range.end - 1];
        let at = self.range.start + 1 + inside.trim_end().len();
        let rest = &self.text[at..self.range.end - 1];
        match layout {
            // A comment inside may run to the end of its line.
            Layout::Inline if is_blank(inside) => vec![(at..self.range.end - 1, item.to_owned())],
            Layout::Inline => vec![(at..at, format!("{}{item}", self.eol))],
            Layout::Line(indent) if rest.contains('\n') => vec![(at..at, format!("{}{indent}{item}", self.eol))],
            Layout::Line(indent) => vec![(at..self.range.end - 1, format!("{0}{indent}{item}{0}{outer}", self.eol))],
        }
    }

    /// Edits that take the item at `index` away. Comments stay; brackets with only white space left between
    /// them close up.
    pub(super) fn remove(&self, index: usize) -> Vec<(Range<usize>, String)> {
        let Some(item) = self.items.get(index) else { return Vec::new() };
        let previous = index.checked_sub(1).and_then(|at| self.items.get(at));
        let after = self.comma_after(item.end);
        let end = after.map_or(item.end, |at| at + 1);
        let mut cuts = Vec::new();
        let before = previous.and_then(|previous| self.comma_after(previous.end));
        if self.items.len() == 1
            && is_blank(&self.text[self.range.start + 1..item.start])
            && is_blank(&self.text[end..self.range.end - 1])
            && self.only_comma(item.end, end)
        {
            return vec![(self.range.start + 1..self.range.end - 1, String::new())];
        }
        if !self.only_comma(item.end, end) {
            // A comment between the item and its comma: cut both around it.
            cuts.push(item.clone());
            cuts.extend(after.map(|at| at..at + 1));
        } else if self.starts_line(item.start) {
            let from = previous.map_or(self.range.start + 1, |previous| previous.end);
            cuts.push(self.line_cut(from, item.start, end));
        } else if let (Some(comma), None) = (before, after) {
            if is_blank(&self.text[comma + 1..item.start]) {
                return vec![(comma..item.end, String::new())];
            }
            cuts.push(item.start..end);
        } else {
            let next = self.text[end..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            // The last of several with a trailing comma: the space before it came with it.
            let start = match before {
                Some(comma) if index + 1 == self.items.len() && is_blank(&self.text[comma + 1..item.start]) => {
                    return vec![(comma + 1..end, String::new())];
                }
                _ => item.start,
            };
            cuts.push(start..end + next);
        }
        if let (None, Some(comma)) = (after, before) {
            cuts.push(comma..comma + 1);
        }
        cuts.into_iter().map(|range| (range, String::new())).collect()
    }

    fn only_comma(&self, from: usize, to: usize) -> bool {
        self.text[from..to].bytes().all(|byte| byte == b',' || byte.is_ascii_whitespace())
    }

    /// The whole line when nothing else stands on it, from the line end before it.
    fn line_cut(&self, from: usize, start: usize, end: usize) -> Range<usize> {
        let (first, last) = (line_start(self.text, start), line_end(self.text, end));
        if !is_blank(&self.text[end..last]) {
            let space = self.text[end..last].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            // The closing bracket follows: the line end before the item goes too.
            if end + space == self.range.end - 1 && !self.comment_ends_at(from, before_line_end(self.text, first)) {
                return before_line_end(self.text, first)..end;
            }
            return start..end + space;
        }
        before_line_end(self.text, first)..last
    }
}

/// The place before the line end that precedes a line.
pub(super) fn before_line_end(text: &str, line: usize) -> usize {
    let before = text[..line].strip_suffix('\n').map_or(line, str::len);
    if text[..before].ends_with('\r') && before < line { before - 1 } else { before }
}
