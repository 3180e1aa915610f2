//! One local server of tools per role: composes, narrows, bounds and records.
//!
//! The list of tools is made once, from the policy and what is known of the servers, and stays for the life of the
//! process. No session, no call and no server can change it.

pub mod bound;
pub mod compose;
mod folder;
mod front;
pub mod known;
mod masked;
mod own;
mod record;
mod runtime;
mod session;
mod start;
mod upstream;
mod warden;

pub use start::{Gateway, Options, described};
