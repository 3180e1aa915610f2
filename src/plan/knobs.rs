//! Settings of hosts that carry a budget, and the ledger of budgets.

use serde_json::Value;

use crate::model::adapter::{Adapter, Claim, Family, HookTool, Knob, MeterReader};
use crate::model::scalar::Guarantee;
use crate::resolve::policy::Policy;

use super::ledger::{LimitedBy, Line, State, Subject};

/// A setting with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct KnobPlan {
    /// Output of the adapter.
    pub output: String,
    /// Keys from the top of that file.
    pub path: Vec<String>,
    /// The value, in the host's unit.
    pub value: Value,
    /// Budget and figure, as in `tool-result.target`.
    pub budget: String,
}

/// The value of a knob: `clamp(floor(budget / bytes-per-unit / slack))`, and whether the host's clamp made it
/// looser than the budget.
pub fn value(knob: &Knob, policy: &Policy) -> Option<(u64, bool)> {
    let (name, which) = knob.budget.split_once('.')?;
    let figure = policy.settings.budgets.get(name)?.figure(which)?;
    let exact = (figure as f64 / knob.bytes_per_unit.unwrap_or(1.0) / knob.slack.unwrap_or(1.0)).floor();
    // Budgets are far below 2^53, so that the conversion is exact.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "floor of a positive figure below 2^53"
    )]
    let exact = exact as u64;
    let (least, most) = knob.clamp.unwrap_or((0, u64::MAX));
    Some((exact.clamp(least, most), exact < least))
}

/// Every setting of a host.
pub fn plan(adapter: &Adapter, policy: &Policy) -> Vec<KnobPlan> {
    adapter
        .knobs
        .iter()
        .filter_map(|knob| {
            let (value, _) = value(knob, policy)?;
            let (output, pointer) = knob.set.split_once(":/")?;
            let path = pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
            Some(KnobPlan { output: output.to_owned(), path, value: Value::from(value), budget: knob.budget.clone() })
        })
        .collect()
}

/// The subject of what a host puts before an agent at the start.
pub const SESSION_START: &str = "session-start";

/// One line for each budget and family of tools, and for what is there before any of them.
pub fn lines(adapter: &Adapter, policy: &Policy) -> Vec<Line> {
    let mut lines = Vec::new();
    for name in policy.settings.budgets.keys() {
        if *name == "tool-result" {
            let whole = adapter.knobs.iter().find(|k| k.family == Family::All && k.budget.starts_with(name));
            for family in [Family::Shell, Family::Mcp] {
                let knob = adapter.knobs.iter().find(|k| k.family == family && k.budget.starts_with(name)).or(whole);
                lines.push(budget(adapter, policy, name, family, knob));
            }
        } else {
            let knob = adapter.knobs.iter().find(|k| k.budget.split('.').next() == Some(*name));
            lines.push(budget(adapter, policy, name, Family::All, knob));
        }
    }
    if !policy.settings.context.is_empty() {
        lines.push(context(adapter, policy));
    }
    lines.extend(adapter.at_start.iter().map(|what| at_start(adapter, policy, what)));
    lines
}

/// The line of the thresholds. That an agent is told is not that it obeys.
fn context(adapter: &Adapter, policy: &Policy) -> Line {
    let mut line = base(adapter, "context", Family::All);
    line.guarantee = Some(Guarantee::Advised);
    let hook = adapter.hook.as_ref().and_then(|h| h.context.as_ref()).filter(|_| policy.settings.guard.context);
    line.reason = match hook {
        Some(hook) => {
            claimed(&mut line, adapter, &hook.claim);
            let told = "a hook tells the agent of each threshold that it passes, once, and the agent is left to obey";
            with_hole(told.to_owned(), &hook.claim)
        }
        None => match adapter.meter.reader {
            MeterReader::Model => format!("the model sees the figure in {}", adapter.meter.r#where),
            MeterReader::Hook => format!(
                "no threshold is rendered: the figure stands in {}, which the model does not see",
                adapter.meter.r#where
            ),
            MeterReader::Human => {
                format!("no threshold is rendered: only a person sees the figure, in {}", adapter.meter.r#where)
            }
        },
    };
    line
}

fn claimed(line: &mut Line, adapter: &Adapter, claim: &Claim) {
    line.guarantee = Some(claim.guarantee);
    line.evidence = claim.evidence.unwrap_or(adapter.evidence.by);
    line.conditions.clone_from(&claim.conditions);
}

fn with_hole(reason: String, claim: &Claim) -> String {
    match &claim.hole {
        Some(hole) => format!("{reason}; {hole}"),
        None => reason,
    }
}

/// What the guard refuses to everybody that a budget is about, in words; nothing where it does not see such calls.
fn guarded(adapter: &Adapter, policy: &Policy, name: &str) -> Option<(&'static str, Claim)> {
    let hook = adapter.hook.as_ref()?;
    let on = policy.settings.guard;
    let starts = |(tool, seen): (&String, &HookTool)| seen.is.as_ref().unwrap_or(tool) == &adapter.subagents.call.tool;
    let reads = |tool: &HookTool| tool.read.is_some() && !tool.range.is_empty();
    let what = match name {
        "file-read" if on.reads && hook.tools.values().any(reads) => {
            "a hook answers a read without a range of a longer text with the range to use; what a shell prints is not held"
        }
        "delegation-packet" if on.packets && hook.tools.iter().any(starts) => {
            "a hook refuses a longer prompt without a line that says why"
        }
        _ => return None,
    };
    Some((what, hook.everybody.clone()?))
}

/// What is there at the start against what the policy says may be.
fn at_start(adapter: &Adapter, policy: &Policy, what: &str) -> Line {
    let allowed: Vec<&str> = policy.settings.session_start.iter().map(|c| policy.catalogue.name(*c)).collect();
    let mut line = base(adapter, SESSION_START, Family::All);
    line.limited_by = None;
    line.guarantee = Some(Guarantee::Advised);
    line.reason = format!("`discovery.session-start: [{}]` cannot be held whole: {what}", allowed.join(", "));
    line
}

/// A setting as people find it: the file and the keys in it.
fn setting(adapter: &Adapter, set: &str) -> String {
    let (output, pointer) = set.split_once(":/").unwrap_or((set, ""));
    let file = adapter.outputs.get(output).map_or(output, |o| o.file.as_str());
    format!("`{}` in `{file}`", pointer.replace('/', "."))
}

fn base(adapter: &Adapter, budget: &str, family: Family) -> Line {
    Line {
        host: adapter.id.clone(),
        subject: Subject::Budget { budget: budget.to_owned(), family: family.word().to_owned() },
        state: State::Granted,
        limited_by: Some(LimitedBy::Size),
        guarantee: None,
        evidence: adapter.evidence.by,
        version: adapter.evidence.version.clone(),
        date: adapter.evidence.date.clone(),
        conditions: Vec::new(),
        reason: String::new(),
        lowered: None,
        measured: Vec::new(),
    }
}

fn budget(adapter: &Adapter, policy: &Policy, name: &str, family: Family, knob: Option<&Knob>) -> Line {
    let mut line = base(adapter, name, family);
    match knob.and_then(|k| value(k, policy).map(|v| (k, v))) {
        Some((knob, (value, looser))) => {
            claimed(&mut line, adapter, &knob.claim);
            let unit = knob.unit.word();
            line.reason = format!("{} = {value} {unit} for `{}`", setting(adapter, &knob.set), knob.budget);
            if looser {
                line.reason.push_str("; looser than the budget, the host takes no less");
            }
            line.reason = with_hole(line.reason, &knob.claim);
        }
        None if policy.settings.budgets.get(name).and_then(|b| b.figure("target")).is_some()
            && let Some((what, claim)) = guarded(adapter, policy, name) =>
        {
            claimed(&mut line, adapter, &claim);
            line.reason = with_hole(what.to_owned(), &claim);
        }
        None if name == "instructions" => {
            line.guarantee = Some(Guarantee::Guarded);
            line.reason =
                "the compilation refuses to render more than the limit; text of your own is not in it".to_owned();
        }
        None => {
            line.guarantee = Some(Guarantee::Advised);
            line.reason = "text only: the host has no setting for it".to_owned();
        }
    }
    line
}
