//! What a shell line runs, as far as it can be told without a shell.

/// The words of each command of a line; `None` when the line cannot be fully decided.
///
/// Taken are plain words, quoted texts without anything that a shell replaces, and the signs that put one
/// command after another. Redirections, variables, substitutions, globs, escapes and groups are not: what
/// they come to is only known when they run.
pub fn commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    // Behind these signs a command has to follow.
    let mut more = false;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            ';' | '\n' | '|' | '&' => {
                if c == '&' || chars.peek() == Some(&'|') {
                    // `&` alone leaves the command running, and `|&` redirects.
                    (chars.next()? == c).then_some(())?;
                }
                words.extend(word.take());
                (!words.is_empty()).then(|| all.push(std::mem::take(&mut words)))?;
                more = !matches!(c, ';' | '\n');
            }
            c if c.is_alphanumeric() || "_-./:=@,+%".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word.take());
    if !words.is_empty() {
        all.push(words);
        more = false;
    }
    (!all.is_empty() && !more).then_some(all)
}

fn quoted(quote: char, chars: &mut impl Iterator<Item = char>, word: &mut String) -> Option<()> {
    for c in chars {
        match c {
            c if c == quote => return Some(()),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            // Some shells end a text at a typographic quote too.
            '\n' | '\0' | '\u{2018}'..='\u{201f}' => return None,
            c => word.push(c),
        }
    }
    None
}

/// Whether every command of `line` starts with one of the prefixes.
pub fn allowed(line: &str, prefixes: &[String]) -> Option<bool> {
    let prefixes: Vec<Vec<&str>> = prefixes.iter().map(|p| p.split_whitespace().collect()).collect();
    let starts = |words: &Vec<String>| {
        prefixes.iter().any(|p| !p.is_empty() && p.len() <= words.len() && p.iter().zip(words).all(|(p, w)| p == w))
    };
    Some(commands(line)?.iter().all(starts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_allowed_only_when_each_of_its_commands_is() {
        let prefixes = ["cargo test".to_owned(), "git diff".to_owned()];
        for (line, expected) in [
            ("cargo test", Some(true)),
            ("cargo  test --lib 'a b'", Some(true)),
            ("cargo test && git diff --stat", Some(true)),
            ("cargo test | git diff; cargo test\ngit diff", Some(true)),
            ("cargo tests", Some(false)),
            ("cargo", Some(false)),
            ("FOO=1 cargo test", Some(false)),
            ("cargo test; rm -r x", Some(false)),
            ("cargo test || sh x", Some(false)),
            ("\"cargo\" te'st'", Some(true)),
            ("cargo test & rm x", None),
            ("cargo test |& x", None),
            ("cargo test > x", None),
            ("cargo test $(rm x)", None),
            ("cargo test `rm x`", None),
            ("cargo test \"$X\"", None),
            ("cargo test $X", None),
            ("cargo test {a,b}", None),
            ("cargo test *.rs", None),
            ("cargo test \\; x", None),
            ("cargo test 'open", None),
            ("cargo test \"a\u{201d}; rm x; \u{201c}b\"", None),
            ("cargo test # x", None),
            ("(cargo test)", None),
            ("&& cargo test", None),
            ("", None),
        ] {
            assert_eq!(allowed(line, &prefixes), expected, "{line}");
        }
    }

    proptest! {
        /// What is let through means the same to a real shell: the same words, in the same commands.
        #[cfg(unix)]
        #[test]
        fn a_shell_splits_what_is_decided_in_the_same_way(line in "[a-c '\"|&;$><*\\\\-]{0,12}") {
            if let Some(all) = commands(&line) && all.len() == 1 {
                let out = std::process::Command::new("sh")
                    .args(["-c", &format!("set -f; printf '%s\\n' {line}")]).output().unwrap();
                let words: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
                prop_assert_eq!(&words, &all[0]);
            }
        }
    }
}
