//! What an audit found, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::contract::Contract;
use super::cost::{HostCost, tokens};
use super::finding::Finding;
use super::suggest::Suggestion;
use crate::diag::{Code, Severity};
use crate::sync::pins::ServerPin;
use crate::text::encoding::visible;

/// Most names of tools in one line.
const NAMES: usize = 8;

/// What an audit found.
#[derive(Debug, Default)]
pub struct Report {
    /// One for each server, in the order of the policy.
    pub servers: Vec<ServerReport>,
}

/// What was found of one server.
#[derive(Debug)]
pub struct ServerReport {
    /// The server.
    pub name: String,
    /// What it offers; none when it gave no answer.
    pub contract: Option<Contract>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What it costs, for each selected host.
    pub costs: Vec<HostCost>,
    /// What would be pinned.
    pub pin: Option<ServerPin>,
    /// Entries of the policy that would agree with it.
    pub suggestion: Suggestion,
}

/// Findings that say the same of several tools.
struct Group<'a> {
    first: &'a Finding,
    tools: Vec<&'a str>,
}

impl Report {
    /// Everything found.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.servers.iter().flat_map(|server| &server.findings)
    }

    /// The page for people; notes and the cost for each role only when `verbose`.
    pub fn human(&self, verbose: bool) -> String {
        let mut out = String::new();
        for server in &self.servers {
            if !out.is_empty() {
                out.push('\n');
            }
            server.human(verbose, &mut out);
        }
        out
    }

    /// The same for programs.
    pub fn json(&self) -> String {
        let servers: Vec<Value> = self.servers.iter().map(ServerReport::json).collect();
        format!("{:#}\n", json!({ "clean": !self.failed(), "servers": servers }))
    }

    /// Entries of the policy that would agree with every server that answered, as one document.
    pub fn suggestions(&self) -> String {
        let all = || self.servers.iter().filter(|server| server.contract.is_some()).map(|server| &server.suggestion);
        let capabilities: String = all().map(|suggestion| suggestion.capabilities.as_str()).collect();
        let servers: String = all().map(|suggestion| suggestion.tools.as_str()).collect();
        let section = |name: &str, entries: String| {
            if entries.is_empty() { entries } else { format!("{name}:\n{entries}") }
        };
        section("capabilities", capabilities) + &section("servers", servers)
    }
}

impl ServerReport {
    fn human(&self, verbose: bool, out: &mut String) {
        let _ = write!(out, "server `{}`", self.name);
        if let Some(contract) = &self.contract {
            let most = self.costs.iter().map(HostCost::bytes).max().unwrap_or_default();
            let title = contract.title.as_ref().map_or_else(String::new, |title| format!(" ({})", visible(title)));
            let _ = write!(out, "{title}: {}", count(contract.tools.len(), "tool"));
            if most > 0 {
                let _ = write!(out, ", {most} bytes (~{} tokens) in every session that has it", tokens(most));
            }
        }
        out.push('\n');
        let shown = |finding: &&Finding| verbose || finding.severity != Severity::Note;
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            let findings: Vec<&Finding> =
                self.findings.iter().filter(shown).filter(|f| f.severity == severity).collect();
            for group in grouped(&findings) {
                group.human(verbose, out);
            }
        }
        if self.findings.iter().all(|finding| finding.severity == Severity::Note) {
            out.push_str("  agrees with the policy\n");
        }
        if verbose {
            self.cost(out);
        }
    }

    fn cost(&self, out: &mut String) {
        for cost in &self.costs {
            let (number, bytes) = cost.tools;
            let _ = write!(out, "  on {}: all {} {bytes} bytes", cost.host, count(number, "tool"));
            if cost.instructions > 0 {
                let _ = write!(out, ", instructions {} bytes", cost.instructions);
            }
            for (role, number, bytes) in &cost.roles {
                let _ = write!(out, "; {role} {} {bytes} bytes", count(*number, "tool"));
            }
            out.push('\n');
        }
    }

    fn json(&self) -> Value {
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "code": finding.code.id(),
                    "severity": finding.severity.word(),
                    "tool": finding.tool,
                    "message": finding.message,
                    "fix": finding.fix,
                })
            })
            .collect();
        let costs: Vec<Value> = self.costs.iter().map(|cost| json!({
            "host": cost.host,
            "tools": cost.tools.0,
            "bytes": cost.tools.1,
            "instructions": cost.instructions,
            "tokens": tokens(cost.bytes()),
            "roles": cost.roles.iter().map(|(role, tools, bytes)| json!({ "role": role, "tools": tools, "bytes": bytes })).collect::<Vec<_>>(),
        })).collect();
        let contract = self.contract.as_ref();
        json!({
            "server": self.name,
            "answered": contract.is_some(),
            "title": contract.and_then(|c| c.title.as_deref()),
            "tools": contract.map(|c| c.tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>()),
            "findings": findings,
            "costs": costs,
        })
    }
}

impl Group<'_> {
    fn human(&self, verbose: bool, out: &mut String) {
        let Finding { code, severity, message, fix, .. } = self.first;
        let _ = write!(out, "  {}[{}]: ", severity.word(), code.id());
        if let Some(names) = names(&self.tools) {
            let _ = write!(out, "{names}: ");
        }
        let _ = writeln!(out, "{}", visible(message).replace('\n', "\n    | "));
        // What to do about a warning is the same for every tool, and known after the first time.
        if let Some(fix) = fix.as_ref().filter(|_| verbose || self.first.severity == Severity::Error) {
            let _ = writeln!(out, "    fix: {}", visible(fix));
        }
    }
}

fn names(tools: &[&str]) -> Option<String> {
    let shown: Vec<String> = tools.iter().take(NAMES).map(|name| format!("`{}`", visible(name))).collect();
    match tools.len() {
        0 => None,
        n if n > NAMES => Some(format!("{} and {} more", shown.join(", "), n - NAMES)),
        _ => Some(shown.join(", ")),
    }
}

/// Findings that differ only in the tool become one; those with a fix of their own stay apart.
fn grouped<'a>(findings: &[&'a Finding]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for finding in findings {
        let same = groups.iter_mut().find(|group| {
            let first = group.first;
            first.code == finding.code
                && first.message == finding.message
                && first.fix == finding.fix
                && first.tool.is_some()
                && finding.tool.is_some()
                && finding.code != Code::GrantUnserved
        });
        match same {
            Some(group) => group.tools.extend(finding.tool.as_deref()),
            None => groups.push(Group { first: finding, tools: finding.tool.as_deref().into_iter().collect() }),
        }
    }
    groups
}

/// A number of things.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
