//! The kinds of logs: how each is told by its content, and the way from a file to events.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufReader};
use std::path::Path;
use std::rc::Rc;

use super::event::{AgentKey, At, Damage, Event, Kind};
use super::json::{self, Json};
use super::lines::{Line, Lines};
use super::read::{Reader, audit, chain, chat, events, export, rollout, transcript};
use super::skim::Skimmed;
pub use crate::model::adapter::LogFormat as Format;

/// A fact that a kind of log may record or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Compactions.
    Compactions,
    /// Whether a sub-agent was given the history.
    History,
    /// Calls of sub-agents that the host refused.
    Refusals,
    /// Judgements of the host's reviewer.
    Reviews,
    /// Who let a call through.
    Approvals,
    /// Whether media went to the model.
    Inline,
}

impl Format {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rollout => "rollout",
            Self::Transcript => "transcript",
            Self::Chat => "chat",
            Self::Export => "export",
            Self::Chain => "chain",
            Self::Events => "events",
            Self::Gateway => "gateway",
        }
    }

    /// Whether such logs record a fact, so that none found means none. Only what was seen in logs of real hosts counts.
    pub const fn records(self, fact: Fact) -> bool {
        match fact {
            Fact::Compactions | Fact::History => matches!(self, Self::Rollout | Self::Transcript),
            Fact::Refusals => !matches!(self, Self::Chat),
            Fact::Reviews => matches!(self, Self::Rollout),
            Fact::Approvals => matches!(self, Self::Transcript | Self::Chain),
            Fact::Inline => matches!(self, Self::Rollout | Self::Transcript | Self::Chat | Self::Export),
        }
    }

    /// What the first lines of a log say of its kind.
    fn of(line: &Json<'_>) -> Option<Self> {
        let has = |key: &str| line.get(key).is_some();
        let kind = line.get("type").and_then(Json::as_str);
        match kind {
            Some(_) if has("payload") && has("timestamp") => Some(Self::Rollout),
            Some(kind) if has("data") && has("id") && kind.contains('.') => Some(Self::Events),
            Some(_) if has("uuid") && line.pointer("/message/parts").is_some() => Some(Self::Chain),
            Some("system") if has("systemPayload") => Some(Self::Chain),
            Some("fork-context-ref") => Some(Self::Transcript),
            Some("user" | "assistant" | "attachment" | "system") if has("uuid") => Some(Self::Transcript),
            None if has("projectHash") && has("sessionId") => Some(Self::Chat),
            None if has("info") && has("messages") => Some(Self::Export),
            None if has("event") && has("call") && has("tool") && has("time") => Some(Self::Gateway),
            _ => None,
        }
    }

    fn reader(self, path: &Path) -> Box<dyn Reader> {
        match self {
            Self::Rollout => Box::new(rollout::Rollout::default()),
            Self::Transcript => Box::new(transcript::Transcript::new(path)),
            Self::Chat => Box::new(chat::Chat::new(path)),
            Self::Export => Box::new(export::Export::default()),
            Self::Chain => Box::new(chain::Chain::new(path)),
            Self::Events => Box::new(events::Events::default()),
            Self::Gateway => Box::new(audit::Audit::new(path)),
        }
    }
}

/// What was counted before, in any file: resumed and forked sessions repeat records, also in files of their own.
#[derive(Debug, Default)]
pub struct Seen {
    // Never walked through, so its order does not matter; 16 bytes for each message, call and result.
    hashes: HashMap<u64, u32>,
}

/// Whether a thing was counted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// No.
    New,
    /// In the same file.
    Here,
    /// In another one.
    Elsewhere,
}

/// What a reader writes to.
pub struct Out<'a> {
    /// Where the record is.
    pub at: At,
    sink: &'a mut dyn FnMut(Event),
    seen: &'a mut Seen,
}

impl<'a> Out<'a> {
    /// For one file.
    pub fn new(file: u32, seen: &'a mut Seen, sink: &'a mut dyn FnMut(Event)) -> Self {
        Self { at: At { file, record: 0 }, sink, seen }
    }

    /// Passes an event on.
    pub fn put(&mut self, agent: &Rc<AgentKey>, time: Option<&str>, kind: Kind) {
        (self.sink)(Event { at: self.at, time: time.map(str::to_owned), agent: Rc::clone(agent), kind });
    }

    /// Notes that something is counted, and says whether it was before.
    pub fn first(&mut self, what: &str, id: &str) -> Before {
        let mut hasher = DefaultHasher::new();
        (what, id).hash(&mut hasher);
        match self.seen.hashes.entry(hasher.finish()) {
            std::collections::hash_map::Entry::Occupied(entry) if *entry.get() == self.at.file => Before::Here,
            std::collections::hash_map::Entry::Occupied(_) => Before::Elsewhere,
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(self.at.file);
                Before::New
            }
        }
    }
}

/// How the reading of a file went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// What it is; `None` = no log of a session.
    pub format: Option<Format>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Records.
    pub records: u64,
}

/// Bytes within which a log says whose it is.
const BEGINNING: u64 = 1 << 18;
/// Lines that may come before one that tells the kind.
const UNDECIDED: usize = 64;

/// Reads one log. `step` is told of bytes as they are read.
///
/// # Errors
/// The file cannot be read, or is no sound archive.
pub fn read(
    path: &Path,
    file: u32,
    seen: &mut Seen,
    sink: &mut dyn FnMut(Event),
    step: &mut dyn FnMut(u64),
) -> io::Result<Read> {
    let mut out = Out::new(file, seen, sink);
    let opened = File::open(path)?;
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if name.ends_with(".zst") {
        let decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(opened))
            .map_err(|e| io::Error::other(e.to_string()))?;
        return lines(decoder, path, &mut out, step);
    }
    if name.ends_with(".json") {
        return document(opened, path, &mut out, step);
    }
    lines(opened, path, &mut out, step)
}

/// Reads the beginning of a log, as far as is needed to tell whose it is.
///
/// # Errors
/// As [`read`].
pub fn begin(path: &Path, seen: &mut Seen, sink: &mut dyn FnMut(Event)) -> io::Result<Read> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if name.ends_with(".json") || name.ends_with(".zst") {
        return read(path, 0, seen, sink, &mut |_| {});
    }
    // A first line has tens of thousands of bytes.
    let beginning = io::Read::take(File::open(path)?, BEGINNING);
    lines(beginning, path, &mut Out::new(0, seen, sink), &mut |_| {})
}

/// Reads a log of lines.
///
/// # Errors
/// It cannot be read.
pub fn lines(from: impl io::Read, path: &Path, out: &mut Out<'_>, step: &mut dyn FnMut(u64)) -> io::Result<Read> {
    let mut from = Lines::new(from);
    let mut found = Read::default();
    let mut early: Vec<(u64, Result<Json<'_>, Damage>)> = Vec::new();
    let mut reader: Option<Box<dyn Reader>> = None;
    let mut number = 0;
    loop {
        let before = found.bytes;
        let Some(line) = from.next(&mut found.bytes)? else { break };
        let parsed = parsed(&line);
        step(found.bytes - before);
        number += 1;
        let Some(parsed) = parsed else { continue };
        found.records += 1;
        if let Some(reader) = &mut reader {
            hand(reader.as_mut(), number, &parsed, out);
            continue;
        }
        let format = parsed.as_ref().ok().and_then(Format::of);
        early.push((number, parsed.map(Json::owned)));
        if let Some(format) = format {
            let mut new = format.reader(path);
            early.drain(..).for_each(|(number, parsed)| hand(new.as_mut(), number, &parsed, out));
            (found.format, reader) = (Some(format), Some(new));
        } else if early.len() >= UNDECIDED {
            return Ok(found);
        }
    }
    if let Some(mut reader) = reader {
        reader.end(out);
    }
    Ok(found)
}

/// A line as JSON; `None` for an empty one.
fn parsed<'b>(line: &Line<'b>) -> Option<Result<Json<'b>, Damage>> {
    let (value, bytes, ended) = match *line {
        Line::TooLarge => return Some(Err(Damage::TooLarge)),
        Line::Whole(bytes, ended) => (json::record(bytes), bytes, ended),
        Line::Skimmed(bytes, ended) => (json::skimmed(bytes), bytes, ended),
    };
    match value {
        Ok(value) if value.is_object() => Some(Ok(value)),
        _ if bytes.iter().all(u8::is_ascii_whitespace) => None,
        _ if ended => Some(Err(Damage::Garbage)),
        _ => Some(Err(Damage::Unfinished)),
    }
}

fn hand(reader: &mut dyn Reader, number: u64, parsed: &Result<Json<'_>, Damage>, out: &mut Out<'_>) {
    out.at.record = number;
    match parsed {
        Ok(value) => reader.record(value, out),
        Err(damage) => {
            let agent = reader.agent();
            out.put(&agent, None, Kind::Damaged(*damage));
        }
    }
}

fn document(from: impl io::Read, path: &Path, out: &mut Out<'_>, step: &mut dyn FnMut(u64)) -> io::Result<Read> {
    let mut counted = Counted { from, bytes: 0, step };
    let mut document = super::read::document::Document::new(path, out);
    let ended = document.run(Skimmed::new(BufReader::with_capacity(1 << 18, &mut counted)));
    let (format, records) = (document.format(), document.records());
    document.end(ended);
    Ok(Read { format, bytes: counted.bytes, records })
}

struct Counted<'s, R> {
    from: R,
    bytes: u64,
    step: &'s mut dyn FnMut(u64),
}

impl<R: io::Read> io::Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.bytes += count as u64;
        (self.step)(count as u64);
        Ok(count)
    }
}
