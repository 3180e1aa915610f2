//! Globs of paths as adapters write them.

/// Whether `path` matches `pattern`, in which `*` stands for anything within a part, `?` for one character and `**`
/// for any number of parts. Policies and adapters have no other wildcards, and this runs at every commit: compiling
/// regular expressions would cost more than all the rest.
pub fn matches(pattern: &str, path: &str) -> bool {
    fn parts(pattern: &[&str], path: &[&str]) -> bool {
        match pattern.split_first() {
            None => path.is_empty(),
            Some((&"**", rest)) => (0..=path.len()).any(|skip| parts(rest, &path[skip..])),
            Some((first, rest)) => path.split_first().is_some_and(|(p, others)| part(first, p) && parts(rest, others)),
        }
    }
    if !pattern.contains(['*', '?']) {
        return pattern == path;
    }
    parts(&pattern.split('/').collect::<Vec<_>>(), &path.split('/').collect::<Vec<_>>())
}

fn part(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    match (first, text.chars().next()) {
        ('*', _) => (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| part(rest, &text[at..])),
        ('?', Some(c)) => part(rest, &text[c.len_utf8()..]),
        (_, Some(c)) => c == first && part(rest, &text[c.len_utf8()..]),
        (_, None) => false,
    }
}

/// A regular expression that fits `text` and nothing else.
pub fn regex(text: &str) -> String {
    let special = |c: char| c.is_ascii_punctuation() && !"/_-,:;=@%&~!<>#\"'`".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// What stands under the first pattern that a name matches.
pub fn first<'m, V>(patterns: &'m indexmap::IndexMap<String, V>, name: &str) -> Option<&'m V> {
    patterns.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stay_within_a_part_and_two_of_them_do_not() {
        for (pattern, path, expected) in [
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/b/a.md", false),
            ("docs/**/*.md", "docs/b/c/a.md", true),
            ("**/x", "x", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c", false),
            ("é*", "éa", true),
            ("x", "y", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }
}
