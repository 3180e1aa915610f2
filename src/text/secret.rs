//! Texts that look like secrets: keys of well-known services, and words too random to be written by a person.

/// How keys of well-known services start.
const STARTS: &[&str] = &[
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "SG.",
    "eyJ",
];
/// Characters behind such a start from which on it is a key.
const LEAST: usize = 8;
/// Length of a word from which on its randomness is judged.
const LONG: usize = 20;
/// Changes between letters and digits from which on no person made a word up.
const TURNS: usize = 4;

/// Whether a text holds what looks like a secret.
pub fn looks_like_one(text: &str) -> bool {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY") {
        return true;
    }
    words(text).any(|(at, word)| is_key(word) || (is_random(word) && !is_pin(text, at, word)))
}

/// The text with what looks like a secret in it covered, and of the same length in bytes. Digests in hexadecimal stay.
pub fn covered(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, word) in words(text).filter(|(_, word)| is_key(word) || (is_random(word) && !is_hex(word))) {
        cover(&mut bytes[at..at + word.len()]);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Covers bytes with stars; line ends stay.
pub fn cover(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|b| !matches!(b, b'\n' | b'\r')) {
        *byte = b'*';
    }
}

/// The words of a text with their places; a name before `=` or `:` is a word of its own.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '~');
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(part)?;
        let end = text[start..].find(|c| !part(c)).map_or(text.len(), |n| start + n);
        rest = end;
        Some((start, &text[start..end]))
    })
}

fn is_key(word: &str) -> bool {
    STARTS.iter().any(|start| {
        word.strip_prefix(start).is_some_and(|rest| {
            rest.len() >= LEAST && rest.chars().filter(|c| c.is_ascii_alphanumeric()).count() >= LEAST
        })
    })
}

/// Whether a part of a word is long, of letters and digits mixed as in no name, and near to the most that so many
/// characters can tell.
fn is_random(word: &str) -> bool {
    word.split(['/', '.', '-', '_', '+', '~']).any(|part| {
        let hex = is_hex(part);
        let turns =
            part.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
        part.len() >= LONG && turns >= TURNS && entropy(part) > if hex { 3.0 } else { 3.6 }
    })
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a word names content by its digest, as a pinned image or commit does: no secret, though random.
fn is_pin(text: &str, at: usize, word: &str) -> bool {
    let before = text.get(..at).unwrap_or("");
    let commit = word.len() == 40 && before.ends_with(['@', '#']);
    is_hex(word) && (commit || ["sha1:", "sha256:", "sha384:", "sha512:"].iter().any(|kind| before.ends_with(kind)))
}

/// Bits for each character.
fn entropy(word: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in word.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let all = word.len() as f64;
    counts
        .iter()
        .filter(|n| **n > 0)
        .map(|n| {
            let share = f64::from(*n) / all;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_random_words_look_like_secrets() {
        for text in [
            "--key=sk-1234567890abcdef",
            "Bearer ghp_0123456789abcdefghij",
            "https://example.org/mcp?key=9fK2mQ7xLr4TzB8wYc3VnH5s",
            "ab-9fK2mQ7xLr4TzB8wYc3VnH5s_x",
            "4f9a1c7be2d05836a9bb10cd77e1f2a4",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "-----BEGIN RSA PRIVATE KEY-----",
        ] {
            assert!(looks_like_one(text), "{text}");
        }
    }

    #[test]
    fn names_paths_and_versions_do_not() {
        for text in [
            "@playwright/mcp@0.0.83",
            "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
            "--output-dir=.rolecast/artifacts/2026",
            "/usr/local/share/very-long-folder-name-of-some-program/lib",
            "https://example.org/v1/projects/123e4567-e89b-12d3-a456-426614174000/mcp",
            "registry.example.org/team/image:1.22.333-alpine-linux",
            "sk-test",
            "claude-sonnet-4-5-20250929-thinking-high",
            "registry.example.org/image@sha256:4f9a1c7be2d05836a9bb10cd77e1f2a44f9a1c7be2d05836a9bb10cd77e1f2a4",
            "git+https://example.org/x/y@4f9a1c7be2d05836a9bb10cd77e1f2a44f9a1c7b",
            "task-tracker-mcp-server",
        ] {
            assert!(!looks_like_one(text), "{text}");
        }
    }

    #[test]
    fn what_is_covered_keeps_its_length() {
        assert_eq!(covered("a: sk-1234567890 # ü"), "a: ************* # ü");
    }
}
