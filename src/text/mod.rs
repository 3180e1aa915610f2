//! Pure string helpers that know nothing of policies.

pub mod bytes;
pub mod suggest;
