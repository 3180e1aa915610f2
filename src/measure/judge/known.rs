//! What the adapter knows of a host where its logs do not say it.

use super::Judge;
use crate::measure::event::{Agent, Place};
use crate::measure::format::Format;
use crate::model::adapter::History;
use crate::model::scalar::EvidenceKind;

/// Whether an agent was given the history of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// It was.
    pub history: bool,
    /// The log does not say so; the adapter knows, and how.
    pub by: Option<EvidenceKind>,
}

impl Judge<'_> {
    /// The size of the context that the host gives a model, as far as its adapter knows.
    pub fn window(&self, format: Format, model: &str) -> Option<u64> {
        self.host(format).adapter?.windows.as_ref()?.of(model)
    }

    /// Whether an agent was given the history of its parent; `None` = neither the log nor the adapter tells.
    pub fn history(&self, format: Format, known: &Agent) -> Option<Given> {
        if let Some(history) = known.history {
            return Some(Given { history, by: None });
        }
        let host = self.host(format);
        let adapter = host.adapter.filter(|_| known.place == Some(Place::Sub))?;
        if adapter.subagents.history != History::Fresh {
            return None;
        }
        let name = known.role.as_deref();
        if let Some(copies) = &adapter.subagents.copies {
            let by = Some(copies.evidence.unwrap_or(adapter.evidence.by));
            if name.is_some_and(|name| copies.agents.iter().any(|agent| agent == name)) {
                return Some(Given { history: true, by });
            }
            if copies.all && (copies.agents.is_empty() || name.is_some()) {
                return Some(Given { history: false, by });
            }
        }
        // Of an agent of the host's own that is another question.
        host.roles.contains_key(name?).then_some(Given { history: false, by: Some(adapter.evidence.by) })
    }

    /// How it is known that the host never gives an agent the history.
    pub fn never_copies(&self, format: Format) -> Option<EvidenceKind> {
        let adapter = self.host(format).adapter.filter(|a| a.subagents.history == History::Fresh)?;
        let copies = adapter.subagents.copies.as_ref().filter(|c| c.all && c.agents.is_empty())?;
        Some(copies.evidence.unwrap_or(adapter.evidence.by))
    }
}
