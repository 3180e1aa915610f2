//! OpenTelemetry's JSON encoding of logs: one `ExportLogsServiceRequest` a line, as the Collector's `otlpjsonfile`
//! receiver reads. A row is a record with the row's values as attributes; what is null has none.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{COLUMNS, Cell, Row, Rows, VERSION};

/// Records of one request.
const BATCH: usize = 256;

/// Writes requests.
pub struct Requests<W: Write> {
    to: W,
    /// Records with the session they belong to.
    waiting: Vec<Value>,
    resource: Option<(String, String)>,
}

impl<W: Write> Requests<W> {
    /// To a file.
    pub const fn new(to: W) -> Self {
        Self { to, waiting: Vec::new(), resource: None }
    }

    fn send(&mut self) -> io::Result<()> {
        let Some((host, session)) = self.resource.take() else { return Ok(()) };
        let attribute = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
        let request = json!({ "resourceLogs": [{
            "resource": { "attributes": [
                attribute("service.name", &host),
                attribute("gen_ai.conversation.id", &session),
            ] },
            "scopeLogs": [{
                "scope": { "name": "rolecast.measure", "version": VERSION.to_string() },
                "logRecords": std::mem::take(&mut self.waiting),
            }],
        }] });
        serde_json::to_writer(&mut self.to, &request)?;
        self.to.write_all(b"\n")
    }
}

impl<W: Write> Rows for Requests<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let resource = (row.host.clone(), row.session.clone());
        if self.waiting.len() >= BATCH || self.resource.as_ref().is_some_and(|r| *r != resource) {
            self.send()?;
        }
        self.resource.get_or_insert(resource);
        self.waiting.push(record(row));
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.send()?;
        self.to.flush()
    }
}

fn record(row: &Row) -> Value {
    let attribute = |column: &super::Column| {
        let value = match (column.get)(row) {
            // The moment of a record has a field of its own.
            Cell::Null | Cell::Time(_) => return None,
            Cell::Text(text) => json!({ "stringValue": text }),
            // 64 bits are texts in this encoding.
            Cell::Int(number) => json!({ "intValue": number.to_string() }),
            Cell::Bool(yes) => json!({ "boolValue": yes }),
        };
        Some(json!({ "key": column.name, "value": value }))
    };
    let mut record = json!({
        "eventName": format!("rolecast.{}", row.event),
        "body": { "stringValue": row.event },
        "attributes": COLUMNS.iter().filter_map(attribute).collect::<Vec<_>>(),
    });
    if let Some(at) = row.time {
        record["timeUnixNano"] = json!(format!("{at}000000"));
    }
    record
}
