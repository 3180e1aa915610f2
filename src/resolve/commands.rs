//! Commands that nobody may run: a dialect that means the same wherever it is written.

use std::fmt::Write as _;

use super::layers::Merged;
use super::policy::{Rule, RuleActivation};
use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::commands::Forbid;

/// Id of the rule that tells agents of them.
pub const RULE: &str = "forbidden-commands";

/// A command that nobody may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbidden {
    /// The words it starts with; at least one.
    pub words: Vec<String>,
    /// Why.
    pub because: Option<String>,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Forbidden {
    /// The words as one text.
    pub fn command(&self) -> String {
        self.words.join(" ")
    }
}

/// Reads the commands of all layers, each once; a later layer may say of an earlier one's why, and takes none away.
pub(super) fn resolve(merged: &Merged<'_>, sink: &mut Sink) -> Vec<Forbidden> {
    let mut all: Vec<(usize, Forbidden)> = Vec::new();
    for (layer, forbid) in &merged.forbid {
        let words = match words(&forbid.run) {
            Ok(words) => words,
            Err((why, help)) => {
                sink.push(
                    Diagnostic::new(Code::CommandPattern, format!("`{}` is not a command to forbid", forbid.run.value))
                        .at_opt(forbid.run.span, why)
                        .help(help),
                );
                continue;
            }
        };
        let (because, span) = (because(forbid, sink), forbid.run.span);
        match all.iter_mut().find(|(_, first)| first.words == words) {
            Some((of, first)) if of != layer => {
                *of = *layer;
                first.because = because.or(first.because.take());
            }
            Some((_, first)) => sink.push(
                Diagnostic::new(Code::CommandPattern, format!("`{}` is forbidden twice", first.command()))
                    .at_opt(span, "second time")
                    .also(first.span, "first time")
                    .help("remove one of the two; a `*` at the end changes nothing"),
            ),
            None => all.push((*layer, Forbidden { words, because, span })),
        }
    }
    all.into_iter().map(|(_, forbidden)| forbidden).collect()
}

const PLAIN: &str = "_-./:=@+";

/// The words of a pattern, or why it is none and what to do. What hosts would read in different ways is not taken.
fn words(run: &str) -> Result<Vec<String>, (String, &'static str)> {
    const WORDS: &str = "write the words that the command starts with, as in `git push --force *`";
    let mut words: Vec<&str> = run.split(' ').filter(|w| !w.is_empty()).collect();
    if words.last() == Some(&"*") {
        words.pop();
        if words.is_empty() {
            return Err(("would be every command".into(), "grant `shell.run` to no role, or name the commands"));
        }
    }
    let Some(program) = words.first() else { return Err(("empty".into(), WORDS)) };
    if run.contains('*') && words.iter().any(|w| w.contains('*')) {
        let help = "leave it out, or write it as the last word, apart by a blank; `rm` is not `rmdir` on any host";
        return Err(("`*` stands only for whatever follows the words".into(), help));
    }
    let foreign = |c: &char| !(c.is_ascii_alphanumeric() || PLAIN.contains(*c));
    if let Some(c) = words.iter().flat_map(|w| w.chars()).find(foreign) {
        let what = match c {
            '"' | '\'' | '\\' => "quotes and escapes are gone before a command is compared",
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '$' | '{' | '}' | '#' | '!' | '~' | '?' | '[' | ']' => {
                "signs of the shell are not part of a command"
            }
            _ => "only ASCII letters, digits and `_-./:=@+` mean the same on every host",
        };
        return Err((what.into(), WORDS));
    }
    if program.contains('=') || program.starts_with('-') {
        return Err((format!("`{program}` is no program"), WORDS));
    }
    Ok(words.into_iter().map(str::to_owned).collect())
}

fn because(forbid: &Forbid, sink: &mut Sink) -> Option<String> {
    let because = forbid.because.as_ref()?;
    let text = because.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        sink.push(
            Diagnostic::new(Code::InvalidValue, "a reason is one line of text")
                .at_opt(because.span, if text.is_empty() { "empty" } else { "more than one line" })
                .help("write it in one line, or leave `because` out"),
        );
    }
    Some(text.to_owned())
}

/// The rule that tells agents, without which `advised` would be untrue; none when nothing is forbidden.
pub(super) fn rule(forbidden: &[Forbidden], merged: &Merged<'_>, sink: &mut Sink) -> Option<Rule> {
    let source = forbidden.iter().find_map(|f| f.span)?.source;
    if let Some(own) = merged.rules.get(RULE) {
        sink.push(
            Diagnostic::new(Code::RuleName, format!("`{RULE}` cannot name a rule: `commands.forbid` makes that one"))
                .at_opt(own.meta.title.span, "")
                .help("give the file another name"),
        );
    }
    let mut body = String::from(
        "Never run these commands, whatever follows their words: not by a path, not through `bash -c`, `env`, a script \
         or another program that does the same. When the task needs one, say so and leave it to a person.\n\n",
    );
    for f in forbidden {
        let because = f.because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let _ = writeln!(body, "- `{}`{because}", f.command());
    }
    Some(Rule {
        id: RULE.to_owned(),
        source,
        title: "Forbidden commands".to_owned(),
        activation: RuleActivation::Always,
        main: true,
        roles: true,
        body,
        body_at: 0,
        template: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_words_and_nothing_a_shell_would_read_otherwise() {
        for (run, expected) in [
            ("rm", Some("rm")),
            ("rm *", Some("rm")),
            (" git  push --force * ", Some("git push --force")),
            ("npm run deploy:prod", Some("npm run deploy:prod")),
            ("./scripts/drop.sh *", Some("./scripts/drop.sh")),
            ("env X=1 *", Some("env X=1")),
            ("", None),
            ("*", None),
            ("rm*", None),
            ("git * --force", None),
            ("* x", None),
            ("rm * *", None),
            ("rm 'a b'", None),
            ("a | b", None),
            ("a && b", None),
            ("a\tb", None),
            ("X=1 rm", None),
            ("-rf", None),
            ("rm ~/x", None),
            ("rm ä", None),
            ("del C:\\x", None),
        ] {
            assert_eq!(words(run).ok().map(|w| w.join(" ")).as_deref(), expected, "{run}");
        }
    }
}
