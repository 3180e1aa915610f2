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
    /// When the calls are made in vain, and what is called instead.
    pub wait: Option<Wait>,
}

/// Of a call that waits for an agent: it would wait for its whole time when that was refused, or ended before.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// Texts in the result before it: the agent was not started.
    pub refused: Vec<String>,
    /// In a text of the user: an agent has ended.
    pub ended: String,
    /// The agent that it waits for, as the number of those that ended by then.
    pub number: usize,
    /// The call in its place, so that results keep their numbers.
    pub instead: Call,
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
            Some(rule) => rule.answer(digest),
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

    fn answer(&self, digest: &Digest) -> Answer {
        let (mut at, mut results) = (0, digest.results.len());
        while let Some(step) = self.steps.get(at).filter(|s| !s.calls.is_empty() && results >= s.calls.len()) {
            results -= step.calls.len();
            at += 1;
        }
        let step = self.steps.get(at).cloned();
        let mut step = step.unwrap_or_else(|| Step { text: Some("Finished.".to_owned()), ..Step::default() });
        if let Some(wait) = step.wait.filter(|wait| wait.vain(digest)) {
            step.calls = vec![wait.instead];
        }
        Answer { rule: Some(self.name.clone()), step: at, text: step.text, calls: step.calls }
    }
}

impl Wait {
    fn vain(&self, digest: &Digest) -> bool {
        let refused = digest.results.last().is_some_and(|last| self.refused.iter().any(|text| last.contains(text)));
        refused || digest.users.iter().filter(|text| text.contains(&self.ended)).count() >= self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_what_was_refused_or_has_ended() {
        let call = |name: &str| Call { name: name.to_owned(), input: Input::Text(String::new()) };
        let step = |name: &str| Step { calls: vec![call(name)], ..Step::default() };
        let wait = Wait {
            refused: vec!["refused".to_owned()],
            ended: "has ended".to_owned(),
            number: 2,
            instead: call("list"),
        };
        let wait = Step { wait: Some(wait), ..step("wait") };
        let (name, text) = (String::new(), String::new());
        let steps = vec![step("copy"), step("start"), wait, step("more")];
        let rule = Rule { name, look: Look::Any, text, needs_tools: false, steps };
        let next = |results: &[&str], users: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|r| (*r).to_owned()).collect::<Vec<_>>();
            let digest = Digest { results: owned(results), users: owned(users), ..Digest::default() };
            rule.answer(&digest).calls.first().map(|c| c.name.clone()).unwrap()
        };
        assert_eq!(next(&["refused"], &[]), "start", "only who waits looks at the result before");
        let started = ["refused", "id 1"];
        assert_eq!(next(&started, &["go", "one has ended"]), "wait", "another one has");
        assert_eq!(next(&started, &["go", "one has ended", "two has ended"]), "list");
        assert_eq!(next(&["refused", "was refused"], &[]), "list");
        assert_eq!(next(&["refused", "was refused", "nobody"], &[]), "more");
    }
}
