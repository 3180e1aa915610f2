//! Which files of a repository hosts load or run by themselves when a session starts.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::model::adapter::{Adapter, Load, Read};
use crate::system::{Kind, System, parent};
use crate::text::frontmatter;
use crate::text::glob;

/// Largest file looked into.
const MAX_BYTES: u64 = 1 << 20;
/// Most folders visited for one pattern.
const MAX_FOLDERS: usize = 1000;

/// What a file does at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Its text is before the agent.
    Text,
    /// It names hooks under these events.
    Hooks {
        /// Names of the events that mean the start of a session.
        events: Vec<String>,
    },
}

/// A file to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Relative to the root.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What it does.
    pub what: What,
}

/// Files that the selected hosts load or run at the start and that are not in `ours` (files we own as a
/// whole). What cannot be read as text is left to those who must read it.
pub fn candidates(
    system: &dyn System,
    adapters: &IndexMap<String, Adapter>,
    selected: &[String],
    ours: &BTreeSet<String>,
) -> Vec<Candidate> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut hooks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for adapter in selected.iter().filter_map(|id| adapters.get(id)) {
        for read in adapter.reads.iter().filter(|r| at_start(r)) {
            for path in expand(system, &read.file).into_iter().filter(|p| !ours.contains(p)) {
                let text = texts.get(&path).cloned().or_else(|| text_of(system, &path));
                if let Some(text) = text.filter(|text| !scoped(read, text)) {
                    texts.insert(path, text);
                }
            }
        }
        for hook in &adapter.session_start_hooks {
            for path in expand(system, &hook.file) {
                hooks.entry(path).or_default().extend(hook.events.iter().cloned());
            }
        }
    }
    let texts = texts.into_iter().map(|(path, text)| Candidate { path, text, what: What::Text });
    let hooks = hooks.into_iter().filter_map(|(path, events)| {
        let text = text_of(system, &path)?;
        Some(Candidate { path, text, what: What::Hooks { events: events.into_iter().collect() } })
    });
    texts.chain(hooks).collect()
}

fn at_start(read: &Read) -> bool {
    read.key.is_none()
        && read.needs.is_none()
        && matches!(read.load, Load::Start | Load::StartOrMatch | Load::StartOrListed)
}

/// Whether the file narrows itself to some paths.
fn scoped(read: &Read, text: &str) -> bool {
    let Some(key) = &read.scope_key else { return false };
    frontmatter::split(text).is_ok_and(|parts| {
        parts.yaml.lines().any(|line| line.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(':')))
    })
}

fn text_of(system: &dyn System, path: &str) -> Option<String> {
    String::from_utf8(system.read(path, MAX_BYTES).ok()?).ok()
}

/// The files a path or pattern names; none for a pattern that could be anywhere in the repository.
fn expand(system: &dyn System, file: &str) -> Vec<String> {
    let is_file = |kind: &Kind| matches!(kind, Kind::File(_) | Kind::Link);
    let Some(wild) = file.find('*') else {
        let there = system.kind(file).ok().flatten().is_some_and(|k| is_file(&k));
        return if there { vec![file.to_owned()] } else { Vec::new() };
    };
    let top = parent(&file[..wild]);
    if top.is_empty() {
        // It would take a walk through the whole repository at every commit.
        return Vec::new();
    }
    let mut found = Vec::new();
    walk(system, top, file, &mut found);
    found
}

fn walk(system: &dyn System, top: &str, pattern: &str, found: &mut Vec<String>) {
    let mut todo = vec![top.to_owned()];
    let mut visited = 0;
    while let Some(dir) = todo.pop() {
        visited += 1;
        if visited > MAX_FOLDERS {
            return;
        }
        for (name, kind) in system.list(&dir).unwrap_or_default() {
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            match kind {
                Kind::Dir if path != ".git" => todo.push(path),
                Kind::File(_) | Kind::Link if glob::matches(pattern, &path) => found.push(path),
                _ => {}
            }
        }
    }
}
