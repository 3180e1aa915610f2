//! Instruction files that stand in the repository already: what of them is the user's own.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::model::adapter::{Adapter, Borrowed, CarrierOwn};
use crate::model::user_file::UserFile;
use crate::system::{Kind, System, parent};
use crate::text::block;

/// Largest instruction file looked into for import lines; beyond it only its size counts.
const MAX_BYTES: u64 = 4 << 20;

/// The user's own instruction files.
#[derive(Debug, Clone, Default)]
pub struct Instructions {
    /// For the delivery.
    pub files: Vec<UserFile>,
    /// Bytes of the user's own text by path.
    pub bytes: BTreeMap<String, u64>,
}

/// Looks at every file that a selected adapter reads or may carry text in. Files that cannot be read are left
/// to the comparison, which names them.
pub fn read(system: &dyn System, adapters: &IndexMap<String, Adapter>, selected: &[String]) -> Instructions {
    let chosen: Vec<&Adapter> = selected.iter().filter_map(|id| adapters.get(id)).collect();
    let ours: BTreeSet<&str> = chosen
        .iter()
        .flat_map(|a| &a.carriers)
        .filter(|c| c.own == CarrierOwn::Whole || c.output.is_some())
        .map(|c| c.file.as_str())
        .collect();
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for adapter in &chosen {
        paths.extend(adapter.reads.iter().filter(|r| r.key.is_none()).map(|r| r.file.as_str()));
        paths.extend(adapter.reads.iter().flat_map(|r| &r.unless).map(String::as_str));
        paths.extend(adapter.carriers.iter().map(|c| c.file.as_str()));
    }
    paths.retain(|p| !p.contains(['*', '{']) && !ours.contains(p));
    let mut found = Instructions::default();
    for path in &paths {
        if let Some(file) = look(system, path, &paths) {
            if file.link_to.is_none() {
                found.bytes.insert(file.path.clone(), file.bytes);
            }
            found.files.push(file);
        }
    }
    found.files.extend(servers(system, &chosen));
    found
}

/// Of hosts that ignore their own file of servers once another's exists: which of the two exist.
fn servers(system: &dyn System, chosen: &[&Adapter]) -> Vec<UserFile> {
    let own = |a: &Adapter| a.outputs.get(a.mcp.as_ref()?.output.as_ref()?).map(|o| o.file.clone());
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for adapter in chosen {
        let instead = adapter.borrows.iter().filter(|b| b.what == Borrowed::Servers && !b.loses_to_own);
        let instead: Vec<String> = instead.map(|b| b.file.clone()).collect();
        paths.extend(own(adapter).filter(|_| !instead.is_empty()));
        paths.extend(instead);
    }
    let exists = |path: &String| matches!(system.kind(path), Ok(Some(Kind::File(_) | Kind::Link)));
    let file = |path: String| UserFile { path, imports: Vec::new(), link_to: None, bytes: 0 };
    paths.into_iter().filter(exists).map(file).collect()
}

fn look(system: &dyn System, path: &str, known: &BTreeSet<&str>) -> Option<UserFile> {
    let kind = system.kind(path).ok()??;
    let link = |to: String| UserFile { path: path.to_owned(), imports: Vec::new(), link_to: Some(to), bytes: 0 };
    match kind {
        Kind::Link => system.resolve(path).ok().filter(|to| to != path).map(link),
        Kind::File(_) => {
            let text = String::from_utf8_lossy(&system.read(path, MAX_BYTES).ok()?).into_owned();
            let own = block::foreign_text(&text);
            let own = own.trim();
            (!own.is_empty()).then(|| UserFile {
                path: path.to_owned(),
                imports: imports(own, path, known),
                link_to: None,
                bytes: own.len() as u64,
            })
        }
        Kind::Dir | Kind::Other => None,
    }
}

/// Files among `known` that a text includes by `@path`, outside of code.
fn imports(text: &str, path: &str, known: &BTreeSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for word in line.split('`').step_by(2).flat_map(str::split_whitespace) {
            let target = word.strip_prefix('@').map(|p| p.trim_end_matches(['.', ',', ';', ':', ')']));
            if let Some(target) = target.and_then(|t| join(parent(path), t)).filter(|t| known.contains(t.as_str()))
                && !found.contains(&target)
            {
                found.push(target);
            }
        }
    }
    found
}

/// A relative path from a folder, as a path from the root; `None` when it leaves it.
fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    if relative.starts_with('/') || relative.starts_with('~') {
        return None;
    }
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_lines_are_found_outside_of_code() {
        let known = BTreeSet::from(["AGENTS.md", "CLAUDE.md", "docs/x.md"]);
        let text = "See @AGENTS.md.\n`@CLAUDE.md` is code\n```\n@docs/x.md\n```\nmail me@AGENTS.md\n";
        assert_eq!(imports(text, "CLAUDE.md", &known), ["AGENTS.md"]);
        assert_eq!(imports("@../AGENTS.md", ".claude/CLAUDE.md", &known), ["AGENTS.md"]);
        assert_eq!(imports("@../../AGENTS.md", ".claude/CLAUDE.md", &known), Vec::<String>::new());
    }
}
