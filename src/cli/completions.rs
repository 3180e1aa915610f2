//! `completions`

use clap::CommandFactory;

use super::args::{Arguments, CompletionsArgs};
use super::exit::{Exit, Failure};
use super::ui::Ui;

/// Prints the completion script of a shell.
///
/// # Errors
/// The script is not text, which would be a fault of this program.
pub fn run(args: &CompletionsArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| Failure::new(Exit::Internal, format!("the {} script is not UTF-8", args.shell)))?;
    ui.result(&script);
    Ok(Exit::Clean)
}
