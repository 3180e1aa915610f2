//! Which paths the patterns of a mechanism open and shut: behind a word of a role's own list, or for a whole process
//! that `rolecast run` starts.

use indexmap::IndexSet;

use crate::model::adapter::{GlobDialect, Mechanism, Narrow, Sense};
use crate::model::capability::ScopeKind;
use crate::resolve::CapSet;
use crate::resolve::policy::Role;

use super::globs;
use super::narrow::POLICY_EDIT;
use super::offer::{self, Tool, Word};
use super::role::Planner;

/// The paths that a process may write, in the language of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPlan {
    /// All, but for what is shut.
    pub all: bool,
    /// What is open, where not all is.
    pub open: Vec<String>,
    /// What is shut though it lies inside of what is open.
    pub shut: Vec<String>,
}

/// Patterns that some tools are confined to.
pub(super) struct Confine {
    /// How they are written.
    pub dialect: GlobDialect,
    /// What the tools cover that share the patterns.
    pub covers: CapSet,
    /// The tools in words.
    pub what: String,
}

/// The paths that shared patterns let through.
pub(super) struct Opened<'a> {
    /// All, for a grant without a scope.
    pub all: bool,
    /// The globs of scoped grants.
    pub globs: IndexSet<&'a str>,
}

impl Opened<'_> {
    /// Whether anything is open that the dialect can say.
    pub fn any(&self, dialect: GlobDialect) -> bool {
        self.all || self.globs.iter().any(|g| !globs::spell(dialect, g).patterns.is_empty())
    }
}

impl Planner<'_> {
    /// What narrows the form, best first: its own, or that of the form whose files it uses.
    fn narrows(&self) -> &[Narrow] {
        if self.form.narrow.is_empty() {
            self.form.same_as.as_ref().and_then(|f| self.adapter.forms.get(f)).map_or(&[], |f| &f.narrow)
        } else {
            &self.form.narrow
        }
    }

    /// Whether patterns stand in the role's own list; else they are given to the process.
    fn in_list(&self) -> bool {
        self.list.sense == Sense::Rules
    }

    fn built(&self, narrow: &Narrow) -> bool {
        let here = match narrow.by {
            Mechanism::Rules => self.in_list() || self.form.launch.is_some(),
            Mechanism::Sandbox => self.form.launch.is_some(),
            Mechanism::Guard | Mechanism::Gateway => true,
        };
        here && self.built.contains(&narrow.by)
    }

    /// The mechanism that narrows `tool` in what we make.
    pub(super) fn narrow(&self, kind: ScopeKind, tool: &str) -> Option<&Narrow> {
        let fits = |n: &&Narrow| n.scope == kind && n.tools.iter().any(|t| t == tool);
        self.narrows().iter().filter(|n| self.built(n)).find(fits)
    }

    /// The dialect of the patterns that confine `tool`.
    pub(super) fn patterns(&self, tool: &str) -> Option<GlobDialect> {
        self.narrow(ScopeKind::Paths, tool).and_then(|n| n.globs)
    }

    fn word_of(&self, tool: &Tool) -> Option<&Word> {
        self.offer.words.iter().find(|w| w.tools.iter().any(|t| **t == *tool))
    }

    /// The patterns that confine `tool`.
    pub(super) fn confine(&self, tool: &Tool) -> Option<Confine> {
        let narrow = self.narrow(ScopeKind::Paths, &tool.name)?;
        let dialect = narrow.globs?;
        if self.in_list() {
            let word = &self.word_of(tool)?.selector;
            return Some(Confine { dialect, covers: word.covers, what: format!("all that `{}` does", word.word) });
        }
        Some(Confine { dialect, covers: self.covered(narrow), what: "the whole process".to_owned() })
    }

    fn covered(&self, narrow: &Narrow) -> CapSet {
        let native = |t: &String| offer::native(self.adapter, t, &self.policy.catalogue).covers;
        narrow.tools.iter().map(native).fold(CapSet::EMPTY, CapSet::union)
    }

    /// One list of patterns serves all that `covers` names.
    pub(super) fn opened<'r>(&self, role: &'r Role, covers: CapSet) -> Opened<'r> {
        let mut opened = Opened { all: false, globs: IndexSet::new() };
        for (cap, scope) in role.grants.iter().filter(|(cap, _)| covers.has(**cap)) {
            if self.policy.catalogue.get(*cap).scope != Some(ScopeKind::Paths) {
                continue;
            }
            match &scope.paths {
                Some(globs) => opened.globs.extend(globs.iter().map(String::as_str)),
                None => opened.all = true,
            }
        }
        opened
    }

    /// What of the exclusion lies, or may lie, inside of what is open and cannot be shut.
    pub(super) fn left_open(&self, role: &Role, confine: &Confine) -> Vec<String> {
        if self.granted_by_name(role, POLICY_EDIT) {
            return Vec::new();
        }
        let opened = self.opened(role, confine.covers);
        let inside = self.inside(&opened, confine.dialect);
        inside.filter(|g| globs::shut(confine.dialect, g).is_none()).map(str::to_owned).collect()
    }

    /// The globs of the exclusion that may fit something which is open.
    fn inside<'s>(&'s self, opened: &'s Opened<'_>, dialect: GlobDialect) -> impl Iterator<Item = &'s str> {
        let open: Vec<&str> =
            opened.globs.iter().copied().filter(|g| !globs::spell(dialect, g).patterns.is_empty()).collect();
        let all = opened.all;
        self.excluded.iter().map(String::as_str).filter(move |e| all || open.iter().any(|o| globs::may_meet(o, e)))
    }

    /// The paths that a process of this form may write; none when nothing outside of its list confines it.
    pub(super) fn paths(&self, role: &Role) -> Option<PathPlan> {
        if self.in_list() {
            return None;
        }
        let by_path = |n: &&Narrow| n.scope == ScopeKind::Paths && self.built(n);
        let narrow = self.narrows().iter().find(by_path)?;
        let dialect = narrow.globs?;
        let opened = self.opened(role, self.covered(narrow));
        let open = if opened.all { &IndexSet::new() } else { &opened.globs };
        let open = open.iter().flat_map(|g| globs::spell(dialect, g).patterns).collect();
        let excluded = !self.granted_by_name(role, POLICY_EDIT);
        let shut = self.inside(&opened, dialect).filter(|_| excluded);
        let shut: IndexSet<String> = shut.filter_map(|g| globs::shut(dialect, g)).flatten().collect();
        Some(PathPlan { all: opened.all, open, shut: shut.into_iter().collect() })
    }
}
