//! Tools of this program itself: what a role without a shell needs. Each has a closed list of arguments.

use serde_json::{Map, Value, json};

use super::plan::{self, Plan, Route};
use super::{Exposed, Origin, ResultBounds, hints};
use crate::model::scalar::Risk;
use crate::resolve::{CapSet, Policy, Role};

/// A tool of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTool {
    /// What is different in the working tree, or between commits.
    Diff,
    /// Which commits there are.
    Log,
    /// One commit, or a file of it.
    Show,
    /// Links, anchors and headings of documentation.
    Validate,
    /// A part of a result that was too large.
    ReadArtifact,
}

impl OwnTool {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Diff, Self::Log, Self::Show, Self::Validate, Self::ReadArtifact];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Diff => "repo_diff",
            Self::Log => "repo_log",
            Self::Show => "repo_show",
            Self::Validate => "docs_validate",
            Self::ReadArtifact => "read_artifact",
        }
    }

    const fn capability(self) -> Option<&'static str> {
        match self {
            Self::Diff | Self::Log | Self::Show => Some("repo.diff"),
            Self::Validate => Some("docs.validate"),
            Self::ReadArtifact => None,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Diff => {
                "Show what changed in the repository: the working tree, what is staged, or from one commit to another."
            }
            Self::Log => "List commits, newest first, with author date and subject.",
            Self::Show => "Show one commit with its changes, or a file as it was in it.",
            Self::Validate => "Check the links, anchors and headings of Markdown files of the repository.",
            Self::ReadArtifact => "Read a part of a result that was too large for one answer, by the id given there.",
        }
    }

    fn schema(self) -> Value {
        let text = |about: &str| json!({ "type": "string", "description": about, "minLength": 1, "maxLength": 400 });
        let paths = json!({
            "type": "array", "maxItems": 50, "description": "Only these files or folders, from the root of the repository.",
            "items": { "type": "string", "minLength": 1, "maxLength": 400 },
        });
        let revision = "A commit, branch or tag";
        match self {
            Self::Diff => object(
                json!({
                    "from": text(&format!("{revision} to compare from; default: what is staged, or the newest commit with `staged`.")),
                    "to": text(&format!("{revision} to compare to; default: the working tree. Needs `from`.")),
                    "staged": { "type": "boolean", "description": "Compare what is staged instead of the working tree.", "default": false },
                    "stat": { "type": "boolean", "description": "Only which files changed and by how many lines.", "default": false },
                    "context": { "type": "integer", "minimum": 0, "maximum": 50, "default": 3, "description": "Unchanged lines around each change." },
                    "paths": paths,
                }),
                &[],
            ),
            Self::Log => object(
                json!({
                    "from": text(&format!("{revision} to start at; default: the current one.")),
                    "max_count": { "type": "integer", "minimum": 1, "maximum": 200, "default": 20, "description": "Most commits." },
                    "skip": { "type": "integer", "minimum": 0, "maximum": 100_000, "default": 0, "description": "Commits left out at the start, to continue a list." },
                    "paths": paths,
                }),
                &[],
            ),
            Self::Show => object(
                json!({
                    "commit": text(&format!("{revision}.")),
                    "path": text("A file, from the root of the repository: its content in that commit instead of the changes."),
                    "stat": { "type": "boolean", "description": "Only which files changed and by how many lines.", "default": false },
                }),
                &["commit"],
            ),
            Self::Validate => object(json!({ "paths": paths }), &[]),
            Self::ReadArtifact => object(
                json!({
                    "id": text("The id of the artifact."),
                    "offset": { "type": "integer", "minimum": 0, "default": 0, "description": "First byte." },
                    "max_bytes": { "type": "integer", "minimum": 1, "maximum": 32768, "default": 8192, "description": "Most bytes." },
                }),
                &["id"],
            ),
        }
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The tools of this program, as far as `role` has a use for them.
pub(super) fn tools(policy: &Policy, role: Option<&Role>) -> Vec<Exposed> {
    let reads = policy.catalogue.find("repo.read").is_some_and(|cap| role.is_some_and(|r| r.granted().has(cap)));
    let wanted = |tool: &OwnTool| *tool != OwnTool::ReadArtifact || !reads;
    OwnTool::ALL.into_iter().filter(wanted).filter_map(|tool| expose(tool, policy)).collect()
}

fn expose(tool: OwnTool, policy: &Policy) -> Option<Exposed> {
    let confers: CapSet = tool.capability().and_then(|name| policy.catalogue.find(name)).into_iter().collect();
    let Value::Object(shown) = tool.schema() else { return None };
    let accepts = plan::validator(&Value::Object(shown.clone())).ok()?;
    let narrow = match tool {
        OwnTool::Diff => Some("paths"),
        OwnTool::Log => Some("max_count"),
        OwnTool::Show => Some("path"),
        OwnTool::Validate => Some("paths"),
        OwnTool::ReadArtifact => Some("max_bytes"),
    };
    Some(Exposed {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        hints: hints::LOOKS,
        confers,
        risk: Risk::Safe,
        origin: Origin::Own(tool),
        raw: None,
        plan: Plan {
            shown: Value::Object(shown.clone()),
            accepts,
            upstream: None,
            route: Route::Whole { added: Map::new() },
            delivery: false,
            files: Vec::new(),
            reasons: Vec::new(),
            limit: None,
        },
        bounds: ResultBounds { narrow: narrow.map(str::to_owned), ..ResultBounds::default() },
        input_schema: shown,
    })
}
