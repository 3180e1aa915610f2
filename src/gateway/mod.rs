//! One local server of tools per role: composes, narrows, bounds and records.

pub mod bound;
pub mod compose;
mod folder;

pub use folder::Folder;
