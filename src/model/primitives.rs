//! Primitives of this program itself: stores of documents and conversations, and calls of web interfaces. Tools are made
//! from them as from those of a server.

use schemars::JsonSchema;
use serde::Deserialize;

use super::composed::Argument;
use super::policy::{CountBudget, EnvValue, Map, Timeouts};
use crate::yaml::Sp;

/// What a name of `primitives:` stands for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "PrimitiveSource")]
pub enum PrimitiveSource {
    /// Documents with metadata, and conversations, in one file.
    Store(StoreChoice),
    /// Calls of one web interface.
    Api(Api),
}

crate::yaml::alternatives!(PrimitiveSource);

/// A store in a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StoreChoice {
    /// The file, below the root.
    pub file: Sp<String>,
    /// What makes vectors of texts; default: the built-in one, which knows words and their forms, not meanings.
    pub embedder: Option<EmbedderChoice>,
    /// How many results its tools return: `target` when a call says nothing (default 10), `limit` at most (default 50).
    pub results: Option<Sp<CountBudget>>,
    /// Time-outs; default: 60 seconds for a call. What is not waited for any more is ended.
    pub timeout: Option<Timeouts>,
}

/// A program that makes vectors of texts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EmbedderChoice {
    /// The name of its model: a store made with another one is not read.
    pub name: Sp<String>,
    /// The program with its arguments; started without a shell, in the root.
    pub command: Vec<Sp<String>>,
    /// Its environment: references only.
    #[serde(default)]
    pub env: Map<EnvValue>,
}

/// A web interface; what is not declared of it cannot be called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Api {
    /// The address that every path is appended to.
    pub base: Sp<String>,
    /// Headers of every request: references only.
    #[serde(default)]
    pub headers: Map<EnvValue>,
    /// Time-outs.
    pub timeout: Option<Timeouts>,
    /// The primitives: one declared request each.
    pub calls: Map<ApiCall>,
}

/// One declared request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApiCall {
    /// The path of a GET request; `{name}` is the parameter of this name, the other parameters are its query.
    pub get: Option<Sp<String>>,
    /// The path of a POST request; `{name}` is the parameter of this name, the other parameters are its JSON body.
    pub post: Option<Sp<String>>,
    /// What it does.
    pub description: Sp<String>,
    /// What may be sent.
    #[serde(default)]
    pub parameters: Map<Argument>,
}
