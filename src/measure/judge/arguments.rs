//! What a call is made with.

use serde_json::Value;

/// The text of an argument.
pub(super) fn argument<'v>(arguments: &'v Value, key: &str) -> Option<&'v str> {
    // A log may have the arguments under another name than a hook is told.
    let found = arguments.get(key).or_else(|| arguments.get("cmd").filter(|_| key == "command"));
    found.and_then(Value::as_str)
}

/// A path below the folder of the session, without `.` and `..`; `None` when it leads out.
pub(super) fn relative(path: &str, folder: Option<&str>) -> Option<String> {
    let path = path.replace('\\', "/");
    let below = match folder.map(|f| f.replace('\\', "/")) {
        Some(folder) if path.starts_with(&format!("{}/", folder.trim_end_matches('/'))) => {
            path[folder.trim_end_matches('/').len() + 1..].to_owned()
        }
        _ if path.starts_with('/') || path.get(1..3) == Some(":/") => return None,
        _ => path,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in below.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The beginning of a text, in one line.
pub(super) fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        cut.push('…');
    }
    cut
}
