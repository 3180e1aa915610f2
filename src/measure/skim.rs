//! JSON whose long texts are measured instead of kept: a log with pictures has texts of megabytes.
//!
//! A text beyond [`KEEP`] bytes is cut there, and ends with a mark that says how long it was and how much of it was
//! base64. [`bytes`] and [`base64`] know the mark, so that nobody else has to.

use std::io::{self, BufRead};

/// Bytes of one text that are kept.
pub const KEEP: usize = 32 * 1024;
/// Bytes of one record that are kept; what is beyond that is no record of a session.
pub const RECORD: usize = 16 * 1024 * 1024;
/// Least characters of base64 in a row that are taken for media: longer than any digest or key.
const RUN: u64 = 512;
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
    /// Bytes of it that were passed on.
    kept: usize,
    dropping: bool,
    runs: Runs,
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
    /// As [`Self::feed`] for each. Where no row can become long enough, only the last one is looked for.
    fn span(&mut self, bytes: &[u8]) {
        let length = bytes.len() as u64;
        if self.row + length >= RUN {
            bytes.iter().for_each(|byte| self.feed(*byte));
            return;
        }
        let last = bytes.iter().rev().take_while(|byte| in_base64(**byte)).count() as u64;
        self.row = if last == length { self.row + length } else { last };
    }

    fn feed(&mut self, byte: u8) {
        if in_base64(byte) {
            self.row += 1;
        } else {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.row >= RUN {
            self.total += self.row;
        }
        self.row = 0;
    }
}

impl Skim {
    /// Takes bytes and appends to `out` what is kept: as [`Self::feed`] for each, but what needs no looking at is taken
    /// in one piece.
    pub fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(first) = bytes.first() {
            let plain = if !self.text {
                memchr::memchr(b'"', bytes).unwrap_or(bytes.len())
            } else if self.escape != Escape::None || (self.kept >= KEEP && !self.dropping) {
                0
            } else {
                let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                // What is beyond is cut between two characters.
                if self.dropping { end } else { end.min(KEEP - self.kept) }
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
                self.kept += if self.dropping { 0 } else { piece.len() };
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
        if begins && self.kept >= KEEP && !self.dropping {
            self.dropping = !out.ends_with_high_surrogate();
        }
        self.measure(byte);
        if !self.dropping {
            self.kept += 1;
            out.push(byte);
        }
    }

    fn measure(&mut self, byte: u8) {
        match self.escape {
            Escape::None if byte == b'\\' => self.escape = Escape::Open,
            Escape::None => {
                self.length += 1;
                self.runs.feed(byte);
            }
            Escape::Open if byte == b'u' => self.escape = Escape::Hex(4, 0),
            Escape::Open => {
                self.length += 1;
                self.runs.feed(if byte == b'/' { byte } else { b' ' });
                self.escape = Escape::None;
            }
            Escape::Hex(left, value) => {
                let value = value << 4 | char::from(byte).to_digit(16).unwrap_or(0);
                self.escape = if left > 1 { Escape::Hex(left - 1, value) } else { Escape::None };
                if left == 1 {
                    // Each half of a pair of surrogates is two of the four bytes.
                    self.length += match value {
                        0..0x80 => 1,
                        0x80..0x800 | 0xD800..0xE000 => 2,
                        _ => 3,
                    };
                    self.runs.feed(b' ');
                }
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.text = false;
        // A text that ends like a mark gets one of its own, so that none can be forged.
        if self.dropping || out.ends_with(b"\\u0001") {
            self.runs.close();
            let mark = format!("\\u0001{},{}\\u0001", self.length, self.runs.total);
            out.extend_from_slice(mark.as_bytes());
        }
    }
}

trait Surrogate {
    fn ends_with_high_surrogate(&self) -> bool;
}

impl Surrogate for Vec<u8> {
    fn ends_with_high_surrogate(&self) -> bool {
        let Some(last) = self.last_chunk::<6>() else { return false };
        last[0] == b'\\'
            && last[1] == b'u'
            && last[2].eq_ignore_ascii_case(&b'd')
            && matches!(last[3].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b')
    }
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
    if (text.len() as u64) < RUN {
        return 0;
    }
    let mut runs = Runs::default();
    // No row is longer than what has no space.
    text.as_bytes().split(|byte| *byte == b' ' || *byte == b'\n').for_each(|piece| {
        runs.span(piece);
        runs.close();
    });
    runs.total
}

/// What was kept of a text, and whether that is all of it.
pub fn kept(text: &str) -> (&str, bool) {
    match mark(text) {
        Some((at, ..)) => (text.get(..at).unwrap_or_default(), false),
        None => (text, true),
    }
}

/// A line of a log.
#[derive(Debug)]
pub enum Line {
    /// Its bytes, with long texts cut; and whether a line end followed.
    Whole(Vec<u8>, bool),
    /// Larger than [`RECORD`] even so.
    TooLarge,
}

/// Reads the next line; `None` at the end. Also counts the bytes that were read into `read`.
///
/// # Errors
/// The log cannot be read.
pub fn line(from: &mut dyn BufRead, read: &mut u64) -> io::Result<Option<Line>> {
    let (mut skim, mut out, mut any, mut large) = (Skim::default(), Vec::new(), false, false);
    loop {
        let chunk = match from.fill_buf() {
            Ok(chunk) => chunk,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if chunk.is_empty() {
            return Ok(any.then_some(if large { Line::TooLarge } else { Line::Whole(out, false) }));
        }
        any = true;
        let end = memchr::memchr(b'\n', chunk);
        let used = end.unwrap_or(chunk.len());
        if !large {
            skim.take(chunk.get(..used).unwrap_or_default(), &mut out);
            if out.len() > RECORD {
                (large, out) = (true, Vec::new());
            }
        }
        let consumed = end.map_or(used, |_| used + 1);
        from.consume(consumed);
        *read += consumed as u64;
        if end.is_some() {
            return Ok(Some(if large { Line::TooLarge } else { Line::Whole(out, true) }));
        }
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
            }
        }
    }
}
