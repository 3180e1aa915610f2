//! Bytes that travel as text: data URIs and long runs of base64.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// A run of at least this many characters is no word of any language.
const RUN: usize = 4096;
/// The same where a data URI says what it is.
const AFTER_URI: usize = 256;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The bytes that a base64 text stands for, of either alphabet, with or without padding or line breaks.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let plain: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    STANDARD.decode(&plain).or_else(|_| URL.decode(&plain)).ok()
}

/// Bytes as base64.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The text with every hidden run of bytes replaced by what `file` says of it.
pub fn lift(text: &str, file: &mut dyn FnMut(&[u8]) -> String) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let end = run_end(bytes, at);
        let uri = uri_start(&text[copied..at]).map(|start| copied + start);
        let least = if uri.is_some() { AFTER_URI } else { RUN };
        let decoded =
            (end - at >= least && (uri.is_some() || mixed(&bytes[at..end]))).then(|| decode(&text[at..end])).flatten();
        if let Some(decoded) = decoded {
            out.push_str(&text[copied..uri.unwrap_or(at)]);
            out.push_str(&file(&decoded));
            copied = end;
        }
        at = end;
    }
    out.push_str(&text[copied..]);
    out
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Where a run ends, with its padding. Line breaks inside of one are part of it, as mail has them, when the lines are
/// long.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut line = start;
    loop {
        while at < bytes.len() && is_base64(bytes[at]) {
            at += 1;
        }
        let breaks = bytes[at..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let next = at + breaks;
        let goes_on = breaks > 0 && at - line >= 60 && bytes.get(next).is_some_and(|b| is_base64(*b));
        if !goes_on {
            break;
        }
        (line, at) = (next, next);
    }
    let padding = bytes[at..].iter().take_while(|b| **b == b'=').count().min(2);
    at + padding
}

/// Where `data:…;base64,` starts, when the text ends with it.
fn uri_start(before: &str) -> Option<usize> {
    let head = before.strip_suffix(";base64,")?;
    let start = head.rfind("data:")?;
    let name = &head[start + 5..];
    let good = name.len() <= 120 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/+-.;=_".contains(&b));
    good.then_some(start)
}

/// Whether it has letters of both cases and digits, as bytes do and long words, numbers and dumps do not.
fn mixed(run: &[u8]) -> bool {
    let any = |test: fn(&u8) -> bool| run.iter().any(test);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<u8> {
        let mut state = 7_u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(n)
        .collect()
    }

    fn lifted(text: &str) -> (String, Vec<Vec<u8>>) {
        let mut found = Vec::new();
        let out = lift(text, &mut |bytes| {
            found.push(bytes.to_vec());
            format!("<{}>", found.len())
        });
        (out, found)
    }

    #[test]
    fn long_runs_and_data_uris_are_lifted_out_of_their_text() {
        let bytes = noise(4000);
        for encoded in [STANDARD.encode(&bytes), URL.encode(&bytes)] {
            let (out, found) = lifted(&format!("é{{\"a\":\"{encoded}\",\"b\":1}}"));
            assert_eq!((out.as_str(), &found), ("é{\"a\":\"<1>\",\"b\":1}", &vec![bytes.clone()]));
        }
        let small = STANDARD.encode(noise(300));
        let (out, found) = lifted(&format!("see data:image/png;base64,{small} and data:x;base64,{small}!"));
        assert_eq!((out.as_str(), found.len()), ("see <1> and <2>!", 2));
        let wrapped: Vec<String> =
            STANDARD.encode(&bytes).as_bytes().chunks(76).map(|l| String::from_utf8(l.to_vec()).unwrap()).collect();
        let (out, found) = lifted(&format!("a:\n{}\nend", wrapped.join("\r\n")));
        assert_eq!((out.as_str(), &found), ("a:\n<1>\nend", &vec![bytes]));
    }

    #[test]
    fn text_stays_text() {
        let hex = "0123456789abcdef".repeat(400);
        let word = "a".repeat(9000);
        for text in
            [hex.as_str(), &word, "short aGVsbG8=", "data:image/png;base64,iVBORw0KGgo=", "", "é", "data:;base64,"]
        {
            assert_eq!(lifted(text).0, text);
        }
    }
}
