//! What templates see of the policy and of a host.

use serde_json::{Map, Value, json};

use crate::model::adapter::{Adapter, History, MeterReader};
use crate::model::policy::{ContextChoice, EscalationReason, PacketPart};
use crate::resolve::Policy;
use crate::resolve::policy::{Budget, Role};

/// `budgets`: sizes as people read them, counts as numbers; hyphens become underscores.
pub(super) fn budgets(policy: &Policy) -> Value {
    let mut all = Map::new();
    for (name, budget) in &policy.settings.budgets {
        let mut one = Map::new();
        match budget {
            Budget::Size(size) => {
                one.extend(size.target.map(|t| ("target".to_owned(), json!(t.to_string()))));
                one.extend(size.limit.map(|l| ("limit".to_owned(), json!(l.to_string()))));
            }
            Budget::Count(count) => {
                one.extend(count.target.map(|t| ("target".to_owned(), json!(t))));
                one.extend(count.limit.map(|l| ("limit".to_owned(), json!(l))));
            }
        }
        all.insert(name.replace('-', "_"), Value::Object(one));
    }
    Value::Object(all)
}

/// `policy`: routing and hand-over. Context thresholds are not in it: no text may promise a figure that the
/// model does not see.
pub(super) fn policy(policy: &Policy) -> Value {
    let s = &policy.settings;
    let names =
        |caps: &[crate::resolve::CapId]| -> Vec<&str> { caps.iter().map(|c| policy.catalogue.name(*c)).collect() };
    json!({
        "browser": {
            "order": s.browser_order,
            "escalate_for": s.escalate_for.iter().copied().map(EscalationReason::phrase).collect::<Vec<_>>(),
            "record_reason": s.record_reason,
        },
        "discovery": {
            "session_start": names(&s.session_start),
            "docs": names(&s.docs_steps),
            "memory": names(&s.memory_steps),
        },
        "delegation": {
            "context": if s.delegation_context == Some(ContextChoice::Full) { "full" } else { "minimal" },
            "packet": s.packet.iter().copied().map(PacketPart::phrase).collect::<Vec<_>>(),
        },
        "roles": policy.roles.iter().map(|r| json!({ "id": r.id, "description": r.description })).collect::<Vec<_>>(),
    })
}

/// `host` of a host note.
pub(super) fn host(adapter: &Adapter) -> Value {
    let call = &adapter.subagents.call;
    json!({
        "id": adapter.id,
        "title": adapter.title,
        "browser": adapter.browser.as_ref().map(|b| json!({ "name": b.name, "needs": b.needs })),
        "call": { "tool": call.tool, "role": call.role, "prompt": call.prompt, "extra": call.extra },
        "history": match adapter.subagents.history { History::Fresh => "fresh", History::Full => "full" },
        "meter": { "reader": match adapter.meter.reader {
            MeterReader::Model => "model", MeterReader::Hook => "hook", MeterReader::Human => "human",
        } },
    })
}

/// `role` of a role's own text.
pub(super) fn role(policy: &Policy, role: &Role) -> Value {
    json!({
        "id": role.id,
        "description": role.description,
        "grants": role.grants.keys().map(|c| policy.catalogue.name(*c)).collect::<Vec<_>>(),
        "stop": role.stop,
    })
}
