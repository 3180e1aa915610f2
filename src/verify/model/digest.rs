//! One shape for the requests of all protocols.

use serde_json::Value;

use crate::model::adapter::Protocol;

use super::{chat, generate, messages, responses};

/// What matters of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// The model asked for.
    pub model: Option<String>,
    /// Whether the answer is to be a stream.
    pub stream: bool,
    /// Names of the tools offered; a name in a namespace is `NAMESPACE.NAME`.
    pub tools: Vec<String>,
    /// Those among them that are only named until the model asks for their description.
    pub deferred: Vec<String>,
    /// Bytes of their descriptions.
    pub tool_bytes: usize,
    /// Text of the system and of the developer.
    pub system: String,
    /// Texts of the user, one for each message.
    pub users: Vec<String>,
    /// Texts of the results of tools so far.
    pub results: Vec<String>,
}

impl Digest {
    /// Reads a request.
    pub fn of(protocol: Protocol, path: &str, body: &Value) -> Self {
        let mut digest = match protocol {
            Protocol::Responses => responses::digest(body),
            Protocol::Chat => chat::digest(body),
            Protocol::Messages => messages::digest(body),
            Protocol::Generate => generate::digest(body),
        };
        digest.model = body["model"].as_str().map(str::to_owned).or_else(|| model_in(path));
        digest.stream = match protocol {
            Protocol::Generate => path.ends_with(":streamGenerateContent"),
            _ => body["stream"].as_bool().unwrap_or(false),
        };
        digest
    }

    /// Everything the agent was told before the first answer.
    pub fn told(&self) -> String {
        format!("{}\n{}", self.system, self.users.join("\n"))
    }

    pub(super) fn offer(&mut self, name: String, tool: &Value) {
        if tool["defer_loading"].as_bool() == Some(true) {
            self.deferred.push(name.clone());
        }
        self.tool_bytes += tool.to_string().len();
        self.tools.push(name);
    }

    pub(super) fn system_line(&mut self, text: &str) {
        if !self.system.is_empty() {
            self.system.push('\n');
        }
        self.system.push_str(text);
    }

    pub(super) fn user(&mut self, text: String) {
        if !text.is_empty() {
            self.users.push(text);
        }
    }
}

/// `…/models/NAME:verb`.
fn model_in(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/models/")?;
    rest.split([':', '/']).next().filter(|n| !n.is_empty()).map(str::to_owned)
}

/// The text of a content that is a string, a part, or a list of parts.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(text).filter(|t| !t.is_empty()).collect();
            parts.join("\n")
        }
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or("").to_owned(),
        _ => String::new(),
    }
}

/// The elements of a list, or nothing.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
