//! What each host is given at the start of a session, in bytes, held against the budget and the host's own cuts.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::{Adapter, Agent, Limit, LimitOf, Load, Over, Unit};
use crate::plan::delivery::{HostDelivery, How, Part};
use crate::resolve::policy::{Budget, Size};

use super::texts::Texts;
use super::{Inputs, bodies};

/// Bytes per host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// In the order of selection.
    pub hosts: Vec<HostBytes>,
    /// Bytes of each rule's text without its host note, in the policy's order.
    pub rules: Vec<u64>,
}

/// What one host is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostBytes {
    /// The host.
    pub host: String,
    /// The shared text.
    pub shared: u64,
    /// The card.
    pub card: u64,
    /// The card as roles carry it: only notes that are meant for roles.
    pub role_card: u64,
    /// Markers and import lines.
    pub frame: u64,
    /// What every role's body carries besides its own prompt.
    pub role_body: u64,
    /// The user's own text in instruction files that the host reads at the start.
    pub user: u64,
}

impl HostBytes {
    /// Our always-on text.
    pub const fn ours(&self) -> u64 {
        self.shared + self.card + self.frame
    }
}

/// Bytes of both markers and their line breaks.
const MARKERS: u64 = 50;

/// Measures, and reports what is over a budget or a host's cut.
pub(super) fn measure(inputs: &Inputs<'_>, texts: &Texts, sink: &mut Sink) -> Measured {
    let rules = texts.rules.iter().map(|text| text.len() as u64).collect();
    let mut measured = Measured { hosts: Vec::new(), rules };
    let shared = texts.shared(inputs, false).len() as u64;
    for delivery in &inputs.plan.delivery.hosts {
        let Some(adapter) = inputs.adapters.get(&delivery.host) else { continue };
        let bytes = HostBytes {
            host: delivery.host.clone(),
            shared: if delivery.shared.is_some() { shared } else { 0 },
            card: texts.card(inputs, delivery, adapter).len() as u64,
            role_card: texts.role_card(delivery, adapter).len() as u64,
            frame: frame(inputs, delivery),
            role_body: bodies::carried(inputs, texts, delivery, adapter).len() as u64,
            user: user(inputs, adapter),
        };
        budget(inputs, adapter, &bytes, sink);
        limits(inputs, adapter, &bytes, sink);
        measured.hosts.push(bytes);
    }
    measured
}

fn frame(inputs: &Inputs<'_>, delivery: &HostDelivery) -> u64 {
    let on_the_way = |file: &str| {
        delivery
            .shared
            .iter()
            .chain(&delivery.card)
            .any(|route| route.file == file || matches!(&route.how, How::Imported { by } if by == file))
    };
    inputs
        .plan
        .delivery
        .files
        .iter()
        .filter(|f| f.own == crate::plan::delivery::Own::Block && on_the_way(&f.path))
        .map(|f| {
            let imports =
                f.parts.iter().map(|p| if let Part::Import { line, .. } = p { line.len() as u64 + 2 } else { 0 });
            MARKERS + imports.sum::<u64>()
        })
        .sum()
}

/// The user's own text that the host takes at the start, each file once.
fn user(inputs: &Inputs<'_>, adapter: &Adapter) -> u64 {
    let files: BTreeSet<&str> = adapter
        .reads
        .iter()
        .filter(|r| {
            r.agents.contains(&Agent::Main) && matches!(r.load, Load::Start | Load::StartOrMatch | Load::StartOrListed)
        })
        .filter(|r| !r.unless.iter().any(|f| inputs.user_bytes.contains_key(f)))
        .map(|r| r.file.as_str())
        .collect();
    files.into_iter().filter_map(|f| inputs.user_bytes.get(f)).sum()
}

fn budget(inputs: &Inputs<'_>, adapter: &Adapter, bytes: &HostBytes, sink: &mut Sink) {
    let Some(Budget::Size(Size { target, limit })) = inputs.policy.settings.budgets.get("instructions") else { return };
    let ours = bytes.ours();
    let (code, bound, name) = match (limit, target) {
        (Some(limit), _) if ours > limit.0 => (Code::InstructionsOverLimit, limit, "limit"),
        (_, Some(target)) if ours > target.0 => (Code::InstructionsOverTarget, target, "target"),
        _ => return,
    };
    sink.push(
        Diagnostic::new(
            code,
            format!("{} is given {ours} bytes at every start, over the {name} of {bound}", adapter.title),
        )
        .note(format!("shared text {}, host notes {}, frame {} bytes", bytes.shared, bytes.card, bytes.frame))
        .help("make rules shorter, or give them `activation: { on-demand: … }` or `{ paths: … }`"),
    );
}

fn limits(inputs: &Inputs<'_>, adapter: &Adapter, bytes: &HostBytes, sink: &mut Sink) {
    for limit in adapter.limits.iter().filter(|l| l.over != Over::Warn) {
        match limit.what {
            LimitOf::Instructions => {
                let all = bytes.ours() + bytes.user;
                if all > limit.max && limit.unit == Unit::Bytes {
                    sink.push(
                        over(
                            adapter,
                            limit,
                            &format!("the instructions have {all} bytes, {} of them your own", bytes.user),
                        )
                        .help("make rules shorter or move them on demand, or shorten your own text"),
                    );
                }
            }
            LimitOf::Description => {
                for role in &inputs.policy.roles {
                    let size = size(&role.description, limit.unit);
                    if size > limit.max {
                        sink.push(
                            over(
                                adapter,
                                limit,
                                &format!("the description of role `{}` has {size} {}", role.id, limit.unit.word()),
                            )
                            .at_opt(role.description_span, "")
                            .help("shorten the description"),
                        );
                    }
                }
            }
            LimitOf::RoleBody => {
                for role in &inputs.policy.roles {
                    let size = size(&role.body, limit.unit) + bytes.role_body;
                    if size > limit.max {
                        sink.push(
                            over(adapter, limit, &format!("role `{}` has {size} {}", role.id, limit.unit.word()))
                                .at_opt(role.description_span, "")
                                .help("shorten the role's text, or the rules that it carries"),
                        );
                    }
                }
            }
            // Names are computed, and refused where they would be cut.
            LimitOf::ToolName => {}
        }
    }
}

fn over(adapter: &Adapter, limit: &Limit, what: &str) -> Diagnostic {
    let does = match limit.over {
        Over::Cut => "cuts the rest",
        Over::Drop => "ignores the whole",
        Over::Refuse => "stops",
        Over::Warn => "warns",
    };
    Diagnostic::new(Code::HostLimit, format!("{what}; {} takes {} and {does}", adapter.title, limit.max))
}

fn size(text: &str, unit: Unit) -> u64 {
    match unit {
        Unit::Chars => text.chars().count() as u64,
        Unit::Lines => text.lines().count() as u64,
        Unit::Bytes | Unit::Tokens | Unit::Items => text.len() as u64,
    }
}
