//! Judgements on texts that are not ours to compile.

pub mod broken;
pub mod foreign;
