//! The gateway's own log: two lines a call, `call` and `end`, without the values of arguments.

use std::path::Path;
use std::rc::Rc;

use serde_json::json;

use super::{Reader, key, number, stem, text};
use crate::measure::event::{Agent, AgentKey, Call, Kind, Media, Outcome, Place, Raw, ToolName};
use crate::measure::format::{Format, Out};
use crate::measure::json::Json;

/// Reads the gateway's log.
#[derive(Debug)]
pub struct Audit {
    session: String,
    agent: Option<Rc<AgentKey>>,
}

impl Audit {
    /// For a file, whose name is the session.
    pub fn new(path: &Path) -> Self {
        Self { session: stem(path).to_owned(), agent: None }
    }

    fn whose(&mut self, record: &Json<'_>, out: &mut Out<'_>) -> Rc<AgentKey> {
        if let Some(agent) = &self.agent {
            return Rc::clone(agent);
        }
        let role = text(record, "role").map(str::to_owned);
        let new = key(Format::Gateway, &self.session, role.as_deref().unwrap_or_default());
        let place = Some(if role.is_some() { Place::Sub } else { Place::Main });
        out.put(&new, text(record, "time"), Kind::Agent(Agent { place, role, ..Agent::default() }));
        self.agent = Some(Rc::clone(&new));
        new
    }
}

impl Reader for Audit {
    fn record(&mut self, record: &Json<'_>, out: &mut Out<'_>) {
        let agent = self.whose(record, out);
        let at = text(record, "time");
        let id = number(record, "call").unwrap_or_default().to_string();
        let name = text(record, "tool").unwrap_or_default().to_owned();
        match text(record, "event").unwrap_or_default() {
            "call" => {
                let server = text(record, "upstream").and_then(|u| u.split_once('/'));
                let server = server.map(|(s, t)| (s.to_owned(), t.to_owned()));
                let reason = text(record, "/reason/need").map(|need| json!({ "escalation_reason": need }));
                let call = Call { id, tool: ToolName { name, server }, arguments: reason, ..Call::default() };
                out.put(&agent, at, Kind::Call(call));
            }
            "end" => {
                let outcome = text(record, "outcome").unwrap_or_default();
                let raw = number(record, "bytes_in").map(|bytes| Raw { bytes, at_least: false });
                let inline = number(record, "inline_media").unwrap_or(0);
                let media = (0..inline.min(1000)).map(|_| Media { base64: 0, inline: Some(true) }).collect();
                let outcome = Outcome {
                    id,
                    failed: Some(outcome != "ok"),
                    refused: outcome == "refused",
                    visible: number(record, "bytes_out"),
                    raw,
                    media,
                    head: text(record, "why").unwrap_or_default().to_owned(),
                    nested: false,
                };
                out.put(&agent, at, Kind::Result(outcome));
            }
            kind => out.put(&agent, at, Kind::Unknown(kind.to_owned())),
        }
    }

    fn agent(&self) -> Rc<AgentKey> {
        self.agent.clone().unwrap_or_else(|| key(Format::Gateway, &self.session, ""))
    }
}
