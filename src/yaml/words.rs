//! The parser's words in the words of the people who write the files.

use serde_saphyr::Error;

/// What to write instead of a value of the wrong kind; `found` as in the message.
pub(super) fn message_help(error: &Error, found: &str) -> Option<String> {
    let word = found.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    match (error, word) {
        (Error::InvalidBooleanStrict { .. }, _) => Some("write `true` or `false`".to_owned()),
        (Error::Unexpected { expected: "sequence start", .. }, Some(word)) => Some(format!("write `[{word}]`")),
        (Error::Unexpected { expected: "mapping start", .. }, None) if found == "nothing" => {
            Some("write `{}` where nothing is to be said".to_owned())
        }
        (Error::Unexpected { expected: "mapping start", .. }, None) if found == "a list" => {
            Some("give each name a value, as in `{ name: … }`".to_owned())
        }
        (Error::Unexpected { expected: "mapping start", .. }, Some(word)) => {
            Some(format!("say what `{word}` is for, as in `{{ key: {word} }}`"))
        }
        _ => None,
    }
}

/// Kinds in the words of the file instead of those of the parser and the program.
pub(super) fn kind_words(kind: &str) -> &str {
    match kind {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "an integer" => "a whole number",
        "f32" | "f64" => "a number",
        "bool" => "a boolean",
        "string scalar" | "string" | "a string" | "scalar" => "a single value",
        "mapping start" | "map" | "a map" => "a mapping",
        "sequence start" | "seq" | "a sequence" => "a list",
        "enum" => "a word or a mapping with one key",
        kind if kind.starts_with("struct ") => "a mapping",
        kind => kind,
    }
}

/// How the alternatives that take a value are written, by the words they start with.
pub(super) fn alternative_help(expected: &[&'static str]) -> Option<&'static str> {
    match expected {
        ["env", "bearer", "literal"] => Some(
            "name a variable of the environment, as in `{ env: TOKEN }`; what is no secret may be `{ literal: text }`",
        ),
        ["always", "paths", "on-demand"] => {
            Some("write `always`, `{ paths: [\"docs/**\"] }` or `{ on-demand: \"when to read it\" }`")
        }
        ["argument", "constant", "runtime"] => {
            Some("say where the value comes from: `{ argument: … }`, `{ constant: … }` or `{ runtime: … }`")
        }
        _ => None,
    }
}

/// What to do about the mistakes people make most, by the parser's words for them.
pub(super) fn help_for(message: &str) -> Option<&'static str> {
    let helps = [
        ("mapping values are not allowed", "put a text that contains `: ` in quotes"),
        ("unknown escape character", "in double quotes write `\\\\` for a backslash, or use single quotes"),
        ("unexpected character", "put the text in quotes"),
        ("trailing content after single-quoted", "in single quotes write `''` for an apostrophe"),
    ];
    helps.iter().find(|(words, _)| message.contains(words)).map(|(_, help)| *help)
}
