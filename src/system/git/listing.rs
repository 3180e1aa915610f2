//! Everything git records below a folder.

use std::io;
use std::path::Path;

use super::Node;
use super::command::{INDEX_FILE, git, handed_index, output};

/// What is staged below `root`, paths relative to it.
///
/// # Errors
/// No repository, or a file with an unresolved merge.
pub fn index(root: &Path) -> io::Result<Vec<(String, Node)>> {
    let mut command = git(root);
    if let Some(index) = handed_index(root) {
        command.env(INDEX_FILE, index);
    }
    command.args(["ls-files", "--stage", "-z"]);
    records(&output(command)?).map(|record| staged(record?)).collect()
}

/// What a revision committed below `root`, paths relative to it.
///
/// # Errors
/// No repository, or no such commit yet.
pub fn revision(root: &Path, revision: &str) -> io::Result<Vec<(String, Node)>> {
    if revision.starts_with('-') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{revision}` is no revision")));
    }
    let mut command = git(root);
    command.args(["rev-parse", "--git-dir"]);
    output(command)?;
    let mut command = git(root);
    command.args(["rev-parse", "--verify", "--quiet", &format!("{revision}^{{tree}}")]);
    let tree = output(command).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => e,
        _ => io::Error::new(io::ErrorKind::NotFound, format!("`{revision}` has no commit yet")),
    })?;
    let tree = String::from_utf8_lossy(&tree).trim().to_owned();
    let mut command = git(root);
    command.args(["ls-tree", "-r", "-z", &tree]);
    records(&output(command)?).map(|record| committed(record?)).collect()
}

/// `MODE … TAB PATH`, each ended by NUL.
fn records(bytes: &[u8]) -> impl Iterator<Item = io::Result<(Vec<String>, &[u8])>> {
    bytes.split(|b| *b == 0).filter(|r| !r.is_empty()).map(|record| {
        let tab = record.iter().position(|b| *b == b'\t').ok_or_else(unexpected)?;
        let words = String::from_utf8_lossy(&record[..tab]).split(' ').map(str::to_owned).collect();
        Ok((words, &record[tab + 1..]))
    })
}

fn staged((words, path): (Vec<String>, &[u8])) -> io::Result<(String, Node)> {
    let [mode, id, stage] = words.as_slice() else { return Err(unexpected()) };
    if stage != "0" {
        let path = String::from_utf8_lossy(path);
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("`{path}` has an unresolved merge")));
    }
    Ok(node(mode, id, path))
}

fn committed((words, path): (Vec<String>, &[u8])) -> io::Result<(String, Node)> {
    let [mode, _, id] = words.as_slice() else { return Err(unexpected()) };
    Ok(node(mode, id, path))
}

fn node(mode: &str, id: &str, path: &[u8]) -> (String, Node) {
    let Ok(name) = std::str::from_utf8(path) else {
        return (String::from_utf8_lossy(path).into_owned(), Node::Unnamed);
    };
    let node = match mode {
        "120000" => Node::Link(id.to_owned()),
        mode if mode.starts_with("100") => Node::File(id.to_owned()),
        _ => Node::Other,
    };
    (name.to_owned(), node)
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "git's list of files is in an unknown form")
}
