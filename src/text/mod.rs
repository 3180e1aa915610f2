//! Pure string helpers that know nothing of policies.

pub mod block;
pub mod bytes;
pub mod digest;
pub mod eol;
pub mod suggest;
