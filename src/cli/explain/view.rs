//! A compilation as the pages of `explain` see it, with the hosts that were asked for.

use indexmap::IndexMap;

use crate::compile::Compiled;
use crate::diag::SourceMap;
use crate::load::Loaded;
use crate::model::adapter::{Adapter, Form};
use crate::plan::{HostPlan, Plan, RoleOnHost};
use crate::render::Rendered;
use crate::render::artifact::Artifact;
use crate::resolve::{CapSet, Catalogue, Policy};

/// A whole compilation and the hosts that are shown of it.
pub struct View<'a> {
    /// What was read.
    pub loaded: &'a Loaded,
    /// The policy.
    pub policy: &'a Policy,
    /// The plan for the whole set of hosts.
    pub plan: &'a Plan,
    /// The artifacts for the whole set of hosts.
    pub rendered: &'a Rendered,
    /// The hosts shown, in the order of the plan.
    pub hosts: Vec<Shown<'a>>,
}

/// A host that is shown.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// What is known of it.
    pub adapter: &'a Adapter,
    /// What is planned for it.
    pub plan: &'a HostPlan,
}

impl<'a> View<'a> {
    /// The view of a compilation that came to its end; `only` = these hosts, none = all.
    pub fn new(compiled: &'a Compiled, only: &[String]) -> Option<Self> {
        let loaded = &compiled.loaded;
        let plan = compiled.plan.as_ref()?;
        let hosts = plan
            .hosts
            .iter()
            .filter(|h| only.is_empty() || only.contains(&h.host))
            .filter_map(|plan| Some(Shown { adapter: loaded.adapters.get(&plan.host)?, plan }))
            .collect();
        let (policy, rendered) = (compiled.policy.as_ref()?, compiled.rendered.as_ref()?);
        Some(Self { loaded, policy, plan, rendered, hosts })
    }

    /// All texts.
    pub const fn sources(&self) -> &'a SourceMap {
        &self.loaded.sources
    }

    /// The names of a set, whole families as `family.*`.
    pub fn caps(&self, set: CapSet) -> String {
        names(&self.policy.catalogue, set).join(", ")
    }

    /// The rendered file of a path.
    pub fn artifact(&self, path: &str) -> Option<&'a Artifact> {
        self.rendered.artifacts.iter().find(|a| a.path == path)
    }
}

/// The files of a role in one form: those of the form it goes by.
pub fn files<'a>(view: &View<'a>, host: Shown<'a>, role: &RoleOnHost, form: &Form) -> Vec<&'a Artifact> {
    let outputs = match &form.same_as {
        Some(other) if form.outputs.is_empty() => host.adapter.forms.get(other).map(|f| &f.outputs),
        _ => Some(&form.outputs),
    };
    outputs
        .into_iter()
        .flatten()
        .filter_map(|id| host.adapter.outputs.get(id))
        .filter_map(|output| view.artifact(&output.file.replace("{name}", &role.name)))
        .collect()
}

/// Names of a set in the catalogue's order; a family that is there as a whole is one name.
pub fn names(catalogue: &Catalogue, set: CapSet) -> Vec<String> {
    let mut families: IndexMap<&str, CapSet> = IndexMap::new();
    for cap in catalogue.ids() {
        families.entry(family(catalogue.name(cap))).or_default().insert(cap);
    }
    let mut out: Vec<String> = Vec::new();
    for cap in set.iter() {
        let name = catalogue.name(cap);
        let whole = families.get(family(name)).copied().unwrap_or_default();
        let shown = if whole.len() > 1 && whole.within(set) { format!("{}.*", family(name)) } else { name.to_owned() };
        if !out.contains(&shown) {
            out.push(shown);
        }
    }
    out
}

fn family(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Words in backticks, with commas between them.
pub fn ticked<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().map(|w| format!("`{}`", w.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_families_become_one_name() {
        let catalogue = Catalogue::default();
        let of = |patterns: &[&str]| {
            patterns.iter().filter_map(|p| catalogue.matching(p)).fold(CapSet::EMPTY, CapSet::union)
        };
        assert_eq!(
            names(&catalogue, of(&["browser.*", "web.fetch", "shell.run"])),
            ["shell.run", "web.fetch", "browser.*"]
        );
        assert_eq!(names(&catalogue, of(&["docs.search", "docs.write"])), ["docs.search", "docs.write"]);
    }
}
