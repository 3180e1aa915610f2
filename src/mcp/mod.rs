//! Our own client of MCP servers: raw JSON-RPC, so that nothing a server says is lost to a type that does
//! not know it. What is pinned, judged or passed on is what was really said.
//!
//! Two transports, one line of JSON at a time on standard streams, and streamable HTTP; both bounded in time and
//! bytes. A server that asks something of us (sampling, roots, elicitation) is told that there is no such method.

#[cfg(feature = "gateway")]
mod client;
#[cfg(feature = "gateway")]
mod fetch;
#[cfg(feature = "gateway")]
mod http;
mod launch;
mod limits;
#[cfg(feature = "gateway")]
mod lines;
#[cfg(feature = "gateway")]
mod listing;
#[cfg(feature = "gateway")]
mod peer;
mod problem;
#[cfg(feature = "gateway")]
mod stdio;
#[cfg(feature = "gateway")]
mod tail;
#[cfg(feature = "gateway")]
mod tls;
#[cfg(feature = "gateway")]
mod told;

#[cfg(feature = "gateway")]
pub use client::Client;
#[cfg(feature = "gateway")]
pub use fetch::{Fetched, fetch};
pub use launch::{Launch, References, Transport, base, references};
pub use limits::Limits;
#[cfg(feature = "gateway")]
pub use listing::Listing;
pub use problem::{Failed, Problem};
#[cfg(feature = "gateway")]
pub use told::{Listening, Told};

/// The protocol version that is asked for, and the newest that is understood.
pub const PROTOCOL: &str = "2025-11-25";

/// Every version that is understood.
pub const KNOWN: &[&str] = &[PROTOCOL, "2025-06-18", "2025-03-26", "2024-11-05"];

#[cfg(all(test, unix, feature = "gateway"))]
mod http_tests;
#[cfg(all(test, unix, feature = "gateway"))]
mod stdio_tests;
