//! The YAML head of a Markdown file, between two `---` lines.

use std::ops::Range;

use thiserror::Error;

/// A Markdown file in its two parts. Offsets are into the text given, so that a span in the YAML is
/// `yaml_start` plus the offset in `yaml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatter<'a> {
    /// What stands between the two lines.
    pub yaml: &'a str,
    /// Byte offset of `yaml`.
    pub yaml_start: usize,
    /// What follows the second line.
    pub body: &'a str,
    /// Byte offset of `body`.
    pub body_start: usize,
}

/// Why a file has no front matter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The first line is not `---`.
    #[error("the file does not start with a `---` line")]
    Missing {
        /// The first line.
        at: Range<usize>,
    },
    /// There is no second `---` line.
    #[error("the front matter has no closing `---` line")]
    Unterminated {
        /// The opening `---`.
        at: Range<usize>,
    },
}

impl Problem {
    /// Bytes to underline.
    pub fn at(&self) -> Range<usize> {
        match self {
            Self::Missing { at } | Self::Unterminated { at } => at.clone(),
        }
    }
}

/// Splits `text`. A byte order mark before the first line, CRLF and blanks after `---` are accepted.
///
/// # Errors
/// No front matter, or one that never ends.
pub fn split(text: &str) -> Result<FrontMatter<'_>, Problem> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let first = line(text, start);
    let opening = start..start + text[first.clone()].trim_end().len();
    if !is_fence(&text[first.clone()]) {
        return Err(Problem::Missing { at: opening });
    }
    let yaml_start = first.end;
    let mut at = yaml_start;
    while at < text.len() {
        let this = line(text, at);
        if is_fence(&text[this.clone()]) {
            return Ok(FrontMatter {
                yaml: &text[yaml_start..at],
                yaml_start,
                body: &text[this.end..],
                body_start: this.end,
            });
        }
        at = this.end;
    }
    Err(Problem::Unterminated { at: opening })
}

/// The line that starts at `start`, with its newline.
fn line(text: &str, start: usize) -> Range<usize> {
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    start..end
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.trim_end().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_found_at_their_offsets() {
        for (text, yaml, body) in [
            ("---\na: b\n---\nBody\n", "a: b\n", "Body\n"),
            ("\u{feff}---\r\na: b\r\n---\r\nBody\r\n", "a: b\r\n", "Body\r\n"),
            ("---  \na: |\n  ---\n---\t\n", "a: |\n  ---\n", ""),
            ("---\n---", "", ""),
            ("---\na: b\n---\nBody\n---\nmore", "a: b\n", "Body\n---\nmore"),
        ] {
            let parts = split(text).unwrap();
            assert_eq!((parts.yaml, parts.body), (yaml, body), "{text:?}");
            assert_eq!(&text[parts.yaml_start..parts.yaml_start + yaml.len()], yaml);
            assert_eq!(&text[parts.body_start..], body);
        }
    }

    #[test]
    fn what_is_no_front_matter_says_where() {
        let at = |text: &str| split(text).map_err(|p| (text[p.at()].to_owned(), p)).unwrap_err();
        let (shown, problem) = at("# Title\n---\na: b\n---\n");
        assert!(matches!(problem, Problem::Missing { .. }) && shown == "# Title");
        assert!(matches!(at("").1, Problem::Missing { .. }));
        assert!(matches!(at("----\na: b\n---\n").1, Problem::Missing { .. }));
        assert!(matches!(at("\n---\na: b\n---\n").1, Problem::Missing { .. }));
        let (shown, problem) = at("\u{feff}---\na: b\n----\n");
        assert!(matches!(problem, Problem::Unterminated { .. }) && shown == "---");
    }
}
