//! What of the policy a run is held against: scopes of grants, and files that only the grant of the policy gives.

use indexmap::IndexMap;

use crate::plan::delivery::{Own, Part, PlannedFile};
use crate::sync::LOCK_NAME;

use super::All;

impl All<'_> {
    /// Files that only the grant of the policy gives: instructions that the host reads, the policy, the lock.
    pub(super) fn kept(&self, host: &str) -> Vec<String> {
        let read = |f: &&PlannedFile| f.hosts.iter().any(|h| h == host);
        let text = |f: &&PlannedFile| !f.parts.iter().all(|p| matches!(p, Part::Rule { .. }));
        let files = self.plan.delivery.files.iter().filter(read).filter(text);
        let instructions = files.filter(|f| matches!(f.own, Own::Block | Own::Whole { .. })).map(|f| f.path.clone());
        let dir = self.options.policy_dir;
        let policy = ["policy.yaml", LOCK_NAME].map(|name| format!("{dir}/{name}"));
        instructions.chain(policy).collect()
    }

    /// Most lines of a first read and most bytes of a packet; nothing where the policy does not say both.
    pub(super) fn most(&self) -> Option<(u64, u64)> {
        let target = |name: &str| self.policy.settings.budgets.get(name)?.figure("target");
        Some((target("file-read")?, target("delegation-packet")?))
    }

    /// Paths of a role's scoped grants.
    pub(super) fn scopes(&self, role: &str) -> IndexMap<String, Vec<String>> {
        let grants = self.policy.roles.iter().filter(|r| r.id == role).flat_map(|r| &r.grants);
        let scoped = grants.filter_map(|(cap, scope)| Some((cap, scope.paths.clone()?)));
        scoped.map(|(cap, paths)| (self.policy.catalogue.name(*cap).to_owned(), paths)).collect()
    }

    /// Domains of a role's grant to fetch addresses.
    pub(super) fn domains(&self, role: &str) -> Vec<String> {
        let grants = self.policy.roles.iter().filter(|r| r.id == role).flat_map(|r| &r.grants);
        grants.filter_map(|(_, scope)| scope.domains.clone()).flatten().collect()
    }
}
