//! Whether a shell line is seen to run a command that nobody may run.
//!
//! Other than a scope, this holds for agents that may run anything else: what cannot be told is let through, and what
//! is told must be right. So the line is read as far as it can be, and a word that depends on the run time is unknown.

use std::iter::Peekable;
use std::str::Chars;

/// The forbidden words with which some command of the line starts.
pub fn forbidden<'a>(line: &str, forbidden: &'a [Vec<String>]) -> Option<&'a [String]> {
    if forbidden.is_empty() {
        return None;
    }
    let commands = Reader::read(line);
    let starts = |words: &[Word], with: &[String]| {
        let same = |(at, (word, with)): (usize, (&Word, &String))| word.is(with, at == 0);
        !with.is_empty() && with.len() <= words.len() && words.iter().zip(with).enumerate().all(same)
    };
    forbidden.iter().find(|f| commands.iter().any(|words| starts(own(words), f))).map(Vec::as_slice)
}

/// Words of the shell that stand in front of a command.
const IN_FRONT: [&str; 10] = ["if", "then", "else", "elif", "do", "while", "until", "!", "time", "{"];

/// The words without assignments and words of the shell in front.
fn own(words: &[Word]) -> &[Word] {
    let front = |w: &&Word| w.assigns() || w.known && IN_FRONT.contains(&w.text.as_str());
    &words[words.iter().take_while(front).count()..]
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Word {
    /// As far as it is known.
    text: String,
    /// Whether that is all of it.
    known: bool,
}

impl Word {
    /// A program is also meant by its path.
    fn is(&self, with: &str, program: bool) -> bool {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        self.known && (self.text == with || program && !with.contains('/') && name == with)
    }

    fn assigns(&self) -> bool {
        self.text.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    }
}

/// What ends the reading: from here on nothing can be told.
struct Stop;

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    all: Vec<Vec<Word>>,
    words: Vec<Word>,
    word: Option<Word>,
    /// The next word is where a redirection leads.
    target: bool,
}

impl<'a> Reader<'a> {
    fn read(line: &'a str) -> Vec<Vec<Word>> {
        let mut reader =
            Self { chars: line.chars().peekable(), all: Vec::new(), words: Vec::new(), word: None, target: false };
        while let Some(c) = reader.chars.next() {
            if let Err(Stop) = reader.take(c) {
                reader.unknown();
                break;
            }
        }
        reader.end_command();
        reader.all
    }

    fn take(&mut self, c: char) -> Result<(), Stop> {
        match c {
            ' ' | '\t' => self.end_word(),
            '&' if self.chars.peek() == Some(&'>') => self.end_word(),
            ';' | '\n' | '|' | '&' => self.end_command(),
            '>' | '<' => self.redirect(c)?,
            '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => match self.chars.next() {
                Some('\n') => {}
                Some(c) => self.push(c),
                None => return Err(Stop),
            },
            '$' => self.variable()?,
            // A group; behind a word it is a function or a list.
            '(' if self.word.is_none() && self.words.is_empty() => {}
            '(' => {
                self.words.clear();
                return Err(Stop);
            }
            ')' => self.end_command(),
            '`' => return Err(Stop),
            '{' if self.word.is_none() && matches!(self.chars.peek(), Some(' ' | '\t' | '\n')) => self.push(c),
            '*' | '?' | '[' | ']' | '~' | '{' | '}' => {
                self.push(c);
                self.unknown();
            }
            c => self.push(c),
        }
        Ok(())
    }

    fn current(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word { text: String::new(), known: true })
    }

    fn push(&mut self, c: char) {
        self.current().text.push(c);
    }

    fn unknown(&mut self) {
        self.current().known = false;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if !std::mem::take(&mut self.target) {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = false;
        if !self.words.is_empty() {
            self.all.push(std::mem::take(&mut self.words));
        }
    }

    fn redirect(&mut self, c: char) -> Result<(), Stop> {
        // What follows `<<` may be a text of many lines, and what follows `<(` is a command of its own.
        if c == '<' && matches!(self.chars.peek(), Some('<' | '(')) || self.chars.peek() == Some(&'(') {
            return Err(Stop);
        }
        // The number of a stream.
        let number = |w: &Word| w.known && !w.text.is_empty() && w.text.bytes().all(|b| b.is_ascii_digit());
        if self.word.as_ref().is_some_and(number) {
            self.word = None;
        }
        self.end_word();
        while self.chars.next_if(|c| matches!(c, '>' | '&' | '|')).is_some() {}
        self.target = true;
        Ok(())
    }

    fn single(&mut self) -> Result<(), Stop> {
        self.current();
        loop {
            match self.chars.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.push(c),
                None => return Err(Stop),
            }
        }
    }

    fn double(&mut self) -> Result<(), Stop> {
        self.current();
        loop {
            match self.chars.next() {
                Some('"') => return Ok(()),
                Some('$') => self.variable()?,
                Some('\\') => match self.chars.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => return Err(Stop),
                },
                Some('`') | None => return Err(Stop),
                Some(c) => self.push(c),
            }
        }
    }

    fn variable(&mut self) -> Result<(), Stop> {
        self.unknown();
        match self.chars.peek() {
            Some('(' | '\'' | '"') => Err(Stop),
            Some('{') => {
                self.chars.next();
                while self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
                self.chars.next_if_eq(&'}').map(|_| ()).ok_or(Stop)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::guard::command::commands;

    fn list(all: &[&str]) -> Vec<Vec<String>> {
        all.iter().map(|f| f.split(' ').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_forbidden_command_is_found_wherever_a_line_is_sure_to_have_it() {
        let forbid = list(&["rm", "git push --force", "./drop.sh"]);
        for line in [
            "rm",
            "rm -rf x",
            "  rm\tx",
            "/bin/rm x",
            "cd x && rm y",
            "true; rm x",
            "true & rm x",
            "a | rm",
            "a\nrm x",
            "(rm x)",
            "{ rm x; }",
            "if rm x; then y; fi",
            "for f in a; do rm $f; done",
            "X=1 rm x",
            "X=$Y rm x",
            "rm *.o",
            "rm \"$X\"",
            "rm $(cat x)",
            "rm > log 2>&1",
            "2>/dev/null rm x",
            "a &> log; rm x",
            "echo $HOME ${X}; rm x",
            "r\\m x",
            "'rm' x",
            "\"r\"m x",
            "git  push --force origin",
            "git push '--force'",
            "./drop.sh now",
            "# first\nrm x",
        ] {
            assert!(forbidden(line, &forbid).is_some(), "{line}");
        }
        for line in [
            "",
            "rmdir x",
            "echo rm x",
            "echo 'a; rm x'",
            "echo \"a; rm x\"",
            "echo a # ; rm x",
            "cat <<E\nrm x\nE",
            "git push",
            "git push -f",
            "git push origin --force",
            "git $X --force",
            "$X rm y",
            "rm() { a; }",
            "a=(rm x)",
            "echo > rm x",
            "sub/drop.sh",
            "bash -c 'rm x'",
            "env rm x",
            "echo $(rm x)",
            "echo \"unclosed; rm x",
            "rm* x",
        ] {
            assert_eq!(forbidden(line, &forbid), None, "{line}");
        }
        assert_eq!(forbidden("rm x", &[]), None);
    }

    proptest! {
        /// Where a line can be decided fully, both readings of it see the same commands.
        #[test]
        fn what_is_decided_is_read_in_the_same_way(line in "[a-c '\"|&;$><*\\\\/-]{0,14}") {
            if let Some(all) = commands(&line) {
                for words in all {
                    prop_assume!(!words.iter().any(String::is_empty));
                    prop_assert_eq!(forbidden(&line, std::slice::from_ref(&words)), Some(words.as_slice()), "{}", line);
                }
            }
        }

        #[test]
        fn arguments_that_start_with_the_words_are_a_command_that_does(
            pattern in prop::collection::vec("[a-c]{1,2}", 1..3), argv in prop::collection::vec("[a-c]{1,2}", 1..5),
        ) {
            let found = forbidden(&argv.join(" "), std::slice::from_ref(&pattern)).is_some();
            prop_assert_eq!(found, argv.starts_with(&pattern));
        }
    }
}
