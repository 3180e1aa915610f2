//! Whole trees, byte for byte. `UPDATE_GOLDEN=1` writes them anew: read every line before you commit it.
//!
//! A case is a folder of `tests/golden` with `input` and `expected`, of which the second holds what a render adds
//! or changes. Every file there ends in `.golden`, so that no agent program takes it for its own instructions.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Node, Project, Tree, tree};

const SUFFIX: &str = ".golden";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The files below a folder of a case, under their real names.
fn stored(dir: &Path) -> Tree {
    let all = if dir.is_dir() { tree(dir) } else { Tree::new() };
    let files = all.into_iter().filter(|(_, node)| matches!(node, Node::File(_)));
    files
        .map(|(path, node)| {
            let name = path.strip_suffix(SUFFIX).unwrap_or_else(|| panic!("{path} does not end in {SUFFIX}"));
            (name.to_owned(), node)
        })
        .collect()
}

/// What a render makes of the input.
fn made(input: &Tree) -> Tree {
    let project = Project::new();
    for (path, node) in input {
        if let Node::File(bytes) = node {
            project.write(path, bytes);
        }
    }
    project.render();
    project.clean();
    project.tree().into_iter().filter(|(path, node)| *node != Node::Dir && input.get(path) != Some(node)).collect()
}

fn update(dir: &Path, made: &Tree) {
    if dir.is_dir() {
        fs::remove_dir_all(dir).unwrap();
    }
    for (path, node) in made {
        let Node::File(bytes) = node else { panic!("{path} is no file") };
        let path = dir.join(format!("{path}{SUFFIX}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn every_case_renders_its_tree_byte_for_byte() {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    cases.sort();
    assert!(cases.len() >= 10, "{cases:?}");
    let mut wrong = String::new();
    for case in cases {
        let made = made(&stored(&case.join("input")));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            update(&case.join("expected"), &made);
            continue;
        }
        let expected = stored(&case.join("expected"));
        for path in made.keys().chain(expected.keys()).filter(|p| made.get(*p) != expected.get(*p)) {
            let text = |tree: &Tree| match tree.get(path) {
                Some(Node::File(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => String::new(),
            };
            let (old, new) = (text(&expected), text(&made));
            let name = format!("{}/{path}", case.file_name().unwrap().to_string_lossy());
            let diff = similar::TextDiff::from_lines(&old, &new);
            wrong.push_str(
                &diff.unified_diff().header(&format!("expected {name}"), &format!("made {name}")).to_string(),
            );
        }
    }
    assert!(wrong.is_empty(), "run with UPDATE_GOLDEN=1 and read what changed:\n{wrong}");
}
