//! `role`

mod new;
mod show;
mod text;

use crate::diag::Sink;
use crate::load::{self, Loaded};
use crate::resolve::{self, Policy, Role};
use crate::text::suggest::nearest;

use super::args::{Global, RoleArgs, RoleCommand};
use super::exit::{Exit, Failure};
use super::place::{self, Place};
use super::ui::Ui;

/// Runs the command.
///
/// # Errors
/// An unknown or unusable name, an invalid policy, or a file that cannot be written.
pub fn run(args: &RoleArgs, global: &Global, ui: &Ui) -> Result<Exit, Failure> {
    let place = place::find(global)?;
    match &args.command {
        RoleCommand::New { name, from } => new::run(name, from.as_deref(), &place, ui),
        RoleCommand::List => show::list(&place, ui),
        RoleCommand::Show { name } => show::show(name, &place, ui),
    }
}

/// The sources, and the policy as far as it can be made of them.
struct Known {
    loaded: Loaded,
    policy: Policy,
    sink: Sink,
}

/// Reads the policy, or the shipped one where there is none.
///
/// # Errors
/// Its sources cannot be read; that has been reported.
fn known(place: &Place, ui: &Ui) -> Result<Known, Failure> {
    let mut sink = Sink::new();
    let loaded = load::load(&place.system, place.policy.as_deref(), &mut sink);
    if sink.has_errors() {
        ui.diagnostics(&sink, &loaded.sources);
        return Err(Failure::said(Exit::Policy));
    }
    let policy = resolve::resolve(&loaded, &[], &mut sink);
    Ok(Known { loaded, policy, sink })
}

impl Known {
    /// The role of that name.
    ///
    /// # Errors
    /// There is none.
    fn role(&self, name: &str) -> Result<&Role, Failure> {
        self.policy.roles.iter().find(|r| r.id == name).ok_or_else(|| {
            let names = || self.policy.roles.iter().map(|r| r.id.as_str());
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known roles: {}", names().collect::<Vec<_>>().join(", ")),
            };
            Failure::usage(format!("unknown role `{name}`")).help(help)
        })
    }

    /// The file of a role as printed, and its text as it is.
    fn source(&self, role: &Role) -> (&str, &str) {
        let source = self.loaded.sources.get(role.source);
        (&source.path, &source.text)
    }
}

/// Where a role comes from: `builtin`, or its file.
fn origin(path: &str) -> &str {
    if path.starts_with("<builtin>/") { load::builtin::NAME } else { path }
}
