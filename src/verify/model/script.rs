//! What the stand-in answers. It keeps no state: the step of a conversation is found by counting the
//! results of tools in the request, so that a sub-agent starts at its own first step.

use serde_json::{Map, Value};

use super::digest::Digest;

/// Rules in the order they are tried.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The first that fits answers.
    pub rules: Vec<Rule>,
    /// The answer when none fits.
    pub otherwise: String,
}

/// One conversation.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name in records.
    pub name: String,
    /// Where to look for `text`.
    pub look: Look,
    /// The text that tells the conversation.
    pub text: String,
    /// Whether a request without tools is left to others; hosts ask for titles and summaries on the side.
    pub needs_tools: bool,
    /// What is answered, in order.
    pub steps: Vec<Step>,
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In all texts of the user.
    User,
    /// In the last one.
    Last,
    /// In the text of the system.
    System,
    /// Anywhere in the request.
    Any,
}

/// One answer.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Text.
    pub text: Option<String>,
    /// Calls of tools.
    pub calls: Vec<Call>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool; `NAMESPACE.NAME` where the protocol has namespaces.
    pub name: String,
    /// What it is given.
    pub input: Input,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Arguments.
    Arguments(Map<String, Value>),
    /// Text without a form, where the protocol has such tools.
    Text(String),
}

impl Input {
    /// As arguments; text without a form is the argument `input`.
    pub fn arguments(&self) -> Value {
        match self {
            Self::Arguments(map) => Value::Object(map.clone()),
            Self::Text(text) => serde_json::json!({ "input": text }),
        }
    }
}

/// The chosen step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The rule, or nothing when none fitted.
    pub rule: Option<String>,
    /// Which of its steps; the number of steps when all are done.
    pub step: usize,
    /// Text.
    pub text: Option<String>,
    /// Calls.
    pub calls: Vec<Call>,
}

impl Answer {
    /// An answer in words only.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }
}

impl Script {
    /// Chooses the answer to a request; `raw` is its whole body.
    pub fn answer(&self, digest: &Digest, raw: &str) -> Answer {
        match self.rules.iter().find(|rule| rule.fits(digest, raw)) {
            Some(rule) => rule.answer(digest.results.len()),
            None => Answer::text(self.otherwise.clone()),
        }
    }
}

impl Rule {
    fn fits(&self, digest: &Digest, raw: &str) -> bool {
        if self.needs_tools && digest.tools.is_empty() {
            return false;
        }
        match self.look {
            Look::User => digest.users.iter().any(|u| u.contains(&self.text)),
            Look::Last => digest.users.last().is_some_and(|u| u.contains(&self.text)),
            Look::System => digest.system.contains(&self.text),
            Look::Any => raw.contains(&self.text),
        }
    }

    fn answer(&self, mut results: usize) -> Answer {
        let mut at = 0;
        while let Some(step) = self.steps.get(at).filter(|s| !s.calls.is_empty() && results >= s.calls.len()) {
            results -= step.calls.len();
            at += 1;
        }
        let step = self.steps.get(at).cloned().unwrap_or(Step { text: Some("Finished.".to_owned()), calls: vec![] });
        Answer { rule: Some(self.name.clone()), step: at, text: step.text, calls: step.calls }
    }
}
