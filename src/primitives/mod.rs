//! Primitives of this program itself, from which tools are made as from those of a server: search over a store of
//! documents, their metadata, conversations, and declared calls of web interfaces.
//!
//! Few and central, so that a review of them is a review of every tool made from them. Everything here waits for
//! nobody but the disk and the embedder's program; whoever serves calls puts it on a thread of its own.

pub mod definition;
#[cfg(feature = "gateway")]
pub mod embed;
#[cfg(feature = "gateway")]
pub mod lines;
#[cfg(feature = "gateway")]
pub mod request;
#[cfg(feature = "gateway")]
pub mod store;
#[cfg(feature = "gateway")]
mod wanted;

#[cfg(feature = "gateway")]
pub use store::{Store, StoreFile};
#[cfg(feature = "gateway")]
pub use wanted::{Holder, Wanted};
