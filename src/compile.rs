//! The whole way from folders to artifacts. Stages report everything they find; the way ends between two
//! stages when one of them found an error.

use std::collections::BTreeMap;

use crate::diag::Sink;
use crate::load::{self, Loaded};
use crate::plan::{self, Plan, Purpose};
use crate::render::{self, Command, Inputs, Rendered, Scene};
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

impl Compiled {
    /// The command that starts `role` on `host` in `form`; reports why there is none.
    pub fn launch(&self, host: &str, role: &str, form: &str, scene: Scene<'_>, sink: &mut Sink) -> Option<Command> {
        let (policy, plan) = (self.policy.as_ref()?, self.plan.as_ref()?);
        let inputs = Inputs {
            policy,
            plan,
            adapters: &self.loaded.adapters,
            templates: &self.loaded.templates,
            sources: &self.loaded.sources,
            user_bytes: &BTreeMap::new(),
        };
        render::launch(&inputs, host, role, form, scene, sink)
    }
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
        let rendered = render::render(&inputs(&done.loaded, &policy, &plan, &user), sink);
        if !sink.has_errors() {
            done.rendered = Some(rendered);
        }
    }
    done.policy = Some(policy);
    done.plan = Some(plan);
    done
}

/// Plans and renders another policy made of the same sources. What of it cannot hold is told to nobody: the files are
/// there all the same.
pub fn variant(system: &dyn System, loaded: &Loaded, policy: &Policy) -> (Plan, Rendered) {
    let mut sink = Sink::new();
    let user = load::instructions::read(system, &loaded.adapters, &policy.hosts);
    let plan = plan::plan(policy, &loaded.adapters, &user.files, Purpose::Ledger, &mut sink);
    let rendered = render::render(&inputs(loaded, policy, &plan, &user), &mut sink);
    (plan, rendered)
}

fn inputs<'a>(
    loaded: &'a Loaded,
    policy: &'a Policy,
    plan: &'a Plan,
    user: &'a load::instructions::Instructions,
) -> Inputs<'a> {
    Inputs {
        policy,
        plan,
        adapters: &loaded.adapters,
        templates: &loaded.templates,
        sources: &loaded.sources,
        user_bytes: &user.bytes,
    }
}
