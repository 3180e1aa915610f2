//! Pure string helpers that know nothing of policies.

pub mod address;
pub mod block;
pub mod bytes;
pub mod date;
pub mod digest;
pub mod encoding;
pub mod entries;
pub mod eol;
pub mod frontmatter;
pub mod glob;
pub mod json;
pub mod markdown;
pub mod redact;
pub mod secret;
pub mod suggest;
pub mod toml;
