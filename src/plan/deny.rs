//! Whether a host holds what a role denies, and whether each waiver is needed.

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::{Adapter, Fails};
use crate::model::scalar::{EvidenceKind, Guarantee};
use crate::resolve::policy::{Deny, Policy, Role};
use crate::resolve::{CapId, CapSet};

use super::ledger::{Line, Lowered, State, Subject};

/// Judges the denials of `role` on one host from the ledger lines of all its forms.
pub fn judge(adapter: &Adapter, policy: &Policy, role: &Role, lines: &[Line], sink: &mut Sink) {
    let mut missed = CapSet::EMPTY;
    let waivers = role.waive.get(&adapter.id).map_or(&[][..], Vec::as_slice);
    let waived = waivers.iter().fold(CapSet::EMPTY, |all, w| all.union(w.caps));
    for deny in &role.deny {
        let failed: Vec<(CapId, &Line, String)> = deny
            .caps
            .iter()
            .flat_map(|cap| {
                lines.iter().filter(move |l| is_about(l, policy.catalogue.name(cap))).map(move |l| (cap, l))
            })
            .filter_map(|(cap, line)| why_not(adapter, deny, line).map(|why| (cap, line, why)))
            .collect();
        for (cap, _, _) in &failed {
            missed.insert(*cap);
        }
        if let Some((cap, line, why)) = failed.into_iter().find(|(cap, _, _)| !waived.has(*cap)) {
            sink.push(not_held(adapter, policy, role, deny, cap, line, &why));
        }
    }
    for waiver in waivers.iter().filter(|w| w.caps.and(missed).is_empty()) {
        sink.push(
            Diagnostic::new(
                Code::WaiverUnneeded,
                format!("{} holds what role `{}` waives there: `{}`", adapter.title, role.id, waiver.pattern),
            )
            .at_opt(waiver.span, "not needed")
            .help("remove the waiver, so that losing the denial is noticed"),
        );
    }
}

fn is_about(line: &Line, name: &str) -> bool {
    matches!(&line.subject, Subject::Role { capability, .. } if capability == name)
}

/// Why a line is not enough for a denial; `None` when it is.
pub fn why_not(adapter: &Adapter, deny: &Deny, line: &Line) -> Option<String> {
    if line.state != State::Denied {
        return Some(line.reason.clone());
    }
    let guarantee = line.guarantee.unwrap_or(Guarantee::Advised);
    if guarantee < deny.at_least {
        return Some(format!("it is only {}: {}", guarantee.word(), line.reason));
    }
    if deny.at_least == Guarantee::Enforced && line.evidence < EvidenceKind::Source {
        return Some(format!("it is known only from {}", line.evidence.word()));
    }
    let open = line.conditions.iter().find(|c| adapter.conditions.get(*c).is_none_or(|c| c.fails == Fails::Open))?;
    (deny.at_least > Guarantee::Advised)
        .then(|| format!("it holds only under the condition `{open}`, and the role has more tools without it"))
}

fn not_held(
    adapter: &Adapter,
    policy: &Policy,
    role: &Role,
    deny: &Deny,
    cap: CapId,
    line: &Line,
    why: &str,
) -> Diagnostic {
    let form = match &line.subject {
        Subject::Role { form, .. } => adapter.forms.get(form).map_or(form.as_str(), |f| f.title.as_str()),
        _ => "",
    };
    let d = Diagnostic::new(
        Code::DenyNotHeld,
        format!(
            "{} cannot hold the denial of `{}` for role `{}` as {form}",
            adapter.title,
            policy.catalogue.name(cap),
            role.id
        ),
    )
    .at_opt(deny.span, format!("must be {}", deny.at_least.word()))
    .note(why.to_owned());
    let waive = format!("`waive: {{ {}: {{ \"{}\": \"why\" }} }}`", adapter.id, deny.pattern);
    match &line.lowered {
        None => d.help(format!("waive it there with a reason ({waive}), or do not render for this host")),
        Some(Lowered { by, span }) => d
            .also(*span, "seen to be broken")
            .note(format!("turned down by `{by}`, which `rolecast verify --accept` wrote"))
            .help(format!("waive it there with a reason ({waive}), use a version that holds it and run `rolecast verify --accept`, or do not render for this host")),
    }
}
