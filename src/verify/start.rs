//! The first request of an agent: what it was told, how large that is, and what of it the host put there by itself.

use std::collections::BTreeSet;

use super::model::Recorded;
use super::probe::{MAIN, ROLE};
use super::report::{Block, FirstRequest};

/// Shorter lines are in every text.
const TELLING_LINE: usize = 12;
/// Shorter files say nothing.
const TELLING_FILE: usize = 20;

/// The first request of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// Everything that it was told in words.
    pub told: String,
    /// Tools that it is offered, without those inside of other tools.
    pub offered: Vec<String>,
    /// Size of the request in bytes.
    pub bytes: usize,
    /// Size of the descriptions of tools in bytes.
    pub tools: usize,
    /// Results of calls that nobody of ours made.
    pub results: usize,
    /// What it was told, and what tools answered, after it had read the files that rules for paths are tried with;
    /// none = it did not come so far.
    pub after: Option<String>,
}

impl Start {
    /// Reads it off the first request, and the one `after` the files were read.
    pub fn of(first: &Recorded, after: Option<&Recorded>) -> Self {
        Self {
            told: first.digest.told(),
            offered: first.digest.tools.clone(),
            bytes: first.bytes,
            tools: first.digest.tool_bytes,
            results: first.digest.results.len(),
            after: after.map(|r| format!("{}\n{}", r.digest.told(), r.digest.results.join("\n"))),
        }
    }
}

/// Texts by which it is told whose a part of a request is.
#[derive(Debug, Default)]
pub struct Texts {
    /// Lines of what is rendered.
    ours: BTreeSet<String>,
    /// Other files of the repository: path, and text with blanks made even.
    files: Vec<(String, String)>,
}

impl Texts {
    /// From texts that are rendered, and files (path and text) that are not.
    pub fn new<'a>(rendered: impl Iterator<Item = &'a str>, files: impl Iterator<Item = (String, String)>) -> Self {
        let lines = rendered.flat_map(str::lines).map(|l| l.trim().to_owned()).filter(|l| l.len() >= TELLING_LINE);
        let files = files.map(|(path, text)| (path, even(&text))).filter(|(_, text)| text.len() >= TELLING_FILE);
        Self { ours: lines.collect(), files: files.collect() }
    }

    /// What is in a first request; `role` and `form` say whose it is.
    pub fn request(&self, start: &Start, role: Option<(&str, &str)>) -> FirstRequest {
        let told = even(&start.told);
        let ours = start.told.lines().map(str::trim).filter(|l| self.ours.contains(*l)).map(str::len).sum();
        let files = self.files.iter().filter(|(_, text)| told.contains(text)).map(|(path, _)| path.clone());
        FirstRequest {
            role: role.map(|(role, _)| role.to_owned()),
            form: role.map(|(_, form)| form.to_owned()),
            bytes: start.bytes,
            tools: start.tools,
            text: start.told.len(),
            ours,
            blocks: blocks(&start.told),
            files: files.collect(),
            without: None,
        }
    }
}

/// Blocks that hosts put between tags of their own, the same ones added up, in the order of the first.
fn blocks(told: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut rest = told;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some((name, body)) = rest.split_once('>') else { break };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            continue;
        }
        let Some(end) = body.find(&format!("</{name}>")) else { continue };
        let inside = &body[..end];
        rest = &body[end..];
        // The tasks of the script are no block of the host's.
        if inside.trim() == MAIN || inside.trim() == ROLE {
            continue;
        }
        match out.iter_mut().find(|b| b.name == name) {
            Some(block) => block.bytes += inside.len(),
            None => out.push(Block { name: name.to_owned(), bytes: inside.len() }),
        }
    }
    out
}

/// A text with its blanks made even: hosts indent and wrap.
pub fn even(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_told_from_what_the_host_puts_there() {
        let file = ("notes.md".to_owned(), "A note of the user, long enough.\n".to_owned());
        let away = ("other.md".to_owned(), "Another note that is nowhere.\n".to_owned());
        let texts = Texts::new(["Say what is rendered.\nok\n"].into_iter(), [file, away].into_iter());
        let told = "You are a host.\n  Say what is rendered.\n<env>here</env> A note of\nthe user, long enough. ok\n<env>now</env>";
        let start = Start { told: told.to_owned(), bytes: 100, tools: 7, ..Start::default() };
        let request = texts.request(&start, Some(("r", "f")));
        assert_eq!((request.ours, request.tools, request.bytes), (21, 7, 100));
        assert_eq!(request.files, ["notes.md"]);
        assert_eq!(request.blocks, [Block { name: "env".into(), bytes: 7 }]);
    }

    #[test]
    fn a_comparison_and_an_open_tag_are_no_blocks() {
        assert_eq!(blocks("a < b > c <open> and <x y>z</x y>"), []);
    }
}
