//! A scripted stand-in for a model provider on loopback: it speaks four wire protocols, records what it is
//! sent, and answers with the next step of a script.

mod chat;
mod digest;
mod generate;
mod messages;
mod reply;
mod responses;
mod script;
mod server;
mod wire;

pub use digest::Digest;
pub use script::{Answer, Call, Input, Look, Rule, Script, Step, Wait};
pub use server::{Limits, Recorded, Server};
pub use wire::Wire;

#[cfg(test)]
mod tests;
