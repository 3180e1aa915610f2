//! One reader for each kind of log.

pub mod audit;
pub mod chain;
pub mod chat;
pub mod document;
pub mod events;
pub mod export;
pub mod rollout;
pub mod transcript;

use std::path::Path;
use std::rc::Rc;

use super::event::{Agent, AgentKey, Kind, Media};
use super::format::{Before, Format, Out};
use super::json::Json;
use super::skim;

/// Turns the records of one file into events.
pub trait Reader {
    /// Takes the next record.
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>);

    /// The file is over.
    fn end(&mut self, _out: &mut Out<'_>) {}

    /// Whose records these are, for records that cannot be read.
    fn agent(&self) -> Rc<AgentKey>;
}

/// A key.
fn key(format: Format, session: &str, agent: &str) -> Rc<AgentKey> {
    Rc::new(AgentKey { format, session: session.into(), agent: agent.into() })
}

/// Tells which model answers an agent, once for each.
fn model(agent: &Rc<AgentKey>, at: Option<&str>, name: Option<&str>, out: &mut Out<'_>) {
    let Some(name) = name else { return };
    if out.first("model", &format!("{}/{}/{name}", agent.session, agent.agent)) == Before::New {
        out.put(agent, at, Kind::Agent(Agent { model: Some(name.to_owned()), ..Agent::default() }));
    }
}

/// The text at a JSON pointer or key.
fn text<'v>(value: &'v Json<'_>, at: &str) -> Option<&'v str> {
    let found = if at.starts_with('/') { value.pointer(at) } else { value.get(at) };
    found.and_then(Json::as_str)
}

/// The largest number that is read, which is the last that all programs take for whole: two of them can be added.
const MOST: u64 = 1 << 53;

/// The number at a JSON pointer or key.
fn number(value: &Json<'_>, at: &str) -> Option<u64> {
    let found = if at.starts_with('/') { value.pointer(at) } else { value.get(at) }?.as_number()?;
    // Some hosts write whole numbers with a point.
    let number = found.as_u64().or_else(|| found.as_f64().filter(|f| *f >= 0.0 && f.is_finite()).map(|f| f as u64))?;
    Some(number.min(MOST))
}

/// How many bytes JSON has when it is written without spaces.
fn json_bytes(value: &Json<'_>) -> u64 {
    match value {
        Json::Null => 4,
        Json::Bool(b) => 5 - u64::from(*b),
        Json::Number(n) => n.to_string().len() as u64,
        Json::String(s) => skim::bytes(s) + 2,
        Json::Array(items) => 2 + items.iter().map(json_bytes).sum::<u64>() + items.len().saturating_sub(1) as u64,
        Json::Object(object) => {
            let entries = object.iter().map(|(k, v)| k.len() as u64 + 3 + json_bytes(v)).sum::<u64>();
            2 + entries + object.iter().len().saturating_sub(1) as u64
        }
    }
}

/// What was called with, if it is kept whole.
fn whole(value: &Json<'_>) -> bool {
    match value {
        Json::String(s) => skim::kept(s).1,
        Json::Array(items) => items.iter().all(whole),
        Json::Object(object) => object.iter().all(|(_, v)| whole(v)),
        _ => true,
    }
}

/// Longest beginning of a result that is handed on.
const HEAD: usize = 1024;

/// The text and media of a result, gathered part by part.
#[derive(Debug, Default)]
struct Gathered {
    bytes: u64,
    media: Vec<Media>,
    head: String,
}

impl Gathered {
    fn text(&mut self, text: &str) {
        self.bytes += skim::bytes(text);
        let room = HEAD.saturating_sub(self.head.len());
        let kept = skim::kept(text).0;
        self.head.push_str(kept.get(..kept.ceil_char_boundary(room)).unwrap_or(kept));
        let base64 = skim::base64(text);
        if base64 > 0 {
            self.media.push(Media { base64, inline: Some(true) });
        }
    }

    fn media(&mut self, base64: u64, inline: Option<bool>) {
        self.media.push(Media { base64, inline });
    }

    /// An address `data:…;base64,…`; another address costs nothing.
    fn address(&mut self, url: &str, inline: Option<bool>) {
        let kept = skim::kept(url).0;
        if let Some(comma) = kept.find(";base64,") {
            self.media(skim::bytes(url).saturating_sub(comma as u64 + 8), inline);
        }
    }
}

/// The name of a file without its folder and endings.
fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.split('.').next().unwrap_or(name)
}

/// A small JSON file beside a log, with another ending.
fn beside(path: &Path, ending: &str) -> Option<Json<'static>> {
    let name = format!("{}{ending}", stem(path));
    let file = path.with_file_name(name);
    let size = std::fs::metadata(&file).ok()?.len();
    (size <= 1 << 20).then_some(())?;
    super::json::skimmed(&std::fs::read(file).ok()?).ok().map(Json::owned)
}
