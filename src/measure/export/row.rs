//! One event with what is known and judged of it.

use crate::measure::budget::Charge;
use crate::measure::context::Says;
use crate::measure::event::{Agent, AgentKey, At, Call, Compaction, Damage, Event, Kind, Outcome, Request};
use crate::measure::format::{Fact, Format};
use crate::measure::judge::{Class, Given, Tool};
use crate::measure::judged::Judged;
use crate::measure::report::File;
use crate::measure::tally::Tally;
use crate::measure::time;

/// A row. What the log does not record, and what has no meaning for an event, is `None`.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Number of the row.
    pub seq: u64,
    /// What happened, in one word.
    pub event: &'static str,
    /// When, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The host that wrote the log.
    pub host: String,
    /// The kind of log.
    pub format: &'static str,
    /// What such logs do not record.
    pub not_recorded: Option<String>,
    /// The log.
    pub file: String,
    /// Its line.
    pub record: u64,
    /// The session.
    pub session: String,
    /// The agent; empty for the main one.
    pub agent: String,
    /// What is known of the agent so far.
    pub known: Agent,
    /// Its role in the policy.
    pub role: Option<String>,
    /// Tokens.
    pub request: Request,
    /// Number of the request of this agent, or of the last one before this event.
    pub number: Option<u64>,
    /// Tokens of the window, and who says so.
    pub window: Option<(u64, Says)>,
    /// What the agent was given of its parent's history.
    pub given: Option<Given>,
    /// Digest of the arguments of a call of the gateway's.
    pub digest: Option<String>,
    /// What the event cost of a budget.
    pub charge: Option<Charge>,
    /// Media over the limit.
    pub media_over_limit: Option<u64>,
    /// Thresholds that were crossed.
    pub crossed: Option<String>,
    /// Id of the call.
    pub call: Option<String>,
    /// The tool as the log names it.
    pub tool_name: Option<String>,
    /// The tool as reports name it.
    pub tool: Option<String>,
    /// Its server.
    pub server: Option<String>,
    /// How much is known of it.
    pub class: Option<&'static str>,
    /// What it is used for.
    pub capabilities: Option<String>,
    /// Bytes of the arguments.
    pub arguments_bytes: Option<u64>,
    /// Within a script.
    pub nested: Option<bool>,
    /// It is work on the task.
    pub works: Option<bool>,
    /// It looks something up before the first work.
    pub early: Option<bool>,
    /// A specialist without a reason.
    pub unrecorded: Option<bool>,
    /// Outside of the grants.
    pub outside: Option<bool>,
    /// Why.
    pub reason: Option<String>,
    /// It failed.
    pub failed: Option<bool>,
    /// It was refused.
    pub refused: Option<bool>,
    /// It started an agent.
    pub started: Option<bool>,
    /// Bytes of text the model saw.
    pub visible: Option<u64>,
    /// Bytes the tool gave.
    pub raw: Option<u64>,
    /// They may have been more.
    pub at_least: Option<bool>,
    /// Over the target.
    pub over_target: Option<bool>,
    /// Over the limit.
    pub over_limit: Option<bool>,
    /// Media the model was sent, and their base64.
    pub inline: Option<(u64, u64)>,
    /// Media of which that is not known.
    pub stored: Option<(u64, u64)>,
    /// The reviewer's word.
    pub verdict: Option<String>,
    /// Let through.
    pub granted: Option<bool>,
    /// By whom.
    pub by: Option<String>,
    /// By a person.
    pub person: Option<bool>,
    /// Tokens before and after a compaction.
    pub compacted: (Option<u64>, Option<u64>),
    /// The host did it by itself.
    pub automatic: Option<bool>,
    /// Of a record that is not known, or cannot be read: which.
    pub kind: Option<String>,
}

impl Row {
    /// Counts an event, and makes the row of it.
    pub fn count(event: Event, tally: &mut Tally<'_>, files: &[File], path: &str, seq: u64) -> Self {
        let mut row = Self::of(&event, seq);
        let (key, at) = (std::rc::Rc::clone(&event.agent), event.at);
        row.host = tally.judge().host_id(key.format).to_owned();
        row.file = files.get(at.file as usize).map_or(path, |f| f.path.as_str()).to_owned();
        let judged = tally.told(event);
        row.agent(&key, tally);
        row.judge(judged, tally);
        row
    }

    fn of(event: &Event, seq: u64) -> Self {
        let At { record, .. } = event.at;
        let mut row = Self {
            seq,
            record,
            time: event.time.as_deref().and_then(time::millis),
            format: event.agent.format.word(),
            not_recorded: not_recorded(event.agent.format),
            session: event.agent.session.to_string(),
            agent: event.agent.agent.to_string(),
            ..Self::default()
        };
        row.event = match &event.kind {
            Kind::Agent(_) => "agent",
            Kind::Request(request) => {
                row.request = *request;
                "request"
            }
            Kind::Window(_) => "window",
            Kind::Call(call) => row.call(call),
            Kind::Result(outcome) => row.result(outcome),
            Kind::Review(review) => {
                row.tool_name = review.tool.as_ref().map(|t| t.name.clone());
                row.verdict.clone_from(&review.verdict);
                "review"
            }
            Kind::Approval(approval) => {
                row.call = Some(approval.call.clone());
                row.granted = Some(approval.granted);
                (row.by, row.person) = (approval.by.clone(), approval.person);
                "approval"
            }
            Kind::Compaction(Compaction { before, after, automatic, .. }) => {
                (row.compacted, row.automatic) = ((*before, *after), *automatic);
                "compaction"
            }
            Kind::Copied => "copied",
            Kind::Unknown(kind) => {
                row.kind = Some(kind.clone());
                "unknown"
            }
            Kind::Damaged(damage) => {
                let kind = match damage {
                    Damage::Garbage => "garbage",
                    Damage::Unfinished => "unfinished",
                    Damage::TooLarge => "too-large",
                };
                row.kind = Some(kind.to_owned());
                "damaged"
            }
        };
        row
    }

    fn call(&mut self, call: &Call) -> &'static str {
        self.call = Some(call.id.clone());
        self.tool_name = Some(call.tool.name.clone());
        self.arguments_bytes = call.arguments_bytes;
        self.nested = Some(call.nested);
        "call"
    }

    fn result(&mut self, outcome: &Outcome) -> &'static str {
        self.call = Some(outcome.id.clone());
        self.nested = Some(outcome.nested);
        self.failed = outcome.failed;
        self.visible = outcome.visible;
        (self.raw, self.at_least) = (outcome.raw.map(|r| r.bytes), outcome.raw.map(|r| r.at_least));
        let media = |inline: bool| {
            let some = outcome.media.iter().filter(|m| (m.inline == Some(true)) == inline);
            some.fold((0, 0), |(count, bytes), m| (count + 1, bytes + m.base64))
        };
        // What a script's call gave is not what the model was sent.
        if !outcome.nested {
            (self.inline, self.stored) = (Some(media(true)), Some(media(false)));
        }
        "result"
    }

    fn agent(&mut self, key: &AgentKey, tally: &Tally<'_>) {
        let Some(counted) = tally.agent(key) else { return };
        let Agent { place, parent, role, history, version, folder: _, model } = &counted.known;
        self.known = Agent {
            place: *place,
            parent: parent.clone(),
            role: role.clone(),
            history: *history,
            version: version.clone(),
            folder: None,
            model: model.clone(),
        };
        self.role = role.as_deref().and_then(|name| tally.judge().role(key.format, name)).map(|r| r.id.clone());
        self.window = counted.context.window;
        self.given = tally.judge().history(key.format, &counted.known);
        self.number = Some(counted.context.requests);
        if let (Some(compacted), "compaction") = (counted.context.compactions.last(), self.event) {
            self.compacted.0 = compacted.before;
        }
    }

    fn judge(&mut self, judged: Judged<'_>, tally: &Tally<'_>) {
        let Judged { tool, outside, reason, early, unrecorded, refused, started, over_target, over_limit, .. } = judged;
        let crossed = judged.crossed;
        (self.charge, self.digest) = (judged.charge, judged.digest);
        if !crossed.is_empty() {
            self.crossed = Some(crossed.join(" "));
        }
        match self.event {
            "call" => {
                (self.outside, self.reason) = (outside, reason);
                (self.early, self.unrecorded) = (Some(early), Some(unrecorded));
                self.works = tool.as_ref().map(|tool| tally.judge().works(tool));
            }
            // A result of a call that is not in the log, or that was counted before, says nothing.
            "result" if tool.is_some() => {
                self.media_over_limit = self.inline.map(|_| judged.media_over_limit);
                (self.outside, self.refused, self.started) = (outside, Some(refused), Some(started));
                if self.visible.is_some() {
                    (self.over_target, self.over_limit) = (Some(over_target), Some(over_limit));
                }
            }
            _ => {}
        }
        if let Some(tool) = tool {
            self.named(&tool, tally);
        }
    }

    fn named(&mut self, tool: &Tool<'_>, tally: &Tally<'_>) {
        let name = |cap| tally.judge().policy.catalogue.name(cap);
        self.tool = Some(tool.label.clone());
        self.server.clone_from(&tool.server);
        self.class = Some(match tool.class {
            Class::Known => "known",
            Class::Inert => "inert",
            Class::Unclassified => "unclassified",
        });
        self.capabilities = Some(tool.caps.iter().map(name).collect::<Vec<_>>().join(" "));
    }
}

fn not_recorded(format: Format) -> Option<String> {
    let facts = [
        ("approvals", Fact::Approvals),
        ("compactions", Fact::Compactions),
        ("history", Fact::History),
        ("media", Fact::Inline),
        ("refusals", Fact::Refusals),
        ("reviews", Fact::Reviews),
    ];
    let missing: Vec<&str> = facts.iter().filter(|(_, fact)| !format.records(*fact)).map(|(name, _)| *name).collect();
    (!missing.is_empty()).then(|| missing.join(" "))
}
