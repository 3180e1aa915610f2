//! The policy and what its servers offered when they were pinned; nothing is started.

use crate::audit::pins;
use crate::compile::Compiled;
use crate::diag::{Code, Severity, Sink};
use crate::gateway::known;
use crate::sync::LockState;
use crate::system::System;

/// What pins say of a policy.
#[derive(Debug, Default)]
pub struct Pinned {
    /// Whether a tool is composed that its primitive does not allow.
    pub composed: bool,
    /// Whether something else contradicts them, so that the gate must fail.
    pub fails: bool,
}

/// Holds the policy in the folder `dir` against the pins, and reports what contradicts them.
pub fn hold(system: &dyn System, dir: &str, compiled: &Compiled, state: &LockState, sink: &mut Sink) -> Pinned {
    let Some(policy) = &compiled.policy else { return Pinned::default() };
    let pinned = &state.lock.pins;
    let mut found = Sink::new();
    let known = known::check(policy, pinned, system, dir, &mut found);
    let error =
        |code: bool| found.iter().any(|d| d.severity == Severity::Error && (d.code == Code::ContractChanged) == code);
    let (composed, changed) = (error(false), error(true));
    let (diagnostics, fails) = pins::gate(policy, pinned, &known);
    for diagnostic in found.iter().cloned().chain(diagnostics) {
        sink.push(diagnostic);
    }
    Pinned { composed, fails: fails || changed }
}
