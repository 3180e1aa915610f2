//! The shape of a text file that is not its content: byte order mark and line ends.

use std::borrow::Cow;

/// The byte order mark of UTF-8.
pub const BOM: &str = "\u{feff}";

/// What a rewrite of a file must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The file begins with a byte order mark.
    pub bom: bool,
    /// Most lines end in CRLF.
    pub crlf: bool,
}

impl Shape {
    /// The shape of a file.
    pub fn of(bytes: &[u8]) -> Self {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let crlf = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
        Self { bom: bytes.starts_with(BOM.as_bytes()), crlf: crlf * 2 > lines }
    }

    /// The line end of the file.
    pub const fn eol(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// A text of plain LF lines in this shape.
    pub fn restore(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 3);
        if self.bom {
            out.push_str(BOM);
        }
        if self.crlf {
            out.push_str(&text.replace('\n', "\r\n"))
        } else {
            out.push_str(text)
        }
        out
    }
}

/// The content of a file: no byte order mark, LF for CRLF.
pub fn content(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    if !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            out.push(*byte);
        }
    }
    Cow::Owned(out)
}

/// LF for CRLF in a text.
pub fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_content_give_a_uniform_file_back() {
        for file in ["", "a", "a\n", "a\r\nb\r\n", "\u{feff}a\r\n", "\u{feff}a\nb"] {
            let shape = Shape::of(file.as_bytes());
            let text = String::from_utf8(content(file.as_bytes()).into_owned()).unwrap();
            assert_eq!(shape.restore(&text), file);
        }
    }
}
