//! Starting a role as a process of its own, with the flags and files that make its limits real.

mod choose;
mod process;
mod quote;

use std::io::{self, Read as _};

use crate::compile::Compiled;
use crate::diag::Sink;
use crate::render::artifact::Artifact;
use crate::render::{Command, Scene};

pub use choose::{Choice, Refusal, choose};
pub use process::{Private, Start, start};
pub use quote::line;

/// The command of a choice; reports why there is none.
pub fn command(compiled: &Compiled, choice: &Choice<'_>, scene: Scene<'_>, sink: &mut Sink) -> Option<Command> {
    compiled.launch(&choice.adapter.id, &choice.on_host.role, &choice.plan.form, scene, sink)
}

/// The text of a packet; `-` is standard input.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn packet(path: &str) -> io::Result<String> {
    if path != "-" {
        return std::fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// Whether what the host is given depends on this file: it is rendered for the host, and is no file of another role.
pub fn depends(choice: &Choice<'_>, artifact: &Artifact) -> bool {
    let of_roles = choice.adapter.outputs.values().filter(|o| o.each.is_some());
    let mut of_roles = of_roles.filter(|o| {
        let (before, after) = o.file.split_once("{name}").unwrap_or((&o.file, ""));
        artifact.path.starts_with(before) && artifact.path.ends_with(after)
    });
    let mut own = choice.outputs().map(|o| o.file.replace("{name}", &choice.on_host.name));
    artifact.hosts.contains(&choice.adapter.id) && (of_roles.next().is_none() || own.any(|file| file == artifact.path))
}
