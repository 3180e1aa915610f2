//! Sentences of a Markdown text that demand discovery at the start of every session.

use std::ops::Range;

use super::phrases::{demand, heads_start, ordered, restrains, says_start, words};
use crate::text::{block, frontmatter};

/// What a line is for the reader.
enum Line {
    Blank,
    Heading(usize),
    Item,
    Text,
}

/// Where demands stand, as lines without the blanks around them. Our own block, front matter and code are
/// left out.
pub fn demands(text: &str) -> Vec<Range<usize>> {
    let start = frontmatter::split(text).map_or(0, |parts| parts.body_start);
    let ours = block::find(text).ok().flatten().map_or(text.len()..text.len(), |found| found.whole);
    let mut found = Vec::new();
    for part in [start..ours.start.max(start), ours.end.max(start)..text.len()] {
        Reader { text, section: None, led: false, found: &mut found }.read(part);
    }
    found
}

struct Reader<'a> {
    text: &'a str,
    /// Level of the heading about session starts that the text stands below.
    section: Option<usize>,
    /// Whether a sentence about session starts ended with `:` just before this list.
    led: bool,
    found: &'a mut Vec<Range<usize>>,
}

impl Reader<'_> {
    fn read(&mut self, part: Range<usize>) {
        let mut open: Option<(Range<usize>, bool)> = None;
        let mut fenced = false;
        let mut at = part.start;
        for line in self.text[part].split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            fenced ^= fence;
            if fence || fenced {
                self.close(&mut open);
                continue;
            }
            match kind(line) {
                Line::Blank => self.close(&mut open),
                Line::Heading(level) => {
                    self.close(&mut open);
                    self.heading(range, level);
                }
                Line::Item => {
                    self.close(&mut open);
                    open = Some((range, true));
                }
                Line::Text => match &mut open {
                    Some((block, _)) => block.end = range.end,
                    None => open = Some((range, false)),
                },
            }
        }
        self.close(&mut open);
    }

    fn heading(&mut self, range: Range<usize>, level: usize) {
        self.led = false;
        let said = words(&self.text[range.clone()], range.start);
        if heads_start(&said) && !restrains(&said) {
            self.section = Some(level);
        } else if self.section.is_some_and(|open| level <= open) {
            self.section = None;
        }
    }

    fn close(&mut self, open: &mut Option<(Range<usize>, bool)>) {
        let Some((range, item)) = open.take() else { return };
        let led = self.led && item;
        let mut leads = false;
        for sentence in sentences(self.text, range.clone()) {
            let said = words(&self.text[sentence.clone()], sentence.start);
            let colon = self.text[sentence].trim_end().trim_end_matches(['*', '_']).ends_with(':');
            let wanted = demand(&said, self.text);
            // Most sentences neither demand nor lead; the phrases are looked for in the others only.
            let starts = (colon || wanted.is_some()) && !restrains(&said) && says_start(&said);
            leads = colon && starts;
            if let Some((first, last)) = wanted {
                let within = (led || self.section.is_some()) && ordered(&said, first) && !restrains(&said);
                if starts || within {
                    self.report(said[last].start);
                }
            }
        }
        // Every item of a list stands under the sentence before the list.
        self.led = leads || led;
    }

    fn report(&mut self, at: usize) {
        let line = whole_line(self.text, at);
        if !self.found.contains(&line) {
            self.found.push(line);
        }
    }
}

fn kind(line: &str) -> Line {
    let text = line.trim();
    if text.is_empty() {
        return Line::Blank;
    }
    let level = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&level) && text[level..].starts_with(' ') {
        return Line::Heading(level);
    }
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < text.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    if numbered || text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ") {
        return Line::Item;
    }
    Line::Text
}

/// Parts that end in `.`, `!`, `?` or `:` before a blank.
fn sentences(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut start = range.start;
    let bytes = text.as_bytes();
    for at in range.clone() {
        let ends = matches!(bytes[at], b'.' | b'!' | b'?')
            && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace)
            // `1. ` opens an item.
            && !text[start..at].trim().chars().all(|c| c.is_ascii_digit());
        if ends {
            all.push(start..at + 1);
            start = at + 1;
        }
    }
    if !text[start..range.end].trim().is_empty() {
        all.push(start..range.end);
    }
    all
}

fn whole_line(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let line = &text[start..end];
    let lead = line.len() - line.trim_start().len();
    start + lead..start + lead + line.trim().len()
}
