//! Pure string helpers that know nothing of policies.

pub mod bytes;
pub mod encoding;
pub mod frontmatter;
pub mod markdown;
pub mod suggest;
pub mod toml;
