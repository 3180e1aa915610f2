//! The events of a session, the same for every host.
//!
//! A reader turns the records of one log into these, one after the other; nothing keeps them. What a log does not
//! record is `None`, never 0. Sizes are bytes of UTF-8 unless they are said to be tokens. An event names the record it
//! was read from, so that every finding can.

use std::rc::Rc;

use serde_json::Value;

use super::format::Format;

/// A record of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct At {
    /// Number of the file among those that are read.
    pub file: u32,
    /// Number of the line from 1; in a log that is one document, of the message.
    pub record: u64,
}

/// Whose events these are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentKey {
    /// The kind of log.
    pub format: Format,
    /// The session of the main agent, or the agent's own where its log does not say whose it is.
    pub session: Rc<str>,
    /// The agent; empty for the main one.
    pub agent: Rc<str>,
}

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Where it is recorded.
    pub at: At,
    /// When, as the log writes it. Order is by position: clocks of several processes do not agree.
    pub time: Option<String>,
    /// Whose.
    pub agent: Rc<AgentKey>,
    /// What.
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Kind {
    /// An agent is there, or more is known of it.
    Agent(Agent),
    /// The model was asked and has answered.
    Request(Request),
    /// The size of the context window, in tokens.
    Window(u64),
    /// The model asked for a tool.
    Call(Call),
    /// What came of a call.
    Result(Outcome),
    /// The host's own reviewer judged a call.
    Review(Review),
    /// A call was let through or not, by whom.
    Approval(Approval),
    /// The context was made smaller.
    Compaction(Compaction),
    /// The record repeats the history of another session and is not counted.
    Copied,
    /// A record of a kind that the reader does not know.
    Unknown(String),
    /// A record that cannot be read.
    Damaged(Damage),
}

/// What is known of an agent.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// What it is; `None` = not said here.
    pub place: Option<Place>,
    /// The agent that started it, where the log says so and it is not the main one.
    pub parent: Option<String>,
    /// Name of its role as the host spells it.
    pub role: Option<String>,
    /// Whether it was given the history of its parent.
    pub history: Option<bool>,
    /// Version of the host.
    pub version: Option<String>,
    /// The folder it works in.
    pub folder: Option<String>,
    /// The model that answers it; the last one where it changed.
    pub model: Option<String>,
}

/// What an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The one a person talks to.
    Main,
    /// Started by another.
    Sub,
    /// The host's own, which judges calls.
    Reviewer,
}

/// One request to the model. Tokens as the host reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Input without what came from a cache.
    pub fresh: Option<u64>,
    /// Input that came from a cache or was written to it.
    pub cached: Option<u64>,
    /// All of the input: what fills the context.
    pub context: Option<u64>,
    /// What the model wrote.
    pub output: Option<u64>,
    /// Bytes of the request, where the host counts them.
    pub bytes: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Links it to its result.
    pub id: String,
    /// The tool.
    pub tool: ToolName,
    /// What it is called with; `None` where that is too long to be kept or no JSON.
    pub arguments: Option<Value>,
    /// The same where it is too long: its long texts are cut, and marked as [`super::skim`] does.
    pub cut: Option<Value>,
    /// Bytes of that.
    pub arguments_bytes: Option<u64>,
    /// Digest of that, where the log has it instead.
    pub digest: Option<String>,
    /// The call was made by a script that another call ran; its result is not what the model sees.
    pub nested: bool,
}

/// A tool as the log names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolName {
    /// The name the model uses.
    pub name: String,
    /// The MCP server and its own name of the tool, where the log has them apart.
    pub server: Option<(String, String)>,
}

/// What came of a call.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The call.
    pub id: String,
    /// How it ended; `None` = the log does not say.
    pub failed: Option<bool>,
    /// The host says that it, a rule or a person refused the call.
    pub refused: bool,
    /// Bytes of text that the model was given. Media are apart.
    pub visible: Option<u64>,
    /// Bytes that the tool gave, before the host cut them.
    pub raw: Option<Raw>,
    /// Pictures and other media.
    pub media: Vec<Media>,
    /// What there is to count in the text; `None` = the log does not have it.
    pub things: Option<Things>,
    /// The beginning of the text, for telling refusals.
    pub head: String,
    /// It belongs to a nested call.
    pub nested: bool,
}

/// What there is to count in the text of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Things {
    /// Texts it has.
    pub blocks: u64,
    /// Lines of them.
    pub lines: u64,
    /// All of them was kept; else there may be more lines.
    pub whole: bool,
    /// The text, where it is one and may be JSON.
    pub json: Option<String>,
}

/// A size of which the log may have only a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw {
    /// Bytes.
    pub bytes: u64,
    /// The log was cut there: it was as much or more.
    pub at_least: bool,
}

/// A picture, sound or other media in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Bytes of its base64 text.
    pub base64: u64,
    /// Whether the model was sent it; `None` = the log does not say.
    pub inline: Option<bool>,
}

/// A judgement of the host's own reviewer.
#[derive(Debug, Clone, Default)]
pub struct Review {
    /// The tool it was about; `None` where the log does not have it in a readable form.
    pub tool: Option<ToolName>,
    /// Its word: `allow`, `deny`, or the host's own.
    pub verdict: Option<String>,
}

/// Who let a call through.
#[derive(Debug, Clone)]
pub struct Approval {
    /// The call.
    pub call: String,
    /// Whether it was let through.
    pub granted: bool,
    /// Who decided, in the host's own word.
    pub by: Option<String>,
    /// Whether that was a person.
    pub person: Option<bool>,
}

/// The context was made smaller.
#[derive(Debug, Clone, Default)]
pub struct Compaction {
    /// Tokens before.
    pub before: Option<u64>,
    /// Tokens afterwards.
    pub after: Option<u64>,
    /// Whether the host did it by itself.
    pub automatic: Option<bool>,
    /// The last request before it was that for the summary.
    pub own_request: bool,
}

/// Why a record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// It is no JSON, in the middle of a log.
    Garbage,
    /// The log ends within it: it is being written, or was cut.
    Unfinished,
    /// It is larger than what is kept in memory even without its long texts.
    TooLarge,
}
