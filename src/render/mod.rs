//! Plans to bytes: every file, block and entry that should be on disk.

pub mod artifact;
mod bodies;
mod commands;
mod context;
pub mod engine;
mod entries;
mod fields;
mod files;
mod guard;
mod launch;
mod matter;
mod measure;
mod servers;
mod texts;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::diag::{Sink, SourceMap};
use crate::model::adapter::Adapter;
use crate::plan::Plan;
use crate::resolve::Policy;

use artifact::Artifact;
pub use launch::{Command, Scene, launch};
pub use measure::{HostBytes, Measured};
pub use texts::{MOST_LINES, PATHS_INDEX, RULES_DIR};

/// What a render makes.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Sorted by path.
    pub artifacts: Vec<Artifact>,
    /// What each host is given at the start.
    pub measured: Measured,
    /// The text of each rule as every host is given it, in the policy's order.
    pub rules: Vec<String>,
    /// The notes for each host, as its card and its roles' bodies carry them.
    pub notes: Vec<HostNotes>,
}

/// The notes for one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostNotes {
    /// The host.
    pub host: String,
    /// All, as a card has them.
    pub card: String,
    /// Those that are meant for sub-agents, as bodies have them.
    pub body: String,
}

/// Everything that render reads.
pub struct Inputs<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The plan.
    pub plan: &'a Plan,
    /// Adapters by id.
    pub adapters: &'a IndexMap<String, Adapter>,
    /// Template texts by `HOST/NAME`.
    pub templates: &'a BTreeMap<String, String>,
    /// Paths of sources.
    pub sources: &'a SourceMap,
    /// Bytes of the user's own text in instruction files, by path.
    pub user_bytes: &'a BTreeMap<String, u64>,
}

impl Inputs<'_> {
    fn source_path(&self, id: crate::diag::SourceId) -> String {
        self.sources.get(id).path.clone()
    }
}

/// Renders everything; reports what cannot be.
pub fn render(inputs: &Inputs<'_>, sink: &mut Sink) -> Rendered {
    let texts = texts::Texts::new(inputs, sink);
    let measured = measure::measure(inputs, &texts, sink);
    let mut artifacts = files::artifacts(inputs, &texts, sink);
    artifacts.sort_by(|a, b| a.path.cmp(&b.path));
    Rendered { artifacts, measured, notes: texts.host_notes(), rules: texts.rules }
}
