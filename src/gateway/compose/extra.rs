//! Arguments that the gateway itself adds to tools.

use serde_json::{Map, Value, json};

use super::plan::{DELIVERY, NOTE, REASON};
use crate::audit::contract::Contract;
use crate::audit::schema::{self, Reach};
use crate::resolve::{CapSet, Policy};

/// The needs of which the first call of a session must name one; empty where none has to.
///
/// The specialist is every server in the order of browsers; what it does beside browsing needs no reason.
pub(super) fn reasons(server: &str, confers: CapSet, policy: &Policy) -> Vec<&'static str> {
    let settings = &policy.settings;
    let specialist = settings.record_reason && settings.browser_order.iter().any(|name| name == server);
    let browses = confers.iter().any(|cap| policy.catalogue.name(cap).starts_with("browser."));
    if specialist && browses { settings.escalate_for.iter().map(|need| need.key()).collect() } else { Vec::new() }
}

/// The parameters by which a primitive is told where to write what it would else answer, at its top; asked for only where
/// media may be in an answer.
pub(super) fn files(server: &str, raw: &Value, inline_media: bool) -> Vec<String> {
    let contract = inline_media.then(|| Contract::new(server, &Value::Null, vec![raw.clone()]).ok()).flatten();
    let tools = contract.into_iter().flat_map(|contract| contract.tools);
    let reaches = tools.flat_map(|tool| schema::reach(&tool));
    reaches.filter_map(|reach| if let Reach::File { param } = reach { Some(param) } else { None }).collect()
}

/// Adds the arguments to what a model is shown.
pub(super) fn add(properties: &mut Map<String, Value>, inline_media: bool, reasons: &[&'static str]) {
    if inline_media {
        let delivery = json!({
            "type": "string",
            "enum": ["artifact", "inline"],
            "default": "artifact",
            "description": "artifact: the picture becomes a file; inline: it is in the answer, if it is small enough.",
        });
        properties.insert(DELIVERY.to_owned(), delivery);
    }
    if !reasons.is_empty() {
        let reason = json!({
            "type": "string",
            "enum": reasons,
            "description": "Why this browser: the first call of a session says so.",
        });
        let note = json!({ "type": "string", "minLength": 1, "maxLength": 400, "description": "In one sentence." });
        properties.insert(REASON.to_owned(), reason);
        properties.insert(NOTE.to_owned(), note);
    }
}
