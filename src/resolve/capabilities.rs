//! The capability catalogue: built-in and the policy's own, as small ids and sets.

use super::layers::Merged;
use crate::diag::{Code, Diagnostic, Sink};
use crate::model::capability::{BUILTIN, ScopeKind};
use crate::model::scalar::Risk;
use crate::yaml::Sp;

/// Index of a capability in its catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapId(pub u8);

/// A set of capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CapSet(pub u128);

impl CapSet {
    /// Nothing.
    pub const EMPTY: Self = Self(0);

    /// Whether `cap` is in it.
    pub const fn has(self, cap: CapId) -> bool {
        self.0 & (1 << cap.0) != 0
    }
    /// Both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// What both have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// What `other` lacks.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether there is nothing in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether `other` has all of it.
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
    /// How many.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }
    /// The ids in the catalogue's order.
    pub fn iter(self) -> impl Iterator<Item = CapId> {
        (0..128u8).map(CapId).filter(move |cap| self.has(*cap))
    }
    /// Adds one.
    pub const fn insert(&mut self, cap: CapId) {
        self.0 |= 1 << cap.0;
    }
}

impl FromIterator<CapId> for CapSet {
    fn from_iter<I: IntoIterator<Item = CapId>>(iter: I) -> Self {
        let mut set = Self::EMPTY;
        for cap in iter {
            set.insert(cap);
        }
        set
    }
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// `family.verb`.
    pub name: String,
    /// Its risk.
    pub risk: Risk,
    /// What a grant may be scoped by.
    pub scope: Option<ScopeKind>,
    /// One sentence.
    pub title: String,
    /// Whether some MCP server may bring it.
    pub via_mcp: bool,
}

/// Every capability: built-in first, then the policy's own.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<Capability>,
}

/// How many capabilities a set can hold.
const MAX: usize = 128;

impl Default for Catalogue {
    fn default() -> Self {
        let entries = BUILTIN
            .iter()
            .map(|b| Capability {
                name: b.name.to_owned(),
                risk: b.risk,
                scope: b.scope,
                title: b.title.to_owned(),
                via_mcp: b.via_mcp,
            })
            .collect();
        Self { entries }
    }
}

impl Catalogue {
    /// The capability of an id of this catalogue.
    pub fn get(&self, cap: CapId) -> &Capability {
        &self.entries[cap.0 as usize]
    }
    /// Its name.
    pub fn name(&self, cap: CapId) -> &str {
        &self.get(cap).name
    }
    /// The id of a name.
    pub fn find(&self, name: &str) -> Option<CapId> {
        self.entries.iter().position(|c| c.name == name).and_then(|at| u8::try_from(at).ok()).map(CapId)
    }
    /// What a capability name or `family.*` or `*` means; `None` when it means nothing.
    pub fn matching(&self, pattern: &str) -> Option<CapSet> {
        let set: CapSet = match pattern.strip_suffix('*') {
            Some("") => self.ids().collect(),
            Some(family) if family.ends_with('.') => {
                self.ids().filter(|id| self.name(*id).starts_with(family)).collect()
            }
            Some(_) => CapSet::EMPTY,
            None => self.find(pattern).into_iter().collect(),
        };
        (!set.is_empty()).then_some(set)
    }
    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = CapId> + use<> {
        let count = u8::try_from(self.entries.len()).unwrap_or(u8::MAX);
        (0..count).map(CapId)
    }
    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|c| c.name.as_str())
    }
    /// The capabilities of one risk.
    pub fn of_risk(&self, risk: Risk) -> CapSet {
        self.ids().filter(|id| self.get(*id).risk == risk).collect()
    }
    /// The capabilities that some MCP server may bring.
    pub fn via_mcp(&self) -> CapSet {
        self.ids().filter(|id| self.get(*id).via_mcp).collect()
    }

    /// The id of a name as written in a policy; reports an unknown one.
    pub(super) fn require(&self, name: &Sp<String>, sink: &mut Sink) -> Option<CapId> {
        let found = self.find(&name.value);
        if found.is_none() {
            sink.push(self.unknown(name));
        }
        found
    }

    /// What a pattern written in a policy means; reports one that means nothing.
    pub(super) fn require_pattern(&self, pattern: &Sp<String>, sink: &mut Sink) -> Option<CapSet> {
        let found = self.matching(&pattern.value);
        if found.is_none() {
            sink.push(self.unknown(pattern));
        }
        found
    }

    fn unknown(&self, name: &Sp<String>) -> Diagnostic {
        let mut names: Vec<String> = if name.ends_with('*') {
            self.names().filter_map(|n| n.split_once('.')).map(|(family, _)| format!("{family}.*")).collect()
        } else {
            self.names().map(str::to_owned).collect()
        };
        names.dedup();
        Diagnostic::new(Code::UnknownCapability, format!("unknown capability `{}`", name.value))
            .at_opt(name.span, "no capability has this name")
            .suggest(&name.value, names.iter().map(String::as_str))
    }
}

/// The built-in vocabulary and what the policy adds to it.
pub(super) fn catalogue(merged: &Merged<'_>, sink: &mut Sink) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (name, custom) in &merged.capabilities {
        let well_formed = name.split('.').count() == 2
            && name.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        if !well_formed || catalogue.find(name).is_some() || catalogue.entries.len() >= MAX {
            let why = if well_formed { "this name is taken" } else { "not of the form `family.verb`" };
            sink.push(
                Diagnostic::new(Code::CapabilityName, format!("`{}` cannot be a capability of the policy", name.value))
                    .at_opt(name.span, why)
                    .help("use two lower-case words, like `deploy.run`, that no other capability has"),
            );
            continue;
        }
        catalogue.entries.push(Capability {
            name: name.value.clone(),
            risk: custom.risk.value,
            scope: custom.scope.as_ref().map(|s| s.value),
            title: custom.title.value.clone(),
            via_mcp: true,
        });
    }
    catalogue
}
