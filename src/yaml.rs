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

#[cfg(test)]
mod explore {
    use super::*;
    use crate::model::{adapter::Adapter, policy::PolicyFile, role::RoleFile, rule::RuleFile};
    fn show<T: DeserializeOwned>(text: &str) {
        let mut sources = crate::diag::SourceMap::default();
        let id = sources.add("x.yaml", text);
        let t = std::time::Instant::now();
        let raw = serde_saphyr::from_str_with_options::<T>(text, options()).err();
        let e = t.elapsed();
        match parse::<T>(text, id, 0) {
            Ok(_) => println!("=== OK {:?}", &text[..text.len().min(200)]),
            Err(d) => println!("=== {:?} {e:?}\n{}", raw.as_ref().map(|r| (r.without_snippet().to_string(), r.location())), crate::diag::render::render(crate::diag::render::Format::Human, [&*d], &sources, Default::default())),
        }
    }
    #[test]
    fn explore() {
        for t in ["version: one\n", "version: yes\n", "version: -1\n", "version: 99999999999999999999999\n", "version:\n", "version: [1]\n", "version: {a: 1}\n", "hosts: [codex]\n", "hosts: codex\n", "hosts:\n", "hosts: { codex: 3 }\n", "hosts: { codex: }\n", "hosts: { codex: {x: 1} }\n", "extends: builtin\n", "extends: [1]\n", "extends: [~]\n", "extends: [[a]]\n", "budgts: {}\n", "budgets:\n  tool-result:\n    target: 12KB\n", "budgets:\n  tool-result: {target: [1]}\n", "budgets:\n  tool-result: 12KiB\n", "budgets:\n  search: {target: 20, target: 30}\n", "version: 1\nversion: 1\n", "context: { hand-off: 120% }\n", "context: { hand-off: 75 }\n", "browser:\n  record-reason: yes\n", "browser:\n  record-reason: \"true\"\n", "browser:\n  record-reason: [true]\n", "browser:\n  escalate-for: [tracing, storage-stat]\n", "browser:\n  order: host\n", "delegation: { context: ful }\n", "servers:\n  a:\n    env: { T: literal }\n", "servers:\n  a:\n    env: { T: {env: A, literal: b} }\n", "servers:\n  a:\n    env: { T: {envv: A} }\n", "tools:\n  ü: x\n", "tools:\n  s:\n    description: d\n    primitive: a/b\n    arguments: {}\n", "tools:\n  s: { description: d }\n", "hosts: {a: {}, a: {}}\n", "? [a, b]\n: c\n", "1: 2\n", "hosts: {1: {}}\n", "hosts: {[a]: {}}\n", "<<: {version: 1}\n", "a: &a {version: 1}\n<<: *a\n", "version: !!str 1\n", "version: !foo 1\n", "extends: [!secret x]\n", "version: 1\n---\nversion: 1\n", "version: 1\n\thosts: {}\n", "hosts:\n\tcodex: {}\n", "hosts: {codex: {}\n", "extends: [a, b\nversion: 1\n", "version: \"1\n", "version: 1\n hosts: {}\n", "hosts:\n  codex: {}\n cursor: {}\n", "version: *x\n", "[1, 2]\n", "text\n", "", "# c\n", "~\n", "version: 1: 2\n", "a: @b\n", "%YAML 1.2\n---\nversion: 1\n", "version: 'it's'\n", "version: \"\\q\"\n", "a: b: c\n", "- a\nversion: 1\n", "\u{feff}budgts: {}\n", "# ü日\nbudgts: {}\n", "version: ü\r\n", "servers:\n  a: &x {command: y}\n  b: *x\n", "servers:\n  a: { timeout: &t {call: no} }\n  b: { timeout: *t }\n", "version: 1_000\n", "version: 0x10\n", "version: 017\n", "version: 1.5\n", "version: 1e3\n", "extends:\n  - |\n    ü\n  - 5\n", "acceptance:\n  a: { out-of-grant-calls: { r: -1 } }\n", "...\n", "version: 1\n...\nfoo\n", "? version\n: 1\n", "version : 1\n", "Version: 1\n"] { show::<PolicyFile>(t); }
        println!("######## rule");
        for t in ["activation: { path: [a] }\n", "title: a\nactivation: paths\n", "title: a\nactivation: { paths: a }\n", "title: a\nactivation: on-demand\n", "title: a\nactivation: {}\n", "title: a\nactivation: { paths: [a], on-demand: b }\n", "title: a\nactivation: [a]\n", "title: a\naudience: main\n", "activation: always\n", "{}\n", "order: 1\n", "title: ~\n", "title: true\n", "title: a\nactivation: { always: x }\n", "title: a\nactivation: 3\n", "title: a\nactivation: alway\n"] { show::<RuleFile>(t); }
        println!("######## role");
        for t in ["description: x\ngrants: [a]\n", "description: x\ndeny: { shell.run: enforce }\n", "description: x\nwaive: { codex: a }\n", "grants: {}\n", "description: x\ngrants: { a: { path: [x] } }\n", "description: x\ngrants: { a: { paths: x } }\n", "description: x\nstop: { a: b }\n","description: x\ntemplate: True\n", "description: [x\n"] { show::<RoleFile>(t); }
        println!("######## adapter");
        for t in ["id: x\n", "id: x\ntitle: y\nevidence: { version: 1, date: 2026-11-30, by: run }\n", "id: x\ntitle: y\nevidence:\n  version: 1\n  date: 2026-11-30\n"] { show::<Adapter>(t); }
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for i in 1..9 { bomb += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i-1); 9].join(",")); }
        show::<PolicyFile>(&bomb);
        show::<PolicyFile>(&format!("extends: {}", "[".repeat(20000)));
        show::<PolicyFile>(&format!("extends: [{}]", "a,".repeat(30000)));
        show::<PolicyFile>(&format!("extends: [{}]", "a".repeat(1<<20)));
        let mut bomb = String::from("hosts: &a0 {x: {}}\nservers:\n");
        for i in 0..50 { bomb += &format!("  s{i}: *a0\n"); }
        show::<PolicyFile>(&bomb);
    }
}
