//! The files that a patch names.

/// What a patch does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It writes a file that is not there yet.
    Add,
    /// It changes one.
    Update,
    /// It removes one.
    Delete,
    /// It writes another file, of the content of the one before.
    MoveTo,
}

const HEADERS: [(&str, Does); 4] = [
    ("*** Add File:", Does::Add),
    ("*** Update File:", Does::Update),
    ("*** Delete File:", Does::Delete),
    ("*** Move to:", Does::MoveTo),
];

/// Every file that is named, in order; nothing when the text is no patch. Headers are looked for in every line,
/// also where they may be content: more is then refused, never less.
pub fn files(text: &str) -> Vec<(Does, &str)> {
    let header = |line: &'_ str| HEADERS.iter().find(|(head, _)| line.trim_start().starts_with(head)).copied();
    text.split(['\n', '\r'])
        .filter_map(|line| header(line).map(|(head, does)| (does, line.trim_start()[head.len()..].trim())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_names_its_file() {
        let patch = "*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** Update File: src/b.rs\r\n*** Move to: src/c d.rs\n@@\n-x\n  *** Delete File: e\n*** End Patch\n";
        let found = files(patch);
        let expected =
            [(Does::Add, "docs/a.md"), (Does::Update, "src/b.rs"), (Does::MoveTo, "src/c d.rs"), (Does::Delete, "e")];
        assert_eq!(found, expected);
        assert!(files("no patch").is_empty());
    }
}
