//! Paths inside the root: globs of adapters and relative paths of import lines.

pub use crate::text::glob::matches;

/// `target` as seen from the folder of `from`; both relative to the root.
pub fn relative(from: &str, target: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    let parts: Vec<&str> = target.split('/').collect();
    let common = folders.iter().zip(&parts[..parts.len() - 1]).take_while(|(a, b)| a == b).count();
    let mut out = "../".repeat(folders.len() - common);
    out.push_str(&parts[common..].join("/"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_part_and_double_stars_cross() {
        for (pattern, path, expected) in [
            ("AGENTS.md", "AGENTS.md", true),
            ("**/AGENTS.md", "AGENTS.md", true),
            ("**/AGENTS.md", "a/b/AGENTS.md", true),
            (".claude/rules/**/*.md", ".claude/rules/x.md", true),
            (".claude/rules/**/*.md", ".claude/rules/a/x.md", true),
            (".claude/rules/*.md", ".claude/rules/a/x.md", false),
            ("*.instructions.md", "web.instructions.md", true),
            ("*.instructions.md", "web.md", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn relative_paths_climb_only_as_far_as_needed() {
        for (from, target, expected) in [
            ("CLAUDE.md", "AGENTS.md", "AGENTS.md"),
            (".claude/CLAUDE.md", "AGENTS.md", "../AGENTS.md"),
            (".claude/CLAUDE.md", ".claude/rules/x.md", "rules/x.md"),
            ("a/b/c.md", "a/d/e.md", "../d/e.md"),
            ("c.md", "a/d/e.md", "a/d/e.md"),
        ] {
            assert_eq!(relative(from, target), expected);
        }
    }
}
