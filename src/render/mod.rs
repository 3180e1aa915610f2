//! Plans to bytes.

pub mod artifact;
