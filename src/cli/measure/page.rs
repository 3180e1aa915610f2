//! What was measured, for people: one block a session, one an agent, within 100 columns.

use std::fmt::Write as _;

use crate::cli::explain::layout::{Table, number, visible, wrap};
use crate::measure::event::{AgentKey, Place};
use crate::measure::expect::{Expected, Outcome, Verdict};
use crate::measure::format::Fact as Recorded;
use crate::measure::found::{Found, Record};
use crate::measure::report::{File, place};
use crate::measure::sessions::{Figure, Session};
use crate::measure::tally::{Counted, Tally};
use crate::text::bytes::ByteSize;

/// Columns of the page.
const WIDTH: usize = 100;
/// Records that are shown of one count, unless all are asked for.
pub const SHOWN: usize = 3;

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub fn write(
    to: &mut dyn std::io::Write,
    page: &Page<'_, '_>,
    sessions: &[Session<'_, '_>],
    expected: Option<Expected<'_>>,
) -> std::io::Result<()> {
    for session in sessions {
        to.write_all(visible(&page.session(session)).as_bytes())?;
    }
    let mut end = page.files();
    expected.into_iter().for_each(|(name, outcomes)| page.expected(name, outcomes, sessions, &mut end));
    to.write_all(visible(&end).as_bytes())
}

/// What the facts of a page are made from.
pub struct Page<'a, 'p> {
    /// What was counted.
    pub tally: &'a Tally<'p>,
    /// The logs.
    pub files: &'a [File],
    /// Records that are shown of one count.
    pub shown: usize,
}

/// A name and what is to be said of it, in one line or several.
pub type Fact<'n> = (&'n str, String);

impl Page<'_, '_> {
    fn session(&self, session: &Session<'_, '_>) -> String {
        let mut out = self.session_title(session) + "\n";
        out.push_str(&table(self.session_facts(session)).print_within(WIDTH, 2, &[24]));
        for (key, counted) in &session.agents {
            let _ = writeln!(out, "\n  {}", self.agent_title(session, key, counted));
            out.push_str(&table(self.agent_facts(session, counted)).print_within(WIDTH, 4, &[18]));
            out.push_str(&tools(counted));
        }
        out + "\n"
    }

    /// The host and the name of a session.
    pub fn session_title(&self, session: &Session<'_, '_>) -> String {
        format!("{} session {}", self.tally.judge().title(session.format), session.id)
    }

    /// What is known of a session as a whole.
    pub fn session_facts(&self, session: &Session<'_, '_>) -> Vec<Fact<'static>> {
        let mut facts = Vec::new();
        if session.subs().next().is_some() {
            facts.push(("full-history agents", self.figure(&session.full_history())));
        }
        if session.unread() > 0 {
            let unread = format!("{} more were started, whose logs are not among the files", number(session.unread()));
            facts.push(("sub-agents", unread));
        }
        if session.working().any(|(_, c)| !c.context.compactions.is_empty()) {
            facts.push(("avoidable compactions", self.figure(&session.avoidable())));
        }
        facts
    }

    /// What an agent is.
    pub fn agent_title(&self, session: &Session<'_, '_>, key: &AgentKey, counted: &Counted<'_>) -> String {
        let known = &counted.known;
        let mut title = match known.place {
            Some(Place::Sub) => format!("sub-agent {}", key.agent),
            Some(Place::Reviewer) => format!("the host's reviewer {}", key.agent),
            _ => "main agent".to_owned(),
        };
        if let Some(role) = &known.role {
            let ours = self.tally.judge().role(session.format, role).is_some();
            let _ = write!(title, ", role {role}{}", if ours { "" } else { " (none of the policy's)" });
        } else if known.place == Some(Place::Sub) {
            title.push_str(", role not recorded");
        }
        title
    }

    /// What is known of an agent.
    pub fn agent_facts(&self, session: &Session<'_, '_>, counted: &Counted<'_>) -> Vec<Fact<'static>> {
        let mut facts: Vec<Fact<'static>> = Vec::new();
        let mut row = |name: &'static str, text: String| facts.push((name, text));
        row("requests", self.requests(counted));
        row("context", self.context(counted));
        for compacted in &counted.context.compactions {
            let tokens = |n: Option<u64>| n.map_or_else(|| "not recorded".to_owned(), number);
            let (before, after) = (tokens(compacted.before), tokens(compacted.after));
            row("compaction", format!("{before} → {after} tokens, {}", self.place(compacted.at)));
        }
        row("calls", calls(counted));
        row("results seen", self.results(counted));
        row("over target", self.found(&counted.over_target));
        row("over limit", self.found(&counted.over_limit));
        row("inline media", self.media(counted));
        row("docs, memory", self.knowledge(counted));
        self.outside(session, counted, &mut row);
        if counted.escalations.count > 0 {
            row("no reason given", self.found(&counted.escalations));
        }
        row("reviews", reviews(session, counted));
        row("approvals", approvals(session, counted));
        self.oddities(counted, &mut row);
        facts
    }

    fn requests(&self, counted: &Counted<'_>) -> String {
        let context = &counted.context;
        let first = context.first.and_then(|(_, r)| r.context).map_or_else(|| "not recorded".to_owned(), number);
        let bytes = context.first.and_then(|(_, r)| r.bytes).map(|b| format!(" ({} bytes)", number(b)));
        if context.requests == 0 {
            return "none recorded".to_owned();
        }
        format!("{}; the first had {first} tokens{}", number(context.requests), bytes.unwrap_or_default())
    }

    fn context(&self, counted: &Counted<'_>) -> String {
        let context = &counted.context;
        let Some((least, most)) = context.range else { return "not recorded".to_owned() };
        let last = context.curve.last().map_or(most, |(_, tokens)| *tokens);
        let mut text = format!("{} to {} tokens, at last {}", number(least), number(most), number(last));
        match context.window {
            None => text.push_str("; window not recorded, so thresholds are not judged"),
            Some(window) => {
                let _ = write!(text, "; most {} % of a window of {}", most * 100 / window.max(1), number(window));
                for crossed in &context.crossed {
                    let _ = write!(
                        text,
                        "\n{} ({} %) crossed at {}",
                        crossed.name,
                        crossed.percent,
                        self.place(crossed.at)
                    );
                }
            }
        }
        text
    }

    fn results(&self, counted: &Counted<'_>) -> String {
        let results = &counted.results;
        let mut text =
            format!("{} with {}, the largest {}", number(results.count()), size(results.total()), size(results.max()));
        if counted.unsized_results > 0 {
            let _ = write!(text, "; {} more without a recorded size", number(counted.unsized_results));
        }
        let (known, least) = counted.raw_known;
        if known > 0 {
            let at_least = if least > 0 { "at least " } else { "" };
            let _ = write!(
                text,
                "\ntools gave {at_least}{} in {} results whose raw size is recorded",
                size(counted.raw),
                number(known)
            );
        }
        text
    }

    fn media(&self, counted: &Counted<'_>) -> String {
        let mut text = match counted.inline.count {
            0 => "none".to_owned(),
            n => format!(
                "{} with {} of base64{}",
                number(n),
                size(counted.inline_bytes),
                self.places(&counted.inline.records)
            ),
        };
        let (count, bytes) = counted.stored;
        if count > 0 {
            let _ = write!(
                text,
                "; {} with {} in the log, whether they were sent is not recorded",
                number(count),
                size(bytes)
            );
        }
        text
    }

    fn knowledge(&self, counted: &Counted<'_>) -> String {
        let k = &counted.knowledge;
        let before = match k.before.count {
            0 => "none before the first work".to_owned(),
            n => format!("{n} before the first work{}", self.places(&k.before.records)),
        };
        format!("{} docs, {} memory, of these {} taxonomy; {before}", k.docs.count, k.memory.count, k.taxonomy.count)
    }

    fn outside(&self, session: &Session<'_, '_>, counted: &Counted<'_>, row: &mut impl FnMut(&'static str, String)) {
        let role = counted.known.role.as_deref().and_then(|r| self.tally.judge().role(session.format, r));
        if role.is_none() {
            return;
        }
        row("out of grant", self.found(&counted.outside));
        let recorded =
            counted.main() || session.format.records(Recorded::Refusals) || counted.outside_refused.count > 0;
        row("… refused", if recorded { self.found(&counted.outside_refused) } else { "not recorded".to_owned() });
    }

    fn oddities(&self, counted: &Counted<'_>, row: &mut impl FnMut(&'static str, String)) {
        if counted.unclassified.count > 0 {
            row("unknown tools", self.found(&counted.unclassified));
        }
        if counted.copied > 0 {
            row(
                "copied history",
                format!("{} records repeat another session's and are not counted", number(counted.copied)),
            );
        }
        if !counted.unknown.is_empty() {
            let kinds: Vec<String> = counted.unknown.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
            row("unknown records", kinds.join(", "));
        }
        if counted.damaged.count > 0 {
            row("damaged records", self.found(&counted.damaged));
        }
        if counted.unfinished {
            row("end", "the log ends within a record, which is not counted".to_owned());
        }
    }

    fn figure(&self, figure: &Figure) -> String {
        match figure {
            Figure { found, unknown: None } => self.found(found),
            Figure { found, unknown: Some(what) } if found.count > 0 => {
                format!("at least {}\nnot recorded: {what}", self.found(found))
            }
            Figure { unknown: Some(what), .. } => format!("not recorded: {what}"),
        }
    }

    fn found(&self, found: &Found) -> String {
        match found.count {
            0 => "none".to_owned(),
            count => format!("{}{}", number(count), self.listed(count, &found.records)),
        }
    }

    fn listed(&self, count: u64, records: &[Record]) -> String {
        let mut text = String::new();
        let shown = records.len().min(self.shown);
        for record in records.iter().take(shown) {
            let _ = write!(text, "\n{}  {}", self.place(record.at), record.what);
        }
        let more = count.saturating_sub(shown as u64);
        if more > 0 && shown > 0 {
            let _ = write!(text, "\n… and {} more", number(more));
        }
        text
    }

    fn places(&self, records: &[Record]) -> String {
        let places: Vec<String> = records.iter().take(self.shown).map(|r| self.place(r.at)).collect();
        if places.is_empty() { String::new() } else { format!("\n{}", places.join("\n")) }
    }

    /// A file is told by the end of its name, unless that is short.
    pub fn place(&self, at: crate::measure::event::At) -> String {
        let whole = place(self.files, at);
        let count = whole.chars().count();
        if count <= 60 { whole } else { format!("…{}", whole.chars().skip(count - 59).collect::<String>()) }
    }

    fn files(&self) -> String {
        let logs = self.files.iter().filter(|f| f.format.is_some());
        let (count, bytes) = logs.fold((0u64, 0), |(n, b), f| (n + 1, b + f.bytes));
        let mut out = format!("{} logs with {} were read\n", number(count), size(bytes));
        let others: Vec<&File> = self.files.iter().filter(|f| f.format.is_none()).collect();
        if !others.is_empty() {
            let _ = writeln!(out, "{} files are no logs of sessions", number(others.len() as u64));
            for file in others.iter().filter(|_| self.shown == usize::MAX) {
                let _ = writeln!(out, "  {}", file.path);
            }
        }
        out
    }

    fn expected(&self, name: &str, outcomes: &[(usize, Vec<Outcome>)], sessions: &[Session<'_, '_>], out: &mut String) {
        for (at, all) in outcomes {
            let id = sessions.get(*at).map_or("", |s| s.id.as_str());
            let held = all.iter().filter(|o| o.held()).count();
            let _ = writeln!(out, "\n{name}: {held} of {} held by session {id}", all.len());
            for outcome in all {
                self.outcome(outcome, out);
            }
        }
    }

    fn outcome(&self, outcome: &Outcome, out: &mut String) {
        let (word, text) = match &outcome.was {
            Verdict::Held(count) => ("held  ", format!("{count} of at most {}", outcome.most)),
            Verdict::Broken(count, records) => {
                ("BROKEN", format!("{count} of at most {}{}", outcome.most, self.listed(*count, records)))
            }
            Verdict::NotRecorded(what) => ("BROKEN", format!("not recorded: {what}; that is no pass")),
        };
        let mut lines = text.split('\n').flat_map(|l| wrap(l, WIDTH - 42));
        let _ = writeln!(out, "  {word}  {:<30}  {}", outcome.key, lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(out, "{}{line}", " ".repeat(12));
        }
    }
}

fn table(facts: Vec<Fact<'_>>) -> Table {
    let mut table = Table::default();
    facts.into_iter().for_each(|(name, text)| table.row([name.to_owned(), text]));
    table
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ if bytes.is_multiple_of(1 << 20) => ByteSize(bytes).to_string(),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xF_FFFF) * 10) >> 20),
    }
}

fn calls(counted: &Counted<'_>) -> String {
    let (failed, refused) = counted.tools.values().fold((0, 0), |(f, r), t| (f + t.failed, r + t.refused));
    let nested: u64 = counted.tools.values().map(|t| t.nested).sum();
    let within = if nested > 0 { format!(", {nested} of them within scripts") } else { String::new() };
    let mut text = format!("{}{within}; {failed} failed, {refused} refused", number(counted.calls));
    if !counted.capabilities.is_empty() {
        let each: Vec<String> = counted.capabilities.iter().map(|(cap, n)| format!("{cap} {n}")).collect();
        let _ = write!(text, "\n{}", each.join(", "));
    }
    text
}

fn reviews(session: &Session<'_, '_>, counted: &Counted<'_>) -> String {
    if counted.reviews.is_empty() {
        let known = session.format.records(Recorded::Reviews);
        return if known { "none" } else { "not recorded" }.to_owned();
    }
    let total: u64 = counted.reviews.values().sum();
    let each: Vec<String> = counted.reviews.iter().map(|(tool, n)| format!("{tool} {n}")).collect();
    format!("{total}: {}", each.join(", "))
}

fn approvals(session: &Session<'_, '_>, counted: &Counted<'_>) -> String {
    if counted.approvals.is_empty() {
        let known = session.format.records(Recorded::Approvals);
        return if known { "none" } else { "not recorded" }.to_owned();
    }
    let count = |person: bool, granted: bool| -> u64 {
        let is =
            |((_, _, g), (_, p)): &(&(String, String, bool), &(u64, Option<bool>))| *g == granted && *p == Some(person);
        counted.approvals.iter().filter(is).map(|(_, (n, _))| n).sum()
    };
    format!(
        "by a person {} yes, {} no; by settings {} yes, {} no",
        count(true, true),
        count(true, false),
        count(false, true),
        count(false, false)
    )
}

/// The tools with most text, one a line.
fn tools(counted: &Counted<'_>) -> String {
    let mut all: Vec<_> = counted.tools.iter().collect();
    all.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.results.total() + tool.media.total()), name.as_str()));
    let mut table = Table::default();
    if all.is_empty() {
        return String::new();
    }
    table.row(["tool", "calls", "text seen", "p90", "base64"]);
    for (name, tool) in all.iter().take(12) {
        let p90 = tool.results.quantile(90).map_or_else(|| "-".to_owned(), size);
        table.row([name.as_str(), &number(tool.calls), &size(tool.results.total()), &p90, &size(tool.media.total())]);
    }
    table.print_within(WIDTH, 4, &[52, 8, 10, 10])
}
