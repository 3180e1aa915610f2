//! The report as a page for a browser: one file that loads nothing and runs nothing.
//!
//! All text goes through the template's escaping, and what a reader could not see is spelled out. Nothing is told by
//! colour alone: what differs has a word, a mark or a pattern of its own.

mod chart;

use serde::Serialize;

use super::page::{Page, size};
use crate::cli::exit::{Exit, Failure};
use crate::cli::explain::layout::number;
use crate::measure::event::AgentKey;
use crate::measure::expect::{Expected, Verdict};
use crate::measure::format::Fact;
use crate::measure::found::Found;
use crate::measure::sessions::Session;
use crate::measure::tally::Counted;
use crate::render::engine::Engine;
use crate::text::encoding::visible;
use chart::Chart;

const TEMPLATE: &str = include_str!("page.html");

/// The page is made piece by piece: what is above the sessions, each of them, the end.
#[derive(Debug, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
enum Part {
    Head { sessions: Vec<(String, Vec<String>)>, expected: Option<ExpectedView>, files: usize, bytes: String },
    Session { number: usize, s: SessionView },
    End,
}

/// Takes the next piece of a page.
pub type Put<'p> = &'p mut dyn FnMut(&str) -> Result<(), Failure>;

#[derive(Debug, Serialize)]
struct SessionView {
    title: String,
    facts: Vec<(String, String)>,
    agents: Vec<AgentView>,
    violations: Vec<Violations>,
}

#[derive(Debug, Serialize)]
struct AgentView {
    title: String,
    chart: Option<Chart>,
    facts: Vec<(String, String)>,
    tools: Vec<ToolView>,
}

#[derive(Debug, Serialize)]
struct ToolView {
    name: String,
    counts: [String; 3],
    text: String,
    base64: String,
    /// Percents of the largest tool of the session.
    bars: (f64, f64),
}

#[derive(Debug, Serialize)]
struct Violations {
    what: String,
    agent: String,
    count: String,
    records: Vec<(String, String)>,
    more: u64,
}

#[derive(Debug, Serialize)]
struct ExpectedView {
    name: String,
    sessions: Vec<(String, Vec<OutcomeView>)>,
}

#[derive(Debug, Serialize)]
struct OutcomeView {
    key: String,
    word: &'static str,
    mark: &'static str,
    text: String,
    records: Vec<(String, String)>,
}

/// Hands the page on.
///
/// # Errors
/// Those of `put`; or the template is broken, which is a fault of this program.
pub fn write(
    page: &Page<'_, '_>,
    sessions: &[Session<'_, '_>],
    expected: Option<Expected<'_>>,
    put: Put<'_>,
) -> Result<(), Failure> {
    let head = Part::Head {
        sessions: sessions.iter().map(|s| (page.session_title(s), sums(s))).collect(),
        expected: expected.map(|e| expectation(page, sessions, e)),
        files: page.files.iter().filter(|f| f.format.is_some()).count(),
        bytes: size(page.files.iter().filter(|f| f.format.is_some()).map(|f| f.bytes).sum()),
    };
    let fault = |message: String| Failure::new(Exit::Internal, format!("the page of `measure`: {message}"));
    let engine = Engine::escaped("page", TEMPLATE).map_err(|p| fault(p.message))?;
    let each = sessions.iter().zip(1..).map(|(s, number)| Part::Session { number, s: session(page, s) });
    for part in std::iter::once(head).chain(each).chain([Part::End]) {
        let text = engine.render("page", &part).map_err(|p| fault(p.message))?;
        put(&visible(&text))?;
    }
    Ok(())
}

fn session(page: &Page<'_, '_>, session: &Session<'_, '_>) -> SessionView {
    let known = session.agents.iter().map(|(_, c)| {
        let context = &c.context;
        context.window.max(context.range.map(|r| r.1)).unwrap_or(0)
    });
    let most = known.max().unwrap_or(0).max(1);
    let bytes = |c: &Counted<'_>| c.tools.values().map(|t| t.results.total().max(t.media.total())).max().unwrap_or(0);
    let widest = session.agents.iter().map(|(_, c)| bytes(c)).max().unwrap_or(0).max(1);
    SessionView {
        title: page.session_title(session),
        facts: owned(page.session_facts(session)),
        agents: session.agents.iter().map(|(key, c)| agent(page, session, key, c, (most, widest))).collect(),
        violations: violations(page, session),
    }
}

fn owned(facts: Vec<super::page::Fact<'_>>) -> Vec<(String, String)> {
    facts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

fn sums(session: &Session<'_, '_>) -> Vec<String> {
    let sum = |of: &dyn Fn(&Counted<'_>) -> u64| number(session.working().map(|(_, c)| of(c)).sum());
    let most = session.working().filter_map(|(_, c)| c.context.range.map(|r| r.1)).max();
    let reviews: u64 = session.agents.iter().flat_map(|(_, c)| c.reviews.values()).sum();
    let unless = |known: bool, text: String| if known { text } else { "not recorded".to_owned() };
    let compactions: usize = session.working().map(|(_, c)| c.context.compactions.len()).sum();
    vec![
        number(session.working().count() as u64),
        sum(&|c| c.context.requests),
        sum(&|c| c.calls),
        most.map_or_else(|| "not recorded".to_owned(), number),
        unless(compactions > 0 || session.format.records(Fact::Compactions), number(compactions as u64)),
        sum(&|c| c.over_limit.count),
        sum(&|c| c.inline.count),
        sum(&|c| c.outside.count + c.outside_refused.count),
        unless(reviews > 0 || session.format.records(Fact::Reviews), number(reviews)),
    ]
}

fn agent(
    page: &Page<'_, '_>,
    session: &Session<'_, '_>,
    key: &AgentKey,
    counted: &Counted<'_>,
    (most, widest): (u64, u64),
) -> AgentView {
    let context = &page.tally.judge().policy.settings.context;
    let thresholds: Vec<(&str, u8)> = context.iter().map(|(name, share)| (*name, share.0)).collect();
    let percent = |bytes: u64| (bytes as f64 * 1000.0 / widest as f64).round() / 10.0;
    let mut tools: Vec<_> = counted.tools.iter().collect();
    tools.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.results.total() + tool.media.total()), name.as_str()));
    let tools = tools.into_iter().map(|(name, tool)| ToolView {
        name: name.clone(),
        counts: [number(tool.calls), number(tool.failed), number(tool.refused)],
        text: size(tool.results.total()),
        base64: size(tool.media.total()),
        bars: (percent(tool.results.total()), percent(tool.media.total())),
    });
    AgentView {
        title: page.agent_title(session, key, counted),
        chart: Chart::new(&counted.context, most, &thresholds),
        facts: owned(page.agent_facts(session, counted)),
        tools: tools.collect(),
    }
}

fn violations(page: &Page<'_, '_>, session: &Session<'_, '_>) -> Vec<Violations> {
    let mut all = Vec::new();
    let mut put = |what: &str, agent: &str, found: &Found| {
        if found.count > 0 {
            all.push(Violations {
                what: what.to_owned(),
                agent: agent.to_owned(),
                count: number(found.count),
                records: found.records.iter().map(|r| (page.place(r.at), r.what.clone())).collect(),
                more: found.count.saturating_sub(found.records.len() as u64),
            });
        }
    };
    put("agent with the whole history", "session", &session.full_history().found);
    put("avoidable compaction", "session", &session.avoidable().found);
    for (key, counted) in session.working() {
        let name = page.agent_title(session, key, counted);
        put("call outside of the grants, done", &name, &counted.outside);
        put("call outside of the grants, refused", &name, &counted.outside_refused);
        put("result over the limit", &name, &counted.over_limit);
        put("inline media", &name, &counted.inline);
        put("specialist browser without a reason", &name, &counted.escalations);
        put("lookup before the first work", &name, &counted.knowledge.before);
    }
    all
}

fn expectation(page: &Page<'_, '_>, sessions: &[Session<'_, '_>], (name, outcomes): Expected<'_>) -> ExpectedView {
    let one = |outcome: &crate::measure::expect::Outcome| {
        let (word, mark, text, records) = match &outcome.was {
            Verdict::Held(count) => ("held", "✓", format!("{count} of at most {}", outcome.most), &[][..]),
            Verdict::Broken(count, records) => {
                ("BROKEN", "✗", format!("{count} of at most {}", outcome.most), records.as_slice())
            }
            Verdict::NotRecorded(what) => ("BROKEN", "?", format!("not recorded: {what}; that is no pass"), &[][..]),
        };
        let records = records.iter().map(|r| (page.place(r.at), r.what.clone())).collect();
        OutcomeView { key: outcome.key.clone(), word, mark, text, records }
    };
    let of = |at: &usize| sessions.get(*at).map_or_else(String::new, |s| page.session_title(s));
    let sessions = outcomes.iter().map(|(at, all)| (of(at), all.iter().map(one).collect())).collect();
    ExpectedView { name: name.to_owned(), sessions }
}
