//! Plans to bytes.

pub mod artifact;
pub mod engine;
