//! The command line: arguments in, exit code out.

#[cfg(feature = "gateway")]
mod accept;
mod args;
mod audit;
mod check;
mod compiled;
mod completions;
mod drift;
mod env;
#[cfg(feature = "gateway")]
mod eval;
mod exit;
mod explain;
mod guard;
mod hosts;
mod init;
mod measure;
mod minimal;
mod packet;
mod pinned;
mod place;
#[cfg(feature = "gateway")]
mod primitives;
mod put;
mod render;
mod role;
mod run;
mod schema;
#[cfg(feature = "gateway")]
mod serve;
#[cfg(feature = "gateway")]
mod today;
mod ui;
#[cfg(feature = "gateway")]
mod verify;

use std::panic;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
pub use exit::Exit;
#[cfg(not(feature = "gateway"))]
use exit::Failure;
use ui::Ui;

/// Runs the program.
pub fn main() -> ExitCode {
    // Asked before every call of a tool: nothing else is set up first.
    if let Some(code) = guard::asked() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // `--help` and `--version` are no errors, and go to standard output.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Clean };
            ui::clap_message(&error);
            return code.into();
        }
    };
    let ui = Ui::new(&arguments.global);
    match panic::catch_unwind(panic::AssertUnwindSafe(|| run(&arguments, &ui))) {
        Ok(exit) => exit.into(),
        Err(_) => {
            ui.error("internal error; this is a fault of rolecast, please report it");
            Exit::Internal.into()
        }
    }
}

fn run(arguments: &Arguments, ui: &Ui) -> Exit {
    let global = &arguments.global;
    let result = match &arguments.command {
        Command::Init(args) => init::run(args, global, ui),
        Command::Render(args) => render::run(args, global, ui),
        Command::Check(args) => check::run(args, global, ui),
        Command::Explain(args) => explain::run(args, global, ui),
        Command::Audit(args) => audit::run(args, global, ui),
        #[cfg(feature = "gateway")]
        Command::Primitives(args) => primitives::run(args, global, ui),
        Command::Role(args) => role::run(args, global, ui),
        #[cfg(feature = "gateway")]
        Command::Eval(args) => eval::run(args, global, ui),
        #[cfg(feature = "gateway")]
        Command::ScenarioServer(args) => eval::serve(args),
        #[cfg(not(feature = "gateway"))]
        Command::Eval(_) | Command::ScenarioServer(_) => Err(Failure::absent("eval")),
        Command::Measure(args) => measure::run(args, global, ui),
        Command::Packet(args) => packet::run(args, global, ui),
        Command::Hosts(args) => hosts::run(args, global, ui),
        Command::Schema(args) => schema::run(args, ui),
        #[cfg(feature = "gateway")]
        Command::Verify(args) => verify::run(args, global, ui),
        Command::Guard(args) if args.context => return guard::tell_context(&args.host, global.root.as_deref()),
        Command::Guard(args) => return guard::run(&args.host, global.root.as_deref()),
        #[cfg(feature = "gateway")]
        Command::Serve(args) => serve::run(args, global, ui),
        #[cfg(feature = "gateway")]
        Command::VerifyServer => verify::serve(),
        #[cfg(not(feature = "gateway"))]
        Command::Verify(_) | Command::VerifyServer => Err(Failure::absent("verify")),
        #[cfg(not(feature = "gateway"))]
        Command::Serve(_) => Err(Failure::absent("serve")),
        #[cfg(not(feature = "gateway"))]
        Command::Primitives(_) => Err(Failure::absent("primitives")),
        Command::Run(args) => run::run(args, global, ui),
        Command::Completions(args) => completions::run(args, ui),
    };
    result.unwrap_or_else(|failure| {
        ui.failure(&failure);
        failure.exit
    })
}
