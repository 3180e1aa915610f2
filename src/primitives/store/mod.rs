//! Documents with metadata, and conversations, in one SQLite file: full text, vectors, and the facts that filters ask
//! for.
//!
//! A filter is applied before anything is ranked or counted, and ranking counts only what the filter let through: with
//! a filter, an answer is exactly what a store that holds nothing else would give.

mod answer;
mod facts;
mod file;
mod filter;
mod memory;
mod put;
mod rank;
mod search;
#[cfg(test)]
mod tests;
mod vectors;

use std::path::PathBuf;

pub use answer::call;
pub use filter::Filter;
pub use put::{Document, Loaded, admissible};

use super::embed::Embedder;
use super::wanted::Wanted;

/// Where a store is, and how it is read.
pub struct StoreFile {
    /// The file; its links are followed already.
    pub path: PathBuf,
    /// As the policy names it.
    pub name: String,
    /// What makes vectors.
    pub embedder: Embedder,
    /// Results when a call says nothing, and at most.
    pub results: (u64, u64),
}

/// An open store.
pub struct Store {
    base: rusqlite::Connection,
    file: StoreFile,
    /// Whether the embedder was seen to be the one that made the vectors.
    known: bool,
    /// Vectors that were read already.
    vectors: vectors::Vectors,
    /// Whether what it works on is still wanted.
    wanted: Wanted,
}

/// What a row belongs to; a search of one never sees the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Documents = 0,
    Turns = 1,
}
