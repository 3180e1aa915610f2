//! No example in the documentation that nothing tries.

use std::path::Path;

#[test]
fn every_block_of_a_format_of_ours_is_a_file_of_a_tried_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("CHANGELOG.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        pages.push(entry.unwrap().path());
    }
    let mut blocks = 0;
    for page in pages.iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(page).unwrap();
        for (number, line) in text.lines().enumerate() {
            let Some(info) = line.trim().strip_prefix("```") else { continue };
            let language = info.split_whitespace().next().unwrap_or("");
            if matches!(language, "yaml" | "markdown" | "console") {
                let place = format!("{}:{}", page.display(), number + 1);
                assert!(language == "console" || info.contains("file="), "{place}: nothing compiles this block");
                // Only the README is run; another page with commands would show output that nobody checks.
                assert!(page.ends_with("README.md"), "{place}: this page is not run by tests/spec.rs");
                blocks += 1;
            }
        }
    }
    assert!(blocks >= 6, "{blocks}");
}
