//! What was found of a host on this machine.

use serde::Serialize;

/// What is installed of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Installed {
    /// A program of this version.
    Version(String),
    /// Nothing that says its version, and why.
    No(String),
}
