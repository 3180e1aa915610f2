//! The `rolecast` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    rolecast::cli::main()
}
