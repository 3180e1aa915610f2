//! Whether bytes are text that a person can review: UTF-8, nothing a terminal obeys, nothing hidden.

use thiserror::Error;

/// Why bytes are not accepted as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProblemKind {
    /// More bytes than a source may have.
    #[error("{bytes} bytes, more than the {max} a source may have")]
    TooLarge {
        /// Size found.
        bytes: usize,
        /// Size allowed.
        max: usize,
    },
    /// Starts with a UTF-16 byte order mark.
    #[error("text in UTF-16, not UTF-8")]
    Utf16,
    /// A byte that cannot stand there in UTF-8.
    #[error("byte 0x{0:02X} is not UTF-8")]
    NotUtf8(u8),
    /// A NUL byte: the file is binary.
    #[error("a NUL byte: this is not a text file")]
    Nul,
    /// A control character other than tab, newline and carriage return.
    #[error("control character U+{0:04X}")]
    Control(u32),
}

/// The first thing that makes bytes unacceptable. Everything before `offset` is valid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct Problem {
    /// Byte offset.
    pub offset: usize,
    /// What it is.
    pub kind: ProblemKind,
}

impl Problem {
    /// The text up to and including the line of the problem, so that the place can be shown although
    /// the whole is no text. Bytes that are none read `U+FFFD`; offsets up to the problem stay true.
    pub fn shown(&self, bytes: &[u8]) -> String {
        let rest = bytes.get(self.offset..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()).min(200);
        let before = bytes.get(..self.offset).unwrap_or_default();
        format!("{}{}", String::from_utf8_lossy(before), String::from_utf8_lossy(&rest[..end]))
    }

    /// Bytes to underline in [`Self::shown`].
    pub fn shown_len(&self) -> usize {
        match self.kind {
            ProblemKind::TooLarge { .. } => 0,
            ProblemKind::Utf16 | ProblemKind::NotUtf8(_) => char::REPLACEMENT_CHARACTER.len_utf8(),
            ProblemKind::Nul => 1,
            ProblemKind::Control(code) => char::from_u32(code).map_or(1, char::len_utf8),
        }
    }
}

/// The bytes as text, when they are at most `max` bytes of UTF-8 without control characters. A UTF-8
/// byte order mark is kept.
///
/// # Errors
/// The first problem.
pub fn check(bytes: &[u8], max: usize) -> Result<&str, Problem> {
    let problem = |offset, kind| Err(Problem { offset, kind });
    if bytes.len() > max {
        return problem(0, ProblemKind::TooLarge { bytes: bytes.len(), max });
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return problem(0, ProblemKind::Utf16);
    }
    let (text, bad) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (good, rest) = bytes.split_at(error.valid_up_to());
            (std::str::from_utf8(good).unwrap_or_default(), rest.first().copied())
        }
    };
    // Nearly every source is plain, and this runs over all of them at every commit.
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) || matches!(byte, b'\t' | b'\n' | b'\r');
    if bad.is_none() && bytes.iter().all(|byte| plain(*byte)) {
        return Ok(text);
    }
    for (offset, c) in text.char_indices() {
        match c {
            '\0' => return problem(offset, ProblemKind::Nul),
            '\t' | '\n' | '\r' => {}
            c if c.is_control() => return problem(offset, ProblemKind::Control(c.into())),
            _ => {}
        }
    }
    match bad {
        Some(byte) => problem(text.len(), ProblemKind::NotUtf8(byte)),
        None => Ok(text),
    }
}

/// Characters that are not seen but read by a model, or that change the order in which text is seen:
/// what a reviewer approves is then not what an agent obeys.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' // bidirectional embeddings, overrides, isolates
        | '\u{200B}' | '\u{2060}' | '\u{FEFF}'            // no width
        | '\u{E0000}'..='\u{E007F}'                       // tags, an invisible ASCII
    )
}

/// The text with everything a terminal would obey spelled out: escape sequences, and characters that are not
/// seen or reorder what is seen. Newlines stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if (c.is_control() && c != '\n') || is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Every run of hidden characters, as byte ranges; a byte order mark at the start is none.
pub fn hidden(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    if text.is_ascii() {
        return runs;
    }
    for (offset, c) in text.char_indices().filter(|(offset, c)| is_hidden(*c) && !(*offset == 0 && *c == '\u{FEFF}')) {
        let end = offset + c.len_utf8();
        match runs.last_mut() {
            Some(run) if run.end == offset => run.end = end,
            _ => runs.push(offset..end),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> Option<(usize, ProblemKind)> {
        check(bytes, 100).err().map(|p| (p.offset, p.kind))
    }

    #[test]
    fn text_that_can_be_reviewed_passes_unchanged() {
        for text in ["", "a: b\r\n\tc\n", "\u{feff}a: ü €\n", "日本語 👍"] {
            assert_eq!(check(text.as_bytes(), 100), Ok(text));
        }
    }

    #[test]
    fn each_fault_is_named_at_its_byte() {
        assert_eq!(kind("é\nab".replace("ab", "a").as_bytes()), None);
        assert_eq!(kind(b"gr\xfc\xdf"), Some((2, ProblemKind::NotUtf8(0xFC))));
        assert_eq!(kind(b"\xff\xfea\0"), Some((0, ProblemKind::Utf16)));
        assert_eq!(kind(b"\xfe\xff\0a"), Some((0, ProblemKind::Utf16)));
        assert_eq!(kind(b"ok\0no"), Some((2, ProblemKind::Nul)));
        assert_eq!(kind(b"a\x1b[31m"), Some((1, ProblemKind::Control(0x1B))));
        assert_eq!(kind("a\u{85}".as_bytes()), Some((1, ProblemKind::Control(0x85))));
        assert_eq!(kind(b"\xe2\x82"), Some((0, ProblemKind::NotUtf8(0xE2))), "cut in the middle of a character");
        assert_eq!(kind(&[b'a'; 101]), Some((0, ProblemKind::TooLarge { bytes: 101, max: 100 })));
    }

    #[test]
    fn the_first_of_two_faults_is_reported() {
        assert_eq!(kind(b"a\0\xff").map(|p| p.0), Some(1));
        assert_eq!(kind(b"a\xff\0").map(|p| p.0), Some(1));
    }

    #[test]
    fn a_fault_can_be_shown_in_its_line() {
        let bytes = b"one\ntwo \xfc three\nfour";
        let problem = check(bytes, 100).unwrap_err();
        let shown = problem.shown(bytes);
        assert_eq!(shown, "one\ntwo \u{fffd} three");
        assert_eq!(&shown[problem.offset..problem.offset + problem.shown_len()], "\u{fffd}");
    }

    #[test]
    fn hidden_characters_are_found_as_runs() {
        let text = "\u{feff}a\u{202e}b\u{e0041}\u{e0042}c";
        let found: Vec<&str> = hidden(text).into_iter().map(|run| &text[run]).collect();
        assert_eq!(found, ["\u{202e}", "\u{e0041}\u{e0042}"]);
        assert!(hidden("مرحبا שלום 👩\u{200d}💻").is_empty(), "right-to-left scripts and joined emoji are text");
    }
}
