//! JSON whose long texts are measured instead of kept: a log with pictures has texts of megabytes.
//!
//! A text beyond [`KEEP`] bytes is cut there, and ends with a mark that says how long it was and how much of it was
//! base64. [`bytes`] and [`base64`] know the mark, so that nobody else has to.

use std::io::{self, BufRead};

/// Bytes of one text that are kept, and what is left of a character then.
pub const KEEP: usize = 32 * 1024;
/// Bytes of one record that are kept; what is beyond that is no record of a session.
pub const RECORD: usize = 16 * 1024 * 1024;
/// Least characters of base64 in a row that are taken for media: longer than any digest or key.
const RUN: usize = 512;
/// Encloses the mark; JSON has it only escaped.
const MARK: char = '\u{1}';

/// Passes the bytes of JSON on, without the ends of long texts.
#[derive(Debug, Default)]
pub struct Skim {
    /// Within a text.
    text: bool,
    /// Characters of an escape that are still to come.
    escape: Escape,
    /// Decoded bytes of this text.
    length: u64,
    dropping: bool,
    last: Last,
    runs: Runs,
}

/// What a text ended with so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    /// The first half of a pair of surrogates.
    High,
    /// [`MARK`].
    Mark,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After the backslash.
    Open,
    /// Hexadecimal digits to come, and the value so far.
    Hex(u8, u32),
}

/// Counts characters of base64 that stand in long rows.
#[derive(Debug, Default, Clone, Copy)]
pub struct Runs {
    row: u64,
    total: u64,
}

const fn in_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

impl Runs {
    /// As [`Self::feed`] for each.
    fn span(&mut self, bytes: &[u8]) {
        let length = bytes.len();
        let first = leading(bytes);
        self.row += first as u64;
        if first == length {
            return;
        }
        self.close();
        let last = bytes.iter().rev().take_while(|byte| in_base64(**byte)).count();
        self.total += rows(bytes.get(first..length - last).unwrap_or_default());
        self.row = last as u64;
    }

    fn feed(&mut self, byte: u8) {
        if in_base64(byte) {
            self.row += 1;
        } else {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.row >= RUN as u64 {
            self.total += self.row;
        }
        self.row = 0;
    }
}

/// How many characters of base64 bytes begin with.
fn leading(bytes: &[u8]) -> usize {
    // Without a branch for each byte, so that the compiler can look at many at once.
    let all = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & in_base64(*byte));
    let chunks = bytes.chunks_exact(64).take_while(all).count() * 64;
    chunks + bytes[chunks..].iter().take_while(|byte| in_base64(**byte)).count()
}

/// How many characters of base64 stand in long rows.
fn rows(bytes: &[u8]) -> u64 {
    let (mut total, mut from) = (0, 0);
    // A long row from here on would fill the window. Looked at from its end, most of a text needs no looking at.
    while let Some(window) = bytes.get(from..from + RUN) {
        from += match window.iter().rposition(|byte| !in_base64(*byte)) {
            Some(last) => last + 1,
            None => {
                let row = leading(&bytes[from..]);
                total += row as u64;
                row
            }
        };
    }
    total
}

impl Skim {
    /// Takes bytes and appends to `out` what is kept: as [`Self::feed`] for each, but what needs no looking at is taken
    /// in one piece.
    pub fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(first) = bytes.first() {
            let plain = if !self.text {
                memchr::memchr(b'"', bytes).unwrap_or(bytes.len())
            } else if self.escape != Escape::None || (self.full() && !self.dropping) {
                0
            } else {
                let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                // What is beyond is cut between two characters.
                if self.dropping { end } else { end.min(KEEP.saturating_sub(self.length as usize)) }
            };
            let Some((piece, rest)) = bytes.split_at_checked(plain).filter(|(piece, _)| !piece.is_empty()) else {
                self.feed(*first, out);
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            };
            bytes = rest;
            if self.text {
                self.length += piece.len() as u64;
                self.runs.span(piece);
                self.last = Last::Other;
            }
            if !self.text || !self.dropping {
                out.extend_from_slice(piece);
            }
        }
    }

    /// Takes one byte and appends to `out` what is kept.
    pub fn feed(&mut self, byte: u8, out: &mut Vec<u8>) {
        if !self.text {
            if byte == b'"' {
                *self = Self { text: true, ..Self::default() };
            }
            out.push(byte);
            return;
        }
        let begins = self.escape == Escape::None && byte & 0xC0 != 0x80;
        if begins && byte == b'"' {
            self.end(out);
            out.push(byte);
            return;
        }
        // Only whole characters are kept, and never one half of a pair of surrogates.
        if begins && self.full() && self.last != Last::High {
            self.dropping = true;
        }
        self.measure(byte);
        if !self.dropping {
            out.push(byte);
        }
    }

    const fn full(&self) -> bool {
        self.length >= KEEP as u64
    }

    fn measure(&mut self, byte: u8) {
        match self.escape {
            Escape::None if byte == b'\\' => self.escape = Escape::Open,
            Escape::None => self.decoded(1, byte),
            Escape::Open if byte == b'u' => self.escape = Escape::Hex(4, 0),
            Escape::Open => {
                self.escape = Escape::None;
                self.decoded(1, if byte == b'/' { byte } else { b' ' });
            }
            Escape::Hex(left, value) => {
                let value = value << 4 | char::from(byte).to_digit(16).unwrap_or(0);
                self.escape = if left > 1 { Escape::Hex(left - 1, value) } else { Escape::None };
                if left == 1 {
                    self.unit(value);
                }
            }
        }
    }

    /// One or more bytes of the text, the last of which is `byte` or one that is no base64 either.
    fn decoded(&mut self, length: u64, byte: u8) {
        self.length += length;
        self.runs.feed(byte);
        self.last = Last::Other;
    }

    /// A unit of UTF-16.
    fn unit(&mut self, value: u32) {
        match value {
            // Each half of a pair of surrogates is two of the four bytes.
            0x80..0x800 | 0xD800..0xE000 => self.decoded(2, b' '),
            0x800.. => self.decoded(3, b' '),
            _ => self.decoded(1, value as u8),
        }
        self.last = match value {
            0xD800..0xDC00 => Last::High,
            _ if value == u32::from(MARK) => Last::Mark,
            _ => Last::Other,
        };
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.text = false;
        // A text that ends like a mark gets one of its own, so that none can be forged.
        if self.dropping || self.last == Last::Mark {
            self.runs.close();
            let mark = format!("\\u0001{},{}\\u0001", self.length, self.runs.total);
            out.extend_from_slice(mark.as_bytes());
        }
    }
}

/// What [`Skim`] leaves of a text, for one that is decoded; `None` = all of it, as it is.
pub fn cut(text: &str) -> Option<String> {
    if text.len() <= KEEP && !text.ends_with(MARK) {
        return None;
    }
    let kept = text.get(..text.ceil_char_boundary(KEEP)).unwrap_or(text);
    if kept.len() == text.len() && !text.ends_with(MARK) {
        return None;
    }
    Some(format!("{kept}{MARK}{},{}{MARK}", text.len(), rows(text.as_bytes())))
}

/// The mark at the end of a cut text: where it begins, the length, the base64.
fn mark(text: &str) -> Option<(usize, u64, u64)> {
    let inner = text.strip_suffix(MARK)?;
    let at = inner.rfind(MARK)?;
    let (length, base64) = inner.get(at + 1..)?.split_once(',')?;
    Some((at, length.parse().ok()?, base64.parse().ok()?))
}

/// How many bytes a text has or had.
pub fn bytes(text: &str) -> u64 {
    mark(text).map_or(text.len() as u64, |(_, length, _)| length)
}

/// How many bytes of a text are base64 in long rows.
pub fn base64(text: &str) -> u64 {
    if let Some((_, _, base64)) = mark(text) {
        return base64;
    }
    rows(text.as_bytes())
}

/// What was kept of a text, and whether that is all of it.
pub fn kept(text: &str) -> (&str, bool) {
    match mark(text) {
        Some((at, ..)) => (text.get(..at).unwrap_or_default(), false),
        None => (text, true),
    }
}

/// A reader of JSON that cuts long texts on the way.
pub struct Skimmed<R> {
    from: R,
    skim: Skim,
    ready: Vec<u8>,
    given: usize,
}

impl<R: BufRead> Skimmed<R> {
    /// Around another reader.
    pub fn new(from: R) -> Self {
        Self { from, skim: Skim::default(), ready: Vec::new(), given: 0 }
    }
}

impl<R: BufRead> io::Read for Skimmed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given >= self.ready.len() {
            self.ready.clear();
            self.given = 0;
            let chunk = self.from.fill_buf()?;
            if chunk.is_empty() {
                return Ok(0);
            }
            let used = chunk.len();
            self.skim.take(chunk, &mut self.ready);
            self.from.consume(used);
        }
        let part = self.ready.get(self.given..).unwrap_or_default();
        let count = part.len().min(into.len());
        into[..count].copy_from_slice(&part[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skimmed(json: &str) -> serde_json::Value {
        let (mut skim, mut out) = (Skim::default(), Vec::new());
        json.bytes().for_each(|b| skim.feed(b, &mut out));
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_long_text_is_measured_and_not_kept() {
        let picture = "A".repeat(2 << 20);
        let value = skimmed(&serde_json::json!({ "data": picture, "after": [1, "x"] }).to_string());
        let text = value["data"].as_str().unwrap();
        assert!(text.len() < KEEP + 64);
        assert_eq!((bytes(text), base64(text)), (2 << 20, 2 << 20));
        assert_eq!(value["after"], serde_json::json!([1, "x"]));
    }

    #[test]
    fn prose_and_digests_are_no_base64() {
        assert_eq!(base64(&"plain words, ".repeat(500)), 0);
        assert_eq!(base64(&"0123456789abcdef".repeat(8)), 0);
        assert_eq!(base64(&format!("shown: {} end", "Zm9v".repeat(200))), 800);
    }

    proptest! {
        #[test]
        fn rows_of_base64_are_found_wherever_they_stand(parts in prop::collection::vec((prop_oneof![0usize..20, 500usize..530, 1000usize..1600], prop::sample::select(vec![" ", "\n", "é", "  ", "."])), 0..12)) {
            let text: String = parts.iter().map(|(length, after)| "aB3/".repeat(400)[..*length].to_owned() + after).collect();
            let all: usize = text.split(|c: char| !c.is_ascii() || !in_base64(c as u8)).map(str::len).filter(|row| *row >= RUN).sum();
            prop_assert_eq!(base64(&text), all as u64);
            let mut runs = Runs::default();
            text.as_bytes().chunks(97).for_each(|piece| runs.span(piece));
            runs.close();
            prop_assert_eq!(runs.total, all as u64);
        }

        #[test]
        fn pieces_are_taken_as_their_bytes_are(parts in prop::collection::vec(("[a-zA-Z0-9]{0,700}|[ é漢😀\"\\\\\n]{0,9}|(\\\\ud83d\\\\ude00){1,4}", 1usize..90), 1..12), cuts in prop::collection::vec(1usize..40_000, 1..9)) {
            // Some of it is no JSON, which must not matter here.
            let json: String = parts.iter().map(|(unit, times)| format!("\"{}\",", unit.repeat(*times))).collect();
            let (mut one, mut each) = ((Skim::default(), Vec::new()), (Skim::default(), Vec::new()));
            json.bytes().for_each(|byte| one.0.feed(byte, &mut one.1));
            let (mut rest, mut cuts) = (json.as_bytes(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
                each.0.take(piece, &mut each.1);
                rest = after;
            }
            prop_assert!(one.1 == each.1, "{} and {} bytes", one.1.len(), each.1.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn lengths_are_those_of_the_decoded_text(unit in "\\PC{1,6}|[\\n\"\\\\\u{0}\u{7f}é漢😀]{1,6}", times in 1usize..20_000) {
            let text = unit.repeat(times);
            let json = serde_json::to_string(&text).unwrap();
            // The escaped spelling of the same text has the same length.
            let escaped: String = text.encode_utf16().map(|u| format!("\\u{u:04x}")).collect();
            for json in [json, format!("\"{escaped}\"")] {
                let value = skimmed(&json);
                let got = value.as_str().unwrap();
                prop_assert_eq!(bytes(got), text.len() as u64);
                let (kept, whole) = kept(got);
                prop_assert!(text.starts_with(kept));
                prop_assert_eq!(whole, kept.len() == text.len());
                prop_assert!(got == cut(&text).unwrap_or(text.clone()));
            }
        }
    }
}
