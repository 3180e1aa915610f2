//! The texts of rules and cards, each rendered once and used wherever the delivery wants it.

use serde_json::{Value, json};

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::Adapter;
use crate::plan::delivery::{HostDelivery, ScopedRoute};
use crate::resolve::Rule;
use crate::resolve::policy::RuleActivation;

use super::engine::{Engine, TemplateProblem};
use super::{Inputs, context};

/// Folder of rules that a line points to.
pub const RULES_DIR: &str = ".rolecast/rules";

/// Every text, rendered.
pub(super) struct Texts {
    /// Text of each rule without its host note.
    pub(super) rules: Vec<String>,
    /// Host notes by host, joined.
    notes: Vec<(String, String)>,
    pub(super) budgets: Value,
    pub(super) policy: Value,
}

impl Texts {
    pub(super) fn new(inputs: &Inputs<'_>, sink: &mut Sink) -> Self {
        let policy = inputs.policy;
        let budgets = context::budgets(policy);
        let policy_value = context::policy(policy);
        let templates = policy.rules.iter().filter(|r| r.template);
        let (engine, problems) = Engine::new(templates.map(|r| (r.id.as_str(), r.body.as_str())));
        for rule in policy.rules.iter().filter(|r| r.template) {
            if let Some((_, problem)) = problems.iter().find(|(id, _)| *id == rule.id) {
                sink.push(problem.diagnostic(rule.source, rule.body_at));
            }
        }
        let shared = json!({ "budgets": budgets, "policy": policy_value });
        let rules = policy
            .rules
            .iter()
            .map(|rule| {
                let text = if rule.template && engine.has(&rule.id) {
                    checked(engine.shared(&rule.id, &shared), rule, sink)
                } else {
                    rule.body.clone()
                };
                tidy(&text)
            })
            .collect();
        let notes = policy
            .hosts
            .iter()
            .filter_map(|id| inputs.adapters.get(id))
            .map(|adapter| (adapter.id.clone(), notes(adapter, &engine, inputs, &budgets, &policy_value, sink)))
            .collect();
        Self { rules, notes, budgets, policy: policy_value }
    }

    /// The text that every host is given: rules that are always on, then one line for each rule on demand.
    /// `roles` leaves out what is for the main agent only.
    pub(super) fn shared(&self, inputs: &Inputs<'_>, roles: bool) -> String {
        let meant = |rule: &Rule| if roles { rule.roles } else { rule.main };
        let mut parts: Vec<String> = Vec::new();
        let mut triggers: Vec<String> = Vec::new();
        for (rule, text) in inputs.policy.rules.iter().zip(&self.rules).filter(|(r, _)| meant(r)) {
            match &rule.activation {
                RuleActivation::Always => parts.push(format!("## {}\n\n{text}", rule.title)),
                RuleActivation::OnDemand(trigger) => {
                    triggers.push(format!("- {trigger}: read `{RULES_DIR}/{}.md`", rule.id));
                }
                RuleActivation::Paths(_) => {}
            }
        }
        if !triggers.is_empty() {
            parts.push(format!("## Read on demand\n\n{}", triggers.join("\n")));
        }
        parts.join("\n\n")
    }

    /// Rules that are for sub-agents only, which no shared file may carry.
    pub(super) fn roles_only(&self, inputs: &Inputs<'_>) -> String {
        let only = inputs.policy.rules.iter().zip(&self.rules).filter(|(r, _)| r.roles && !r.main);
        let parts: Vec<String> = only
            .filter_map(|(rule, text)| match &rule.activation {
                RuleActivation::Always => Some(format!("## {}\n\n{text}", rule.title)),
                RuleActivation::OnDemand(trigger) => Some(format!("- {trigger}: read `{RULES_DIR}/{}.md`", rule.id)),
                RuleActivation::Paths(_) => None,
            })
            .collect();
        parts.join("\n\n")
    }

    /// A host's card: its notes, and lines for rules that it cannot scope by itself.
    pub(super) fn card(&self, inputs: &Inputs<'_>, host: &HostDelivery, adapter: &Adapter) -> String {
        let mut parts = vec![format!("## Notes for {}", adapter.title)];
        parts.extend(
            self.notes
                .iter()
                .find(|(id, _)| *id == host.host)
                .map(|(_, notes)| notes.clone())
                .filter(|n| !n.is_empty()),
        );
        let lines = path_lines(inputs, host, |s| s.main == ScopedRoute::CardLine);
        if !lines.is_empty() {
            parts.push(lines);
        }
        if parts.len() == 1 { String::new() } else { parts.join("\n\n") }
    }

    /// The card as a role's body carries it: without lines for path rules.
    pub(super) fn role_card(&self, host: &HostDelivery, adapter: &Adapter) -> String {
        let notes = self.notes.iter().find(|(id, _)| *id == host.host).map_or("", |(_, notes)| notes.as_str());
        if notes.is_empty() { String::new() } else { format!("## Notes for {}\n\n{notes}", adapter.title) }
    }
}

/// Lines that point from path rules to their files.
pub(super) fn path_lines(
    inputs: &Inputs<'_>,
    host: &HostDelivery,
    wanted: impl Fn(&crate::plan::delivery::Scoped) -> bool,
) -> String {
    let lines: Vec<String> = host
        .scoped
        .iter()
        .filter(|s| wanted(s))
        .filter_map(|s| {
            let rule = inputs.policy.rules.get(s.rule)?;
            let RuleActivation::Paths(paths) = &rule.activation else { return None };
            let paths: Vec<String> = paths.iter().map(|p| format!("`{p}`")).collect();
            Some(format!("- Before you touch {}: read `{RULES_DIR}/{}.md`", paths.join(", "), rule.id))
        })
        .collect();
    lines.join("\n")
}

fn notes(
    adapter: &Adapter,
    engine: &Engine<'_>,
    inputs: &Inputs<'_>,
    budgets: &Value,
    policy: &Value,
    sink: &mut Sink,
) -> String {
    let context = json!({ "budgets": budgets, "policy": policy, "host": context::host(adapter) });
    let parts: Vec<String> = inputs
        .policy
        .rules
        .iter()
        .filter(|rule| rule.has_note() && engine.has(&rule.id))
        .map(|rule| tidy(&checked(engine.note(&rule.id, &context), rule, sink)))
        .filter(|text| !text.is_empty())
        .collect();
    parts.join("\n\n")
}

fn checked(result: Result<String, TemplateProblem>, rule: &Rule, sink: &mut Sink) -> String {
    result.unwrap_or_else(|problem| {
        sink.push(problem.diagnostic(rule.source, rule.body_at));
        String::new()
    })
}

/// No blank lines at the ends, at most one between paragraphs: what templates leave behind costs tokens.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    let mut fenced = false;
    for line in text.trim_matches(['\n', ' ', '\t']).lines() {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if line.trim().is_empty() && !fenced {
            blank += 1;
            continue;
        }
        if blank > 0 {
            out.push('\n');
            blank = 0;
        }
        fenced ^= fence;
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Reports a template of an adapter that failed.
pub(super) fn template_failed(adapter: &str, name: &str, problem: &TemplateProblem) -> Diagnostic {
    Diagnostic::new(Code::Template, format!("template `{adapter}/{name}`: {}", problem.message))
        .path(format!("templates/{adapter}/{name}"))
}
