//! A scripted model in the place of the user's: so it is tried that verdicts are right, without a model.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::model::adapter::{Driver, ToolCall};
use crate::verify::model::{Look, Rule, Script};
use crate::verify::probe;

/// What is said in one conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Talk {
    /// A text of the user that tells it; omitted = the prompt of the scenario.
    #[serde(default)]
    pub when: Option<String>,
    /// Calls, one after the other, as the host names its tools.
    #[serde(default)]
    pub calls: Vec<ToolCall>,
    /// The last answer.
    pub says: String,
}

/// The script of a run.
pub fn script(talks: &[Talk], prompt: &str, driver: &Driver, values: &IndexMap<String, String>) -> Script {
    let first = prompt.lines().next().unwrap_or(prompt).trim();
    let rule = |talk: &Talk| {
        let text = talk.when.clone().unwrap_or_else(|| first.to_owned());
        let steps = probe::conversation(driver, values.clone(), &talk.calls, &talk.says);
        Rule { name: text.clone(), look: Look::User, text, needs_tools: true, steps }
    };
    Script { rules: talks.iter().map(rule).collect(), otherwise: "ok".to_owned() }
}
