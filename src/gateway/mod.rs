//! One local server of tools per role: composes, narrows, bounds and records.
//!
//! The list of tools is made once, from the policy and what is known of the servers, and stays for the life of the
//! process. No session, no call and no server can change it.
//!
//! What composes is there in every build, because `check` holds the policy against pins with it; what serves is the
//! feature `gateway`.

#[cfg(feature = "gateway")]
pub mod bound;
#[cfg(feature = "gateway")]
mod built_in;
pub mod compose;
#[cfg(feature = "gateway")]
mod folder;
#[cfg(feature = "gateway")]
mod front;
#[cfg(feature = "gateway")]
mod heard;
pub mod known;
#[cfg(feature = "gateway")]
mod masked;
#[cfg(feature = "gateway")]
mod own;
#[cfg(feature = "gateway")]
mod program;
#[cfg(feature = "gateway")]
mod record;
#[cfg(feature = "gateway")]
mod runtime;
#[cfg(feature = "gateway")]
mod session;
#[cfg(feature = "gateway")]
mod start;
#[cfg(feature = "gateway")]
mod told;
#[cfg(feature = "gateway")]
mod upstream;
#[cfg(feature = "gateway")]
mod warden;

#[cfg(feature = "gateway")]
pub use built_in::store_file;
#[cfg(feature = "gateway")]
pub use start::{Gateway, Options, described};
