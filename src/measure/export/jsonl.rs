//! A JSON object a line. Every row has every column, so that engines see them all in any part of a file.

use std::io::{self, Write};

use super::{COLUMNS, Cell, Row, Rows};
use crate::measure::time;

/// Writes lines.
pub struct Lines<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    /// To a file.
    pub const fn new(to: W) -> Self {
        Self { to, line: Vec::new() }
    }
}

impl<W: Write> Rows for Lines<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.line.clear();
        for (at, column) in COLUMNS.iter().enumerate() {
            self.line.push(if at == 0 { b'{' } else { b',' });
            serde_json::to_writer(&mut self.line, column.name)?;
            self.line.push(b':');
            match (column.get)(row) {
                Cell::Null => self.line.extend(b"null"),
                Cell::Text(text) => serde_json::to_writer(&mut self.line, text)?,
                Cell::Int(number) => serde_json::to_writer(&mut self.line, &number)?,
                Cell::Bool(yes) => serde_json::to_writer(&mut self.line, &yes)?,
                Cell::Time(at) => serde_json::to_writer(&mut self.line, &time::written(at))?,
            }
        }
        self.line.extend(b"}\n");
        self.to.write_all(&self.line)
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.to.flush()
    }
}
