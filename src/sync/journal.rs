//! What a render is about to do, on disk before it does it, so that the next one can take over.

use crate::system::{file_name, path};
use serde::{Deserialize, Serialize};

/// The intent of one render.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Always 1.
    pub version: u64,
    /// The lock this render wants, then the locks wanted by interrupted renders before it: what any of them
    /// owns may be on disk.
    pub locks: Vec<String>,
    /// The files it changes.
    pub files: Vec<Step>,
}

/// One file of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where, links followed.
    pub path: String,
    /// Digest of the bytes before; none when nothing was there.
    pub old: Option<String>,
    /// Digest of the bytes after; none when it goes.
    pub new: Option<String>,
    /// The temporary file the new bytes are prepared in.
    pub temp: Option<String>,
    /// The old bytes were the user's, who gave them up with `--force`.
    #[serde(default)]
    pub forced: bool,
}

impl Journal {
    /// Reads a journal. One that cannot be read claims nothing: it was never written by us in that form.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut journal: Self = serde_json::from_slice(bytes).ok()?;
        if journal.version != 1 {
            return None;
        }
        journal.files.retain(|step| path::check(&step.path).is_ok());
        for step in &mut journal.files {
            // Only a name we make ourselves may be deleted on the word of a journal.
            step.temp.take_if(|temp| path::check(temp).is_err() || !is_temp(temp));
        }
        Some(journal)
    }

    /// The journal as text.
    pub fn to_text(&self) -> String {
        // A journal has only texts and lists; writing them to memory cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The name under which the new bytes of a file are prepared beside it.
pub(super) fn temp_for(target: &str) -> String {
    let digest = crate::text::digest::digest(target.as_bytes());
    let name = format!(".rolecast-{}.tmp", &digest["sha256:".len()..][..16]);
    let dir = crate::system::parent(target);
    if dir.is_empty() { name } else { format!("{dir}/{name}") }
}

fn is_temp(path: &str) -> bool {
    let name = file_name(path);
    name.starts_with(".rolecast-") && name.ends_with(".tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_cannot_make_us_delete_foreign_files() {
        let step = |path: &str, temp: &str| Step {
            path: path.into(),
            old: None,
            new: None,
            temp: Some(temp.into()),
            forced: false,
        };
        let files = vec![
            step("a", "README.md"),
            step("b", "../.rolecast-x.tmp"),
            step("../c", "x"),
            step("d", &temp_for("d/e")),
        ];
        let text = Journal { version: 1, locks: Vec::new(), files }.to_text();
        let read = Journal::parse(text.as_bytes()).unwrap();
        let temps: Vec<_> = read.files.iter().map(|step| (step.path.as_str(), step.temp.clone())).collect();
        assert_eq!(temps, [("a", None), ("b", None), ("d", Some(temp_for("d/e")))]);
        assert_eq!(Journal::parse(b"{"), None);
    }
}
