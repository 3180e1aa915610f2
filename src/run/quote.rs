//! A command as one would type it.

/// The words of a command, quoted for a POSIX shell where they must be.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_the_same_words() {
        assert_eq!(line(["a", "-c", "x=1"]), "a -c x=1");
        assert_eq!(line(["", "it's", "a\nb", "$HOME"]), "'' 'it'\\''s' 'a\nb' '$HOME'");
    }
}
