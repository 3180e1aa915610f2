//! What bytes are, by themselves: what a server says of them names no file and decides nothing.

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Ending of a file's name.
    pub ending: &'static str,
    /// Media type.
    pub mime: &'static str,
}

/// JSON.
pub(super) const JSON: Kind = Kind { ending: "json", mime: "application/json" };
/// Text.
pub(super) const TEXT: Kind = Kind { ending: "txt", mime: "text/plain" };
/// Bytes of which nothing is known.
pub(super) const BYTES: Kind = Kind { ending: "bin", mime: "application/octet-stream" };

/// Beginnings by which files are known: where, which, what.
const MAGIC: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (0, b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (0, b"GIF87a", "gif", "image/gif"),
    (0, b"GIF89a", "gif", "image/gif"),
    (8, b"WEBP", "webp", "image/webp"),
    (8, b"WAVE", "wav", "audio/wav"),
    (0, b"BM", "bmp", "image/bmp"),
    (0, b"%PDF-", "pdf", "application/pdf"),
    (0, b"PK\x03\x04", "zip", "application/zip"),
    (0, b"\x1f\x8b", "gz", "application/gzip"),
    (0, b"ID3", "mp3", "audio/mpeg"),
    (0, b"\xff\xfb", "mp3", "audio/mpeg"),
    (0, b"OggS", "ogg", "audio/ogg"),
    (0, b"fLaC", "flac", "audio/flac"),
    (4, b"ftyp", "mp4", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "webm", "video/webm"),
];

/// What bytes are.
pub fn kind(bytes: &[u8]) -> Kind {
    let known = MAGIC.iter().find(|(at, magic, ..)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    if let Some((.., ending, mime)) = known {
        return Kind { ending, mime };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_whitespace()) => {
            let trimmed = text.trim_start();
            if trimmed.starts_with("<svg") || (trimmed.starts_with("<?xml") && trimmed.contains("<svg")) {
                Kind { ending: "svg", mime: "image/svg+xml" }
            } else if trimmed.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
                JSON
            } else {
                TEXT
            }
        }
        _ => BYTES,
    }
}

/// Width and height of a picture.
pub fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let big16 = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let little16 = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    match kind(bytes).ending {
        "png" => Some((big(16)?, big(20)?)),
        "gif" => Some((little16(6)?, little16(8)?)),
        "jpg" => {
            let mut at = 2;
            while *bytes.get(at)? == 0xff {
                let marker = *bytes.get(at + 1)?;
                let frame = (0xc0..=0xcf).contains(&marker) && ![0xc4, 0xc8, 0xcc].contains(&marker);
                if frame {
                    return Some((big16(at + 7)?, big16(at + 5)?));
                }
                at += 2 + big16(at + 2)? as usize;
            }
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_known_by_themselves() {
        for (bytes, mime) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], "image/png"),
            (b"RIFF1234WAVE", "audio/wav"),
            (b"RIFF1234WEBP", "image/webp"),
            (b"{\"a\": [1]}", "application/json"),
            (b"{\"a\": [1", "text/plain"),
            (b"<svg xmlns='x'/>", "image/svg+xml"),
            (b"plain\ttext\n", "text/plain"),
            (b"\x00\x01\x02", "application/octet-stream"),
            (b"", "text/plain"),
        ] {
            assert_eq!(kind(bytes).mime, mime, "{bytes:?}");
        }
    }

    #[test]
    fn the_size_of_a_picture_is_read_and_a_damaged_one_has_none() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        assert_eq!(pixels(&png), None);
        png.extend([0, 0, 5, 0, 0, 0, 2, 0xd0]);
        assert_eq!(pixels(&png), Some((1280, 720)));
        let jpg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\x00\x10\x00\x20rest";
        assert_eq!(pixels(jpg), Some((32, 16)));
        assert_eq!(pixels(&jpg[..10]), None);
        assert_eq!(pixels(b"\xff\xd8\xff\xe0\xff\xff"), None);
    }
}
