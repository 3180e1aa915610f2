//! Which relative paths may be named at all: the same on every platform, so that a policy written on one
//! cannot do harm on another.

use std::io;

/// Why a path is refused; the text fits after "path `x` ".
///
/// # Errors
/// The reason, when the path is empty, absolute, leaves its folder, or means something else on Windows.
pub fn check(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.starts_with('/') {
        return Err("is absolute");
    }
    if path.len() > 1024 {
        return Err("is longer than 1024 bytes");
    }
    if path.chars().any(char::is_control) {
        return Err("contains a control character");
    }
    if path.contains('\\') {
        return Err("contains a backslash");
    }
    path.split('/').try_for_each(check_part)
}

/// As [`check`], as an I/O error naming the path.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`].
pub fn require(path: &str) -> io::Result<()> {
    check(path).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, format!("path `{path}` {why}")))
}

fn check_part(part: &str) -> Result<(), &'static str> {
    match part {
        "" => return Err("has an empty part"),
        ".." => return Err("leaves its folder with `..`"),
        "." => return Err("has a part `.`"),
        _ => {}
    }
    if part.contains([':', '<', '>', '"', '|', '?', '*']) {
        return Err("contains a character that Windows reserves");
    }
    if part.ends_with(['.', ' ']) {
        return Err("has a part that ends in a dot or space, which Windows drops");
    }
    if part.eq_ignore_ascii_case(".git") {
        return Err("lies in git's own folder");
    }
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let numbered = |word: &str| {
        stem.strip_prefix(word).is_some_and(|rest| {
            matches!(rest.chars().next(), Some('0'..='9' | '¹' | '²' | '³')) && rest.chars().count() == 1
        })
    };
    if matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || numbered("com")
        || numbered("lpt")
    {
        return Err("is a device name on Windows");
    }
    Ok(())
}

/// The form under which two paths are one file where case does not count.
pub fn folded(path: &str) -> String {
    path.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn ordinary_names_pass() {
        for path in ["AGENTS.md", ".claude/agents/docs_writer.md", "a b/ü.md", "console.md", "com10", ".github/x..y"] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn names_that_leave_or_mean_something_else_are_refused() {
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            "a//b",
            "./a",
            "a/",
            "C:/x",
            "c:x",
            "a\\b",
            "a\0b",
            "a\nb",
            "nul",
            "NUL.txt",
            "a/Com1.md",
            "lpt9",
            "x.",
            "x ",
            ".git/config",
            "a/.GIT/hooks/x",
        ] {
            assert!(check(path).is_err(), "{path:?}");
        }
    }
}
