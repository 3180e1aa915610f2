//! Rules in the order they are printed.

use super::layers::Merged;
use super::policy::{Rule, RuleActivation};
use crate::diag::{Code, Diagnostic, Sink};
use crate::load::{Loaded, Raw};
use crate::model::rule::{Activation, Audience, RuleFile};
use crate::yaml::Sp;

/// Position of a rule that names none.
const DEFAULT_ORDER: u64 = 50;

/// Resolves every rule.
pub(super) fn resolve(loaded: &Loaded, merged: &Merged<'_>, sink: &mut Sink) -> Vec<Rule> {
    let mut rules: Vec<(u64, Rule)> = merged
        .rules
        .values()
        .map(|raw| (raw.meta.order.as_ref().map_or(DEFAULT_ORDER, |o| o.value), rule(raw, loaded, sink)))
        .collect();
    rules.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
    rules.into_iter().map(|(_, rule)| rule).collect()
}

fn rule(raw: &Raw<RuleFile>, loaded: &Loaded, sink: &mut Sink) -> Rule {
    let good = raw.id.len() <= 64
        && raw.id.starts_with(|c: char| c.is_ascii_lowercase())
        && raw.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    if !good {
        sink.push(
            Diagnostic::new(Code::RuleName, format!("`{}` cannot name a rule", raw.id))
                .path(loaded.sources.get(raw.source).path.clone())
                .help("use a lower-case letter, then lower-case letters, digits, `_` or `-`, at most 64 in all"),
        );
    }
    if raw.body.trim().is_empty() {
        sink.push(
            Diagnostic::new(Code::RuleEmpty, format!("rule `{}` has no text", raw.id))
                .at_opt(raw.meta.title.span, "only front matter")
                .help("write what agents must do below the front matter, or delete the file"),
        );
    }
    one_line("title", &raw.meta.title, sink);
    if raw.meta.template.as_ref().is_none_or(|t| !t.value) {
        super::template::check(&raw.body, raw.source, raw.body_at, "this rule", sink);
    }
    let audience: Vec<Audience> = raw
        .meta
        .audience
        .as_ref()
        .map_or_else(|| vec![Audience::Main, Audience::Roles], |a| a.iter().map(|a| a.value).collect());
    if audience.is_empty() {
        sink.push(
            Diagnostic::new(Code::InvalidValue, format!("rule `{}` is for nobody", raw.id))
                .at_opt(raw.meta.audience.as_ref().and_then(|a| a.span), "empty")
                .help("leave `audience` out, or name `main`, `roles` or both"),
        );
    }
    Rule {
        id: raw.id.clone(),
        source: raw.source,
        title: raw.meta.title.value.trim().to_owned(),
        activation: activation(raw, sink),
        main: audience.contains(&Audience::Main),
        roles: audience.contains(&Audience::Roles),
        body: raw.body.clone(),
        body_at: raw.body_at,
        template: raw.meta.template.as_ref().is_some_and(|t| t.value),
    }
}

fn activation(raw: &Raw<RuleFile>, sink: &mut Sink) -> RuleActivation {
    match raw.meta.activation.as_ref().map(|a| (&a.value, a.span)) {
        None | Some((Activation::Always, _)) => RuleActivation::Always,
        Some((Activation::Paths(globs), span)) => {
            if globs.is_empty() {
                sink.push(
                    Diagnostic::new(Code::ScopeEmpty, format!("the paths of rule `{}` are empty", raw.id))
                        .at_opt(span, "never matches")
                        .help("name the files it is for, as in `{ paths: [\"docs/**\"] }`"),
                );
            }
            for glob in globs {
                check_glob(glob, sink);
            }
            RuleActivation::Paths(globs.iter().map(|g| g.value.clone()).collect())
        }
        Some((Activation::OnDemand(trigger), _)) => {
            one_line("trigger", trigger, sink);
            RuleActivation::OnDemand(trigger.value.trim().to_owned())
        }
    }
}

fn one_line(what: &str, text: &Sp<String>, sink: &mut Sink) {
    if text.trim().is_empty() || text.trim().contains('\n') {
        sink.push(
            Diagnostic::new(Code::InvalidValue, format!("a {what} is one line of text"))
                .at_opt(text.span, if text.trim().is_empty() { "empty" } else { "more than one line" })
                .help(format!("write the {what} in one line")),
        );
    }
}

/// A glob that every host's dialect starts from: relative, `/` between parts, `*`, `**` and `?` only.
pub(super) fn check_glob(glob: &Sp<String>, sink: &mut Sink) {
    let text = glob.value.as_str();
    let why = if text.trim().is_empty() {
        "empty"
    } else if text.starts_with('/') || text.contains('\\') || text.contains(':') {
        "must be relative to the root, with `/` between parts"
    } else if text.split('/').any(|part| part == ".." || part == "." || part.is_empty()) {
        "must not have empty, `.` or `..` parts"
    } else if text.split('/').any(|part| part.contains("**") && part != "**") {
        "`**` stands for whole folders and must be a part of its own"
    } else if text.contains(['{', '}', '[', ']', '!', ',', '"', '\'', '`']) || text.chars().any(char::is_control) {
        "only `*`, `**` and `?` are understood by every host"
    } else {
        return;
    };
    sink.push(
        Diagnostic::new(Code::GlobInvalid, format!("`{text}` is not a path pattern"))
            .at_opt(glob.span, why)
            .help("write one like `docs/**` or `**/*.md`"),
    );
}
