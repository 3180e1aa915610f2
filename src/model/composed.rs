//! Tools that the gateway composes, and where their hidden values come from.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::policy::{EnvValue, Map, Timeouts};
use crate::yaml::Sp;

/// A tool made from a primitive, or a program as a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ComposedTool {
    /// What the model reads.
    pub description: Sp<String>,
    /// `server/tool`, or a name of `primitives:` and one of its primitives.
    pub primitive: Option<Sp<String>>,
    /// Instead of a primitive, a program with its arguments: started for each call without a shell, in the root. It is
    /// given the parameters as one JSON object on its standard input, and `{name}` in an argument stands for one of
    /// them; it answers JSON on its standard output.
    pub command: Option<Vec<Sp<String>>>,
    /// The environment of the program: references only.
    #[serde(default)]
    pub env: Map<EnvValue>,
    /// The time-out of the program.
    pub timeout: Option<Timeouts>,
    /// What the model may set.
    #[serde(default)]
    pub arguments: Map<Argument>,
    /// Where each parameter comes from; what is not named here is not sent. A program without it is given the arguments
    /// as they are.
    #[serde(default)]
    pub bind: Map<Binding>,
    /// What having it makes possible.
    pub confers: Vec<Sp<String>>,
    /// What one would use it for; default: all it confers.
    pub covers: Option<Vec<Sp<String>>>,
    /// What is said of the narrowed tool where the primitive's own hints say more than is true of it.
    pub hints: Option<Hints>,
    /// What the gateway does with calls and results of it.
    pub bounds: Option<ToolBounds>,
}

/// One argument the model sees.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Argument {
    /// JSON Schema type.
    #[serde(rename = "type")]
    pub kind: Sp<String>,
    /// What the model reads.
    pub description: Option<Sp<String>>,
    /// Default: true, unless there is a default value.
    pub required: Option<Sp<bool>>,
    /// Allowed values; a subset of those the primitive allows.
    #[serde(rename = "enum")]
    pub values: Option<Vec<Sp<String>>>,
    /// Sent when the model leaves the argument out.
    pub default: Option<Sp<Literal>>,
    /// Greatest number.
    pub maximum: Option<Sp<i64>>,
}

/// Where an upstream parameter comes from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "Binding")]
pub enum Binding {
    /// From the model's argument of this name.
    Argument(Sp<String>),
    /// A constant: text, number, true or false, or a list of them.
    Constant(Sp<Literal>),
    /// A value of the run time.
    Runtime(Sp<String>),
    /// A list of which each item comes from somewhere.
    List(Vec<Binding>),
}

/// Where a value of the run time comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "RuntimeSource")]
pub enum RuntimeSource {
    /// From `--runtime NAME=VALUE` when the gateway is started.
    Argument,
    /// From an environment variable of the gateway.
    Env(Sp<String>),
    /// From a file below the root; without the newline at its end.
    File(Sp<String>),
    /// From what a program prints; started without a shell, in the root.
    Command(Vec<Sp<String>>),
}

crate::yaml::alternatives!(Binding, RuntimeSource);

/// What is true of a narrowed tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<Sp<bool>>,
    /// It may remove or overwrite.
    pub destructive: Option<Sp<bool>>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<Sp<bool>>,
    /// It reaches beyond this machine.
    pub open_world: Option<Sp<bool>>,
}

/// What the gateway does with calls and results of one tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolBounds {
    /// The upstream parameter that says how many results; it gets the budget's target, and at most its limit.
    pub limit_argument: Option<Sp<String>>,
    /// The upstream parameter that continues a list.
    pub cursor_argument: Option<Sp<String>>,
    /// The budget that counts the results.
    pub budget: Option<Sp<CountBudgetName>>,
    /// Whether the model may ask for media inline (argument `delivery`); default false, media become files.
    pub inline_media: Option<Sp<bool>>,
}

/// A budget in things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountBudgetName {
    /// Results of a search.
    Search,
    /// Lines of a first read.
    FileRead,
    /// Results of a documentation or memory search.
    KnowledgeSearch,
    /// Console or network entries.
    BrowserLog,
}

impl CountBudgetName {
    /// The key below `budgets`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::FileRead => "file-read",
            Self::KnowledgeSearch => "knowledge-search",
            Self::BrowserLog => "browser-log",
        }
    }
}

/// A value that is written down: text, number, true or false, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal(pub serde_json::Value);

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde_json::Value;
        let value = Value::deserialize(deserializer)?;
        let scalar = |value: &Value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        match &value {
            Value::Array(items) if items.iter().all(scalar) => Ok(Self(value)),
            value if scalar(value) => Ok(Self(value.clone())),
            _ => Err(D::Error::custom("expected a text, a number, `true`, `false`, or a list of them")),
        }
    }
}

impl JsonSchema for Literal {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Literal".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let scalar = ["string", "number", "boolean"];
        schemars::json_schema!({
            "description": "A text, a number, true or false, or a list of them.",
            "anyOf": [{ "type": scalar }, { "type": "array", "items": { "type": scalar } }],
        })
    }
}
