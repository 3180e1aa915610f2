//! JSON as the readers of hosts take it. None of them takes everything that an editor would let pass, and some replace
//! a file that they cannot read: what only looser readers accept must then not be left in it.

use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use std::ops::Range;

use super::eol::BOM;

/// Comments and hanging commas, and nothing looser: two readers would not agree on what it says.
pub const LOOSE: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// What a reader refuses of that which others accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refused {
    /// Comments.
    pub comments: bool,
    /// A comma with nothing after it.
    pub commas: bool,
    /// A byte order mark.
    pub mark: bool,
}

impl Refused {
    /// What one of two readers refuses.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            comments: self.comments || other.comments,
            commas: self.commas || other.commas,
            mark: self.mark || other.mark,
        }
    }
}

/// Something in a text that plain JSON does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offence {
    /// What, with its article.
    pub what: String,
    /// Where, in bytes of the text.
    pub range: Range<usize>,
}

/// What keeps a reader from taking `text` for one JSON object, first to last; empty when nothing does.
pub fn offences(text: &str, refused: Refused) -> Vec<Offence> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    let mark = text.len() - bare.len();
    let mut found = Vec::new();
    if refused.mark && mark > 0 {
        found.push(Offence { what: "a byte order mark".into(), range: 0..mark });
    }
    found.extend(
        within(bare, refused)
            .into_iter()
            .map(|o| Offence { what: o.what, range: o.range.start + mark..o.range.end + mark }),
    );
    found
}

fn within(text: &str, refused: Refused) -> Vec<Offence> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = match parse_to_ast(text, &collect, &LOOSE) {
        Ok(parsed) => parsed,
        Err(error) => {
            let range = error.range().start..error.range().end;
            return vec![Offence { what: error.kind().to_string().to_lowercase(), range }];
        }
    };
    let found = loose(&parsed.tokens.unwrap_or_default(), refused);
    if !found.is_empty() {
        return found;
    }
    match parsed.value {
        Some(jsonc_parser::ast::Value::Object(_)) if refused.comments && refused.commas => {
            unread(text).into_iter().collect()
        }
        Some(jsonc_parser::ast::Value::Object(_)) => Vec::new(),
        Some(_) => vec![Offence { what: "something else than an object".into(), range: 0..text.len() }],
        None => vec![Offence { what: "nothing".into(), range: 0..text.len() }],
    }
}

/// Comments, and commas with nothing after them.
fn loose(tokens: &[TokenAndRange<'_>], refused: Refused) -> Vec<Offence> {
    let mut found = Vec::new();
    for (index, at) in tokens.iter().enumerate() {
        let what = match at.token {
            Token::CommentLine(_) | Token::CommentBlock(_) if refused.comments => "a comment",
            Token::Comma if refused.commas && closes(&tokens[index + 1..]) => "a comma with nothing after it",
            _ => continue,
        };
        found.push(Offence { what: what.into(), range: at.range.start..at.range.end });
    }
    found
}

fn closes(rest: &[TokenAndRange<'_>]) -> bool {
    let next = rest.iter().find(|at| !matches!(at.token, Token::CommentLine(_) | Token::CommentBlock(_)));
    next.is_some_and(|at| matches!(at.token, Token::CloseBrace | Token::CloseBracket))
}

/// What a second reader does not take: characters of control in strings, spaces of other scripts.
fn unread(text: &str) -> Option<Offence> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let start = text.floor_char_boundary((line + error.column().saturating_sub(1)).min(text.len()));
    let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    let what = error.to_string();
    Some(Offence { what: what.split(" at line ").next().unwrap_or_default().to_owned(), range: start..end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, &str)> {
        offences(text, PLAIN).into_iter().map(|o| (o.what, &text[o.range])).collect()
    }

    const PLAIN: Refused = Refused { comments: true, commas: true, mark: true };

    #[test]
    fn plain_json_is_let_pass() {
        assert_eq!(found("{}\n"), []);
        assert_eq!(found("{ \"a\": [1, -2.5e3, \"// no comment, }\"], \"b\": { \"c\": null } }"), []);
    }

    #[test]
    fn every_comment_and_hanging_comma_is_named_with_its_place() {
        let text = "{ // one\n  \"a\": [1, 2, /* two */ ],\n  \"b\": 1,\n}\n// three\n";
        let comma = "a comma with nothing after it".to_owned();
        let comment = "a comment".to_owned();
        assert_eq!(
            found(text),
            [
                (comment.clone(), "// one"),
                (comma.clone(), ","),
                (comment.clone(), "/* two */"),
                (comma, ","),
                (comment, "// three"),
            ]
        );
        let commas: Vec<usize> =
            offences(text, PLAIN).iter().filter(|o| o.what.contains("comma ")).map(|o| o.range.start).collect();
        assert_eq!(commas, [text.find("2,").unwrap() + 1, text.find("1,\n}").unwrap() + 1]);
    }

    #[test]
    fn what_is_not_one_object_is_named() {
        assert_eq!(found("\u{feff}{}"), [("a byte order mark".to_owned(), "\u{feff}")]);
        assert_eq!(found("[1]"), [("something else than an object".to_owned(), "[1]")]);
        assert_eq!(found(" \n")[0].0, "nothing");
        assert_eq!(found("{ \"a\": 1 ").len(), 1);
        assert_eq!(found("{ \"a\": 'b' }").len(), 1);
        assert_eq!(found("{ \"a\": 01 }").len(), 1);
    }

    /// Whatever passes here is read by an independent strict reader.
    #[test]
    fn a_tab_inside_a_string_is_no_plain_json() {
        assert_eq!(found("{ \"a\": \"x\ty\" }").len(), 1);
        assert_eq!(found("\u{feff}{\n \"ä\": \"\u{1}\" }").len(), 2);
    }

    #[test]
    fn only_what_a_reader_refuses_is_named() {
        let text = "\u{feff}{ /* c */ \"a\": 1, }";
        let count = |refused| offences(text, refused).len();
        assert_eq!(count(Refused::default()), 0);
        assert_eq!(count(Refused { comments: true, ..Refused::default() }), 1);
        assert_eq!(count(Refused { commas: true, ..Refused::default() }), 1);
        assert_eq!(count(Refused { mark: true, ..Refused::default() }), 1);
        assert_eq!(count(PLAIN), 3);
    }
}
