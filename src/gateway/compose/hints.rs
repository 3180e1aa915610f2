//! The four hints, made by the policy: what a server says may make a tool look more dangerous, never less.

use serde_json::Value;

use crate::audit::effect::{self, Effect};
use crate::resolve::composed::HintChoices;
use crate::resolve::{CapSet, Catalogue};

/// All four hints of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may remove or overwrite.
    pub destructive: bool,
    /// A second equal call changes nothing more.
    pub idempotent: bool,
    /// It reaches beyond this machine.
    pub open_world: bool,
}

/// What only looks and stays on this machine.
pub(super) const LOOKS: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };

/// The hints of a tool that confers `caps`.
///
/// `narrowed` = some of what the primitive can do cannot be reached through this tool, so that the policy may say
/// less of it than the server says of the whole.
///
/// # Errors
/// A choice of the policy that cannot be true.
pub(super) fn of(
    caps: CapSet,
    catalogue: &Catalogue,
    raw: &Value,
    narrowed: bool,
    choices: &HintChoices,
) -> Result<Hints, String> {
    let said = |name: &str| raw.get("annotations").and_then(|a| a.get(name)).and_then(Value::as_bool);
    let effect = if caps.is_empty() { Effect::Changes } else { effect::strongest(caps, catalogue) };
    let objects = said("readOnlyHint") == Some(false) && !narrowed;
    let read_only = match choices.read_only {
        Some(true) if effect == Effect::Changes => {
            return Err("it confers what changes something, and so it is not read-only".to_owned());
        }
        Some(true) if objects => {
            return Err("its server says that it is not read-only, and nothing of it is bound or left out".to_owned());
        }
        Some(choice) => choice,
        None => match effect {
            Effect::Looks => said("readOnlyHint") != Some(false),
            Effect::Moves => said("readOnlyHint") == Some(true),
            Effect::Changes => false,
        },
    };
    let lowers = |choice: Option<bool>, hint: &str| choice == Some(false) && said(hint) == Some(true) && !narrowed;
    if lowers(choices.destructive, "destructiveHint") || lowers(choices.open_world, "openWorldHint") {
        return Err("its server says worse of it, and nothing of it is bound or left out".to_owned());
    }
    let stays = effect::stays(caps, catalogue);
    let open_world = choices.open_world.unwrap_or(!stays || said("openWorldHint") == Some(true));
    Ok(Hints {
        read_only,
        destructive: !read_only && choices.destructive.unwrap_or(said("destructiveHint") != Some(false)),
        idempotent: read_only || choices.idempotent.unwrap_or(said("idempotentHint") == Some(true)),
        open_world,
    })
}
