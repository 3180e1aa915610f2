//! A change as a unified diff.

use super::compare::Change;
use crate::text::eol::content;
use crate::text::secret;
use similar::TextDiff;
use std::fmt::Write;

/// The diff of one file in git's form. Line ends count only in so far as a file that differs in nothing else
/// is said to.
pub fn unified(change: &Change) -> String {
    if !change.writes() {
        return String::new();
    }
    let (before, after) = (side(change.before.as_deref()), side(change.after.as_deref()));
    let name = |there: bool, side: &str| if there { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() };
    let (from, to) = (name(change.before.is_some(), "a"), name(change.after.is_some(), "b"));
    let (Some(old), Some(new)) = (&before, &after) else {
        return format!("--- {from}\n+++ {to}\nbinary files differ\n");
    };
    if old == new {
        let mut out = format!("--- {from}\n+++ {to}\n");
        if change.before.is_some() && change.after.is_some() {
            out.push_str("line endings differ\n");
        }
        return out;
    }
    let diff = TextDiff::from_lines(old.as_str(), new.as_str());
    let mut out = format!("--- {from}\n+++ {to}\n");
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", secret::covered(&hunk.to_string()));
    }
    out
}

/// A side as text; an absent file is empty, one that is not UTF-8 has no lines to show.
fn side(bytes: Option<&[u8]>) -> Option<String> {
    String::from_utf8(content(bytes.unwrap_or_default()).into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            path: "a/b.md".into(),
            real: "a/b.md".into(),
            before: before.map(Into::into),
            after: after.map(Into::into),
            causes: Vec::new(),
            conflicts: Vec::new(),
            sources: Vec::new(),
            forced: false,
            own: false,
        }
    }

    #[test]
    fn new_changed_and_deleted_files_have_git_headers() {
        insta::assert_snapshot!(unified(&change(None, Some("x\n"))), @r"
        --- /dev/null
        +++ b/a/b.md
        @@ -0,0 +1 @@
        +x
        ");
        insta::assert_snapshot!(unified(&change(Some("x\ny"), Some("x\nz\n"))), @r"
        --- a/a/b.md
        +++ b/a/b.md
        @@ -1,2 +1,2 @@
         x
        -y
        \ No newline at end of file
        +z
        ");
        insta::assert_snapshot!(unified(&change(Some("x\n"), None)), @r"
        --- a/a/b.md
        +++ /dev/null
        @@ -1 +0,0 @@
        -x
        ");
    }

    #[test]
    fn a_file_that_differs_only_in_line_ends_says_so() {
        insta::assert_snapshot!(unified(&change(Some("x\r\n"), Some("x\n"))), @r"
        --- a/a/b.md
        +++ b/a/b.md
        line endings differ
        ");
        assert_eq!(unified(&change(Some("x\n"), Some("x\n"))), "");
    }
}
