//! Globs of paths as adapters write them.

/// Whether `path` matches `pattern`, in which `*` stands for anything within a part and `**` for any
/// number of parts. Adapters have no other wildcards, and this runs at every commit: compiling regular
/// expressions would cost more than all the rest.
pub fn matches(pattern: &str, path: &str) -> bool {
    fn parts(pattern: &[&str], path: &[&str]) -> bool {
        match pattern.split_first() {
            None => path.is_empty(),
            Some((&"**", rest)) => (0..=path.len()).any(|skip| parts(rest, &path[skip..])),
            Some((first, rest)) => path.split_first().is_some_and(|(p, others)| part(first, p) && parts(rest, others)),
        }
    }
    if !pattern.contains('*') {
        return pattern == path;
    }
    parts(&pattern.split('/').collect::<Vec<_>>(), &path.split('/').collect::<Vec<_>>())
}

fn part(pattern: &str, text: &str) -> bool {
    let Some((head, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    while let Some((middle, tail)) = rest.split_once('*') {
        let Some(at) = text.find(middle) else { return false };
        text = &text[at + middle.len()..];
        rest = tail;
    }
    text.ends_with(rest)
}
