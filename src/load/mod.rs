//! Folders to sources: what was read, as it was written. Nothing is looked up or judged here.

pub mod builtin;
mod folder;
mod inherit;
pub mod instructions;
mod sections;
mod unread;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::diag::{Sink, SourceId, SourceMap};
use crate::model::adapter::Adapter;
use crate::model::evidence::EvidenceFile;
use crate::model::policy::PolicyFile;
use crate::model::role::RoleFile;
use crate::model::rule::RuleFile;
use crate::model::scenario::Scenario;
use crate::system::System;

pub use folder::{DEFAULT_DIR, EVIDENCE_DIR, LOCK_NAME, PINS_DIR, SCENARIOS_DIR};

/// A Markdown source: front matter and text.
#[derive(Debug, Clone)]
pub struct Raw<T> {
    /// File name without ending.
    pub id: String,
    /// The file.
    pub source: SourceId,
    /// Front matter.
    pub meta: T,
    /// Text after the front matter.
    pub body: String,
    /// Where the text starts in the file, in bytes.
    pub body_at: u32,
}

/// One policy: a folder, or the shipped one.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// `builtin`, or the folder relative to the root.
    pub name: String,
    /// The YAML document with all its sections.
    pub policy: PolicyFile,
    /// Its first YAML file; `None` when there is none.
    pub main_source: Option<SourceId>,
    /// Rules by file name.
    pub rules: Vec<Raw<RuleFile>>,
    /// Roles by file name.
    pub roles: Vec<Raw<RoleFile>>,
}

/// What was seen of a host.
#[derive(Debug, Clone)]
pub struct LoadedEvidence {
    /// File name without ending.
    pub name: String,
    /// The file.
    pub source: SourceId,
    /// What it says.
    pub file: EvidenceFile,
}

/// A scenario.
#[derive(Debug, Clone)]
pub struct LoadedScenario {
    /// File name without ending.
    pub name: String,
    /// Whether the program carries it.
    pub shipped: bool,
    /// What it says.
    pub scenario: Scenario,
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All texts.
    pub sources: SourceMap,
    /// Policies, inherited first, the repository's own last.
    pub layers: Vec<Layer>,
    /// Adapters by id; the repository's own replace shipped ones.
    pub adapters: IndexMap<String, Adapter>,
    /// Template texts by `HOST/NAME`; the repository's own win.
    pub templates: BTreeMap<String, String>,
    /// Folders, relative to the root, that hold the policies' sources.
    pub folders: Vec<String>,
    /// What `verify --accept` wrote, inherited first.
    pub evidence: Vec<LoadedEvidence>,
    /// Scenarios of the policies, inherited first; those of the program are read by whoever wants them.
    pub scenarios: Vec<LoadedScenario>,
    /// Paths read, relative to the root: the policy's sources on disk.
    pub source_paths: Vec<String>,
}

/// Reads the policy in `dir` (relative to the root) and all it extends; `None` = the shipped policy alone.
pub fn load(system: &dyn System, dir: Option<&str>, sink: &mut Sink) -> Loaded {
    let mut loaded = Loaded::default();
    builtin::adapters(&mut loaded, sink);
    match dir {
        Some(dir) => folder::load(system, dir, &mut loaded, sink),
        None => builtin::layer(&mut loaded, sink),
    }
    inherit::servers(&mut loaded.layers);
    loaded
}
