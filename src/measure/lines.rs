//! The lines of a log, out of a buffer whose size is bounded.

use std::io::{self, Read};

use super::skim::{RECORD, Skim};

/// Bytes that are read at a time: what stays in a processor's cache.
const READ: usize = 1 << 18;
/// Longer lines are not held, but skimmed as they are read.
const LONG: usize = 1 << 20;

/// A line of a log.
#[derive(Debug)]
pub enum Line<'b> {
    /// As it is in the log; and whether a line end followed.
    Whole(&'b [u8], bool),
    /// With its long texts cut; and whether a line end followed.
    Skimmed(&'b [u8], bool),
    /// Larger than [`RECORD`] even so.
    TooLarge,
}

/// Reads lines.
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    /// What of the buffer was read and not given out.
    held: std::ops::Range<usize>,
    skimmed: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Of what is read; it needs no buffer of its own.
    pub fn new(from: R) -> Self {
        Self { from, buffer: Vec::new(), held: 0..0, skimmed: Vec::new() }
    }

    /// The next line; `None` at the end. Also counts the bytes that were read into `read`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn next(&mut self, read: &mut u64) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let (length, ended) = loop {
            let held = &self.buffer[self.held.clone()];
            if let Some(at) = memchr::memchr(b'\n', &held[searched..]) {
                break (searched + at, true);
            }
            searched = held.len();
            if searched >= LONG {
                return self.long(read).map(Some);
            }
            if !self.fill()? {
                break (searched, false);
            }
        };
        if length == 0 && !ended {
            return Ok(None);
        }
        let line = self.held.start..self.held.start + length;
        self.given(length, ended, read);
        Ok(Some(Line::Whole(&self.buffer[line], ended)))
    }

    fn given(&mut self, length: usize, ended: bool, read: &mut u64) {
        let length = length + usize::from(ended);
        self.held.start += length;
        *read += length as u64;
    }

    /// The rest of a line that is longer than the buffer.
    fn long(&mut self, read: &mut u64) -> io::Result<Line<'_>> {
        let (mut skim, mut large) = (Skim::default(), false);
        self.skimmed.clear();
        self.skimmed.shrink_to(LONG);
        loop {
            let held = &self.buffer[self.held.clone()];
            let end = memchr::memchr(b'\n', held);
            let length = end.unwrap_or(held.len());
            if !large {
                skim.take(&held[..length], &mut self.skimmed);
                large = self.skimmed.len() > RECORD;
            }
            if large {
                self.skimmed = Vec::new();
            }
            self.given(length, end.is_some(), read);
            let more = end.is_none() && self.fill()?;
            match (more, large) {
                (true, _) => {}
                (false, true) => return Ok(Line::TooLarge),
                (false, false) => return Ok(Line::Skimmed(&self.skimmed, end.is_some())),
            }
        }
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.held.clone(), 0);
        self.held = 0..self.held.len();
        // There is room for at least as much as is held, up to the bound.
        if self.held.end * 2 >= self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).clamp(READ, LONG), 0);
        }
        loop {
            match self.from.read(&mut self.buffer[self.held.end..]) {
                Ok(count) => {
                    self.held.end += count;
                    return Ok(count > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives pieces of odd sizes, as pipes and archives do.
    struct Pieces<'b>(&'b [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 * 31 % 65_521 + 1;
            let (piece, rest) = self.0.split_at(self.1.min(into.len()).min(self.0.len()));
            into[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    fn check(log: &[u8]) {
        let (mut lines, mut read) = (Lines::new(Pieces(log, 7)), 0);
        let mut rest = log;
        while let Some(line) = lines.next(&mut read).unwrap() {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (own, after) = (&rest[..end.unwrap_or(rest.len())], end.map_or(rest.len(), |end| end + 1));
            match line {
                Line::Whole(bytes, ended) => assert!(bytes == own && ended == end.is_some()),
                Line::Skimmed(bytes, ended) => {
                    let (mut skim, mut kept) = (Skim::default(), Vec::new());
                    skim.take(own, &mut kept);
                    assert!(own.len() >= LONG && bytes == kept && ended == end.is_some());
                }
                Line::TooLarge => assert!(own.len() > RECORD && !own.contains(&b'"')),
            }
            rest = &rest[after..];
            assert_eq!(read, (log.len() - rest.len()) as u64);
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn lines_of_every_length_are_whole_skimmed_or_too_large() {
        let text = |length: usize| format!("\"{}\"", "é\\n a".repeat(length / 6));
        let lengths = [0, 9, READ - 1, READ, READ + 1, 50, LONG - 2, LONG - 1, LONG, LONG + 1, 3 * LONG + 5, 0, 0, 7];
        let mut log: String = lengths.iter().map(|length| text(*length) + "\n").collect();
        check(log.as_bytes());
        log.push_str(&format!("\n\n[{}]\n{}", "1,".repeat(RECORD), text(2 * LONG)));
        check(log.as_bytes());
        check(b"");
        check(b"\n");
        check(b"\n{}");
    }

    #[test]
    fn the_buffer_stays_small() {
        let log = format!("\"{}\"\n", "x".repeat(40 << 20));
        let (mut lines, mut read) = (Lines::new(log.as_bytes()), 0);
        assert!(matches!(lines.next(&mut read).unwrap(), Some(Line::Skimmed(..))));
        assert!(lines.buffer.capacity() <= LONG && lines.skimmed.capacity() <= LONG);
    }
}
