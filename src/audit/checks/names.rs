//! Names, as the protocol and every selected host take them.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use crate::audit::finding::Finding;
use crate::diag::Code;
use crate::plan::names;
use crate::plan::offer::why_unusable;

/// Longest name that the specification allows.
const MAX: usize = 128;

pub(super) fn listed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for tool in &subject.contract.tools {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if tool.name.len() > MAX || !tool.name.chars().all(plain) {
            let message = format!("its name is not 1 to {MAX} of `A-Za-z0-9_-.`");
            found.push(subject.finding(Code::ToolName, tool, message));
        }
        if !seen.insert(&tool.name) {
            found.push(subject.finding(Code::ToolName, tool, "the server lists it twice"));
        }
    }
    for host in &subject.plan.hosts {
        if let Some(adapter) = subject.loaded.adapters.get(&host.host) {
            on_host(subject, adapter, found);
        }
    }
}

fn on_host(subject: &Subject<'_>, adapter: &crate::model::adapter::Adapter, found: &mut Vec<Finding>) {
    let mut spelt: BTreeMap<String, &str> = BTreeMap::new();
    for tool in &subject.contract.tools {
        match names::tool(&adapter.names.tool, subject.name(), &tool.name) {
            Ok(name) => match spelt.insert(name.clone(), &tool.name) {
                Some(other) if other != tool.name => {
                    let message = format!("`{other}` is `{name}` on {} too", adapter.title);
                    found.push(subject.finding(Code::NameCollision, tool, message));
                }
                _ => {}
            },
            Err(problem) => {
                let message = why_unusable(&problem, adapter);
                found.push(
                    subject.finding(Code::NameUnusable, tool, message).fix("give the server a shorter or plainer name"),
                );
            }
        }
    }
}
