//! Our block inside a text of the user: find, put, take away, and nothing else changed.

use super::eol::{BOM, Shape, to_lf};
use std::ops::Range;

/// The line before our text.
pub const BEGIN: &str = "<!-- rolecast:begin -->";
/// The line after our text.
pub const END: &str = "<!-- rolecast:end -->";

/// Why a file's markers cannot be trusted; each text fits after "the markers are damaged: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// A begin marker that no end marker follows.
    #[error("a begin marker without an end marker")]
    NoEnd,
    /// An end marker before any begin marker.
    #[error("an end marker without a begin marker")]
    NoBegin,
    /// More than one block.
    #[error("more than one block")]
    Two,
    /// A block put at the end would be part of the user's code.
    #[error("the file ends inside a code fence that is not closed")]
    OpenFence,
}

/// Where a block stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// From the begin marker to the end of the end marker's line, its line end included.
    pub whole: Range<usize>,
    /// The text between the marker lines.
    pub inner: Range<usize>,
}

impl Block {
    /// The text between the markers with LF line ends and without the last one.
    pub fn body(&self, text: &str) -> String {
        let inner = to_lf(&text[self.inner.clone()]).into_owned();
        inner.strip_suffix('\n').map_or(inner.clone(), str::to_owned)
    }
}

/// Finds our block; markers inside fenced code are the user's text.
///
/// # Errors
/// The markers do not make exactly one block.
pub fn find(text: &str) -> Result<Option<Block>, Damage> {
    let mut begin: Option<Range<usize>> = None;
    let mut found = None;
    for (line, range) in marker_lines(text) {
        match (line, &begin, &found) {
            (BEGIN, None, None) => begin = Some(range),
            (BEGIN, ..) => return Err(Damage::Two),
            (_, Some(start), None) => {
                found = Some(Block { whole: start.start..range.end, inner: start.end..range.start });
            }
            (_, _, Some(_)) => return Err(Damage::Two),
            (_, None, None) => return Err(Damage::NoBegin),
        }
    }
    if begin.is_some() && found.is_none() { Err(Damage::NoEnd) } else { Ok(found) }
}

/// The text with our block saying `body`: in place where there is one, else at the end after one blank line.
///
/// # Errors
/// The markers are damaged, or a block at the end would not be one.
pub fn put(text: &str, body: &str) -> Result<String, Damage> {
    let eol = Shape::of(text.as_bytes()).eol();
    let lines = if body.is_empty() { String::new() } else { format!("{}{eol}", to_lf(body).replace('\n', eol)) };
    let out = if let Some(block) = find(text)? {
        format!("{}{lines}{}", &text[..block.inner.start], &text[block.inner.end..])
    } else {
        let bare = format!("{BEGIN}{eol}{lines}{END}");
        match text.strip_prefix(BOM).unwrap_or(text) {
            "" => format!("{text}{bare}{eol}"),
            user if user.ends_with('\n') => format!("{text}{eol}{bare}{eol}"),
            _ => format!("{text}{eol}{eol}{bare}"),
        }
    };
    match find(&out) {
        Ok(Some(block)) if block.body(&out) == to_lf(body) => Ok(out),
        _ => Err(Damage::OpenFence),
    }
}

/// The text without our block: what [`put`] added at the end goes, and nothing else.
///
/// # Errors
/// The markers are damaged.
pub fn take(text: &str) -> Result<String, Damage> {
    let Some(Block { whole, .. }) = find(text)? else { return Ok(text.to_owned()) };
    let (before, block, after) = (&text[..whole.start], &text[whole.clone()], &text[whole.end..]);
    let blank_before = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    let opens = |text: &str| text.is_empty() || text.starts_with('\n') || text.starts_with("\r\n");
    let before = match blank_before {
        // Put after a text without a last line end: that line end was ours too.
        Some(rest) if after.is_empty() && !block.ends_with('\n') => {
            rest.strip_suffix("\r\n").or_else(|| rest.strip_suffix('\n')).unwrap_or(rest)
        }
        Some(rest) if opens(after) && (rest.is_empty() || rest.ends_with('\n') || rest == BOM) => rest,
        _ => before,
    };
    let at_top = before.is_empty() || before == BOM;
    let after =
        if at_top { after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after) } else { after };
    Ok(format!("{before}{after}"))
}

/// What the user wrote: the text without our block. A text with damaged markers is all the user's.
pub fn foreign_text(text: &str) -> String {
    take(text).unwrap_or_else(|_| text.to_owned())
}

/// Marker lines outside fenced code, with the range of the line and its line end. A fence that is never
/// closed hides nothing, else a stray one would make our block invisible.
fn marker_lines(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut markers = Vec::new();
    // The open fence and how many markers were seen before it.
    let mut fence: Option<(&str, usize)> = None;
    let mut at = text.len() - text.strip_prefix(BOM).unwrap_or(text).len();
    for full in text[at..].split_inclusive('\n') {
        let line = full.trim_end();
        if let Some(run) = fence_of(line) {
            match fence {
                None if !(run.starts_with('`') && line.trim_start()[run.len()..].contains('`')) => {
                    fence = Some((run, markers.len()))
                }
                Some((open, seen))
                    if run.starts_with(&open[..1]) && run.len() >= open.len() && line.trim_start() == run =>
                {
                    markers.truncate(seen);
                    fence = None;
                }
                _ => {}
            }
        } else if line == BEGIN || line == END {
            markers.push((line, at..at + full.len()));
        }
        at += full.len();
    }
    markers
}

/// The run of backticks or tildes when a line may open or close fenced code.
fn fence_of(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let run = &text[..text.len() - text.trim_start_matches(mark).len()];
    (run.len() >= 3).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_of_the_user_gets_the_block_after_a_blank_line() {
        assert_eq!(put("# Mine\n", "ours").unwrap(), format!("# Mine\n\n{BEGIN}\nours\n{END}\n"));
        assert_eq!(put("", "ours\nmore").unwrap(), format!("{BEGIN}\nours\nmore\n{END}\n"));
        assert_eq!(put("a\r\nb\r\n", "x\ny").unwrap(), format!("a\r\nb\r\n\r\n{BEGIN}\r\nx\r\ny\r\n{END}\r\n"));
    }

    #[test]
    fn damaged_markers_are_refused() {
        assert_eq!(find(&format!("{BEGIN}\nx\n")), Err(Damage::NoEnd));
        assert_eq!(find(&format!("x\n{END}\n")), Err(Damage::NoBegin));
        assert_eq!(find(&format!("{END}\n{BEGIN}\n")), Err(Damage::NoBegin));
        assert_eq!(find(&format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n")), Err(Damage::Two));
        assert_eq!(find(&format!("{BEGIN}\n{BEGIN}\n{END}\n")), Err(Damage::Two));
        assert_eq!(find(&format!("{BEGIN}\n{END}\n{END}\n")), Err(Damage::Two));
    }

    #[test]
    fn markers_in_code_and_inside_lines_are_text() {
        let text = format!("```html\n{BEGIN}\n{END}\n```\nsee {BEGIN}\n    {END}\n");
        assert_eq!(find(&text), Ok(None));
        let with = put(&text, "ours").unwrap();
        assert_eq!(take(&with).unwrap(), text);
    }

    #[test]
    fn a_stray_fence_does_not_hide_the_block_and_one_closed_by_the_block_is_refused() {
        let with = put("text\n```\nopen\n", "ours").unwrap();
        assert_eq!(find(&with).unwrap().unwrap().body(&with), "ours");
        assert_eq!(put("text\n```\nopen\n", "a\n```\nb"), Err(Damage::OpenFence));
        assert_eq!(put("x\n", &format!("a\n{END}\nb")), Err(Damage::OpenFence));
    }

    #[test]
    fn a_block_moved_to_the_middle_or_top_leaves_the_text_around_it() {
        assert_eq!(take(&format!("a\n\n{BEGIN}\nx\n{END}\n\nb\n")).unwrap(), "a\n\nb\n");
        assert_eq!(take(&format!("a\n{BEGIN}\nx\n{END}\nb\n")).unwrap(), "a\nb\n");
        assert_eq!(take(&format!("{BEGIN}\nx\n{END}\n\nb\n")).unwrap(), "b\n");
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            "[a-z# ]{0,8}",
            Just("```".to_owned()),
            Just("~~~~ x".to_owned()),
            Just(format!("text {BEGIN}"))
        ];
        (any::<bool>(), any::<bool>(), any::<bool>(), prop::collection::vec(line, 0..8)).prop_map(
            |(bom, crlf, last, lines)| {
                let eol = if crlf { "\r\n" } else { "\n" };
                let mut text = lines.join(eol);
                if last && !text.is_empty() {
                    text.push_str(eol);
                }
                if bom { format!("{BOM}{text}") } else { text }
            },
        )
    }

    proptest! {
        #[test]
        fn put_then_take_gives_every_byte_back(user in text(), body in "[a-z]{1,5}(\n[a-z ]{0,5}[a-z]){0,3}") {
            if let Ok(with) = put(&user, &body) {
                prop_assert_eq!(put(&with, &body).unwrap(), with.clone());
                prop_assert_eq!(&take(&with).unwrap(), &user);
                prop_assert_eq!(foreign_text(&with), user.clone());
                let other = put(&with, "other").unwrap();
                prop_assert_eq!(take(&other).unwrap(), user);
            }
        }
    }
}
