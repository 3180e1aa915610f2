//! Tools of this program itself.

mod docs;
mod git;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::compose::OwnTool;
use super::folder::Folder;

/// Answers a call of a tool of this program, as a server would.
pub async fn call(tool: OwnTool, arguments: &Map<String, Value>, root: &Path, folder: &Folder) -> Value {
    let answer = match tool {
        OwnTool::Diff | OwnTool::Log | OwnTool::Show => git::run(tool, arguments, root).await,
        OwnTool::Validate => docs::run(arguments, root).await,
        OwnTool::ReadArtifact => artifact(arguments, folder),
    };
    match answer {
        Ok(text) => json!({ "content": [{ "type": "text", "text": text }] }),
        Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
    }
}

/// A part of an artifact: text as it is, anything else as base64.
fn artifact(arguments: &Map<String, Value>, folder: &Folder) -> Result<String, String> {
    let number = |name: &str, default: u64| arguments.get(name).and_then(Value::as_u64).unwrap_or(default);
    let id = arguments.get("id").and_then(Value::as_str).unwrap_or("");
    let (offset, most) = (number("offset", 0), number("max_bytes", 8192));
    let (bytes, all) = folder.read(id, offset, usize::try_from(most).unwrap_or(8192))?;
    // A part may begin or end inside of a character.
    let start = bytes.iter().take(3).take_while(|b| **b & 0xc0 == 0x80).count().min(bytes.len());
    let (text, used) = match std::str::from_utf8(&bytes[start..]) {
        Ok(text) => (text.to_owned(), bytes.len()),
        Err(error) if error.error_len().is_none() && start + error.valid_up_to() > 0 => {
            let end = start + error.valid_up_to();
            (String::from_utf8_lossy(&bytes[start..end]).into_owned(), end)
        }
        Err(_) => (super::bound::encode(&bytes), bytes.len()),
    };
    let next = offset + used as u64;
    let more = if next < all { format!("; go on with offset {next}") } else { String::new() };
    Ok(format!("{text}\n[bytes {offset} to {next} of {all}{more}]"))
}

/// Paths from the root that stay below it.
///
/// # Errors
/// The path that does not.
fn paths(arguments: &Map<String, Value>) -> Result<Vec<String>, String> {
    let all = arguments.get("paths").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    all.map(inside).collect()
}

fn inside(path: &str) -> Result<String, String> {
    let good = !path.starts_with('/') && !path.contains(['\0', '\\', ':']) && !path.split('/').any(|part| part == "..");
    if good { Ok(path.to_owned()) } else { Err(format!("`{path}` is not a path below the root of the repository")) }
}
