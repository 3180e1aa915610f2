//! rolecast compiles one host-agnostic policy for AI coding agents into what every host really obeys.
//!
//! ```text
//! folders ─load→ Sources + Raw ─resolve→ Policy ─plan→ Plan + Ledger ─render→ [Artifact] ─compare→ [Change] ─┬ check: diff
//!                                                                                                            └ render: write
//! ```
//! Each arrow is one function and each type belongs to the stage on its left. The library promises no
//! stable interface; the program does.

pub mod audit;
pub mod cli;
pub mod compile;
pub mod diag;
pub mod edit;
#[cfg(feature = "gateway")]
pub mod eval;
pub mod gateway;
pub mod guard;
pub mod lint;
pub mod load;
pub mod mcp;
pub mod measure;
pub mod model;
pub mod packet;
pub mod plan;
pub mod primitives;
pub mod process;
pub mod render;
pub mod resolve;
pub mod run;
pub mod schema;
pub mod sync;
pub mod system;
pub mod text;
#[cfg(feature = "gateway")]
pub mod verify;
/// What the rest needs of trying hosts, in a program that does not.
#[cfg(not(feature = "gateway"))]
pub mod verify {
    mod found;
    mod platform;
    pub use found::Installed;
    pub use platform::Platform;
}
pub mod yaml;
