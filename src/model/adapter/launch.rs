//! The host's program, and how a role is started as a process of its own.

use schemars::JsonSchema;
use serde::Deserialize;

/// A program.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Program {
    /// Its name on `PATH`.
    pub name: String,
    /// Paths below a `node_modules` folder, first found; `{os}` and `{arch}` as npm spells them, `*` in a part.
    #[serde(default)]
    pub packaged: Vec<String>,
    /// What runs a packaged file that is no program by itself.
    pub interpreter: Option<Interpreter>,
}

/// A program that runs others.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Interpreter {
    /// Its name on `PATH`.
    pub name: String,
    /// Paths below a `node_modules` folder that win over the one on `PATH`, as in `packaged` of the program.
    #[serde(default)]
    pub packaged: Vec<String>,
}

/// How a form is started as a process.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Launch {
    /// Template below `templates/HOST/`. It yields one JSON object with `args` (a list of texts), and where needed
    /// `env` (added to the user's environment) and `files` (name → text, written to a private folder outside of the
    /// repository and removed afterwards). It sees `role`, `root` and `dir` (absolute folders: the repository, the
    /// private one), and `packet`: the prompt of a run without a person, or none.
    pub template: String,
}
