//! What parameters make possible, and what hint and policy say.

use super::Subject;
use crate::audit::contract::Tool;
use crate::audit::effect::{self, Effect};
use crate::audit::finding::Finding;
use crate::audit::schema::{Reach, mixed, reach};
use crate::audit::words;
use crate::diag::{Code, Severity};

pub(super) fn check(subject: &Subject<'_>, tool: &Tool, found: &mut Vec<Finding>) {
    let class = subject.class(&tool.name);
    let effect = class.map(|class| effect::strongest(class.confers, &subject.policy.catalogue));
    let called_read_only = tool.says_read_only() || effect.is_some_and(|effect| effect < Effect::Changes);
    if called_read_only {
        for reach in reach(tool) {
            found.push(contradiction(subject, tool, &reach, effect));
        }
    }
    if let Some(finding) = mega(subject, tool, effect) {
        found.push(finding);
    }
}

fn contradiction(subject: &Subject<'_>, tool: &Tool, reach: &Reach, effect: Option<Effect>) -> Finding {
    let what = match reach {
        Reach::File { param } => format!("`{param}` writes a file"),
        Reach::Switch { param } => format!("`{param}` turns the look into a change"),
        Reach::Code { param, sql: true } => {
            format!(
                "`{param}` takes statements, and a filter of their first word does not prove what the functions in them do"
            )
        }
        Reach::Code { param, sql: false } => format!("`{param}` takes code"),
    };
    let aware = effect == Some(Effect::Changes);
    let by = match (tool.says_read_only(), effect.is_some_and(|effect| effect < Effect::Changes)) {
        (true, true) => "the hint and the policy call it read-only",
        (true, false) => "its hint calls it read-only",
        _ => "the policy calls it read-only",
    };
    let finding = subject.finding(Code::SchemaContradicts, tool, format!("{by}, and {what}"));
    if aware || effect.is_none() { finding.weighs(Severity::Warning) } else { finding.fix(subject.entry(tool)) }
}

fn mega(subject: &Subject<'_>, tool: &Tool, effect: Option<Effect>) -> Option<Finding> {
    let message = if let Some(mixed) = mixed(tool) {
        let list = |values: &[String]| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
        let other = if mixed.other.is_empty() {
            String::new()
        } else {
            format!("; it cannot be told of {}", list(&mixed.other))
        };
        format!("`{}` both looks ({}) and changes ({}){other}", mixed.param, list(&mixed.reads), list(&mixed.changes))
    } else {
        // A switch is the same with two values.
        let reads = words::changes(&tool.name) == Some(false);
        let switch = reach(tool).into_iter().find_map(|reach| match reach {
            Reach::Switch { param } => Some(param),
            _ => None,
        });
        format!("by its name it looks, and with `{}` it changes", switch.filter(|_| reads)?)
    };
    let finding = subject.finding(Code::MegaTool, tool, message);
    let legacy = subject.raw.tools.get(tool.name.as_str()).is_some_and(|raw| raw.legacy.is_some());
    Some(match effect {
        Some(effect) if effect < Effect::Changes => finding.weighs(Severity::Error).fix(subject.entry(tool)),
        _ if legacy => finding.weighs(Severity::Note),
        _ => finding.fix("split it into narrow tools, and keep it with `legacy: { superseded-by: [...] }` as long as something needs it"),
    })
}
