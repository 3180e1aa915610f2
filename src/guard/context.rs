//! What an agent is told when its context fills: one line for each threshold of the policy. Whatever is missing,
//! nothing is said, and no call is ever held up.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::model::guard::words::REFUSED;
use crate::model::guard::{Compiled, Threshold};

use super::once::Told;
use super::usage::{self, Fill};
use super::{MAX_QUESTION, find};

/// What a host tells of a call that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Made(Value);

impl Made {
    /// Reads it; nothing when it is too long or no JSON object.
    pub fn read(input: impl Read) -> Option<Self> {
        let mut bytes = Vec::new();
        input.take(MAX_QUESTION + 1).read_to_end(&mut bytes).ok()?;
        let told: Value = serde_json::from_slice(&bytes).ok().filter(|_| bytes.len() as u64 <= MAX_QUESTION)?;
        told.is_object().then_some(Self(told))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|t| !t.is_empty())
    }

    /// The line for the model, in the JSON that hosts take it from; nothing when there is nothing new. `start` is
    /// the folder that the search for the repository begins in.
    pub fn answer(&self, host: &str, start: &Path) -> Option<String> {
        let (root, compiled) = find(start).ok()?;
        let usage = compiled.hosts.get(host)?.usage.as_ref()?;
        let (session, agent) = (self.text("session_id")?, self.text("agent_id"));
        let fill = match &usage.transcript {
            Some(field) => usage::last(usage, &usage::file(usage, self.text(field)?, agent)?),
            None => usage::said(usage, &self.0),
        }?;
        let count = compiled.context.iter().filter(|(_, at)| fill.percent() >= u64::from(**at)).count();
        let told = Told::of(&root, session, agent.unwrap_or_default())?;
        if !told.note(count, compiled.context.len()) {
            return None;
        }
        let event = self.text("hook_event_name").unwrap_or("PostToolUse");
        let line = line(&compiled, count, fill, agent.is_some())?;
        Some(
            serde_json::json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": line } })
                .to_string(),
        )
    }
}

/// What is said to whom has passed `count` thresholds.
fn line(compiled: &Compiled, count: usize, fill: Fill, sub_agent: bool) -> Option<String> {
    let (threshold, _) = compiled.context.get_index(count.checked_sub(1)?)?;
    let then = match (threshold, sub_agent) {
        (Threshold::CloseDiscovery, _) => "stop gathering, look up only what the work in hand still needs",
        (Threshold::StopDelegating, _) => "start no more agents, and finish with what is known",
        (Threshold::HandOff, false) => {
            "hand off now: write down what is done, what is verified, what is open, and what comes next, and stop"
        }
        (Threshold::HandOff, true) => {
            "hand back to the parent now: report what is done, what is verified and what is open, and stop"
        }
    };
    Some(format!("{REFUSED}{} % of the context window is used: {then}", fill.percent()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_object_says_nothing() {
        for bytes in [&b""[..], b"[]", b"\xff", b"{\"a\":"] {
            assert_eq!(Made::read(bytes), None);
        }
    }

    #[test]
    fn each_threshold_says_what_to_do() {
        let context =
            [(Threshold::CloseDiscovery, 50), (Threshold::StopDelegating, 65), (Threshold::HandOff, 75)].into();
        let compiled = Compiled { context, ..Compiled::default() };
        let fill = Fill { used: 4, window: 5 };
        let said = |count, sub| line(&compiled, count, fill, sub).unwrap_or_default();
        assert_eq!(said(0, false), "");
        assert!(said(1, false).contains("80 % of the context window is used: stop gathering"));
        assert!(said(3, false).contains("hand off now") && said(3, true).contains("to the parent"));
    }
}
