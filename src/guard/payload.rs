//! What a host sends, told by its shape: whoever calls, the fields say what they are.

use serde_json::{Map, Value};

use crate::model::guard::Answer;

/// One call that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Who makes it.
    pub agent: Agent,
    /// The tool, as the hook spells it.
    pub tool: String,
    /// What it is called with.
    pub args: Args,
    /// Folder that relative paths are meant from; `None` = not said.
    pub cwd: Option<String>,
    /// Names of what else was sent.
    pub fields: Vec<String>,
    /// How whoever spells so is told of a refusal.
    pub answer: Answer,
}

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// The session's own agent, which the policy does not limit.
    Main,
    /// An agent of this name.
    Named(String),
    /// One whose id starts with its name and a hyphen.
    Id(String),
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum Args {
    /// Named arguments.
    Named(Map<String, Value>),
    /// One text.
    Text(String),
}

impl Args {
    /// The text of an argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self {
            Self::Named(map) => map.get(name)?.as_str(),
            Self::Text(_) => None,
        }
    }

    /// A patch: the text of its argument, or the one text that a tool is called with where models send it bare.
    pub fn patch(&self, name: &str) -> Option<&str> {
        match self {
            Self::Named(_) => self.text(name),
            Self::Text(text) => Some(text),
        }
    }

    /// Whether an argument is given at all.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Named(map) => map.get(name).is_some_and(|v| !v.is_null()),
            Self::Text(_) => false,
        }
    }
}

/// Why a call cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is no JSON object: no host sends that.
    Garbage,
    /// It says who calls, and not what.
    Strange(Agent),
}

/// Reads what stands on standard input.
///
/// # Errors
/// No JSON object, or one of no known shape.
pub fn read(bytes: &[u8]) -> Result<Call, Unread> {
    let Ok(Value::Object(mut map)) = serde_json::from_slice(bytes) else { return Err(Unread::Garbage) };
    let agent = agent(&map);
    let answer = if map.contains_key("toolName") { Answer::Decision } else { Answer::Stderr };
    let mut take = |names: [&str; 2]| names.into_iter().find_map(|name| map.shift_remove(name));
    let tool = take(["tool_name", "toolName"]);
    let args = take(["tool_input", "toolArgs"]);
    let cwd = take(["cwd", "workspace"]).and_then(|v| v.as_str().map(str::to_owned));
    let fields = map.keys().cloned().collect();
    let (tool, args) = match (tool, args) {
        (Some(Value::String(tool)), args) => (tool, args.and_then(arguments)),
        (None, None) => (event(&map).ok_or_else(|| Unread::Strange(agent.clone()))?, Some(Args::Named(map))),
        _ => return Err(Unread::Strange(agent)),
    };
    let Some(args) = args else { return Err(Unread::Strange(agent)) };
    Ok(Call { agent, tool, args, cwd, fields, answer })
}

/// The event that a hook is asked at: where no tool is named it is the call itself, and the rest what it is called with.
fn event(map: &Map<String, Value>) -> Option<String> {
    map.get("hook_event_name")?.as_str().map(str::to_owned)
}

fn agent(map: &Map<String, Value>) -> Agent {
    let text = |name: &str| map.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
    if let Some(name) = text("agent_type").or_else(|| text("agentType")).or_else(|| text("agent_name")) {
        return Agent::Named(name.to_owned());
    }
    match text("agent_id").or_else(|| text("agentId")) {
        Some(id) => Agent::Id(id.to_owned()),
        None => Agent::Main,
    }
}

/// Named arguments may come as JSON in a text.
fn arguments(value: Value) -> Option<Args> {
    match value {
        Value::Object(map) => Some(Args::Named(map)),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => Some(Args::Named(map)),
            _ => Some(Args::Text(text)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_call_are_one_call() {
        let snake = br#"{"agent_type":"writer","cwd":"/r","tool_name":"Write","tool_input":{"file_path":"a"}}"#;
        let camel = br#"{"agentType":"writer","cwd":"/r","toolName":"Write","toolArgs":"{\"file_path\":\"a\"}"}"#;
        let (snake, camel) = (read(snake).unwrap(), read(camel).unwrap());
        assert_eq!((&snake.agent, &snake.tool, &snake.args), (&camel.agent, &camel.tool, &camel.args));
        assert_eq!(snake.args.text("file_path"), Some("a"));
    }

    #[test]
    fn who_calls_is_told_also_where_the_call_is_not() {
        assert_eq!(read(b"{}"), Err(Unread::Strange(Agent::Main)));
        assert_eq!(read(br#"{"agent_type":"w","tool_name":7}"#), Err(Unread::Strange(Agent::Named("w".into()))));
        // An event without a tool is the call itself.
        let start = read(br#"{"hook_event_name":"agentStart","cwd":"/r","kind":"w","task":"x"}"#).unwrap();
        assert_eq!((start.tool.as_str(), start.args.text("task")), ("agentStart", Some("x")));
        assert_eq!(read(br#"{"hook_event_name":"x","tool_input":{}}"#), Err(Unread::Strange(Agent::Main)));
        let id = br#"{"agent_id":"w-call_1","tool_name":"x","tool_input":{}}"#;
        assert_eq!(read(id).unwrap().agent, Agent::Id("w-call_1".into()));
        for garbage in [&b""[..], b"[]", b"\xff", b"{\"tool_name\":"] {
            assert_eq!(read(garbage), Err(Unread::Garbage));
        }
    }
}
