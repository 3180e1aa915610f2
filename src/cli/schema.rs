//! `schema`

use super::args::SchemaArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// See the exit codes.
pub fn run(_args: &SchemaArgs, _ui: &Ui) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Internal, "not built yet"))
}
