//! What was called: one file a session, one JSON document a line, private and unknown to git.
//!
//! A call has two lines. The first is written before anything happens, so that nothing happens that is not recorded;
//! the second says how it ended. A first line without a second one is a call that was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::masked;
use crate::text::date::civil;
use crate::text::digest::value_digest;

/// Where the files are, relative to the root.
pub const PLACE: &str = ".rolecast/log";
/// Most files kept.
const FILES: usize = 200;

/// A record of one session.
#[derive(Debug)]
pub struct Record {
    root: PathBuf,
    role: Option<String>,
    /// Secrets that the values of arguments are written down without; none when no value is.
    values: Option<Vec<String>>,
    name: String,
    file: Mutex<Option<Open>>,
}

/// The file, and how many bytes of whole lines it has.
#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
}

/// What is known of a call before it.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// Number of the call in this session.
    pub call: u64,
    /// The tool.
    pub tool: &'a str,
    /// Who answers: `server/tool`, or none.
    pub upstream: Option<String>,
    /// What the model sent.
    pub arguments: &'a Map<String, Value>,
    /// Why the specialist browser is needed.
    pub reason: Option<&'a (String, String)>,
}

/// What is known of it afterwards.
#[derive(Debug, Clone, Default)]
pub struct End {
    /// Bytes that came.
    pub bytes_in: usize,
    /// Bytes that went.
    pub bytes_out: usize,
    /// Whether something was left out.
    pub truncated: bool,
    /// Names of what was kept.
    pub artifacts: Vec<String>,
    /// Media in the answer.
    pub inline: usize,
    /// How long it took.
    pub took: Duration,
    /// `ok`, `error`, `refused`, `failed` or `stopped`.
    pub outcome: &'static str,
    /// Why, where it was not answered.
    pub why: Option<String>,
}

impl Record {
    /// A record below `root`, without values; nothing is made before the first call.
    pub fn new(root: PathBuf, role: Option<String>) -> Self {
        let name = format!("{}-{}", now().replace([':', '.'], ""), std::process::id());
        Self { root, role, values: None, name, file: Mutex::default() }
    }

    /// With the values of arguments, but without `secrets`.
    pub fn with_values(self, secrets: Vec<String>) -> Self {
        Self { values: Some(secrets), ..self }
    }

    /// Writes the first line of a call.
    ///
    /// # Errors
    /// It cannot be written; then the call must not be made.
    pub fn start(&self, start: &Start<'_>) -> io::Result<()> {
        let mut line = self.line("call", start.call, start.tool);
        line["upstream"] = json!(start.upstream);
        // Values are for the server; names and a digest tell equal calls from others.
        line["arguments"] = json!(start.arguments.keys().map(|name| short(name)).collect::<Vec<_>>());
        line["digest"] = json!(value_digest(&Value::Object(start.arguments.clone())));
        if let Some(secrets) = &self.values {
            line["values"] = masked::values(start.arguments, secrets);
        }
        if let Some((reason, note)) = start.reason {
            line["reason"] = json!({ "need": reason, "note": short(note) });
        }
        self.write(&line)
    }

    /// Writes the second line of a call.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(&self, call: u64, tool: &str, upstream: Option<&str>, end: &End) -> io::Result<()> {
        let mut line = self.line("end", call, tool);
        line["upstream"] = json!(upstream);
        line["outcome"] = json!(end.outcome);
        line["ms"] = json!(end.took.as_micros() as f64 / 1000.0);
        line["bytes_in"] = json!(end.bytes_in);
        line["bytes_out"] = json!(end.bytes_out);
        line["truncated"] = json!(end.truncated);
        line["artifacts"] = json!(end.artifacts);
        line["inline_media"] = json!(end.inline);
        if let Some(why) = &end.why {
            line["why"] = json!(short(why));
        }
        self.write(&line)
    }

    fn line(&self, event: &str, call: u64, tool: &str) -> Value {
        json!({ "time": now(), "event": event, "call": call, "role": self.role, "tool": short(tool) })
    }

    fn write(&self, line: &Value) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(self.open()?);
        }
        let Some(open) = file.as_mut() else { return Err(io::Error::other("no file")) };
        let line = format!("{line}\n");
        let written = open.file.write_all(line.as_bytes());
        if written.is_ok() {
            open.bytes += line.len() as u64;
        } else {
            // Half a line would spoil the next one, which the next call tries from the beginning.
            let _ = open.file.set_len(open.bytes);
            *file = None;
        }
        written
    }

    fn open(&self) -> io::Result<Open> {
        let folder = super::folder::made(&self.root, PLACE)?;
        prune(&folder);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join(format!("{}.jsonl", self.name)))?;
        let bytes = file.metadata()?.len();
        Ok(Open { file, bytes })
    }
}

/// Removes the oldest files when there are too many; their names begin with their time.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".jsonl"));
    names.sort();
    for name in names.iter().take(names.len().saturating_sub(FILES - 1)) {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// A foreign word in a line.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The time in UTC as ISO 8601 with milliseconds.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_leaves_names_and_a_digest_and_no_value() {
        let root = tempfile::tempdir().unwrap();
        let record = Record::new(root.path().to_owned(), Some("reader".to_owned()));
        let Value::Object(arguments) = json!({ "query": "very secret", "n": 5 }) else { panic!() };
        let start =
            Start { call: 1, tool: "search", upstream: Some("k/s".into()), arguments: &arguments, reason: None };
        record.start(&start).unwrap();
        let end = End { bytes_in: 9, bytes_out: 5, outcome: "ok", artifacts: vec!["a.txt".into()], ..End::default() };
        record.end(1, "search", Some("k/s"), &end).unwrap();
        let folder = root.path().join(PLACE);
        let files: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .flatten()
            .filter(|e| e.path().extension().is_some_and(|x| x == "jsonl"))
            .collect();
        let text = fs::read_to_string(files[0].path()).unwrap();
        assert!(!text.contains("very secret") && files.len() == 1, "{text}");
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["role"], &lines[0]["arguments"]), (&json!("reader"), &json!(["query", "n"])));
        assert!(lines[0]["digest"].as_str().unwrap().starts_with("sha256:"));
        assert_eq!(
            (&lines[1]["outcome"], &lines[1]["bytes_out"], &lines[1]["truncated"]),
            (&json!("ok"), &json!(5), &json!(false))
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_cannot_be_written_is_an_error_before_the_call() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(".rolecast"), "a file").unwrap();
        let record = Record::new(root.path().to_owned(), None);
        let start = Start { call: 1, tool: "t", upstream: None, arguments: &Map::new(), reason: None };
        assert!(record.start(&start).is_err());
        fs::remove_file(root.path().join(".rolecast")).unwrap();
        record.start(&start).unwrap();
    }
}
