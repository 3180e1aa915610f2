//! What a row has.

use super::row::Row;
use crate::measure::event::Place;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// UTF-8.
    Text,
    /// A whole number, 64 bits.
    Int,
    /// Yes or no.
    Bool,
    /// A moment, in milliseconds since 1970, UTC.
    Time,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'r> {
    /// Not recorded, or without meaning for the event.
    Null,
    /// A text.
    Text(&'r str),
    /// A number.
    Int(u64),
    /// Yes or no.
    Bool(bool),
    /// Milliseconds since 1970.
    Time(i64),
}

/// A column.
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub holds: Type,
    /// The events that have it; empty = all.
    pub of: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// Its value.
    pub get: for<'r> fn(&'r Row) -> Cell<'r>,
}

const fn column(
    name: &'static str,
    holds: Type,
    of: &'static str,
    doc: &'static str,
    get: for<'r> fn(&'r Row) -> Cell<'r>,
) -> Column {
    Column { name, holds, of, doc, get }
}

fn text(text: Option<&String>) -> Cell<'_> {
    text.map_or(Cell::Null, |t| Cell::Text(t))
}

fn int(number: Option<u64>) -> Cell<'static> {
    number.map_or(Cell::Null, Cell::Int)
}

fn yes(yes: Option<bool>) -> Cell<'static> {
    yes.map_or(Cell::Null, Cell::Bool)
}

/// The number of a request, only on what has to do with the context.
fn numbered(row: &Row) -> Cell<'static> {
    if matches!(row.event, "request" | "compaction" | "call" | "result") { int(row.number) } else { Cell::Null }
}

fn operation(row: &Row) -> Cell<'static> {
    match row.event {
        "request" => Cell::Text("chat"),
        "call" | "result" => Cell::Text("execute_tool"),
        "agent" => Cell::Text("invoke_agent"),
        _ => Cell::Null,
    }
}

fn place(row: &Row) -> Cell<'static> {
    match row.known.place {
        None => Cell::Null,
        Some(Place::Main) => Cell::Text("main"),
        Some(Place::Sub) => Cell::Text("sub"),
        Some(Place::Reviewer) => Cell::Text("reviewer"),
    }
}

/// All columns, in their order.
#[rustfmt::skip]
pub const COLUMNS: &[Column] = &[
    column("rolecast.seq", Type::Int, "", "number of the row, from 1: the order in the logs, which clocks need not have", |r| Cell::Int(r.seq)),
    column("rolecast.event", Type::Text, "", "`agent`, `request`, `window`, `call`, `result`, `review`, `approval`, `compaction`, `copied`, `unknown`, `damaged`", |r| Cell::Text(r.event)),
    column("timestamp", Type::Time, "", "when, as the log says", |r| r.time.map_or(Cell::Null, Cell::Time)),
    column("rolecast.host", Type::Text, "", "the host that wrote the log", |r| Cell::Text(&r.host)),
    column("rolecast.host.version", Type::Text, "", "its version", |r| text(r.known.version.as_ref())),
    column("rolecast.log.format", Type::Text, "", "the kind of log", |r| Cell::Text(r.format)),
    column("rolecast.log.not_recorded", Type::Text, "", "what such logs do not record, by spaces, so that none of it does not mean none: `approvals`, `compactions`, `history` (given to sub-agents), `media` (whether they were sent), `refusals` (of sub-agents' calls), `reviews`", |r| text(r.not_recorded.as_ref())),
    column("rolecast.log.file", Type::Text, "", "the log, as it was named or found", |r| Cell::Text(&r.file)),
    column("rolecast.log.record", Type::Int, "", "its line; in a log that is one document, the message", |r| Cell::Int(r.record)),
    column("gen_ai.conversation.id", Type::Text, "", "the session", |r| Cell::Text(&r.session)),
    column("gen_ai.agent.id", Type::Text, "", "the agent; empty for the main one", |r| Cell::Text(&r.agent)),
    column("gen_ai.agent.name", Type::Text, "", "its role as the host spells it, as far as is known by then", |r| text(r.known.role.as_ref())),
    column("rolecast.role", Type::Text, "", "its role in the policy", |r| text(r.role.as_ref())),
    column("rolecast.agent.place", Type::Text, "", "`main`, `sub`, or `reviewer`: the host's own", place),
    column("rolecast.agent.parent", Type::Text, "", "the agent that started it, where that is not the main one", |r| text(r.known.parent.as_ref())),
    column("rolecast.agent.full_history", Type::Bool, "", "it was given the history of its parent", |r| yes(r.given.map(|g| g.history))),
    column("rolecast.agent.full_history_from", Type::Text, "", "who says so: `log`, or `adapter`: the log does not, and it is known of the host", |r| r.given.map_or(Cell::Null, |g| Cell::Text(if g.by.is_some() { "adapter" } else { "log" }))),
    column("gen_ai.request.model", Type::Text, "", "the model, as the log names it and as far as is known by then", |r| text(r.known.model.as_ref())),
    column("gen_ai.operation.name", Type::Text, "agent, call, request, result", "`invoke_agent`, `chat`, `execute_tool`", operation),
    column("gen_ai.usage.input_tokens", Type::Int, "request", "all of the input, cached or not: what fills the context", |r| int(r.request.context)),
    column("gen_ai.usage.output_tokens", Type::Int, "request", "what the model wrote", |r| int(r.request.output)),
    column("rolecast.usage.cached_tokens", Type::Int, "request", "input that came from a cache or was written to it", |r| int(r.request.cached)),
    column("rolecast.request.bytes", Type::Int, "request", "bytes of the request", |r| int(r.request.bytes)),
    column("rolecast.request.number", Type::Int, "call, compaction, request, result", "number of the agent's request, or of the last before", numbered),
    column("rolecast.context.window", Type::Int, "", "tokens of the window, as far as is known by then", |r| int(r.window.map(|w| w.0))),
    column("rolecast.context.window_from", Type::Text, "", "who says so: `log`, `option` (`--window`), or `adapter`: what the program gives that model", |r| r.window.map_or(Cell::Null, |w| Cell::Text(w.1.word()))),
    column("rolecast.context.crossed", Type::Text, "request", "thresholds of the policy that it crossed, by spaces", |r| text(r.crossed.as_ref())),
    column("gen_ai.tool.call.id", Type::Text, "approval, call, result", "links a call to its result, within its agent", |r| text(r.call.as_ref())),
    column("gen_ai.tool.name", Type::Text, "call, review", "the tool as the log names it", |r| text(r.tool_name.as_ref())),
    column("rolecast.tool", Type::Text, "approval, call, result, review", "the tool as reports name it: `SERVER/TOOL`, or the host's own name", |r| text(r.tool.as_ref())),
    column("rolecast.tool.server", Type::Text, "approval, call, result, review", "its MCP server, behind the gateway that one; `?` = one that the policy does not know", |r| text(r.server.as_ref())),
    column("rolecast.tool.class", Type::Text, "approval, call, result, review", "`known`, `inert`, `unclassified`", |r| r.class.map_or(Cell::Null, Cell::Text)),
    column("rolecast.tool.capabilities", Type::Text, "approval, call, result, review", "what one uses it for, by spaces", |r| text(r.capabilities.as_ref())),
    column("rolecast.call.arguments_bytes", Type::Int, "call", "bytes of the arguments; these themselves are not exported", |r| int(r.arguments_bytes)),
    column("rolecast.call.arguments_digest", Type::Text, "call", "SHA-256 of the arguments of a call of the gateway's tools, the same in a host's log and in the gateway's own", |r| text(r.digest.as_ref())),
    column("rolecast.call.nested", Type::Bool, "call, result", "made by a script that another call ran; the model does not see its result", |r| yes(r.nested)),
    column("rolecast.call.works", Type::Bool, "call", "it is work on the task", |r| yes(r.works)),
    column("rolecast.call.before_first_work", Type::Bool, "call", "it looks up docs, memory or taxonomy before the agent's first work", |r| yes(r.early)),
    column("rolecast.call.unrecorded_escalation", Type::Bool, "call", "an agent's first call of a specialist browser, without a reason", |r| yes(r.unrecorded)),
    column("rolecast.grant.outside", Type::Bool, "call, result", "outside of what the role is granted; null without a role of the policy", |r| yes(r.outside)),
    column("rolecast.grant.reason", Type::Text, "call", "why", |r| text(r.reason.as_ref())),
    column("rolecast.result.failed", Type::Bool, "result", "it ended with an error", |r| yes(r.failed)),
    column("rolecast.result.refused", Type::Bool, "result", "the host, a rule, the guard or a person refused the call", |r| yes(r.refused)),
    column("rolecast.result.started_agent", Type::Bool, "result", "the call started an agent", |r| yes(r.started)),
    column("rolecast.result.visible_bytes", Type::Int, "result", "bytes of text that the model saw", |r| int(r.visible)),
    column("rolecast.result.raw_bytes", Type::Int, "result", "bytes that the tool gave", |r| int(r.raw)),
    column("rolecast.result.raw_at_least", Type::Bool, "result", "the log is cut there: it was as much or more", |r| yes(r.at_least)),
    column("rolecast.result.over_target", Type::Bool, "result", "more text than `budgets.tool-result.target`", |r| yes(r.over_target)),
    column("rolecast.result.over_limit", Type::Bool, "result", "more text than `budgets.tool-result.limit`", |r| yes(r.over_limit)),
    column("rolecast.budget", Type::Text, "call, result", "the budget that counts it: `search`, `file-read`, `knowledge-search` or `browser-log` on results, `delegation-packet` on calls that start an agent", |r| r.charge.as_ref().map_or(Cell::Null, |c| Cell::Text(c.budget))),
    column("rolecast.budget.amount", Type::Int, "call, result", "how much, in the unit of the budget", |r| int(r.charge.as_ref().and_then(|c| c.amount).map(|a| a.count))),
    column("rolecast.budget.at_least", Type::Bool, "call, result", "it may be more: only the beginning of the text was kept", |r| yes(r.charge.as_ref().and_then(|c| c.amount).map(|a| a.at_least))),
    column("rolecast.budget.over_target", Type::Bool, "call, result", "more than its target; null without one", |r| yes(r.charge.as_ref().and_then(|c| c.over_target))),
    column("rolecast.budget.over_limit", Type::Bool, "call, result", "more than its limit; null without one", |r| yes(r.charge.as_ref().and_then(|c| c.over_limit))),
    column("rolecast.packet.reason", Type::Bool, "call", "the packet has a line that says why it is over the target", |r| yes(r.charge.as_ref().and_then(|c| c.reasoned))),
    column("rolecast.media.over_limit", Type::Int, "result", "media that the model was sent within it over `budgets.inline-media.limit`", |r| int(r.media_over_limit)),
    column("rolecast.media.inline", Type::Int, "result", "media that the model was sent within it", |r| int(r.inline.map(|m| m.0))),
    column("rolecast.media.inline_base64_bytes", Type::Int, "result", "bytes of their base64", |r| int(r.inline.map(|m| m.1))),
    column("rolecast.media.unsure", Type::Int, "result", "media in the log, of which it does not say whether they were sent", |r| int(r.stored.map(|m| m.0))),
    column("rolecast.media.unsure_base64_bytes", Type::Int, "result", "bytes of their base64", |r| int(r.stored.map(|m| m.1))),
    column("rolecast.review.verdict", Type::Text, "review", "the word of the host's reviewer", |r| text(r.verdict.as_ref())),
    column("rolecast.approval.granted", Type::Bool, "approval", "the call was let through", |r| yes(r.granted)),
    column("rolecast.approval.by", Type::Text, "approval", "who decided, in the host's word", |r| text(r.by.as_ref())),
    column("rolecast.approval.person", Type::Bool, "approval", "that was a person", |r| yes(r.person)),
    column("rolecast.compaction.before_tokens", Type::Int, "compaction", "tokens before, as the host says, else of the request before", |r| int(r.compacted.0)),
    column("rolecast.compaction.after_tokens", Type::Int, "compaction", "tokens after, where the host says", |r| int(r.compacted.1)),
    column("rolecast.compaction.automatic", Type::Bool, "compaction", "the host did it by itself", |r| yes(r.automatic)),
    column("rolecast.record.kind", Type::Text, "damaged, unknown", "which record is not known, or why it cannot be read", |r| text(r.kind.as_ref())),
];
