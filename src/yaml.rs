//! YAML text to typed values with byte spans. The only module that names the YAML crate.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location};

use crate::diag::{Code, Diagnostic, SourceId, Span};
use crate::text::suggest::nearest;

mod alternative;
mod place;
mod words;

pub(crate) use alternative::alternatives;
use words::{alternative_help, help_for, kind_words, message_help};

/// Largest source read, in bytes; one place for the number.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

thread_local! {
    /// What is being parsed, so that a value can know its file: `Deserialize` has no way to be told.
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

struct Current {
    yaml: Rc<str>,
    source: SourceId,
    base: u32,
}

/// A value with the place it was written at. Equality, order and hash are the value's alone, so that
/// it can be a map key. Values that no file wrote (defaults) have no span.
#[derive(Debug, Clone, Default)]
pub struct Sp<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Option<Span>,
}

impl<T> Sp<T> {
    /// A value that no file wrote.
    pub const fn bare(value: T) -> Self {
        Self { value, span: None }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Sp<U> {
        Sp { value: f(self.value), span: self.span }
    }
}

impl<T> Deref for Sp<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Sp<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
impl<T: Eq> Eq for Sp<T> {}
impl<T: PartialOrd> PartialOrd for Sp<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.value.partial_cmp(&other.value)
    }
}
impl<T: Ord> Ord for Sp<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value.cmp(&other.value)
    }
}
impl<T: Hash> Hash for Sp<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}
impl std::borrow::Borrow<str> for Sp<String> {
    fn borrow(&self) -> &str {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sp<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_saphyr::Spanned::<T>::deserialize(deserializer)?;
        let span = CURRENT.with_borrow(|current| {
            let Current { yaml, source, base } = current.as_ref()?;
            let (start, end) = range(spanned.referenced.span(), 0)?;
            // A collection is located by its first byte or by none; its first words are what one sees.
            let wide = if end <= start + 1 {
                place::widen(yaml, start as usize..end as usize)
            } else {
                start as usize..end as usize
            };
            // The parser counts the line break after a block of text, and the indentation of what follows.
            let seen = yaml.get(wide.clone()).map_or(wide.end, |text| wide.start + text.trim_end().len());
            let wide = wide.start..seen.max(wide.start);
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX).saturating_add(*base);
            Some(Span { source: *source, start: offset(wide.start), end: offset(wide.end) })
        });
        Ok(Self { value: spanned.value, span })
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Sp<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

fn range(span: serde_saphyr::Span, base: u32) -> Option<(u32, u32)> {
    let start = u32::try_from(span.byte_offset()?).ok()?.checked_add(base)?;
    let end = start.checked_add(u32::try_from(span.byte_len().unwrap_or(0)).ok()?)?;
    Some((start, end))
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 20_000,
            max_depth: 24,
            max_aliases: 32,
            max_anchors: 16,
            max_documents: 1,
            max_total_scalar_bytes: MAX_SOURCE_BYTES,
        },
        merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        with_snippet: false,
    }
}

/// Reads `yaml`, which starts `base` bytes into source `source`.
///
/// # Errors
/// The first problem of the text, with its place.
pub fn parse<T: DeserializeOwned>(yaml: &str, source: SourceId, base: u32) -> Result<T, Box<Diagnostic>> {
    if yaml.len() > MAX_SOURCE_BYTES {
        let message = format!("{} bytes of YAML, more than the {MAX_SOURCE_BYTES} a source may have", yaml.len());
        return Err(Box::new(
            Diagnostic::new(Code::YamlSyntax, message).at(Span { source, start: base, end: base }, ""),
        ));
    }
    let outer = CURRENT.replace(Some(Current { yaml: yaml.into(), source, base }));
    let result = serde_saphyr::from_str_with_options::<T>(yaml, options());
    CURRENT.set(outer);
    result.map_err(|error| Box::new(Text { yaml, source, base }.diagnostic(&error)))
}

/// The text an error is in.
struct Text<'a> {
    yaml: &'a str,
    source: SourceId,
    base: u32,
}

impl Text<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX).saturating_add(self.base);
        Span { source: self.source, start: offset(range.start), end: offset(range.end) }
    }

    /// The parser's place; syntax errors have only a line and a column.
    fn range(&self, location: Option<Location>) -> Range<usize> {
        let Some(location) = location else { return 0..0 };
        let known = range(location.span(), 0).map(|(start, end)| start as usize..end as usize);
        known.filter(|range| range.end <= self.yaml.len()).unwrap_or_else(|| {
            let at = place::offset_of(self.yaml, location.line(), location.column());
            at..at
        })
    }

    fn diagnostic(&self, error: &Error) -> Diagnostic {
        let error = error.without_snippet();
        if let Error::AliasError { error: inner, locations, .. } = error {
            let used = self.range(Some(locations.reference_location));
            return self.diagnostic(inner).also(Some(self.span(place::widen(self.yaml, used))), "used here");
        }
        let at = self.value_range(error, self.range(error.location()));
        match error {
            Error::SerdeUnknownField { field, expected, .. } => self.unknown_key(field, expected, at),
            Error::DuplicateMappingKey { key, .. } => self.duplicate_key(key.as_deref(), at),
            Error::SerdeMissingField { field, .. } => self.missing_key(field, at.start),
            Error::SerdeUnknownVariant { variant, expected, .. } => self.unknown_word(variant, expected, at),
            _ => self.wrong_value(error, at.clone()).unwrap_or_else(|| self.syntax(error, at)),
        }
    }

    /// Errors about the shape of an alternative carry the place of the key whose value it is.
    fn value_range(&self, error: &Error, at: Range<usize>) -> Range<usize> {
        let of_value = match error {
            Error::SerdeUnknownVariant { variant, .. } => self.yaml.get(at.clone()).is_some_and(|word| word != variant),
            Error::SerdeInvalidType { .. } | Error::SerdeInvalidValue { .. } => true,
            _ => false,
        };
        of_value.then(|| place::value_of(self.yaml, at.clone())).flatten().unwrap_or(at)
    }

    fn unknown_key(&self, field: &str, expected: &[&'static str], at: Range<usize>) -> Diagnostic {
        let diagnostic = Diagnostic::new(Code::UnknownKey, format!("unknown key `{field}`"))
            .at(self.span(place::widen(self.yaml, at)), "not a key of this mapping");
        if expected.is_empty() {
            return diagnostic.help("this mapping has no keys: write `{}`");
        }
        diagnostic.suggest(field, expected.iter().copied())
    }

    fn duplicate_key(&self, key: Option<&str>, at: Range<usize>) -> Diagnostic {
        let written = self.yaml.get(at.clone()).unwrap_or("");
        let first = place::first_twin(self.yaml, at.clone()).map(|range| self.span(range));
        Diagnostic::new(Code::DuplicateKey, format!("duplicate key `{}`", key.unwrap_or(written)))
            .at(self.span(at), "this mapping has the key already")
            .also(first, "first written here")
            .help("remove one of the two")
    }

    /// The parser stands at the last key of the mapping.
    fn missing_key(&self, field: &str, at: usize) -> Diagnostic {
        let start = place::mapping_start(self.yaml, at);
        let place = match self.yaml.as_bytes().get(start) {
            Some(b'{') => place::widen(self.yaml, start..start + 1),
            _ => start..place::word_end(self.yaml, start),
        };
        Diagnostic::new(Code::MissingKey, format!("missing key `{field}`"))
            .at(self.span(place), format!("`{field}` is required in this mapping"))
            .help(format!("add `{field}:`"))
    }

    fn unknown_word(&self, word: &str, expected: &[&'static str], at: Range<usize>) -> Diagnostic {
        // What stands where a variable is to be named is most often the secret itself, and so not repeated.
        if let ["env", "bearer", ..] = expected {
            return Diagnostic::new(Code::LiteralSecret, "a value is written down where a variable is to be named")
                .at(self.span(place::widen(self.yaml, at)), "would be committed")
                .help(alternative_help(expected).unwrap_or_default());
        }
        let diagnostic = Diagnostic::new(Code::InvalidValue, format!("`{word}` is not allowed here"))
            .at(self.span(place::widen(self.yaml, at)), "not one of the allowed values");
        match (nearest(word, expected.iter().copied()), alternative_help(expected)) {
            (Some(name), _) => diagnostic.help(format!("did you mean `{name}`?")),
            (None, Some(help)) => diagnostic.help(help),
            (None, None) => diagnostic.help(format!("allowed: {}", expected.join(", "))),
        }
    }

    /// A value that is YAML but not what the schema wants.
    fn wrong_value(&self, error: &Error, at: Range<usize>) -> Option<Diagnostic> {
        let found = self.found(&at);
        let expected = |what: &str| format!("expected {what}, found {found}");
        let word = self.yaml.get(at.clone()).unwrap_or("").trim();
        let message = match error {
            // A bare word where the alternative takes a value.
            Error::SerdeInvalidType { unexpected, .. } if unexpected == "unit variant" => {
                format!("`{word}` needs a value")
            }
            Error::Message { msg, .. } => msg.clone(),
            Error::Unexpected { expected: what, .. } => expected(kind_words(what)),
            Error::SerdeInvalidType { expected: what, .. }
            | Error::SerdeInvalidValue { expected: what, .. }
            | Error::SerdeInvalidLength { expected: what, .. } => expected(kind_words(what)),
            Error::InvalidScalar { ty, .. } => expected(kind_words(ty)),
            Error::InvalidBooleanStrict { .. } => expected("a boolean"),
            Error::NullIntoString { .. } => "expected text, found nothing".to_owned(),
            Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => expected("a word or a mapping with one key"),
            Error::ExpectedStringKeyForExternallyTaggedEnum { .. } => expected("a mapping with one key"),
            Error::ExpectedMappingEndAfterEnumVariantValue { .. } => "only one of these keys can be given".to_owned(),
            Error::UnexpectedValueForUnitEnumVariant { .. } | Error::UnexpectedValueForUnit { .. } => {
                "this word stands alone and takes no value".to_owned()
            }
            _ => return None,
        };
        let diagnostic = Diagnostic::new(Code::InvalidValue, message).at(self.span(place::widen(self.yaml, at)), "");
        Some(match message_help(error, &found) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        })
    }

    /// What stands at a place, for "found …".
    fn found(&self, at: &Range<usize>) -> String {
        let rest = self.yaml.get(at.start..).unwrap_or("");
        let written = self.yaml.get(at.clone()).unwrap_or("").trim();
        if rest.starts_with("{}") {
            return "an empty mapping".to_owned();
        }
        if rest.starts_with([':', ',', ']', '}']) && written.len() <= 1 {
            return "nothing".to_owned();
        }
        if rest.starts_with('[') || (written.is_empty() && (rest.starts_with("- ") || rest.starts_with("-\n"))) {
            return "a list".to_owned();
        }
        if rest.starts_with('{') || (written.is_empty() && rest.starts_with(|c: char| c.is_alphanumeric() || c == '"'))
        {
            return "a mapping".to_owned();
        }
        match written {
            "" | "~" | "null" | "Null" | "NULL" => "nothing".to_owned(),
            long if long.lines().count() > 1 || long.chars().count() > 60 => {
                let start: String = long.lines().next().unwrap_or("").chars().take(60).collect();
                format!("`{start}` …")
            }
            word => format!("`{word}`"),
        }
    }

    fn syntax(&self, error: &Error, at: Range<usize>) -> Diagnostic {
        let (message, help) = syntax_words(error);
        let tab = message.contains("tab").then(|| place::tab_near(self.yaml, at.start)).flatten();
        let place = match (&tab, error) {
            (Some(tab), _) => tab.clone(),
            (None, Error::UnsupportedTag { .. } | Error::TaggedStructFieldName { .. }) => {
                place::tag_before(self.yaml, at.start).unwrap_or(at)
            }
            (None, Error::UnknownAnchor { .. }) => at.start..place::word_end(self.yaml, at.start),
            _ if at.is_empty() => at.start..self.yaml.ceil_char_boundary((at.start + 1).min(self.yaml.len())),
            _ => at.start..at.end.min(at.start + 200),
        };
        let message = if tab.is_some() { "a tab where YAML wants spaces".to_owned() } else { message };
        let help = if tab.is_some() { Some("indent with spaces") } else { help };
        let diagnostic = Diagnostic::new(Code::YamlSyntax, message).at(self.span(place), "");
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

/// What is wrong with the YAML itself, and what to do.
fn syntax_words(error: &Error) -> (String, Option<&'static str>) {
    let fixed = |message: &str, help| (message.to_owned(), Some(help));
    match error {
        Error::MultipleDocuments { .. } | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            fixed("more than one YAML document in a file", "write everything in one document")
        }
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
                fixed("more than 20000 values in a file", "split the file")
            }
            BudgetBreach::Depth { .. } => fixed("nested deeper than 24 levels", "write it flatter"),
            BudgetBreach::Aliases { .. } => fixed("more than 32 aliases in a file", "write the values out"),
            BudgetBreach::Anchors { .. } => fixed("more than 16 anchors in a file", "write the values out"),
            _ => fixed("the file goes over the limits of a source", "split the file"),
        },
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            fixed("aliases expand to too many values", "write the values out")
        }
        Error::MergeKeyNotAllowed { .. } => fixed("merge keys (`<<`) are not read", "write the keys out"),
        Error::UnsupportedTag { tag, .. } | Error::TaggedStructFieldName { tag, .. } => {
            (format!("the tag `{tag}` is not read"), Some("a text that starts with `!` must be quoted"))
        }
        Error::UnknownAnchor { .. } => {
            fixed("an alias for an anchor that does not exist", "a text that starts with `*` must be quoted")
        }
        Error::ExternalMessage { msg, .. } if msg.starts_with("recursion limit") => {
            fixed("nested deeper than 24 levels", "write it flatter")
        }
        Error::ExternalMessage { msg, .. } => (msg.replace('\'', "`"), help_for(msg)),
        other => {
            let text = other.to_string();
            let line = text.lines().next().unwrap_or("not well-formed YAML");
            (line.split(" at line ").next().unwrap_or(line).replace('\'', "`"), None)
        }
    }
}

#[cfg(test)]
mod tests;
