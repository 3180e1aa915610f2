//! Globs of the policy in the languages of hosts.
//!
//! A policy knows `*` and `?` inside a folder's name and `**` for whole folders. What a host cannot say is written
//! wider, never narrower: a grant keeps working, and the ledger tells what is open besides.

use crate::model::adapter::GlobDialect;

/// A glob as a host writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelt {
    /// Any of them fits.
    pub patterns: Vec<String>,
    /// Whether they fit what the glob fits and nothing else.
    pub exact: bool,
}

/// Writes `glob` in a host's language.
pub fn spell(dialect: GlobDialect, glob: &str) -> Spelt {
    match dialect {
        GlobDialect::Flat => flat(glob),
        GlobDialect::Git => Spelt { patterns: vec![glob.to_owned()], exact: true },
        GlobDialect::Folder => folder(glob),
        GlobDialect::Regex => regex(glob),
    }
}

/// Writes `glob` where it is to be shut: the same or more; `None` when that cannot be said.
pub fn shut(dialect: GlobDialect, glob: &str) -> Option<Vec<String>> {
    match dialect {
        GlobDialect::Flat | GlobDialect::Git | GlobDialect::Regex => Some(spell(dialect, glob).patterns),
        GlobDialect::Folder => {
            let literal = literal(glob);
            let (rest, whole) = (&glob[literal.len()..], literal.trim_end_matches('/'));
            let sayable = if whole.is_empty() { rest == "**" } else { !rest.contains('/') };
            sayable.then(|| vec![if whole.is_empty() { ".".to_owned() } else { whole.to_owned() }])
        }
    }
}

/// Whether two globs may fit the same path, told by the folders that they begin with.
pub fn may_meet(a: &str, b: &str) -> bool {
    let (a, b) = (literal(a), literal(b));
    let below = |inner: &str, outer: &str| {
        outer.is_empty()
            || inner.strip_prefix(outer).is_some_and(|r| r.is_empty() || r.starts_with('/') || outer.ends_with('/'))
    };
    below(a, b) || below(b, a)
}

/// The folders that a glob begins with, `/` at the end; all of it when it has no pattern.
fn literal(glob: &str) -> &str {
    match glob.find(['*', '?', '[', '{']) {
        Some(at) => &glob[..glob[..at].rfind('/').map_or(0, |slash| slash + 1)],
        None => glob,
    }
}

/// Only whole folders can be opened: what is more particular stays shut, because opening more than was granted
/// would be the greater fault.
fn folder(glob: &str) -> Spelt {
    let plain = |f: &str| !f.contains(['*', '?', '[', '{']);
    let whole = match glob {
        "**" => Some(".".to_owned()),
        _ => glob.strip_suffix("/**").filter(|f| plain(f)).map(str::to_owned),
    };
    Spelt { exact: whole.is_some(), patterns: whole.into_iter().collect() }
}

/// Without groups: hosts take a group that repeats for an attack.
fn regex(glob: &str) -> Spelt {
    let mut spelt = Spelt { patterns: vec![String::new()], exact: true };
    let mut rest = glob.split('/').peekable();
    while let Some(part) = rest.next() {
        match (part, rest.peek()) {
            ("**", None) => spelt.push("[^\"]+", true),
            ("**", Some(_)) => {
                let with_folder: Vec<String> = spelt.patterns.iter().map(|p| format!("{p}[^\"]+/")).collect();
                spelt.patterns.extend(with_folder);
            }
            (_, next) => {
                let part: String = part.chars().map(regex_char).collect();
                spelt.push(&part, next.is_none());
            }
        }
    }
    spelt
}

fn regex_char(c: char) -> String {
    match c {
        '*' => "[^/\"]*".to_owned(),
        '?' => "[^/\"]".to_owned(),
        c => crate::text::glob::regex(c.encode_utf8(&mut [0; 4])),
    }
}

/// Where `*` stands for any text and crosses `/`: `**/` needs one pattern with a folder and one without, unless a
/// star follows that crosses anyway.
fn flat(glob: &str) -> Spelt {
    let mut spelt = Spelt { patterns: vec![String::new()], exact: true };
    let mut rest = glob.split('/').peekable();
    while let Some(part) = rest.next() {
        match (part, rest.peek().copied()) {
            ("**", None) => spelt.push("**", true),
            ("**", Some("**")) => {}
            ("**", Some(next)) if next.starts_with('*') => {
                rest.next();
                spelt.exact &= !next[1..].contains(['*', '?']);
                spelt.push(next, rest.peek().is_none());
            }
            ("**", Some(_)) => {
                let with_folder: Vec<String> = spelt.patterns.iter().map(|p| format!("{p}*/")).collect();
                spelt.patterns.extend(with_folder);
            }
            // One folder or more.
            ("*", Some("**")) => {
                rest.next();
                let last = rest.peek().is_none();
                spelt.push(if last { "*/**" } else { "*" }, last);
            }
            (_, next) => {
                spelt.exact &= !part.contains(['*', '?']);
                spelt.push(part, next.is_none());
            }
        }
    }
    spelt
}

impl Spelt {
    fn push(&mut self, part: &str, last: bool) {
        for pattern in &mut self.patterns {
            pattern.push_str(part);
            if !last {
                pattern.push('/');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    /// A flat pattern, by the plainest recursion.
    fn fits(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some(b'*'), _) => fits(&pattern[1..], text) || (!text.is_empty() && fits(pattern, &text[1..])),
            (Some(b'?'), Some(_)) => fits(&pattern[1..], &text[1..]),
            (Some(a), Some(b)) if a == b => fits(&pattern[1..], &text[1..]),
            _ => false,
        }
    }

    fn part() -> impl Strategy<Value = String> {
        prop_oneof![Just("**".to_owned()), "[ab*?]{1,3}".prop_filter("no part with `**` in it", |p| !p.contains("**"))]
    }

    fn joined(part: impl Strategy<Value = String>, most: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(part, 1..=most).prop_map(|parts| parts.join("/"))
    }

    #[test]
    fn a_star_that_crosses_needs_fewer_patterns() {
        let of = |glob: &str| (flat(glob).patterns, flat(glob).exact);
        let exact = |patterns: &[&str]| (patterns.iter().map(ToString::to_string).collect::<Vec<_>>(), true);
        assert_eq!(of("docs/**"), exact(&["docs/**"]));
        assert_eq!(of("README.md"), exact(&["README.md"]));
        assert_eq!(of("**/*.md"), exact(&["*.md"]));
        assert_eq!(of("**/CLAUDE.md"), exact(&["CLAUDE.md", "*/CLAUDE.md"]));
        assert_eq!(of("*/**/CLAUDE.md"), exact(&["*/CLAUDE.md"]));
        assert_eq!(of("docs/**/api/*.md"), (vec!["docs/api/*.md".to_owned(), "docs/*/api/*.md".to_owned()], false));
        assert_eq!(of("docs/*.md"), (vec!["docs/*.md".to_owned()], false));
    }

    #[test]
    fn only_whole_folders_are_opened_and_what_is_shut_is_never_less_than_meant() {
        let opened = |glob: &str| folder(glob).patterns;
        assert_eq!(
            (opened("docs/**"), opened("a/b/**"), opened("**")),
            (vec!["docs".into()], vec!["a/b".into()], vec![".".to_owned()])
        );
        for glob in ["README.md", "docs/**/*.md", "**/*.md", "docs/*", "d*/**"] {
            assert_eq!(opened(glob), Vec::<String>::new(), "{glob}");
        }
        let shut = |glob: &str| shut(GlobDialect::Folder, glob).map(|p| p.join(" "));
        assert_eq!(shut("AGENTS.md").as_deref(), Some("AGENTS.md"));
        assert_eq!(shut(".x/agents/*.agent.md").as_deref(), Some(".x/agents"));
        assert_eq!(shut("rules/**").as_deref(), Some("rules"));
        assert_eq!(shut("**").as_deref(), Some("."));
        assert_eq!((shut("*/**/AGENTS.md"), shut("docs/**/AGENTS.md"), shut("*.md")), (None, None, None));
    }

    #[test]
    fn globs_that_share_a_folder_may_meet_and_others_do_not() {
        for (a, b, meet) in [
            ("docs/**", "docs/a/AGENTS.md", true),
            ("docs/**", "*/**/AGENTS.md", true),
            ("docs/a/**", "docs/**", true),
            ("docs/**", "docs2/**", false),
            ("docs/**", "AGENTS.md", false),
            ("**", "AGENTS.md", true),
            ("README.md", "README.md", true),
        ] {
            assert_eq!((may_meet(a, b), may_meet(b, a)), (meet, meet), "{a} {b}");
        }
    }

    #[test]
    fn a_regular_expression_has_no_group_and_no_open_character() {
        let of = |glob: &str| (regex(glob).patterns, regex(glob).exact);
        assert_eq!(of("docs/**"), (vec!["docs/[^\"]+".to_owned()], true));
        assert_eq!(of("a.b/*.m?"), (vec!["a\\.b/[^/\"]*\\.m[^/\"]".to_owned()], true));
        assert_eq!(of("**/x.md"), (vec!["x\\.md".to_owned(), "[^\"]+/x\\.md".to_owned()], true));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_written_fits_all_that_is_meant_and_no_more_when_exact(
            glob in joined(part(), 4), path in joined("[ab]{1,2}", 5)
        ) {
            let meant = GlobBuilder::new(&glob).literal_separator(true).build().unwrap().compile_matcher().is_match(&path);
            let spelt = flat(&glob);
            let written = spelt.patterns.iter().any(|p| fits(p.as_bytes(), path.as_bytes()));
            prop_assert!(written || !meant, "{glob} {path} {spelt:?}");
            prop_assert!(written == meant || !spelt.exact, "{glob} {path} {spelt:?}");
        }
    }
}
