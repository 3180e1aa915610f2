//! `render`

use super::args::{Global, RenderArgs};
use super::exit::{Exit, Failure};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// See the exit codes.
pub fn run(_args: &RenderArgs, _global: &Global, _ui: &Ui) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Internal, "not built yet"))
}
