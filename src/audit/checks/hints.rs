//! The four hints, and what the policy says.

use super::Subject;
use crate::audit::contract::{HINTS, Tool};
use crate::audit::effect::{self, Effect};
use crate::audit::finding::Finding;
use crate::diag::{Code, Severity};
use crate::model::scalar::Risk;

pub(super) fn check(subject: &Subject<'_>, tool: &Tool, found: &mut Vec<Finding>) {
    let missing: Vec<&str> = HINTS.into_iter().filter(|hint| tool.hint(hint).is_none()).collect();
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(|hint| format!("`{hint}`")).collect();
        let finding = subject.finding(Code::HintsMissing, tool, format!("not explicit: {}", names.join(", ")));
        found.push(
            finding.fix("ask the server's author for all four hints; what the policy says of the tool counts here"),
        );
    }
    let (read_only, destructive) = (tool.hint("readOnlyHint"), tool.hint("destructiveHint"));
    if read_only == Some(true) && destructive == Some(true) {
        let message = "`readOnlyHint: true` and `destructiveHint: true` exclude each other";
        found.push(subject.finding(Code::HintContradicts, tool, message).weighs(Severity::Warning));
    }
    declared_safe(subject, tool, found);
    if let Some(class) = subject.class(&tool.name) {
        let catalogue = &subject.policy.catalogue;
        changes(subject, tool, effect::strongest(class.confers, catalogue), found);
        world(subject, tool, class.confers, found);
    }
}

fn declared_safe(subject: &Subject<'_>, tool: &Tool, found: &mut Vec<Finding>) {
    let safe = subject.server.is_some_and(|server| server.risk == Risk::Safe);
    if safe && tool.hint("readOnlyHint") == Some(false) {
        let message = "the policy calls the server `safe`, and the tool says that it changes something";
        let risk = if tool.hint("destructiveHint") == Some(false) { "restricted" } else { "dangerous" };
        found.push(
            subject
                .finding(Code::HintContradicts, tool, message)
                .fix(format!("risk: {risk} # under servers.{}", subject.name())),
        );
    }
}

fn changes(subject: &Subject<'_>, tool: &Tool, effect: Effect, found: &mut Vec<Finding>) {
    let destroys = tool.hint("destructiveHint") == Some(true);
    match tool.hint("readOnlyHint") {
        Some(false) if effect < Effect::Changes => {
            let hint = if destroys { "`destructiveHint: true`" } else { "`readOnlyHint: false`" };
            let message = format!("{hint}, and the policy grants it to roles that may only look");
            let finding = subject.finding(Code::HintContradicts, tool, message).fix(subject.entry(tool));
            // Opening another page is a change to the one, and none to the other.
            let weight = if effect == Effect::Moves { Severity::Warning } else { Severity::Error };
            found.push(finding.weighs(weight));
        }
        Some(true) if effect == Effect::Changes => {
            let message = "`readOnlyHint: true`, and the policy says that it may change something: hosts that go by the hint run it without asking";
            found.push(subject.finding(Code::HintContradicts, tool, message).weighs(Severity::Warning));
        }
        _ => {}
    }
}

fn world(subject: &Subject<'_>, tool: &Tool, confers: crate::resolve::CapSet, found: &mut Vec<Finding>) {
    let catalogue = &subject.policy.catalogue;
    let out = effect::reaching_out(confers, catalogue);
    let message = match tool.hint("openWorldHint") {
        Some(false) if !out.is_empty() => {
            format!("`openWorldHint: false`, and the policy says that it confers `{}`", out.join("`, `"))
        }
        Some(true) if effect::stays(confers, catalogue) => {
            "`openWorldHint: true`, and the policy says that it stays inside of the repository".to_owned()
        }
        _ => return,
    };
    found.push(subject.finding(Code::HintContradicts, tool, message).weighs(Severity::Warning));
}
