//! What having a capability can do to the world: the side of the policy in a comparison with hints.

use crate::model::scalar::Risk;
use crate::resolve::{CapSet, Catalogue};

use super::words;

/// The strongest thing a set of capabilities does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing is different afterwards.
    Looks,
    /// Only what one looks at is different: another page is open.
    Moves,
    /// Something is different.
    Changes,
}

/// Built-in capabilities that change nothing.
const LOOKS: &[&str] = &[
    "repo.read",
    "repo.search",
    "repo.diff",
    "docs.validate",
    "web.fetch",
    "web.search",
    "docs.search",
    "docs.taxonomy",
    "docs.exhaustive",
    "memory.search",
    "memory.read",
    "memory.taxonomy",
    "ticket.read",
    "db.read",
    "user.ask",
    "plan.track",
    "skill.use",
    "image.view",
    "mcp.resources",
    "history.read",
];

/// Built-in capabilities that move a view.
const MOVES: &[&str] = &["browser.inspect", "browser.capture"];

/// Capabilities that reach beyond this machine. Services are not among them: whether one runs here is not known.
const REACHES_OUT: &[&str] =
    &["web.fetch", "web.search", "shell.run", "runtime.run", "browser.inspect", "browser.interact", "browser.script"];

/// Capabilities that stay inside of the repository.
const STAYS: &[&str] = &[
    "repo.read",
    "repo.search",
    "repo.diff",
    "repo.edit",
    "repo.create",
    "repo.delete",
    "docs.validate",
    "image.view",
];

/// What one capability does. One of the policy's own is read by its verb and risk.
pub fn of(name: &str, risk: Risk) -> Effect {
    if LOOKS.contains(&name) {
        return Effect::Looks;
    }
    if MOVES.contains(&name) {
        return Effect::Moves;
    }
    let known = crate::model::capability::BUILTIN.iter().any(|builtin| builtin.name == name);
    let verb = name.split_once('.').map_or(name, |(_, verb)| verb);
    if known || risk == Risk::Dangerous || words::changes(verb) != Some(false) {
        Effect::Changes
    } else {
        Effect::Looks
    }
}

/// The strongest effect of a set.
pub fn strongest(caps: CapSet, catalogue: &Catalogue) -> Effect {
    let each = caps.iter().map(|cap| of(catalogue.name(cap), catalogue.get(cap).risk));
    each.max().unwrap_or(Effect::Looks)
}

fn names(caps: CapSet, catalogue: &Catalogue) -> impl Iterator<Item = &str> {
    caps.iter().map(move |cap| catalogue.name(cap))
}

/// The capabilities of a set that reach beyond this machine.
pub fn reaching_out(caps: CapSet, catalogue: &Catalogue) -> Vec<&str> {
    names(caps, catalogue).filter(|name| REACHES_OUT.contains(name)).collect()
}

/// Whether everything in a set stays inside of the repository.
pub fn stays(caps: CapSet, catalogue: &Catalogue) -> bool {
    !caps.is_empty() && names(caps, catalogue).all(|name| STAYS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_capability_is_placed_by_its_risk_or_on_purpose() {
        for cap in crate::model::capability::BUILTIN {
            let effect = of(cap.name, cap.risk);
            assert!(cap.risk != Risk::Dangerous || effect == Effect::Changes, "{}", cap.name);
            assert!(cap.risk != Risk::Safe || effect != Effect::Changes, "{}", cap.name);
        }
        for name in LOOKS.iter().chain(MOVES).chain(REACHES_OUT).chain(STAYS) {
            assert!(crate::model::capability::BUILTIN.iter().any(|cap| cap.name == *name), "{name}");
        }
    }

    #[test]
    fn a_capability_of_the_policys_own_changes_unless_its_verb_looks() {
        assert_eq!(of("deploy.status", Risk::Restricted), Effect::Looks);
        assert_eq!(of("deploy.status", Risk::Dangerous), Effect::Changes);
        assert_eq!(of("deploy.promote", Risk::Restricted), Effect::Changes);
    }
}
