//! The whole way from folders to artifacts. Stages report everything they find; the way ends between two
//! stages when one of them found an error.

use crate::diag::Sink;
use crate::load::{self, Loaded};
use crate::plan::{self, Plan, Purpose};
use crate::render::{self, Inputs, Rendered};
use crate::resolve::{self, Policy};
use crate::system::System;

/// Everything a compilation made, as far as it came.
#[derive(Debug, Default)]
pub struct Compiled {
    /// What was read.
    pub loaded: Loaded,
    /// The policy, when the sources were read.
    pub policy: Option<Policy>,
    /// The plan, when the policy is valid.
    pub plan: Option<Plan>,
    /// The artifacts, when the plan holds what the policy demands.
    pub rendered: Option<Rendered>,
}

/// Compiles the policy in `dir` (`None` = the shipped one) for `hosts` (none = those the policy names), with
/// the ledger.
pub fn compile(system: &dyn System, dir: Option<&str>, hosts: &[String], sink: &mut Sink) -> Compiled {
    compile_for(system, dir, hosts, Purpose::Ledger, sink)
}

/// Compiles for one purpose; the files are the same for each.
pub fn compile_for(
    system: &dyn System,
    dir: Option<&str>,
    hosts: &[String],
    purpose: Purpose,
    sink: &mut Sink,
) -> Compiled {
    let mut done = Compiled { loaded: load::load(system, dir, sink), ..Compiled::default() };
    if sink.has_errors() {
        return done;
    }
    let policy = resolve::resolve(&done.loaded, hosts, sink);
    if sink.has_errors() {
        done.policy = Some(policy);
        return done;
    }
    let user = load::instructions::read(system, &done.loaded.adapters, &policy.hosts);
    let plan = plan::plan(&policy, &done.loaded.adapters, &user.files, purpose, sink);
    if !sink.has_errors() {
        let inputs = Inputs {
            policy: &policy,
            plan: &plan,
            adapters: &done.loaded.adapters,
            templates: &done.loaded.templates,
            sources: &done.loaded.sources,
            user_bytes: &user.bytes,
        };
        let rendered = render::render(&inputs, sink);
        if !sink.has_errors() {
            done.rendered = Some(rendered);
        }
    }
    done.policy = Some(policy);
    done.plan = Some(plan);
    done
}
