//! A small MCP server on standard input and output whose only use is that one can see who calls it: `verify` adds it
//! to a policy, to try the whole way from a declaration to a role's tools.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Its name in the policy. Hosts split names at `_` or `-`, so it has neither.
pub const NAME: &str = "tryout";
/// The argument that makes the program be it.
pub const ARGUMENT: &str = "verify-server";
/// The variable that names the folder of its record.
pub const FOLDER: &str = "ROLECAST_VERIFY_DIR";
/// The file in there with the name of each tool that was called, one a line.
const CALLS: &str = "calls";
/// The file in there that is made when somebody asks for the tools.
const LISTED: &str = "listed";
/// The file in there that the tool which changes something makes.
const CHANGED: &str = "changed";
/// Spoken when the client names no version.
const PROTOCOL: &str = "2025-06-18";

/// A tool of the server.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The capability that the policy says it confers; none = the policy does not name the tool.
    pub confers: Option<&'static str>,
    /// What it says of itself; none = nothing.
    pub read_only: Option<bool>,
}

/// One that only reads, one that does not say, one that the policy does not name, and one that changes something. That
/// is called last: a host that asks a person, and finds none, may end the run.
pub const TOOLS: [Tool; 4] = [
    Tool { name: "look", confers: Some("browser.inspect"), read_only: Some(true) },
    Tool { name: "find", confers: Some("docs.search"), read_only: None },
    Tool { name: "extra", confers: None, read_only: None },
    Tool { name: "change", confers: Some("browser.interact"), read_only: Some(false) },
];

/// Where the server writes down who called it.
#[derive(Debug, Clone)]
pub struct Record(PathBuf);

impl Record {
    /// The record in a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Whether a call of the tool arrived, and did what it does.
    pub fn shows(&self, tool: &str) -> bool {
        let calls = std::fs::read_to_string(self.0.join(CALLS)).unwrap_or_default();
        let changes = TOOLS.iter().any(|t| t.name == tool && t.read_only == Some(false));
        calls.lines().any(|l| l == tool) && (!changes || self.0.join(CHANGED).is_file())
    }

    /// Whether the server was connected: somebody asked for its tools.
    pub fn listed(&self) -> bool {
        self.0.join(LISTED).is_file()
    }

    fn list(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.0)?;
        std::fs::write(self.0.join(LISTED), "listed\n")
    }

    fn write(&self, tool: &Tool) -> io::Result<()> {
        std::fs::create_dir_all(&self.0)?;
        let mut calls = OpenOptions::new().create(true).append(true).open(self.0.join(CALLS))?;
        writeln!(calls, "{}", tool.name)?;
        if tool.read_only == Some(false) {
            std::fs::write(self.0.join(CHANGED), "changed\n")?;
        }
        Ok(())
    }
}

/// Answers line by line until the input ends; `folder` is for the record.
///
/// # Errors
/// The streams.
pub fn serve(input: impl BufRead, mut output: impl Write, folder: Option<&Path>) -> io::Result<()> {
    let record = folder.map(Record::new);
    for line in input.lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        // A notification has no id and wants no answer.
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else { continue };
        let answer = match answer(&message, record.as_ref()) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, why)) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(message: &Value, record: Option<&Record>) -> Result<Value, (i32, String)> {
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or(PROTOCOL),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": NAME, "version": env!("CARGO_PKG_VERSION") },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => {
            if let Some(record) = record {
                record.list().map_err(|error| (-32603, error.to_string()))?;
            }
            Ok(json!({ "tools": listed() }))
        }
        "tools/call" => call(params["name"].as_str().unwrap_or_default(), record),
        other => Err((-32601, format!("there is no method `{other}`"))),
    }
}

/// What it says of its tools.
pub fn listed() -> Vec<Value> {
    TOOLS.iter().map(described).collect()
}

fn described(tool: &Tool) -> Value {
    let mut out = json!({
        "name": tool.name,
        "description": "Notes that it was called.",
        "inputSchema": { "type": "object", "properties": {} },
    });
    if let Some(read_only) = tool.read_only {
        out["annotations"] = json!({ "readOnlyHint": read_only, "destructiveHint": !read_only });
    }
    out
}

fn call(name: &str, record: Option<&Record>) -> Result<Value, (i32, String)> {
    let Some(tool) = TOOLS.iter().find(|t| t.name == name) else {
        return Err((-32602, format!("there is no tool `{name}`")));
    };
    let Some(record) = record else { return Err((-32603, format!("`{FOLDER}` names no folder"))) };
    record.write(tool).map_err(|error| (-32603, error.to_string()))?;
    Ok(json!({ "content": [{ "type": "text", "text": format!("{name} was called") }], "isError": false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(messages: &[Value], folder: Option<&Path>) -> Vec<Value> {
        let input: String = messages.iter().map(|m| format!("{m}\n")).collect();
        let mut output = Vec::new();
        serve(input.as_bytes(), &mut output, folder).unwrap();
        String::from_utf8(output).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    fn request(method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
    }

    #[test]
    fn a_client_is_told_what_there_is_and_a_notification_is_not_answered() {
        let start = request("initialize", json!({ "protocolVersion": "2024-11-05" }));
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let said = ask(&[start, noted, request("tools/list", json!({})), request("resources/list", json!({}))], None);
        assert_eq!(said.len(), 3);
        assert_eq!(said[0]["result"]["protocolVersion"], "2024-11-05");
        let tools = said[1]["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), TOOLS.len());
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
        assert!(tools[1].get("annotations").is_none());
        assert_eq!(said[2]["error"]["code"], -32601);
    }

    #[test]
    fn a_call_is_written_down_and_only_that_of_its_own_tool() {
        let dir = tempfile::tempdir().unwrap();
        let record = Record::new(dir.path());
        assert!(!record.shows("look"));
        ask(
            &[request("tools/call", json!({ "name": "look" })), request("tools/call", json!({ "name": "no" }))],
            Some(dir.path()),
        );
        assert!(record.shows("look") && !record.shows("change") && !record.shows("no"));
        ask(&[request("tools/call", json!({ "name": "change", "arguments": {} }))], Some(dir.path()));
        assert!(record.shows("change"));
        let refused = ask(&[request("tools/call", json!({ "name": "look" }))], None);
        assert_eq!(refused[0]["error"]["code"], -32603);
    }
}
