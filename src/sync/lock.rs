//! The lock: what we own on disk, by digest. One line for each owned thing, so that merges stay small.

use super::pins::{self, Pins};
use crate::render::artifact::EntryKind;
use crate::system::path;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The version this program writes and the newest it reads.
pub const VERSION: u64 = 1;

/// Everything owned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    /// What is owned in which file.
    pub files: BTreeMap<String, Owned>,
    /// What servers were when somebody looked at them.
    pub pins: Pins,
    /// Further sections at the top level, kept as they are.
    pub extra: Map<String, Value>,
}

/// What is ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owned {
    /// The whole file; digest of its content.
    Whole(String),
    /// Our block; digest of the text between the markers.
    Block(String),
    /// Single entries.
    Entries(OwnedEntries),
}

/// The entries that are ours in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedEntries {
    /// Tables and lists we made to put entries into; the empty path is the file itself. They go when they
    /// are empty again.
    pub made: BTreeSet<Vec<String>>,
    /// The entries, by keys, kind and digest of the value.
    pub items: BTreeSet<OwnedEntry>,
}

/// One entry that is ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnedEntry {
    /// Keys from the top of the document.
    pub path: Vec<String>,
    /// Whether it is an element of the list there, else the value there.
    pub element: bool,
    /// Digest of the value.
    pub digest: String,
}

impl OwnedEntry {
    /// An entry of this kind.
    pub fn new(path: &[String], kind: EntryKind, digest: String) -> Self {
        Self { path: path.to_vec(), element: kind == EntryKind::Element, digest }
    }
}

/// Why a lock cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Broken, or left with conflict markers by a merge: what it says is not used, and it is written anew.
    #[error("{0}")]
    Damaged(String),
    /// Nothing may be done with this lock; the reason.
    #[error("{0}")]
    Refused(String),
}

fn damaged(why: impl Into<String>) -> LockError {
    LockError::Damaged(why.into())
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("not UTF-8"))?;
        let text = text.strip_prefix(crate::text::eol::BOM).unwrap_or(text);
        if text.lines().any(|line| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>")) {
            return Err(damaged("it holds the conflict markers of a merge"));
        }
        let Ok(Value::Object(mut extra)) = serde_json::from_str(text) else { return Err(damaged("not well-formed")) };
        match extra.shift_remove("version").as_ref().and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(LockError::Refused(format!(
                    "version {version} is of a newer rolecast; this one reads up to {VERSION}"
                )));
            }
            _ => return Err(damaged("no known version")),
        }
        let Some(Value::Array(lines)) = extra.shift_remove("owned") else { return Err(damaged("no list `owned`")) };
        let pins = match extra.shift_remove("pins") {
            None => Pins::new(),
            Some(value) => pins::parse(value).ok_or_else(|| damaged("pins that cannot be read"))?,
        };
        let mut lock = Self { files: BTreeMap::new(), pins, extra };
        for line in lines {
            lock.read_line(line)?;
        }
        Ok(lock)
    }

    fn read_line(&mut self, line: Value) -> Result<(), LockError> {
        let Value::Object(mut line) = line else { return Err(damaged("a line that is no object")) };
        let Some(Value::String(path)) = line.shift_remove("path") else { return Err(damaged("a line without path")) };
        path::check(&path).map_err(|why| LockError::Refused(format!("it claims `{path}`, which {why}")))?;
        let twice = || damaged(format!("two claims on `{path}`"));
        let is = line.shift_remove("is").and_then(digest_text);
        let (what, value) = line.into_iter().next().ok_or_else(|| damaged("a line that claims nothing"))?;
        match what.as_str() {
            "whole" | "block" => {
                let digest = digest_text(value).ok_or_else(|| damaged("a claim without digest"))?;
                let owned = if what == "whole" { Owned::Whole(digest) } else { Owned::Block(digest) };
                if self.files.insert(path.clone(), owned.clone()).is_some_and(|old| old != owned) {
                    return Err(twice());
                }
            }
            "made" | "value" | "element" => {
                let keys = keys(&value).ok_or_else(|| damaged("an entry without keys"))?;
                let Owned::Entries(entries) =
                    self.files.entry(path.clone()).or_insert_with(|| Owned::Entries(OwnedEntries::default()))
                else {
                    return Err(twice());
                };
                if what == "made" {
                    entries.made.insert(keys);
                } else {
                    let digest = is.ok_or_else(|| damaged("an entry without digest"))?;
                    entries.items.insert(OwnedEntry { path: keys, element: what == "element", digest });
                }
            }
            _ => return Err(damaged(format!("an unknown claim `{what}`"))),
        }
        Ok(())
    }

    /// The lock as text: the same for the same content.
    pub fn to_text(&self) -> String {
        let mut lines = Vec::new();
        for (path, owned) in &self.files {
            match owned {
                Owned::Whole(digest) => lines.push(json!({"path": path, "whole": digest})),
                Owned::Block(digest) => lines.push(json!({"path": path, "block": digest})),
                Owned::Entries(entries) => {
                    lines.extend(entries.made.iter().map(|keys| json!({"path": path, "made": keys})));
                    lines.extend(entries.items.iter().map(|entry| {
                        let kind = if entry.element { "element" } else { "value" };
                        json!({"path": path, kind: entry.path, "is": entry.digest})
                    }));
                }
            }
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("    {line}")).collect();
        let owned = if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", lines.join(",\n")) };
        let mut text = format!("{{\n  \"version\": {VERSION},\n  \"owned\": {owned}");
        if !self.pins.is_empty() {
            let _ = write!(text, ",\n  \"pins\": {}", pins::to_text(&self.pins));
        }
        for (key, value) in &self.extra {
            let pretty = serde_json::to_string_pretty(value).unwrap_or_default().replace('\n', "\n  ");
            // Writing to a string cannot fail.
            let _ = write!(text, ",\n  {}: {pretty}", Value::String(key.clone()));
        }
        text.push_str("\n}\n");
        text
    }
}

fn digest_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if text.starts_with("sha256:") => Some(text),
        _ => None,
    }
}

fn keys(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|key| key.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::pins::{ServerPin, ToolPin};
    use super::*;

    fn sample() -> Lock {
        let mut entries = OwnedEntries::default();
        entries.made.insert(vec!["hooks".into()]);
        entries.items.insert(OwnedEntry {
            path: vec!["hooks".into(), "a.b".into()],
            element: true,
            digest: "sha256:1".into(),
        });
        entries.items.insert(OwnedEntry { path: vec!["model".into()], element: false, digest: "sha256:2".into() });
        let mut lock = Lock::default();
        lock.files.insert("AGENTS.md".into(), Owned::Block("sha256:3".into()));
        lock.files.insert(".claude/settings.json".into(), Owned::Entries(entries));
        lock.files.insert("x/y.md".into(), Owned::Whole("sha256:4".into()));
        let tool = ToolPin {
            description: "sha256:5".into(),
            schema: "sha256:6".into(),
            annotations: "sha256:7".into(),
            other: "sha256:8".into(),
            hints: [("readOnlyHint".to_owned(), true)].into(),
            parameters: vec!["a".into(), "a.b".into()],
        };
        let pin = ServerPin { instructions: Some("sha256:9".into()), tools: [("t".to_owned(), tool)].into() };
        lock.pins = [("server".to_owned(), pin), ("without".to_owned(), ServerPin::default())].into();
        lock.extra.insert("later".into(), json!({"x": 1}));
        lock
    }

    #[test]
    fn a_lock_reads_back_and_is_one_line_for_each_owned_thing() {
        let text = sample().to_text();
        assert_eq!(Lock::parse(text.as_bytes()).unwrap(), sample());
        insta::assert_snapshot!(text, @r#"
        {
          "version": 1,
          "owned": [
            {"path":".claude/settings.json","made":["hooks"]},
            {"path":".claude/settings.json","element":["hooks","a.b"],"is":"sha256:1"},
            {"path":".claude/settings.json","value":["model"],"is":"sha256:2"},
            {"path":"AGENTS.md","block":"sha256:3"},
            {"path":"x/y.md","whole":"sha256:4"}
          ],
          "pins": {
            "server": {
              "instructions": "sha256:9",
              "tools": {
                "t": {"description":"sha256:5","schema":"sha256:6","annotations":"sha256:7","other":"sha256:8","hints":{"readOnlyHint":true},"parameters":["a","a.b"]}
              }
            },
            "without": {
              "tools": {}
            }
          },
          "later": {
            "x": 1
          }
        }
        "#);
        assert_eq!(Lock::parse(Lock::default().to_text().as_bytes()).unwrap(), Lock::default());
    }

    #[test]
    fn a_lock_that_a_merge_or_an_editor_broke_is_damaged() {
        let text = sample().to_text();
        let merged = text.replace("    {\"path\":\"x", "<<<<<<< HEAD\n    {\"path\":\"x");
        for broken in
            [merged.as_str(), "", "{", "[]", "{\"version\":1}", "{\"version\":1,\"owned\":[{}]}", "{\"owned\":[]}"]
        {
            assert!(matches!(Lock::parse(broken.as_bytes()), Err(LockError::Damaged(_))), "{broken}");
        }
        let twice = "{\"version\":1,\"owned\":[{\"path\":\"a\",\"whole\":\"sha256:1\"},{\"path\":\"a\",\"whole\":\"sha256:2\"}]}";
        assert!(matches!(Lock::parse(twice.as_bytes()), Err(LockError::Damaged(_))));
    }

    #[test]
    fn a_lock_of_a_newer_program_or_with_hostile_paths_is_refused() {
        assert!(matches!(Lock::parse(b"{\"version\":2,\"owned\":[]}"), Err(LockError::Refused(_))));
        for path in ["../x", "/etc/passwd", "a/../../x", "C:/x"] {
            let text = json!({"version": 1, "owned": [{"path": path, "whole": "sha256:1"}]}).to_string();
            assert!(matches!(Lock::parse(text.as_bytes()), Err(LockError::Refused(_))), "{path}");
        }
    }
}
