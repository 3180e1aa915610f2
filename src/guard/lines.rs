//! How long a file is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More of a file is not read.
const MAX_BYTES: u64 = 8 << 20;

/// The number of lines of a text file that has more than `most`; nothing for what is no text, or not there.
pub fn over(path: &Path, most: u64) -> Option<u64> {
    let meta = path.metadata().ok()?;
    // A line has at least one byte, and nobody waits for a pipe.
    if !meta.is_file() || meta.len() <= most {
        return None;
    }
    let mut file = File::open(path).ok()?.take(MAX_BYTES);
    let mut buffer = [0; 1 << 14];
    let (mut lines, mut last, mut first) = (0, b'\n', true);
    loop {
        let read = file.read(&mut buffer).ok()?;
        let Some(end) = buffer[..read].last() else { break };
        if first && buffer[..read].contains(&0) {
            return None;
        }
        (first, last) = (false, *end);
        lines += buffer[..read].iter().filter(|b| **b == b'\n').count() as u64;
    }
    lines += u64::from(last != b'\n');
    (lines > most).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_have_a_length() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        assert_eq!(over(&file("three", b"a\nb\nc"), 2), Some(3));
        assert_eq!(over(&file("two", b"a\nb\n"), 2), None);
        assert_eq!(over(&file("picture", b"\x89P\0\n\n\n\n"), 2), None);
        assert_eq!(over(dir.path(), 2), None);
        assert_eq!(over(&dir.path().join("gone"), 2), None);
    }
}
