//! Lines of a stream, each bounded.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// What stands on a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the line end.
    Bytes(Vec<u8>),
    /// More than the bound; it was skipped.
    TooLong,
    /// There is no more.
    End,
}

/// The next line of at most `max` bytes.
pub(super) async fn next(reader: &mut (impl AsyncBufRead + Unpin), max: usize) -> io::Result<Line> {
    let (mut line, mut over) = (Vec::new(), false);
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            // A last line without an end was never finished: whoever wrote it is gone.
            return Ok(Line::End);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        over |= line.len() + part.len() > max;
        if over {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(if over { Line::TooLong } else { Line::Bytes(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_bound_is_skipped_and_the_next_one_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let text = format!("ab\n{}\ncd\nunfinished", "x".repeat(100));
            let mut reader = tokio::io::BufReader::with_capacity(7, text.as_bytes());
            let mut lines = Vec::new();
            for _ in 0..4 {
                lines.push(next(&mut reader, 10).await.unwrap());
            }
            assert_eq!(lines, [Line::Bytes(b"ab".into()), Line::TooLong, Line::Bytes(b"cd".into()), Line::End]);
        });
    }
}
