//! Which scenarios there are.

use crate::diag::Sink;
use crate::load::{Loaded, LoadedScenario, builtin};

/// All scenarios by name: a policy's own before those that it extends, those before the shipped ones.
pub fn all(loaded: &mut Loaded, sink: &mut Sink) -> Vec<LoadedScenario> {
    let mut all = builtin::scenarios(loaded, sink);
    for own in &loaded.scenarios {
        match all.iter_mut().find(|s| s.name == own.name) {
            Some(found) => *found = own.clone(),
            None => all.push(own.clone()),
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
