//! Every event as a row, for the engines that people aggregate with.
//!
//! One table of columns ([`columns`]) says what a row has; each kind of file is written from it, so that they cannot
//! differ. Names are those of OpenTelemetry's GenAI conventions where there is one, else they begin with `rolecast.`.
//! Rows are written as they come: what is kept is one row group, or one line.

mod columns;
mod jsonl;
mod otlp;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use std::io::{self, Write};

pub use columns::{COLUMNS, Cell, Column, Type};
pub use row::Row;

/// Version of the columns: raised when one goes or means something else.
pub const VERSION: u32 = 1;

/// The kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Apache Parquet.
    Parquet,
    /// A JSON object a line.
    Jsonl,
    /// OpenTelemetry's JSON, a request for logs a line.
    Otlp,
}

impl Target {
    /// The ending of its files.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
            Self::Otlp => "otlp.jsonl",
        }
    }
}

/// Takes rows.
pub trait Rows {
    /// Takes the next one.
    ///
    /// # Errors
    /// It cannot be written.
    fn row(&mut self, row: &Row) -> io::Result<()>;

    /// There are no more.
    ///
    /// # Errors
    /// The rest cannot be written.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// A writer of rows.
///
/// # Errors
/// The file cannot be begun, or this program was built without that kind.
pub fn rows<'w>(target: Target, to: impl Write + Send + 'w) -> io::Result<Box<dyn Rows + 'w>> {
    match target {
        Target::Jsonl => Ok(Box::new(jsonl::Lines::new(to))),
        Target::Otlp => Ok(Box::new(otlp::Requests::new(to))),
        #[cfg(feature = "parquet")]
        Target::Parquet => Ok(Box::new(parquet::Groups::new(to)?)),
        #[cfg(not(feature = "parquet"))]
        Target::Parquet => Err(io::Error::other("this program was built without the feature `parquet`")),
    }
}
