//! Programs as tools: what is started for a call.

use super::composed::Program;
use super::servers;
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::composed::ComposedTool;
use crate::text::suggest::nearest;
use crate::yaml::Sp;

/// Seconds of a call when the policy says nothing.
const TIMEOUT: u64 = 60;

/// Resolves the program of a tool.
pub(super) fn resolve(name: &Sp<String>, words: &[Sp<String>], raw: &ComposedTool, sink: &mut Sink) -> Program {
    let first = words.first();
    if first.is_none_or(|program| program.trim().is_empty() || program.contains(['{', '}'])) {
        let message = format!("tool `{}` names no program", name.value);
        let span = first.and_then(|w| w.span).or(name.span);
        sink.push(wrong(message, span, "").help("write `command: [PROGRAM, …]`; a model never chooses the program"));
    }
    for word in words.iter().skip(1) {
        for parameter in placeholders(word) {
            let bound: Vec<&str> = match raw.bind.is_empty() {
                true => raw.arguments.keys().map(|key| key.as_str()).collect(),
                false => raw.bind.keys().map(|key| key.as_str()).collect(),
            };
            if bound.contains(&parameter) {
                continue;
            }
            let message = format!("the program of `{}` is given `{{{parameter}}}`, which is not there", name.value);
            let d = wrong(message, word.span, "no parameter has this name");
            sink.push(match nearest(parameter, bound) {
                Some(near) => d.help(format!("did you mean `{{{near}}}`?")),
                None => d.help("declare it in `arguments`, or bind it"),
            });
        }
    }
    let seconds = raw.timeout.as_ref().and_then(|t| t.call.as_ref());
    if let Some(zero) = seconds.filter(|s| s.value == 0) {
        sink.push(
            wrong("a time-out of 0 ends every call".to_owned(), zero.span, "seconds").help("give it at least 1 second"),
        );
    }
    Program {
        command: words.to_vec(),
        env: servers::program(words, &raw.env, sink),
        seconds: seconds.map_or(TIMEOUT, |s| s.value),
    }
}

/// What belongs to a program would be lost without a word.
pub(super) fn strangers(name: &Sp<String>, raw: &ComposedTool, sink: &mut Sink) {
    let env = raw.env.keys().next().map(|key| ("env", key.span));
    let timeout = raw.timeout.as_ref().map(|t| ("timeout", t.call.as_ref().and_then(|c| c.span)));
    for (key, span) in env.into_iter().chain(timeout) {
        let message = format!("tool `{}` is made from a primitive and has no `{key}` of its own", name.value);
        sink.push(
            wrong(message, span.or(name.span), "belongs to a program").help("say it where the primitive is declared"),
        );
    }
}

fn wrong(message: String, span: Option<crate::diag::Span>, label: &str) -> Diagnostic {
    Diagnostic::new(Code::ToolProgram, message).at_opt(span, label)
}

/// The names of the placeholders in a word: `{name}`. Braces around anything else are text.
pub fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        is_name(name).then_some(name)
    })
}

/// Whether braces around this are a placeholder.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
