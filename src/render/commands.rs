//! What templates see of commands that nobody may run.

use serde_json::{Value, json};

use crate::model::adapter::Adapter;
use crate::plan::commands::rules;
use crate::resolve::Policy;
use crate::resolve::commands::Forbidden;

/// `commands` of the template of an output: those that the host's rules there can say; empty elsewhere.
pub(super) fn of_output(policy: &Policy, adapter: &Adapter, output: &str) -> Value {
    let here = |f: &&Forbidden| rules(adapter, f).is_some_and(|r| r.output == output);
    policy.settings.forbidden.iter().filter(here).map(one).collect()
}

/// `commands` of the template that starts a role; empty where it has none to add.
pub(super) fn of_launch(policy: &Policy, adapter: &Adapter) -> Value {
    policy.settings.forbidden.iter().filter(|_| adapter.commands.launch.is_some()).map(one).collect()
}

fn one(forbidden: &Forbidden) -> Value {
    json!({ "words": forbidden.words, "command": forbidden.command(), "because": forbidden.because })
}
