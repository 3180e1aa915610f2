//! How full an agent's context is: read off the end of the transcript that the host keeps, or off what a hook is told.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::guard::Usage;
use crate::text::glob;

/// How much of the end is read first, and when nothing is found there.
const TAILS: [u64; 2] = [128 << 10, 4 << 20];

/// Tokens that the last request and its answer took, and those that there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Taken.
    pub used: u64,
    /// Room.
    pub window: u64,
}

impl Fill {
    /// Whole percent, rounded down.
    pub const fn percent(self) -> u64 {
        self.used.saturating_mul(100) / self.window
    }
}

/// The transcript of an agent; `agent` is its id when it is a sub-agent.
pub fn file(usage: &Usage, transcript: &str, agent: Option<&str>) -> Option<PathBuf> {
    match (agent, &usage.agents) {
        (Some(agent), Some(pattern)) => {
            // An id is a part of a name there, never a way to another folder.
            let plain = !agent.is_empty() && agent.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let stem = transcript.rsplit_once('.').map_or(transcript, |(stem, _)| stem);
            plain.then(|| PathBuf::from(pattern.replace("{transcript}", stem).replace("{agent}", agent)))
        }
        _ => Some(PathBuf::from(transcript)),
    }
}

/// The last figures of a transcript; nothing when it has none, or none whose window is known.
pub fn last(usage: &Usage, path: &Path) -> Option<Fill> {
    let length = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut read = 0;
    for most in TAILS {
        let tail = most.min(length);
        if tail > read {
            if let Some(fill) = last_in(usage, &end(path, length - tail, tail)?) {
                return Some(fill);
            }
            read = tail;
        }
    }
    None
}

/// The figures of one record; nothing when it has none, or its window is not known.
pub fn said(usage: &Usage, record: &Value) -> Option<Fill> {
    let (used, window) = (figures(usage, record)?, window(usage, record)?);
    (window > 0).then_some(Fill { used, window })
}

fn end(path: &Path, from: u64, most: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The first line may be cut, and is then no JSON; so is the last one of a file that is being written.
fn last_in(usage: &Usage, bytes: &[u8]) -> Option<Fill> {
    let needle = usage.used.first()?.rsplit('/').next()?;
    let lines = bytes.rsplit(|b| *b == b'\n').filter(|line| holds(line, needle.as_bytes()));
    let records = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    // The last record with figures is the state of now: an older one is not asked when its window is not known.
    let record = records.into_iter().find(|r| figures(usage, r).is_some())?;
    said(usage, &record)
}

fn holds(line: &[u8], needle: &[u8]) -> bool {
    line.windows(needle.len()).any(|w| w == needle)
}

fn figures(usage: &Usage, record: &Value) -> Option<u64> {
    let figure = |pointer: &String| record.pointer(pointer).and_then(Value::as_u64);
    let known: Vec<u64> = usage.used.iter().filter_map(figure).collect();
    let sum = known.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
    // A record of nothing used stands for a failed request.
    (sum > 0 && (figure(usage.used.first()?)).is_some()).then_some(sum)
}

fn window(usage: &Usage, record: &Value) -> Option<u64> {
    if let Some(pointer) = &usage.window {
        return record.pointer(pointer)?.as_u64();
    }
    let model = record.pointer(usage.model.as_deref()?)?.as_str()?;
    glob::first(&usage.windows, model).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_model() -> Usage {
        Usage {
            transcript: Some("transcript_path".into()),
            agents: Some("{transcript}/subagents/agent-{agent}.jsonl".into()),
            used: vec!["/message/usage/input_tokens".into(), "/message/usage/output_tokens".into()],
            model: Some("/message/model".into()),
            windows: [("big-*".to_owned(), 1000)].into_iter().collect(),
            ..Usage::default()
        }
    }

    fn line(model: &str, used: u64) -> String {
        format!("{{\"message\":{{\"model\":\"{model}\",\"usage\":{{\"input_tokens\":{used},\"output_tokens\":1}}}}}}\n")
    }

    #[test]
    fn the_last_figures_count_also_behind_a_long_result() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let put = |text: &str| std::fs::write(&path, text).unwrap();
        put(&format!("{}{}{{\"cut", line("big-1", 100), line("big-1", 499)));
        assert_eq!(last(&by_model(), &path), Some(Fill { used: 500, window: 1000 }));
        let noise = format!("{{\"result\":\"{}\"}}\n", "x".repeat(300 << 10));
        put(&format!("{}{noise}", line("big-1", 649)));
        assert_eq!(last(&by_model(), &path).map(Fill::percent), Some(65));
        put(&format!("{}{}", line("big-1", 649), noise.repeat(20)));
        assert_eq!(last(&by_model(), &path), None, "no more than the end is read");
    }

    #[test]
    fn nothing_is_said_where_the_window_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, format!("{}{}", line("big-1", 900), line("other", 900))).unwrap();
        assert_eq!(last(&by_model(), &path), None);
        assert_eq!(last(&by_model(), &dir.path().join("gone")), None);
        assert_eq!(last(&by_model(), dir.path()), None);
    }

    #[test]
    fn a_sub_agents_transcript_is_found_by_its_id_and_nothing_else_is() {
        let of = |agent| file(&by_model(), "/h/s1.jsonl", agent).map(|p| p.to_string_lossy().into_owned());
        assert_eq!(of(None).as_deref(), Some("/h/s1.jsonl"));
        assert_eq!(of(Some("a5")).as_deref(), Some("/h/s1/subagents/agent-a5.jsonl"));
        assert_eq!(of(Some("../../x")), None);
    }
}
