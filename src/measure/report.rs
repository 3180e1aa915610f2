//! What was counted, as JSON for programs. `null` is what the logs do not record.
//!
//! Files and sessions are made one by one as they are written, so that a report costs no memory.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::event::{AgentKey, At, Place};
use super::expect::{Expected, Outcome, Verdict};
use super::format::{Fact, Format};
use super::found::{Found, Record};
use super::sessions::{Figure, Session};
use super::spread::Spread;
use super::tally::{Counted, Tally, ToolCount};

/// Version of the layout: raised when a key goes or means something else.
pub const VERSION: u32 = 1;

/// A file that was looked at.
#[derive(Debug, Clone)]
pub struct File {
    /// As it was named, or found.
    pub path: String,
    /// What it is; `None` = no log of a session.
    pub format: Option<Format>,
    /// Records.
    pub records: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The name of a record: file and line.
pub fn place(files: &[File], at: At) -> String {
    let path = files.get(at.file as usize).map_or("?", |f| f.path.as_str());
    format!("{path}:{}", at.record)
}

/// Writes all of it, with a line end.
///
/// # Errors
/// It cannot be written.
pub fn json(
    to: &mut dyn Write,
    tally: &Tally<'_>,
    sessions: &[Session<'_, '_>],
    files: &[File],
    expected: Option<Expected<'_>>,
) -> io::Result<()> {
    let report = Report { page: Page { tally, files }, sessions, expected };
    serde_json::to_writer_pretty(&mut *to, &report)?;
    to.write_all(b"\n")
}

struct Report<'a, 'p> {
    page: Page<'a, 'p>,
    sessions: &'a [Session<'a, 'p>],
    expected: Option<Expected<'a>>,
}

impl Serialize for Report<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_map(None)?;
        all.serialize_entry("version", &VERSION)?;
        all.serialize_entry("files", &Each(|| self.page.files.iter().map(file)))?;
        all.serialize_entry("sessions", &Each(|| self.sessions.iter().map(|s| self.page.session(s))))?;
        if let Some((name, outcomes)) = self.expected {
            let held = outcomes.iter().all(|(_, all)| all.iter().all(Outcome::held));
            let each = outcomes.iter().map(|(at, all)| {
                let session = self.sessions.get(*at).map_or("", |s| s.id.as_str());
                json!({ "session": session, "keys": all.iter().map(|o| self.page.outcome(o)).collect::<Vec<_>>() })
            });
            let sessions = each.collect::<Vec<_>>();
            all.serialize_entry("expectation", &json!({ "name": name, "held": held, "sessions": sessions }))?;
        }
        all.end()
    }
}

/// Values that are made when it is their turn.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = Value>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

fn file(file: &File) -> Value {
    json!({
        "path": file.path, "format": file.format.map(Format::word), "records": file.records, "bytes": file.bytes,
    })
}

struct Page<'a, 'p> {
    tally: &'a Tally<'p>,
    files: &'a [File],
}

impl Page<'_, '_> {
    fn session(&self, session: &Session<'_, '_>) -> Value {
        json!({
            "host": self.tally.judge().host_id(session.format),
            "format": session.format.word(),
            "session": session.id,
            "full-history-agents": self.figure(&session.full_history()),
            "avoidable-compactions": self.figure(&session.avoidable()),
            "sub-agents-not-read": session.unread(),
            "agents": session.agents.iter().map(|(key, counted)| self.agent(session, key, counted)).collect::<Vec<_>>(),
        })
    }

    fn agent(&self, session: &Session<'_, '_>, key: &AgentKey, counted: &Counted<'_>) -> Value {
        let known = &counted.known;
        let format = session.format;
        let approvals = || {
            let one = |((tool, by, granted), (count, person)): (&(String, String, bool), &(u64, Option<bool>))| json!({ "tool": tool, "by": by, "granted": granted, "person": person, "count": count });
            counted.approvals.iter().map(one).collect::<Vec<_>>()
        };
        let recorded = |fact: Fact, any: bool| any || format.records(fact);
        let refusals = counted.main() || recorded(Fact::Refusals, counted.outside_refused.count > 0);
        json!({
            "agent": key.agent.as_ref(),
            "place": match known.place { None => None, Some(Place::Main) => Some("main"), Some(Place::Sub) => Some("sub"), Some(Place::Reviewer) => Some("reviewer") },
            "parent": known.parent,
            "role": known.role,
            "role-in-policy": known.role.as_deref().and_then(|name| self.tally.judge().role(format, name)).map(|r| r.id.as_str()),
            "full-history": known.history,
            "host-version": known.version,
            "from": counted.first,
            "to": counted.last,
            "requests": counted.context.requests,
            "context": self.context(counted),
            "calls": counted.calls,
            "tools": counted.tools.iter().map(|(name, count)| (name.clone(), tool(count))).collect::<Map<_, _>>(),
            "capabilities": counted.capabilities,
            "unclassified": self.found(&counted.unclassified),
            "results": {
                "visible": spread(&counted.results),
                "sizes-not-recorded": counted.unsized_results,
                "over-target": self.found(&counted.over_target),
                "over-limit": self.found(&counted.over_limit),
                "raw": { "bytes": counted.raw, "results": counted.raw_known.0, "at-least": counted.raw_known.1, "cut-by-host": counted.cut },
            },
            "media": {
                "inline": self.found(&counted.inline),
                "inline-base64-bytes": counted.inline_bytes,
                "sending-not-recorded": { "count": counted.stored.0, "base64-bytes": counted.stored.1 },
            },
            "knowledge": {
                "docs": self.found(&counted.knowledge.docs),
                "memory": self.found(&counted.knowledge.memory),
                "taxonomy": self.found(&counted.knowledge.taxonomy),
                "before-first-work": self.found(&counted.knowledge.before),
            },
            "out-of-grant": {
                "done": self.found(&counted.outside),
                "refused": if refusals { self.found(&counted.outside_refused) } else { Value::Null },
            },
            "unrecorded-escalations": self.found(&counted.escalations),
            "reviews": if recorded(Fact::Reviews, !counted.reviews.is_empty()) { json!(counted.reviews) } else { Value::Null },
            "approvals": if recorded(Fact::Approvals, !counted.approvals.is_empty()) { json!(approvals()) } else { Value::Null },
            "copied-records": counted.copied,
            "unknown-records": counted.unknown,
            "damaged-records": self.found(&counted.damaged),
            "ends-within-a-record": counted.unfinished,
        })
    }

    fn context(&self, counted: &Counted<'_>) -> Value {
        let context = &counted.context;
        let first = context
            .first
            .map(|(at, r)| json!({ "at": self.place(at), "tokens": r.context, "cached": r.cached, "bytes": r.bytes }));
        json!({
            "window": context.window,
            "first-request": first,
            "least": context.range.map(|r| r.0),
            "most": context.range.map(|r| r.1),
            "last": context.curve.last().map(|p| p.1),
            "not-recorded": context.unknown,
            "output": context.output,
            "curve": context.curve.iter().map(|(n, tokens)| json!([n, tokens])).collect::<Vec<_>>(),
            "crossed": context.crossed.iter().map(|c| json!({
                "threshold": c.name, "percent": c.percent, "tokens": c.tokens, "at": self.place(c.at),
            })).collect::<Vec<_>>(),
            "compactions": context.compactions.iter().map(|c| json!({
                "at": self.place(c.at), "before": c.before, "after": c.after, "automatic": c.automatic, "waste": c.waste,
            })).collect::<Vec<_>>(),
        })
    }

    fn outcome(&self, outcome: &Outcome) -> Value {
        let (verdict, count, records, why) = match &outcome.was {
            Verdict::Held(count) => ("held", Some(*count), &[][..], None),
            Verdict::Broken(count, records) => ("broken", Some(*count), records.as_slice(), None),
            Verdict::NotRecorded(why) => ("not-recorded", None, &[][..], Some(why)),
        };
        json!({
            "key": outcome.key, "most": outcome.most, "verdict": verdict, "count": count,
            "records": self.records(records), "not-recorded": why,
        })
    }

    fn figure(&self, figure: &Figure) -> Value {
        match figure {
            Figure { found, unknown: None } => self.found(found),
            Figure { found, unknown: Some(what) } if found.count > 0 => {
                let mut counted = self.found(found);
                counted["not-recorded"] = json!(what);
                counted
            }
            Figure { .. } => Value::Null,
        }
    }

    fn found(&self, found: &Found) -> Value {
        json!({ "count": found.count, "records": self.records(&found.records) })
    }

    fn records(&self, records: &[Record]) -> Vec<Value> {
        records.iter().map(|r| json!({ "at": self.place(r.at), "what": r.what })).collect()
    }

    fn place(&self, at: At) -> String {
        place(self.files, at)
    }
}

fn tool(count: &ToolCount) -> Value {
    json!({
        "calls": count.calls,
        "within-scripts": count.nested,
        "failed": count.failed,
        "refused": count.refused,
        "results": spread(&count.results),
        "inline-base64": spread(&count.media),
        "arguments": spread(&count.arguments),
    })
}

fn spread(spread: &Spread) -> Value {
    json!({
        "count": spread.count(), "bytes": spread.total(), "most": spread.max(),
        "p50": spread.quantile(50), "p90": spread.quantile(90), "p99": spread.quantile(99),
    })
}
