//! `packet`: what one agent hands to another.

use crate::diag::{Sink, intake};
use crate::load;
use crate::packet;
use crate::resolve;
use crate::system::os;
use crate::text::suggest::nearest;
use crate::yaml::MAX_SOURCE_BYTES;

use super::args::{Global, PacketArgs, PacketCommand};
use super::exit::{Exit, Failure};
use super::place;
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// An invalid policy, an unknown role, or a packet that cannot be read.
pub fn run(args: &PacketArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    let mut sink = Sink::new();
    let mut loaded = load::load(&place.system, place.policy.as_deref(), &mut sink);
    let policy = (!sink.has_errors()).then(|| resolve::resolve(&loaded, &[], &mut sink));
    let Some(policy) = policy.filter(|_| !sink.has_errors()) else {
        ui.diagnostics(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    };
    match &args.command {
        PacketCommand::New { role: name } => {
            let names = || policy.roles.iter().map(|r| r.id.as_str());
            let role = policy.roles.iter().find(|r| r.id == *name).ok_or_else(|| {
                Failure::usage(format!("unknown role `{name}`")).help(match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known roles: {}", names().collect::<Vec<_>>().join(", ")),
                })
            })?;
            ui.result(&packet::skeleton(&policy, role));
            Ok(Exit::Clean)
        }
        PacketCommand::Check { file } => {
            let bytes = os::named(file, MAX_SOURCE_BYTES)
                .map_err(|e| Failure::environment(format!("cannot read `{file}`: {e}")))?;
            let name = if file == "-" { "<stdin>" } else { file };
            // Findings about the packet are the result; the policy's own have no place among them.
            let mut found = Sink::new();
            if let Some(source) = intake::admit(name, &bytes, MAX_SOURCE_BYTES, &mut loaded.sources, &mut found) {
                packet::check(&policy, source, &loaded.sources, &mut found);
            }
            ui.findings(&found, &loaded.sources);
            if found.has_errors() {
                return Ok(Exit::Drift);
            }
            ui.say(&format!("{name} can be sent"));
            Ok(Exit::Clean)
        }
    }
}
