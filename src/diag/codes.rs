//! Every diagnostic code once: identity, default level, title and explanation.

use super::Severity;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = ($id:literal, $severity:ident, $title:literal);)+) => {
        /// The identity of a kind of diagnostic. The doc text of each is its public explanation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name),+ }

        impl Code {
            /// All codes in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The stable `kebab-case` identity.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id),+ }
            }

            /// The level a diagnostic of this code has by itself.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),+ }
            }

            /// One line for lists.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// Why it is reported and what to do, in Markdown.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc, "\n"),+)),+ }
            }
        }
    };
}

codes! {
    /// A source is not well-formed YAML, or goes over the limits set for sources (1 MiB, 20,000 nodes,
    /// 24 levels, one document).
    YamlSyntax = ("yaml-syntax", Error, "a source is not well-formed YAML");
    /// A key that the schema does not know. Unknown keys are never ignored: a misspelt restriction would
    /// silently not exist.
    UnknownKey = ("unknown-key", Error, "a key that the schema does not know");
    /// The same key twice in one mapping; one of the two would be lost.
    DuplicateKey = ("duplicate-key", Error, "the same key twice in one mapping");
    /// A key that must be there is missing.
    MissingKey = ("missing-key", Error, "a required key is missing");
    /// A value of the wrong kind, or outside the values allowed here.
    InvalidValue = ("invalid-value", Error, "a value of the wrong kind or out of range");
    /// A file that is no acceptable text: not UTF-8, larger than 1 MiB, or with a NUL byte or control
    /// characters in it. It is not read any further.
    Encoding = ("encoding", Error, "a file is not acceptable text");
    /// Characters that cannot be seen, or that change the order in which the text is seen (bidirectional
    /// overrides, tag characters, spaces without width). An agent would read what a reviewer cannot.
    HiddenText = ("hidden-text", Warning, "characters that a reviewer cannot see");
    /// A role or rule file without front matter, or with one that is not closed. The file must start
    /// with a `---` line and a second `---` line must end the YAML.
    FrontMatter = ("front-matter", Error, "a Markdown source has no complete front matter");
}
