//! Apache Parquet, written column by column without Arrow: rows are gathered to a group and dropped when it is written.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type as Schema, TypePtr};

use super::{COLUMNS, Cell, Column, Row, Rows, Type, VERSION};

/// Rows of a group at most.
const ROWS: usize = 65_536;
/// Bytes of text in a group, about.
const BYTES: usize = 16 << 20;

/// Writes groups of rows.
pub struct Groups<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    rows: usize,
    bytes: usize,
}

/// The values of a column that are there, and for each row whether one is.
struct Gathered {
    values: Values,
    there: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

impl<W: Write + Send> Groups<W> {
    /// To a file.
    ///
    /// # Errors
    /// It cannot be begun.
    pub fn new(to: W) -> io::Result<Self> {
        let fields = COLUMNS.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let schema = Schema::group_type_builder("events").with_fields(fields).build().map_err(wrong)?;
        let version = KeyValue::new("rolecast.schema".to_owned(), VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("rolecast".to_owned())
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties)).map_err(wrong)?;
        Ok(Self { file, columns: empty(), rows: 0, bytes: 0 })
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for Gathered { values, there } in std::mem::replace(&mut self.columns, empty()) {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Values::Text(values) => column.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?,
                Values::Int(values) => column.typed::<Int64Type>().write_batch(&values, Some(&there), None)?,
                Values::Bool(values) => column.typed::<BoolType>().write_batch(&values, Some(&there), None)?,
            };
            column.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl<W: Write + Send> Rows for Groups<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        for (column, gathered) in COLUMNS.iter().zip(&mut self.columns) {
            let cell = (column.get)(row);
            gathered.there.push(i16::from(cell != Cell::Null));
            match (&mut gathered.values, cell) {
                (Values::Text(values), Cell::Text(text)) => {
                    self.bytes += text.len();
                    values.push(ByteArray::from(text));
                }
                (Values::Int(values), Cell::Int(number)) => values.push(i64::try_from(number).unwrap_or(i64::MAX)),
                (Values::Int(values), Cell::Time(at)) => values.push(at),
                (Values::Bool(values), Cell::Bool(yes)) => values.push(yes),
                // A value of another type than its column's is none; the test of the columns keeps that from being.
                (_, Cell::Null) => {}
                (_, _) => drop(gathered.there.pop().map(|_| gathered.there.push(0))),
            }
        }
        self.rows += 1;
        if self.rows >= ROWS || self.bytes >= BYTES {
            self.group().map_err(wrong)?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.group().map_err(wrong)?;
        self.file.finish().map(drop).map_err(wrong)
    }
}

fn empty() -> Vec<Gathered> {
    let values = |column: &Column| match column.holds {
        Type::Text => Values::Text(Vec::new()),
        Type::Int | Type::Time => Values::Int(Vec::new()),
        Type::Bool => Values::Bool(Vec::new()),
    };
    COLUMNS.iter().map(|column| Gathered { values: values(column), there: Vec::new() }).collect()
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.holds {
        Type::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Type::Int => (Physical::INT64, None),
        Type::Bool => (Physical::BOOLEAN, None),
        Type::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let field = Schema::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(ConvertedType::NONE)
        .with_logical_type(logical);
    field.build().map(Arc::new)
}

fn wrong(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}
