//! Composed tools and values of the run time, every name looked up.

use indexmap::IndexMap;
use serde_json::Value;

use super::capabilities::CapSet;
use crate::diag::Span;
use crate::model::composed::{CountBudgetName, RuntimeSource};
use crate::yaml::Sp;

/// A tool made from an upstream primitive.
#[derive(Debug, Clone)]
pub struct Composed {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Option<Span>,
    /// What the model reads.
    pub description: String,
    /// The server of its primitive, or the name in `primitives:`; empty for a program.
    pub server: String,
    /// The primitive among the server's tools; empty for a program.
    pub tool: String,
    /// Who answers.
    pub maker: Maker,
    /// Where the primitive is named.
    pub primitive_span: Option<Span>,
    /// What the model may set, in the order written.
    pub arguments: IndexMap<String, ToolArgument>,
    /// Where each upstream parameter comes from.
    pub bind: Vec<Bind>,
    /// What one would use it for.
    pub covers: CapSet,
    /// All it makes possible.
    pub confers: CapSet,
    /// What is said of it.
    pub hints: HintChoices,
    /// What happens to calls and results.
    pub bounds: Bounds,
}

/// Who answers a tool.
#[derive(Debug, Clone)]
pub enum Maker {
    /// A server.
    Server,
    /// This program.
    Primitive,
    /// A program that is started for each call.
    Program(Program),
}

/// A program that is started for each call.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program with its arguments; `{name}` stands for a parameter.
    pub command: Vec<Sp<String>>,
    /// What it is given of the environment beside the usual.
    pub env: IndexMap<String, super::policy::Value>,
    /// Seconds that a call may take.
    pub seconds: u64,
}

/// One argument the model sees.
#[derive(Debug, Clone)]
pub struct ToolArgument {
    /// Where it is declared.
    pub span: Option<Span>,
    /// JSON Schema type.
    pub kind: String,
    /// What the model reads; none = what the primitive says.
    pub description: Option<String>,
    /// Whether the model must give it.
    pub required: bool,
    /// Allowed values.
    pub values: Option<Vec<String>>,
    /// Where they are written.
    pub values_span: Option<Span>,
    /// Sent when the model leaves it out.
    pub default: Option<Value>,
    /// Greatest number.
    pub maximum: Option<i64>,
}

/// Where one upstream parameter comes from.
#[derive(Debug, Clone)]
pub struct Bind {
    /// Names from the top.
    pub path: Vec<String>,
    /// Where it is written.
    pub span: Option<Span>,
    /// From where.
    pub from: From,
}

impl Bind {
    /// The path as it is written.
    pub fn dotted(&self) -> String {
        self.path.join(".")
    }
}

/// The origin of a value.
#[derive(Debug, Clone)]
pub enum From {
    /// An argument of the model.
    Argument(String),
    /// A constant.
    Constant(Value),
    /// A value of the run time.
    Runtime(String),
    /// A list of origins.
    List(Vec<From>),
}

impl From {
    /// Calls `visit` for this and every origin in it.
    pub fn each(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        if let Self::List(items) = self {
            for item in items {
                item.each(visit);
            }
        }
    }

    /// Names of the arguments in it.
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Argument(name) => vec![name],
            Self::List(items) => items.iter().flat_map(Self::arguments).collect(),
            Self::Constant(_) | Self::Runtime(_) => Vec::new(),
        }
    }
}

/// Hints that the policy states itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct HintChoices {
    /// Where.
    pub span: Option<Span>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may remove or overwrite.
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond this machine.
    pub open_world: Option<bool>,
}

/// What happens to calls and results of a tool.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The upstream parameter that says how many.
    pub limit_argument: Option<Sp<String>>,
    /// The upstream parameter that continues a list.
    pub cursor_argument: Option<Sp<String>>,
    /// The budget that counts the results.
    pub budget: Option<CountBudgetName>,
    /// Whether media may be asked for inline.
    pub inline_media: bool,
}

impl Bounds {
    /// Whether anything is said.
    pub const fn wanted(&self) -> bool {
        self.limit_argument.is_some() || self.cursor_argument.is_some() || self.budget.is_some() || self.inline_media
    }
}

/// Values of the run time by name.
pub type RuntimeSources = IndexMap<String, RuntimeSource>;
