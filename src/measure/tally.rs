//! Counts events per session and agent. Events are taken one by one and not kept; what grows is the number of agents,
//! of tools, and of calls that have no result yet.

mod counted;

use std::rc::Rc;

use indexmap::IndexMap;

use super::budget::{self, Charge};
use super::context::Says;
use super::event::{
    Agent, AgentKey, Approval, At, Call, Compaction, Damage, Event, Kind, Outcome, Raw, Request, Review,
};
use super::format::Format;
use super::joined::Joins;
use super::judge::{Class, Judge, Tool};
use super::judged::Judged;
use super::time;
use crate::text::digest::value_digest;

pub use counted::{Counted, Knowledge, ToolCount};

/// All that is counted.
pub struct Tally<'p> {
    judge: &'p Judge<'p>,
    agents: IndexMap<Rc<AgentKey>, Counted<'p>>,
    joins: Joins,
}

impl<'p> Tally<'p> {
    /// Nothing yet.
    pub fn new(judge: &'p Judge<'p>) -> Self {
        Self { judge, agents: IndexMap::new(), joins: Joins::default() }
    }

    /// What was counted, in the order of the logs.
    pub fn agents(&self) -> impl Iterator<Item = (&AgentKey, &Counted<'p>)> {
        self.agents.iter().map(|(key, counted)| (key.as_ref(), counted))
    }

    /// What went through the gateway.
    pub const fn joins(&self) -> &Joins {
        &self.joins
    }

    /// By whom it is judged.
    pub const fn judge(&self) -> &'p Judge<'p> {
        self.judge
    }

    /// What was counted of an agent.
    pub fn agent(&self, key: &AgentKey) -> Option<&Counted<'p>> {
        self.agents.get(key)
    }

    /// Takes one event.
    pub fn event(&mut self, event: Event) {
        self.take(event, None);
    }

    /// Takes one event and tells what the policy says of it.
    pub fn told(&mut self, event: Event) -> Judged<'p> {
        let mut judged = Judged::default();
        self.take(event, Some(&mut judged));
        judged
    }

    fn take(&mut self, event: Event, told: Option<&mut Judged<'p>>) {
        let Event { at, time, agent: key, kind } = event;
        let new = || Counted { at, ..Counted::default() };
        let counted = self.agents.entry(Rc::clone(&key)).or_insert_with(new);
        // Only what goes through the gateway is told by when it was.
        let moment = |time: Option<&String>| time.and_then(|time| time::millis(time));
        let moment = matches!(kind, Kind::Call(_) | Kind::Result(_)).then(|| moment(time.as_ref())).flatten();
        if let Some(time) = time {
            counted.first.get_or_insert_with(|| time.clone());
            counted.last = Some(time);
        }
        let joins = &mut self.joins;
        let mut one = One { judge: self.judge, format: key.format, key: &key, counted, joins, moment, at, told };
        match kind {
            Kind::Agent(agent) => one.known(agent),
            Kind::Request(request) => one.request(&request),
            Kind::Window(window) => one.counted.context.window = Some((window, Says::Log)),
            Kind::Call(call) => one.call(call),
            Kind::Result(outcome) => one.result(outcome),
            Kind::Review(review) => one.review(&review),
            Kind::Approval(approval) => one.approval(approval),
            Kind::Compaction(compaction) => one.compaction(&compaction),
            Kind::Copied => one.counted.copied += 1,
            Kind::Unknown(kind) => *one.counted.unknown.entry(kind).or_default() += 1,
            Kind::Damaged(damage) => one.damaged(damage),
        }
    }
}

struct One<'a, 'p> {
    judge: &'p Judge<'p>,
    format: Format,
    key: &'a Rc<AgentKey>,
    counted: &'a mut Counted<'p>,
    joins: &'a mut Joins,
    /// Milliseconds since 1970.
    moment: Option<i64>,
    at: At,
    told: Option<&'a mut Judged<'p>>,
}

impl<'p> One<'_, 'p> {
    fn tell(&mut self, tell: impl FnOnce(&mut Judged<'p>)) {
        if let Some(told) = &mut self.told {
            tell(told);
        }
    }

    fn known(&mut self, agent: Agent) {
        let known = &mut self.counted.known;
        known.place = agent.place.or(known.place);
        known.parent = agent.parent.or_else(|| known.parent.take());
        known.role = agent.role.or_else(|| known.role.take());
        known.history = agent.history.or(known.history);
        known.version = agent.version.or_else(|| known.version.take());
        known.folder = agent.folder.or_else(|| known.folder.take());
        known.model = agent.model.or_else(|| known.model.take());
    }

    /// What the log says counts, then what the user does, then what is known of the model.
    fn window(&mut self) {
        let window = &mut self.counted.context.window;
        if !matches!(window, Some((_, Says::Log))) {
            let model = self.counted.known.model.as_deref();
            let adapter = || Some((self.judge.window(self.format, model?)?, Says::Adapter));
            *window = self.judge.said().map(|said| (said, Says::Option)).or_else(adapter);
        }
    }

    fn request(&mut self, request: &Request) {
        self.window();
        if let Some(model) = &self.counted.known.model {
            match self.counted.models.get_mut(model) {
                Some(count) => *count += 1,
                None => drop(self.counted.models.insert(model.clone(), 1)),
            }
        }
        let thresholds = &self.judge.policy.settings.context;
        let context = &mut self.counted.context;
        let before = context.crossed.len();
        context.request(self.at, request, thresholds.iter().map(|(name, share)| (*name, share.0)));
        if let Some(told) = &mut self.told {
            told.crossed = context.crossed.iter().skip(before).map(|c| c.name).collect();
        }
    }

    fn compaction(&mut self, compaction: &Compaction) {
        self.counted.context.compaction(self.at, compaction);
    }

    fn damaged(&mut self, damage: Damage) {
        match damage {
            Damage::Unfinished => self.counted.unfinished = true,
            Damage::Garbage => self.counted.damaged.add(self.at, || "no JSON".to_owned()),
            Damage::TooLarge => self.counted.damaged.add(self.at, || "too large to be read".to_owned()),
        }
    }

    fn call(&mut self, call: Call) {
        let (judge, at) = (self.judge, self.at);
        let tool = judge.tool(self.format, &call.tool);
        let counted = &mut *self.counted;
        counted.calls += 1;
        let count = counted.tools.entry(tool.label.clone()).or_default();
        count.calls += 1;
        count.nested += u64::from(call.nested);
        call.arguments_bytes.into_iter().for_each(|bytes| count.arguments.add(bytes));
        for cap in tool.caps.iter() {
            *counted.capabilities.entry(judge.policy.catalogue.name(cap).to_owned()).or_default() += 1;
        }
        if tool.class == Class::Unclassified {
            counted.unclassified.add(at, || tool.label.clone());
        }
        if let Some(name) = judge.gateways(self.format, &call.tool, &tool) {
            let digest = call.digest.clone().or_else(|| call.arguments.as_ref().map(value_digest));
            if let Some(told) = &mut self.told {
                told.digest.clone_from(&digest);
            }
            self.joins.call(self.key, &call.id, name, digest, self.moment);
        }
        counted.programs += u64::from(judge.runs(&tool));
        if let Some(packet) = budget::packet(judge, &tool, &call) {
            self.charge(&tool, packet);
        }
        self.knowledge(&tool);
        self.escalation(&tool, &call);
        let counted = &mut *self.counted;
        counted.worked |= judge.works(&tool);
        let role = counted.known.role.as_deref().and_then(|name| judge.role(self.format, name));
        let folder = counted.known.folder.as_deref();
        let outside = role.map(|role| judge.outside(role, &tool, call.arguments.as_ref(), folder));
        if let Some(Some(why)) = &outside {
            counted.outside.add(at, || format!("{}: {why}", tool.label));
        }
        let is_outside = matches!(outside, Some(Some(_)));
        if let Some(told) = &mut self.told {
            told.tool = Some(tool.clone());
            told.outside = outside.is_some().then_some(is_outside);
            told.reason = outside.flatten();
        }
        self.counted.open.insert(call.id, (tool, at, is_outside));
    }

    fn knowledge(&mut self, tool: &Tool<'_>) {
        let (judge, at) = (self.judge, self.at);
        let is = |family: &str| judge.has(tool, |cap| cap.starts_with(family));
        let taxonomy = judge.has(tool, |cap| cap.ends_with(".taxonomy"));
        let worked = self.counted.worked;
        let knowledge = &mut self.counted.knowledge;
        let label = || tool.label.clone();
        let mut any = false;
        for (yes, found) in [
            (is("docs.") && !judge.has(tool, |cap| cap == "docs.validate"), &mut knowledge.docs),
            (is("memory."), &mut knowledge.memory),
            (taxonomy, &mut knowledge.taxonomy),
        ] {
            if yes {
                any = true;
                found.add(at, label);
            }
        }
        if any && !worked {
            knowledge.before.add(at, label);
        }
        self.tell(|told| told.early = any && !worked);
    }

    /// The first call of a specialist in a session must carry a reason.
    fn escalation(&mut self, tool: &Tool<'_>, call: &Call) {
        if !self.judge.specialist(tool) || std::mem::replace(&mut self.counted.escalated, true) {
            return;
        }
        let reason = call.arguments.as_ref().map(|a| a.get("escalation_reason").is_some());
        match reason {
            Some(true) => {}
            // The gateway's own log has no arguments, but it has the reason where there was one.
            None if self.format != Format::Gateway => self.counted.escalations_unknown += 1,
            _ => {
                self.counted.escalations.add(self.at, || tool.label.clone());
                self.tell(|told| told.unrecorded = true);
            }
        }
    }

    fn result(&mut self, outcome: Outcome) {
        self.joins.result(self.key, &outcome, self.moment);
        let Some((tool, called, outside)) = self.counted.open.remove(&outcome.id) else { return };
        let failed = outcome.failed == Some(true);
        // A log that does not say whether a call failed has the refusal in its text only.
        let refused =
            outcome.refused || (outcome.failed != Some(false) && self.judge.refused(self.format, &outcome.head));
        let counted = &mut *self.counted;
        let count = counted.tools.entry(tool.label.clone()).or_default();
        let started = tool.starts && !failed && !refused;
        counted.started += u64::from(started);
        if started {
            counted.context.spawn();
        }
        count.failed += u64::from(failed);
        count.unsaid += u64::from(outcome.failed.is_none() && !refused);
        count.refused += u64::from(refused);
        if refused && outside {
            counted.outside.count -= 1;
            let at = counted.outside.records.iter().position(|r| r.at == called && r.what.starts_with(&tool.label));
            let what = at.map(|at| counted.outside.records.remove(at).what);
            counted.outside_refused.add(called, || what.unwrap_or_else(|| tool.label.clone()));
        }
        let known = self.counted.known.role.as_deref().is_some_and(|name| self.judge.role(self.format, name).is_some());
        self.tell(|told| {
            told.tool = Some(tool.clone());
            told.outside = known.then_some(outside);
            (told.refused, told.started) = (refused, started);
        });
        self.raw(outcome.raw, outcome.visible);
        // What failed gave nothing to count.
        if !failed && !refused {
            let things = outcome.things.as_ref().filter(|_| !outcome.nested);
            if let Some(charge) = budget::result(self.judge, &tool, things) {
                self.charge(&tool, charge);
            }
        }
        if outcome.nested {
            return;
        }
        self.sized(&tool, outcome.visible);
        self.media(&tool, &outcome);
    }

    fn charge(&mut self, tool: &Tool<'_>, charge: Charge) {
        self.counted.budgets.entry(charge.budget).or_default().add(self.at, &tool.label, &charge);
        self.tell(|told| told.charge = Some(charge));
    }

    fn raw(&mut self, raw: Option<Raw>, visible: Option<u64>) {
        let Some(raw) = raw else { return };
        let counted = &mut *self.counted;
        counted.raw = counted.raw.saturating_add(raw.bytes);
        counted.raw_known.0 += 1;
        counted.raw_known.1 += u64::from(raw.at_least);
        counted.cut += u64::from(visible.is_some_and(|v| raw.bytes > v || raw.at_least));
    }

    fn sized(&mut self, tool: &Tool<'_>, visible: Option<u64>) {
        let (judge, at) = (self.judge, self.at);
        let counted = &mut *self.counted;
        let Some(bytes) = visible else {
            counted.unsized_results += 1;
            return;
        };
        counted.results.add(bytes);
        counted.tools.entry(tool.label.clone()).or_default().results.add(bytes);
        let figure = |which: &str| judge.policy.settings.budgets.get("tool-result").and_then(|b| b.figure(which));
        let what = || format!("{}: {bytes} bytes", tool.label);
        let over = |limit: Option<u64>| limit.filter(|limit| bytes > *limit).map(|limit| bytes - limit);
        let target = over(figure("target"));
        if target.is_some() {
            counted.over_target.add(at, what);
        }
        let wasted = over(figure("limit"));
        if wasted.is_some() {
            counted.over_limit.add(at, what);
        }
        counted.context.text(bytes, wasted.unwrap_or(0));
        self.tell(|told| (told.over_target, told.over_limit) = (target.is_some(), wasted.is_some()));
    }

    fn media(&mut self, tool: &Tool<'_>, outcome: &Outcome) {
        let at = self.at;
        let mut over = 0;
        let counted = &mut *self.counted;
        for media in &outcome.media {
            if let Some(charge) = budget::media(self.judge, media) {
                let spent = counted.budgets.entry(charge.budget).or_default();
                spent.add(at, &tool.label, &charge);
                over += u64::from(charge.over_limit == Some(true));
            }
            match media.inline {
                Some(true) => {
                    counted.inline.add(at, || format!("{}: {} bytes of base64", tool.label, media.base64));
                    counted.inline_bytes += media.base64;
                    counted.tools.entry(tool.label.clone()).or_default().media.add(media.base64);
                    counted.context.text(media.base64, media.base64);
                }
                _ => {
                    counted.stored.0 += 1;
                    counted.stored.1 += media.base64;
                }
            }
        }
        self.tell(|told| told.media_over_limit = over);
    }

    fn review(&mut self, review: &Review) {
        let tool = review.tool.as_ref().map(|name| self.judge.tool(self.format, name));
        let label = tool.as_ref().map_or("tool not recorded", |tool| tool.label.as_str());
        *self.counted.reviews.entry(label.to_owned()).or_default() += 1;
        self.tell(|told| told.tool = tool);
    }

    fn approval(&mut self, approval: Approval) {
        let tool = self.counted.open.get(&approval.call).map_or("tool not recorded", |(tool, ..)| tool.label.as_str());
        let by = approval.by.unwrap_or_else(|| "not recorded".to_owned());
        let key = (tool.to_owned(), by, approval.granted);
        let entry = self.counted.approvals.entry(key).or_insert((0, approval.person));
        entry.0 += 1;
        if let Some(told) = &mut self.told {
            told.tool = self.counted.open.get(&approval.call).map(|(tool, ..)| tool.clone());
        }
    }
}
