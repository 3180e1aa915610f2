//! What a verification found, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::model::evidence::Holds;
pub use crate::model::evidence::Verdict;
use crate::plan::ledger::{Line, Subject};
use crate::plan::standing::Standing;

/// What was found, host by host.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Every selected host.
    pub hosts: Vec<HostReport>,
}

/// What was found of one host.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostReport {
    /// The host.
    pub host: String,
    /// For people.
    pub title: String,
    /// The program.
    pub program: Option<String>,
    /// The version it says it is.
    pub version: Option<String>,
    /// The version that the claims were established on.
    pub claimed_on: String,
    /// The evidence that is kept for it.
    pub evidence: Option<Standing>,
    /// Whether that evidence is of another version than the one installed.
    pub stale: bool,
    /// Why nothing was tried; such a host is never verified.
    pub not_verified: Option<String>,
    /// One for each claim, and one for the tools of each role.
    pub findings: Vec<Finding>,
    /// Other hosts that it asked its proxy for, which refused.
    pub strays: Vec<String>,
    /// Size of the first request for each agent.
    pub first_requests: Vec<FirstRequest>,
}

/// The first request of one agent, by where its parts come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FirstRequest {
    /// The role; none for the main agent.
    pub role: Option<String>,
    /// Its form.
    pub form: Option<String>,
    /// Bytes.
    pub bytes: usize,
    /// Bytes of the descriptions of tools.
    pub tools: usize,
    /// Bytes of what it is told in words.
    pub text: usize,
    /// Bytes of that which are rendered; the rest is the host's own, the user's, and the task.
    pub ours: usize,
    /// What stands between tags.
    pub blocks: Vec<Block>,
    /// Files of the repository that are not rendered and stand in it as a whole.
    pub files: Vec<String>,
    /// Bytes of the request in the same repository without anything rendered; none = not tried.
    pub without: Option<usize>,
}

/// A text between tags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Block {
    /// The tag.
    pub name: String,
    /// Bytes between all such tags.
    pub bytes: usize,
}

impl FirstRequest {
    fn human(&self, out: &mut String) {
        let who = match (&self.role, &self.form) {
            (Some(role), Some(form)) => format!("{role} ({form})"),
            _ => "the main agent".to_owned(),
        };
        let _ = write!(out, "  first request of {who}: {} bytes", self.bytes);
        if let Some(without) = self.without {
            let _ = write!(out, ", {without} without what is rendered");
        }
        let _ = write!(out, "; tools {}, text {}, of which rendered {}", self.tools, self.text, self.ours);
        if !self.blocks.is_empty() {
            let blocks: Vec<String> = self.blocks.iter().map(|b| format!("`<{}>` {}", b.name, b.bytes)).collect();
            let _ = write!(out, "; blocks: {}", blocks.join(", "));
        }
        if !self.files.is_empty() {
            let _ = write!(out, "; other files: {}", self.files.join(", "));
        }
        out.push('\n');
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// What it is about.
    pub about: About,
    /// What is claimed.
    pub claim: String,
    /// Whether that holds.
    pub verdict: Verdict,
    /// What was seen.
    pub seen: String,
    /// What holds instead of a broken line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
    /// Only the list of offered tools speaks; no call was tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Tools that were offered, not planned, and of which nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The tools that a role is offered.
    Tools {
        /// The role.
        role: String,
        /// In which form.
        form: String,
    },
    /// A line of the ledger.
    Line(Subject),
    /// The same in a copy whose policy has the server for trials.
    WithServer(Box<About>),
    /// The same where that server is reached only through the gateway.
    ThroughGateway(Box<About>),
    /// The notes for the host, as they come to the main agent or to roles.
    Notes {
        /// `main` or `roles`.
        to: String,
    },
    /// What the guard does that no line of the ledger is about.
    Guard {
        /// What is refused, or told.
        what: String,
    },
    /// How the host reads a JSON file of ours with something in it that plain JSON does not have.
    Reader {
        /// The file.
        file: String,
        /// What is in it.
        with: String,
    },
    /// What an agent knows before its first turn.
    Start {
        /// `main` or `roles`.
        to: String,
    },
}

impl Finding {
    /// A finding without details.
    pub fn new(about: About, claim: String, verdict: Verdict, seen: impl Into<String>) -> Self {
        Self { about, claim, verdict, seen: seen.into(), holds: None, listed: false, unknown: Vec::new() }
    }

    /// A finding about a line of the ledger.
    pub fn of(line: &Line, verdict: Verdict, seen: impl Into<String>) -> Self {
        let mut claim = line.state.word().to_owned();
        if let Some(limit) = line.limited_by {
            let _ = write!(claim, ", limited by {}", limit.word());
        }
        if let Some(guarantee) = line.guarantee {
            let _ = write!(claim, ", {}", guarantee.word());
        }
        if matches!(line.subject, Subject::Rule { .. }) {
            claim.clone_from(&line.reason);
        }
        Self::new(About::Line(line.subject.clone()), claim, verdict, seen)
    }
}

impl About {
    /// The agent or kind of thing, and what of it.
    fn words(&self) -> (String, String) {
        match self {
            Self::Tools { role, form } => (format!("{role} ({form})"), "tools".to_owned()),
            Self::WithServer(about) => {
                let (who, what) = about.words();
                (format!("{who} with a server"), what)
            }
            Self::ThroughGateway(about) => {
                let (who, what) = about.words();
                (format!("{who} through the gateway"), what)
            }
            Self::Notes { to } => (format!("notes to {to}"), "the card".to_owned()),
            Self::Guard { what } => ("guard".to_owned(), what.clone()),
            Self::Reader { file, with } => (format!("`{file}`"), format!("with {with}")),
            Self::Start { to } => (format!("start of {to}"), "discovery".to_owned()),
            Self::Line(Subject::Role { role, form, capability }) => (format!("{role} ({form})"), capability.clone()),
            Self::Line(Subject::Budget { budget, family }) => {
                ("budgets".to_owned(), format!("{budget} on {family} results"))
            }
            Self::Line(Subject::Server { server, tool }) => (format!("server {server}"), tool.clone()),
            Self::Line(Subject::Command { command }) => ("forbidden commands".to_owned(), command.clone()),
            Self::Line(Subject::Rule { rule, to }) => (format!("rules to {to}"), rule.clone()),
        }
    }
}

/// Findings that say the same of the same agent, in one row.
struct Row<'a> {
    verdict: Verdict,
    who: String,
    what: Vec<String>,
    claim: &'a str,
    seen: &'a str,
}

fn rows<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for finding in findings {
        let (who, what) = finding.about.words();
        let (verdict, claim, seen) = (finding.verdict, finding.claim.as_str(), finding.seen.as_str());
        let same = |r: &&mut Row<'_>| r.verdict == verdict && r.who == who && r.claim == claim && r.seen == seen;
        match rows.iter_mut().find(same) {
            Some(row) => row.what.push(what),
            None => rows.push(Row { verdict, who, what: vec![what], claim, seen }),
        }
    }
    rows.sort_by_key(|r| r.verdict as u8);
    rows
}

impl Report {
    /// Whether a claim is broken or unclear, a host in `asked` could not be verified, or none at all was: a run that
    /// tried nothing must not pass.
    pub fn failed(&self, asked: &[String]) -> bool {
        let bad = |f: &Finding| matches!(f.verdict, Verdict::Broken | Verdict::Unclear);
        let broken = |h: &HostReport| h.findings.iter().any(bad);
        let nothing = self.hosts.iter().all(|h| h.not_verified.is_some());
        nothing || self.hosts.iter().any(|h| broken(h) || (h.not_verified.is_some() && asked.contains(&h.host)))
    }

    /// For people: what is broken or better, and the counts of the rest; everything when `all`.
    pub fn human(&self, all: bool) -> String {
        let mut out = String::new();
        for host in &self.hosts {
            host.human(all, &mut out);
        }
        out
    }

    /// For programs.
    pub fn json(&self) -> String {
        // Every key is a string and no value can fail, so there is always a text.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }
}

impl HostReport {
    fn human(&self, all: bool, out: &mut String) {
        if let Some(reason) = &self.not_verified {
            let _ = writeln!(out, "{}: not verified: {reason}", self.title);
            return;
        }
        let version = self.version.as_deref().unwrap_or("of unknown version");
        let _ = write!(out, "{} {version}", self.title);
        if self.version.as_deref() != Some(self.claimed_on.as_str()) {
            let _ = write!(out, " (the claims were established on {})", self.claimed_on);
        }
        if let Some(kept) = &self.evidence {
            let stale = if self.stale { ": stale" } else { "" };
            let _ = write!(out, " (evidence of {}, {}{stale})", kept.versions.join(", "), kept.date);
        }
        let count = |v: Verdict| self.findings.iter().filter(|f| f.verdict == v).count();
        let counts: Vec<String> = [Verdict::Held, Verdict::Better, Verdict::Untried, Verdict::Unclear, Verdict::Broken]
            .into_iter()
            .map(|v| format!("{} {}", count(v), v.word()))
            .collect();
        let _ = writeln!(out, ": {}", counts.join(", "));
        if all && !self.strays.is_empty() {
            let _ = writeln!(out, "  it wanted to reach {}, and did not", self.strays.join(", "));
        }
        if all {
            self.first_requests.iter().for_each(|first| first.human(out));
        }
        let shown = self.findings.iter().filter(|f| all || !matches!(f.verdict, Verdict::Held | Verdict::Untried));
        for row in rows(shown) {
            let _ = writeln!(out, "  {:<7} {}: {}", row.verdict.word(), row.who, row.what.join(", "));
            let _ = writeln!(out, "          {}; {}", row.claim, row.seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(verdict: Verdict, capability: &str) -> Finding {
        let subject = Subject::Role { role: "r".into(), form: "f".into(), capability: capability.into() };
        Finding::new(About::Line(subject), "denied".into(), verdict, "refused")
    }

    fn report(findings: Vec<Finding>, not_verified: Option<&str>) -> Report {
        let host = HostReport {
            host: "h".into(),
            title: "H".into(),
            version: Some("1.0".into()),
            claimed_on: "1.0".into(),
            not_verified: not_verified.map(str::to_owned),
            findings,
            ..HostReport::default()
        };
        Report { hosts: vec![host] }
    }

    #[test]
    fn what_is_not_proven_fails_and_what_was_not_asked_for_does_not() {
        let (asked, nobody) = (["h".to_owned()], []);
        for (verdict, fails) in [
            (Verdict::Held, false),
            (Verdict::Better, false),
            (Verdict::Untried, false),
            (Verdict::Unclear, true),
            (Verdict::Broken, true),
        ] {
            assert_eq!(report(vec![finding(verdict, "c")], None).failed(&nobody), fails, "{verdict:?}");
        }
        let away = || report(vec![], Some("it is away"));
        assert!(away().failed(&asked));
        assert!(away().failed(&nobody), "a run that tried nothing does not pass");
        let mut beside = report(vec![finding(Verdict::Held, "c")], None);
        beside.hosts.extend(away().hosts);
        assert!(!beside.failed(&nobody), "one host was verified, the other not asked for");
        assert!(beside.failed(&asked));
    }

    #[test]
    fn people_see_what_is_wrong_first_and_the_same_only_once() {
        let all = vec![finding(Verdict::Held, "a"), finding(Verdict::Broken, "b"), finding(Verdict::Broken, "c")];
        let report = report(all, None);
        assert_eq!(
            report.human(false),
            "H 1.0: 1 held, 0 better, 0 untried, 0 unclear, 2 broken\n  broken  r (f): b, c\n          denied; refused\n"
        );
        assert!(report.human(true).ends_with("  held    r (f): a\n          denied; refused\n"));
    }
}
