//! The catalogue of diagnostics as a page, made from the codes themselves.

use super::Code;

/// The address of a code's explanation, relative to the root of this program's repository.
pub fn address(code: Code) -> String {
    format!("docs/diagnostics.md#{}", code.id())
}

/// The page `docs/diagnostics.md`: a table of all codes, then one section each whose heading is the code,
/// so that [`address`] leads to it.
pub fn page() -> String {
    let mut page = String::from(
        "# Diagnostics\n\n\
         <!-- Generated from src/diag/codes.rs by `UPDATE=1 cargo test --lib catalogue`; do not edit. -->\n\n\
         Every message carries a code that does not change between releases. An `error` stops the\n\
         compilation at the end of its stage; a `warning` or a `note` does not.\n\n\
         | code | level | what it reports |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let id = code.id();
        page.push_str(&format!("| [`{id}`](#{id}) | {} | {} |\n", code.severity().word(), cell(code.title())));
    }
    for code in Code::ALL {
        let text: Vec<&str> = code.explanation().lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        page.push_str(&format!(
            "\n## {}\n\n*{}* · {}\n\n{}\n",
            code.id(),
            code.severity().word(),
            code.title(),
            text.join("\n").trim()
        ));
    }
    page
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_in_the_repository_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/diagnostics.md");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let on_disk = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(on_disk, page(), "run `UPDATE=1 cargo test --lib catalogue`");
    }

    #[test]
    fn ids_are_unique_kebab_case_and_titles_read_as_lines() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            let id = code.id();
            assert!(seen.insert(id), "{id} twice");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
            assert!(!code.title().ends_with('.') && !code.title().contains('\n'), "{id}");
            assert!(code.explanation().trim().ends_with(['.', '`', ')']), "{id}: the explanation is prose");
        }
    }
}
