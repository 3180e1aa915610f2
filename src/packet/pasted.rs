//! What does not belong into a packet: output of tools, encoded media, secrets.

use std::ops::Range;

use crate::text::markdown::Outline;
use crate::text::secret;

/// More lines of code in one piece than anybody quotes to make a point: output of a tool, or a file.
const MAX_LINES: usize = 40;
/// So many bytes in one piece are, in fewer lines, too.
const MAX_BYTES: usize = 4 * 1024;
/// So many characters of base64 in one word are encoded media or another blob, not a digest or a key.
const BLOB: usize = 256;

/// Something that does not belong here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// Where, in the body.
    pub at: Range<usize>,
    /// What.
    pub what: What,
}

/// What does not belong here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A long piece of code: so many lines and bytes.
    Dump {
        /// Lines.
        lines: usize,
        /// Bytes.
        bytes: usize,
    },
    /// Encoded media, so many bytes as written.
    Media {
        /// Bytes.
        bytes: usize,
    },
    /// What looks like a secret.
    Secret,
}

/// Everything in `body` that does not belong into a packet, in the order of the text.
pub fn pasted(body: &str, outline: &Outline) -> Vec<Pasted> {
    let mut out = Vec::new();
    for (at, word) in words(body) {
        let blob = longest_blob(word);
        if let Some(blob) = blob.filter(|b| b.len() >= BLOB || word[..b.start].contains("base64,")) {
            let bytes = blob.len();
            out.push(Pasted { at: at..at + word.len(), what: What::Media { bytes } });
        } else if secret::looks_like_one(word) {
            out.push(Pasted { at: at..at + word.len(), what: What::Secret });
        }
    }
    let media: Vec<Range<usize>> = out.iter().map(|p| p.at.clone()).collect();
    for range in &outline.code {
        let text = &body[range.clone()];
        let (lines, bytes) = (text.lines().count(), text.len());
        let holds_media = media.iter().any(|m| range.contains(&m.start));
        if !holds_media && (lines > MAX_LINES || bytes > MAX_BYTES) {
            out.push(Pasted { at: range.clone(), what: What::Dump { lines, bytes } });
        }
    }
    out.sort_by_key(|p| p.at.start);
    out
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - base, word))
}

/// The longest run of characters of base64 in a word.
fn longest_blob(word: &str) -> Option<Range<usize>> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
    let mut longest: Option<Range<usize>> = None;
    let mut start = None;
    for (at, byte) in word.bytes().chain(std::iter::once(b' ')).enumerate() {
        match (part(byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if longest.as_ref().is_none_or(|l| at - from > l.len()) {
                    longest = Some(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markdown::outline;

    fn whats(body: &str) -> Vec<What> {
        pasted(body, &outline(body)).into_iter().map(|p| p.what).collect()
    }

    #[test]
    fn a_picture_is_media_however_it_is_written() {
        let blob = "iVBORw0KGgo".repeat(40);
        for body in [
            format!("See {blob} here"),
            format!("![x](data:image/png;base64,{blob})"),
            format!("```\n{blob}\n```\n"),
            "![x](data:image/png;base64,iVBORw0KGgo=)".to_owned(),
        ] {
            assert!(matches!(whats(&body)[..], [What::Media { .. }]), "{body}: {:?}", whats(&body));
        }
    }

    #[test]
    fn long_code_is_a_dump_and_a_short_quotation_is_none() {
        let log = format!("```\n{}```\n", "line of a log\n".repeat(41));
        assert_eq!(whats(&log), [What::Dump { lines: 43, bytes: log.len() - 1 }]);
        assert_eq!(whats(&format!("```\n{}```\n", "line\n".repeat(30))), []);
        assert!(matches!(whats(&format!("```\n{}\n```\n", "x ".repeat(2100)))[..], [What::Dump { lines: 3, .. }]));
    }

    #[test]
    fn secrets_are_found_and_digests_and_paths_are_not() {
        assert_eq!(whats("The key is ghp_0123456789abcdefghij."), [What::Secret]);
        assert_eq!(whats("src/packet/pasted.rs:12, commit 6f1a41d, `shared-agent-rules/rolecast.lock`"), []);
    }
}
