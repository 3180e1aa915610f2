//! YAML text to typed values with byte spans. The only module that names the YAML crate.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::diag::{Code, Diagnostic, SourceId, Span};
use crate::text::suggest::nearest;

/// Largest source read, in bytes; one place for the number.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

thread_local! {
    /// Which source is being parsed and where its YAML starts, so that a span can name its file.
    static CURRENT: Cell<(u32, u32)> = const { Cell::new((u32::MAX, 0)) };
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
        let (source, base) = CURRENT.get();
        let span = (source != u32::MAX)
            .then(|| range(spanned.referenced.span(), base))
            .flatten()
            .map(|(start, end)| Span { source: SourceId(source), start, end });
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
        with_snippet: false,
    }
}

/// Reads `yaml`, which starts `base` bytes into source `source`.
///
/// # Errors
/// The first problem of the text, with its place.
pub fn parse<T: DeserializeOwned>(yaml: &str, source: SourceId, base: u32) -> Result<T, Box<Diagnostic>> {
    CURRENT.set((source.0, base));
    let result = serde_saphyr::from_str_with_options::<T>(yaml, options());
    CURRENT.set((u32::MAX, 0));
    result.map_err(|error| Box::new(to_diagnostic(&error, yaml, source, base)))
}

fn to_diagnostic(error: &serde_saphyr::Error, yaml: &str, source: SourceId, base: u32) -> Diagnostic {
    use serde_saphyr::Error as E;
    let error = error.without_snippet();
    let located = error.location().and_then(|l| range(l.span(), base));
    let (start, end) = located.unwrap_or((base, base));
    let span = Span { source, start, end };
    let written = yaml.get((start - base) as usize..(end - base) as usize).unwrap_or("").trim_end();
    match error {
        E::SerdeUnknownField { field, expected, .. } => {
            Diagnostic::new(Code::UnknownKey, format!("unknown key `{field}`"))
                .at(span, "not a key of this mapping")
                .suggest(field, expected.iter().copied())
        }
        E::DuplicateMappingKey { key, .. } => {
            Diagnostic::new(Code::DuplicateKey, format!("duplicate key `{}`", key.as_deref().unwrap_or(written)))
                .at(span, "this mapping has the key already")
                .help("remove one of the two")
        }
        E::SerdeMissingField { field, .. } => Diagnostic::new(Code::MissingKey, format!("missing key `{field}`"))
            .at(span, format!("`{field}` is required in this mapping")),
        E::SerdeUnknownVariant { variant, expected, .. } => {
            let d = Diagnostic::new(Code::InvalidValue, format!("`{variant}` is not allowed here"))
                .at(span, "not one of the allowed values");
            match nearest(variant, expected.iter().copied()) {
                Some(name) => d.help(format!("did you mean `{name}`?")),
                None => d.help(format!("allowed: {}", expected.join(", "))),
            }
        }
        E::Message { msg, .. } => Diagnostic::new(Code::InvalidValue, msg.clone()).at(span, ""),
        E::SerdeInvalidType { expected, .. } | E::SerdeInvalidValue { expected, .. } => {
            Diagnostic::new(Code::InvalidValue, format!("expected {expected}")).at(span, "")
        }
        E::SerdeInvalidLength { expected, .. } => {
            Diagnostic::new(Code::InvalidValue, format!("expected {expected}")).at(span, "")
        }
        E::InvalidScalar { ty, .. } => Diagnostic::new(Code::InvalidValue, format!("expected {ty}")).at(span, ""),
        E::InvalidBooleanStrict { .. } => Diagnostic::new(Code::InvalidValue, format!("`{written}` is not a boolean"))
            .at(span, "")
            .help("write `true` or `false`"),
        E::NullIntoString { .. } => Diagnostic::new(Code::InvalidValue, "expected text, found nothing").at(span, ""),
        other => {
            let text = other.to_string();
            Diagnostic::new(Code::YamlSyntax, text.lines().next().unwrap_or("invalid YAML").to_owned()).at(span, "")
        }
    }
}
