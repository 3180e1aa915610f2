//! Servers of a scenario: always the same answers, so that what a model makes of them can be compared.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::model::policy::Via;
use crate::model::scalar::Risk;
use crate::model::scenario::{PlayedServer, PlayedTool, Scenario};
use crate::resolve::Policy;
use crate::resolve::composed::Bounds;
use crate::resolve::policy::{Reach, Server, ServerTool, Text, Timeout};

/// The command of this program that plays one.
pub const COMMAND: &str = "scenario-server";
/// Spoken when the client names no version.
const PROTOCOL: &str = "2025-06-18";
/// Seconds for a call, and for the start on a busy machine.
const TIME: Timeout = Timeout { seconds: 60, span: None };

/// Writes the servers of a scenario where [`serve`] reads them.
///
/// # Errors
/// An I/O error.
pub fn write(scenario: &Scenario, file: &Path) -> io::Result<()> {
    let servers: IndexMap<&str, &PlayedServer> = scenario.servers.iter().map(|(n, s)| (n.value.as_str(), s)).collect();
    fs::write(file, serde_json::to_string(&servers)?)
}

/// The file that is there once a host has asked a server for its tools.
fn mark(file: &Path, name: &str) -> PathBuf {
    file.with_extension(format!("{name}.asked"))
}

/// Forgets who asked.
pub fn forget(scenario: &Scenario, file: &Path) {
    for name in scenario.servers.keys() {
        // What is not there is forgotten.
        let _ = fs::remove_file(mark(file, name));
    }
}

/// The servers whose tools no host has asked for: what a model does not do with them says nothing.
pub fn unasked<'s>(scenario: &'s Scenario, file: &Path) -> Vec<&'s str> {
    let names = scenario.servers.keys().map(|name| name.value.as_str());
    names.filter(|name| !mark(file, name).exists()).collect()
}

/// Puts the servers of a scenario into a policy; `program` is this one, `file` what it reads.
pub fn put(policy: &mut Policy, scenario: &Scenario, program: &Path, file: &Path) {
    let text = |text: &str| Text { text: text.to_owned(), span: None };
    for (name, played) in &scenario.servers {
        let tools = played.tools.iter().map(|(tool, how)| (tool.clone(), class(policy, how))).collect();
        let args = vec![text(COMMAND), text(&file.to_string_lossy()), text(&name.value)];
        let server = Server {
            name: name.value.clone(),
            span: None,
            risk: Risk::Safe,
            reach: Reach::Program { command: text(&program.to_string_lossy()), args },
            via: Via::Direct,
            env: IndexMap::new(),
            headers: IndexMap::new(),
            call: TIME,
            list: TIME,
            tools,
        };
        policy.servers.insert(name.value.clone(), server);
    }
}

fn class(policy: &Policy, tool: &PlayedTool) -> ServerTool {
    let ids: Vec<_> = tool.confers.iter().filter_map(|name| policy.catalogue.find(name)).collect();
    let risk = ids.iter().map(|id| policy.catalogue.get(*id).risk).max().unwrap_or(Risk::Restricted);
    let set = ids.into_iter().collect();
    ServerTool { span: None, risk, covers: set, confers: set, bounds: Bounds::default(), successors: Vec::new() }
}

/// Plays the server `name` of a file until the input ends.
///
/// # Errors
/// The file, or the streams.
pub fn serve(file: &Path, name: &str, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut servers: IndexMap<String, PlayedServer> = serde_json::from_slice(&fs::read(file)?)?;
    let server = servers.swap_remove(name).ok_or_else(|| io::Error::other(format!("there is no server `{name}`")))?;
    for line in input.lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        // A notification has no id and wants no answer.
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else { continue };
        if message["method"] == "tools/list" {
            fs::write(mark(file, name), "")?;
        }
        let answer = match answer(&message, name, &server) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, why)) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(message: &Value, name: &str, server: &PlayedServer) -> Result<Value, (i32, String)> {
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or(PROTOCOL),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": name, "version": env!("CARGO_PKG_VERSION") },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": server.tools.iter().map(described).collect::<Vec<_>>() })),
        "tools/call" => {
            let called = params["name"].as_str().unwrap_or_default();
            let tool = server.tools.get(called).ok_or_else(|| (-32602, format!("there is no tool `{called}`")))?;
            Ok(json!({ "content": [{ "type": "text", "text": tool.answer }], "isError": false }))
        }
        other => Err((-32601, format!("there is no method `{other}`"))),
    }
}

fn described((name, tool): (&String, &PlayedTool)) -> Value {
    let argument =
        |(name, words): (&String, &String)| (name.clone(), json!({ "type": "string", "description": words }));
    let properties: Map<String, Value> = tool.arguments.iter().map(argument).collect();
    json!({
        "name": name,
        "description": tool.description,
        "inputSchema": { "type": "object", "properties": properties },
        // Nothing is changed by a call, whatever it is said to do.
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_shown_the_tools_and_always_given_the_same_answer() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("servers.json");
        let text = "title: t\nprompt: p\nservers: { notes: { tools: { find: { description: d, confers: [docs.search], arguments: { query: q }, answer: none } } } }";
        let scenario: Scenario = crate::yaml::parse(text, crate::diag::SourceId(0), 0).unwrap();
        write(&scenario, &file).unwrap();
        let ask = |method: &str, params: Value| {
            let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
            let mut out = Vec::new();
            serve(&file, "notes", line.as_bytes(), &mut out).unwrap();
            serde_json::from_slice::<Value>(&out).unwrap()
        };
        assert_eq!(unasked(&scenario, &file), ["notes"]);
        let listed = ask("tools/list", json!({}));
        assert!(unasked(&scenario, &file).is_empty());
        forget(&scenario, &file);
        assert_eq!(unasked(&scenario, &file), ["notes"]);
        assert_eq!(listed["result"]["tools"][0]["inputSchema"]["properties"]["query"]["type"], "string");
        let called = ask("tools/call", json!({ "name": "find", "arguments": { "query": "x" } }));
        assert_eq!(called["result"]["content"][0]["text"], "none");
        assert_eq!(ask("tools/call", json!({ "name": "other" }))["error"]["code"], -32602);
        assert!(serve(&file, "nobody", &b""[..], Vec::new()).is_err());
    }
}
