//! The texts of rules and cards, each rendered once and used wherever the delivery wants it.

use serde_json::{Value, json};

use crate::diag::{Code, Diagnostic, Sink, SourceId, SourceMap, Span};
use crate::model::adapter::Adapter;
use crate::plan::delivery::{HostDelivery, ScopedRoute};
use crate::plan::legacy;
use crate::resolve::Rule;
use crate::resolve::policy::RuleActivation;

use super::engine::{Engine, TemplateProblem};
use super::{HostNotes, Inputs, context};

/// Folder of rules that a line points to.
pub const RULES_DIR: &str = ".rolecast/rules";
/// The list of path rules where they are too many for a line each.
pub const PATHS_INDEX: &str = ".rolecast/paths.md";
/// Most lines for path rules in a text that is always before the agent; more become one line to the index.
pub const MOST_LINES: usize = 12;

/// Every text, rendered.
pub(super) struct Texts {
    /// Text of each rule without its host note.
    pub(super) rules: Vec<String>,
    /// Host notes by host, joined.
    notes: Vec<(String, Notes)>,
    pub(super) budgets: Value,
    pub(super) policy: Value,
}

/// The notes of one host.
struct Notes {
    /// Of all rules.
    all: String,
    /// Of rules that are meant for sub-agents: a note on how to delegate, given to a role, would ask it to.
    roles: String,
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
        self.sections(inputs, |rule| if roles { rule.roles } else { rule.main })
    }

    fn sections(&self, inputs: &Inputs<'_>, meant: impl Fn(&Rule) -> bool) -> String {
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
        self.sections(inputs, |rule| rule.roles && !rule.main)
    }

    /// The notes of every host.
    pub(super) fn host_notes(&self) -> Vec<HostNotes> {
        let notes = self.notes.iter();
        notes.map(|(host, n)| HostNotes { host: host.clone(), card: n.all.clone(), body: n.roles.clone() }).collect()
    }

    /// A host's card: its notes, and lines for rules that it cannot scope by itself.
    pub(super) fn card(&self, inputs: &Inputs<'_>, host: &HostDelivery, adapter: &Adapter) -> String {
        let mut parts = vec![format!("## Notes for {}", adapter.title)];
        parts.extend(
            self.notes
                .iter()
                .find(|(id, _)| *id == host.host)
                .map(|(_, notes)| notes.all.clone())
                .filter(|n| !n.is_empty()),
        );
        let lines = path_lines(inputs, host, |s| s.main == ScopedRoute::CardLine);
        if !lines.is_empty() {
            parts.push(lines);
        }
        if parts.len() == 1 { String::new() } else { parts.join("\n\n") }
    }

    /// The card as a role's body carries it: without lines for path rules, and without notes for the main agent.
    pub(super) fn role_card(&self, host: &HostDelivery, adapter: &Adapter) -> String {
        let notes = self.notes.iter().find(|(id, _)| *id == host.host).map_or("", |(_, notes)| notes.roles.as_str());
        if notes.is_empty() { String::new() } else { format!("## Notes for {}\n\n{notes}", adapter.title) }
    }
}

/// Lines that point from path rules to their files.
pub(super) fn path_lines(
    inputs: &Inputs<'_>,
    host: &HostDelivery,
    wanted: impl Fn(&crate::plan::delivery::Scoped) -> bool,
) -> String {
    let rules: Vec<usize> = host.scoped.iter().filter(|s| wanted(s)).map(|s| s.rule).collect();
    if rules.len() > MOST_LINES {
        return format!(
            "- Before you touch files: look up their paths in `{PATHS_INDEX}`, and read the rules named there"
        );
    }
    let line = |(paths, file): (String, String)| format!("- Before you touch {paths}: read `{file}`");
    rules.into_iter().filter_map(|rule| pointer(inputs, rule)).map(line).collect::<Vec<_>>().join("\n")
}

/// The patterns of a path rule, and the file that has its text.
fn pointer(inputs: &Inputs<'_>, rule: usize) -> Option<(String, String)> {
    let rule = inputs.policy.rules.get(rule)?;
    let RuleActivation::Paths(paths) = &rule.activation else { return None };
    let paths: Vec<String> = paths.iter().map(|p| format!("`{p}`")).collect();
    Some((paths.join(", "), format!("{RULES_DIR}/{}.md", rule.id)))
}

/// The index of path rules; `None` where every host has its few lines instead.
pub(super) fn paths_index(inputs: &Inputs<'_>) -> Option<String> {
    let delivery = &inputs.plan.delivery;
    let lines = |route: ScopedRoute| matches!(route, ScopedRoute::CardLine | ScopedRoute::BodyLine);
    let needed = delivery.hosts.iter().any(|host| {
        let main = host.scoped.iter().filter(|s| lines(s.main)).count();
        let roles = host.scoped.iter().filter(|s| lines(s.roles)).count();
        main.max(roles) > MOST_LINES
    });
    needed.then(|| {
        let entry = |(paths, file)| format!("- {paths}: `{file}`\n");
        let entries: String = delivery.pointed.iter().filter_map(|rule| pointer(inputs, *rule)).map(entry).collect();
        format!("# Rules for paths\n\nRead the rule of each path that you are about to touch.\n\n{entries}")
    })
}

fn notes(
    adapter: &Adapter,
    engine: &Engine<'_>,
    inputs: &Inputs<'_>,
    budgets: &Value,
    policy: &Value,
    sink: &mut Sink,
) -> Notes {
    let context = json!({ "budgets": budgets, "policy": policy, "host": context::host(adapter) });
    let parts: Vec<(bool, String)> = inputs
        .policy
        .rules
        .iter()
        .filter(|rule| rule.has_note() && engine.has(&rule.id))
        .map(|rule| (rule.roles, tidy(&checked(engine.note(&rule.id, &context), rule, sink))))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let joined = |only: bool| {
        let texts: Vec<&str> =
            parts.iter().filter(|(roles, _)| *roles || !only).map(|(_, text)| text.as_str()).collect();
        texts.join("\n\n")
    };
    let shown = inputs.plan.hosts.iter().find(|h| h.host == adapter.id).and_then(|h| h.servers.as_ref());
    let preferred = shown.map(|shown| legacy::lines(inputs.policy, adapter, shown)).unwrap_or_default();
    let mut all = joined(false);
    if !preferred.is_empty() {
        let gap = if all.is_empty() { "" } else { "\n\n" };
        all = format!("{all}{gap}{}", preferred.join("\n"));
    }
    Notes { all, roles: joined(true) }
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
pub(super) fn template_failed(sources: &SourceMap, adapter: &str, name: &str, problem: &TemplateProblem) -> Diagnostic {
    let d = Diagnostic::new(Code::Template, format!("template `{adapter}/{name}`: {}", problem.message));
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    match (template_source(sources, adapter, name), problem.range) {
        (Some(source), Some((start, end))) => d.at(Span { source, start: offset(start), end: offset(end) }, ""),
        _ => d.path(template_path(sources, adapter, name)),
    }
}

/// Where a template of an adapter stands; shipped ones have no source.
pub(super) fn template_path(sources: &SourceMap, adapter: &str, name: &str) -> String {
    template_source(sources, adapter, name)
        .map_or_else(|| format!("<builtin>/templates/{adapter}/{name}"), |source| sources.get(source).path.clone())
}

fn template_source(sources: &SourceMap, adapter: &str, name: &str) -> Option<SourceId> {
    let end = format!("/{adapter}/{name}");
    sources.ids().filter(|id| sources.get(*id).path.ends_with(&end)).last()
}
