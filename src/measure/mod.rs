//! What sessions did: the logs that hosts write, held against the policy.
//!
//! Each kind of log has a reader below `read/` that turns its records into the events of [`event`], one after the
//! other; [`tally`] counts them per agent and keeps no event. A log may have gigabytes and pictures within: lines are
//! read one by one, and long texts are measured and dropped on the way ([`skim`]).

pub mod context;
pub mod event;
pub mod expect;
pub mod export;
pub mod find;
pub mod format;
pub mod found;
mod json;
pub mod judge;
pub mod judged;
mod lines;
pub mod propose;
mod read;
pub mod report;
pub mod sessions;
mod skim;
pub mod spread;
pub mod tally;
pub mod time;

pub use format::{Format, Read, read};
