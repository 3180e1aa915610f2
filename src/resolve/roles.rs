//! Roles: capability names looked up, scopes and waivers judged.

use indexmap::IndexMap;

use super::capabilities::{CapId, CapSet, Catalogue};
use super::layers::Merged;
use super::policy::{Deny, GrantScope, Role, Waiver};
use crate::diag::{Code, Diagnostic, Sink};
use crate::load::{Loaded, Raw};
use crate::model::policy::ContextChoice;
use crate::model::role::{Grant, ModelChoice, RoleFile};
use crate::text::address;
use crate::yaml::Sp;

/// Longest role name; every host takes this much.
const MAX_NAME: usize = 64;

/// Resolves every role, in the order of their names.
pub(super) fn resolve(loaded: &Loaded, merged: &Merged<'_>, catalogue: &Catalogue, sink: &mut Sink) -> Vec<Role> {
    let default = merged.delegation.context.as_ref().map_or(ContextChoice::Minimal, |c| c.value);
    let mut roles: Vec<Role> = merged
        .roles
        .values()
        .map(|raw| {
            name(raw, loaded, sink);
            let mut role = Role {
                id: raw.id.clone(),
                source: raw.source,
                description: description(raw, sink),
                description_span: raw.meta.description.span,
                grants: grants(raw, catalogue, sink),
                deny: Vec::new(),
                waive: IndexMap::new(),
                model: raw.meta.model.as_ref().map_or(ModelChoice::Inherit, |m| m.value),
                context: context(raw, default, sink),
                stop: raw.meta.stop.iter().map(|s| s.value.trim().to_owned()).collect(),
                body: raw.body.clone(),
                body_at: raw.body_at,
                template: raw.meta.template.as_ref().is_some_and(|t| t.value),
            };
            if role.body.trim().is_empty() {
                sink.push(
                    Diagnostic::new(Code::RoleEmpty, format!("role `{}` has no text", role.id))
                        .at_opt(raw.meta.description.span, "only front matter")
                        .help("write what the role does, what it returns and when it stops below the front matter"),
                );
            }
            if raw.meta.grants.is_empty() {
                sink.push(
                    Diagnostic::new(Code::RoleGrantsNothing, format!("role `{}` is granted nothing", role.id))
                        .at_opt(raw.meta.description.span, "cannot even read a file")
                        .help("say what it may do, as in `grants: { repo.read: {}, repo.search: {} }`"),
                );
            }
            if !role.template {
                super::template::check(&role.body, raw.source, raw.body_at, "this role", sink);
            }
            deny(raw, &mut role, catalogue, sink);
            waive(raw, &mut role, loaded, catalogue, sink);
            role
        })
        .collect();
    roles.sort_by(|a, b| a.id.cmp(&b.id));
    twins(&roles, loaded, sink);
    roles
}

fn name(raw: &Raw<RoleFile>, loaded: &Loaded, sink: &mut Sink) {
    if let Err(help) = role_name(&raw.id) {
        sink.push(
            Diagnostic::new(Code::RoleName, format!("`{}` cannot name a role", raw.id))
                .path(loaded.sources.get(raw.source).path.clone())
                .help(help),
        );
    }
}

/// Whether every host takes `id` as the name of a role.
///
/// # Errors
/// What a name must be.
pub fn role_name(id: &str) -> Result<(), String> {
    let good = id.len() <= MAX_NAME
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    if good {
        return Ok(());
    }
    Err(format!("use a lower-case letter, then lower-case letters, digits, `_` or `-`, at most {MAX_NAME} in all"))
}

/// The form under which two role names are one on some host.
pub fn role_name_folded(id: &str) -> String {
    id.to_lowercase().replace('-', "_")
}

/// Two names that some host writes alike.
fn twins(roles: &[Role], loaded: &Loaded, sink: &mut Sink) {
    let mut seen: IndexMap<String, &Role> = IndexMap::new();
    for role in roles {
        let folded = role_name_folded(&role.id);
        if let Some(first) = seen.get(&folded) {
            sink.push(
                Diagnostic::new(
                    Code::DuplicateRole,
                    format!("roles `{}` and `{}` are one name on some hosts", first.id, role.id),
                )
                .path(loaded.sources.get(role.source).path.clone())
                .help("rename one of the files"),
            );
        }
        seen.insert(folded, role);
    }
}

fn description(raw: &Raw<RoleFile>, sink: &mut Sink) -> String {
    let text = raw.meta.description.value.trim();
    if text.is_empty() || text.contains('\n') {
        sink.push(
            Diagnostic::new(Code::InvalidValue, "a role's description is one line of text")
                .at_opt(raw.meta.description.span, if text.is_empty() { "empty" } else { "more than one line" })
                .help("write when to delegate to this role, in one line; hosts read no more of it"),
        );
    }
    text.lines().next().unwrap_or("").to_owned()
}

fn context(raw: &Raw<RoleFile>, default: ContextChoice, sink: &mut Sink) -> ContextChoice {
    let (choice, span) =
        raw.meta.context.as_ref().map_or((default, raw.meta.description.span), |own| (own.value, own.span));
    let reason = raw.meta.context_reason.as_ref().is_some_and(|why| !why.trim().is_empty());
    if choice == ContextChoice::Full && !reason {
        sink.push(
            Diagnostic::new(
                Code::ContextReason,
                format!("role `{}` is given the whole history without a reason", raw.id),
            )
            .at_opt(span, "needs `context-reason`")
            .help("write `context-reason:` with why the packet cannot carry the meaning, or use `context: minimal`"),
        );
    }
    choice
}

fn grants(raw: &Raw<RoleFile>, catalogue: &Catalogue, sink: &mut Sink) -> IndexMap<CapId, GrantScope> {
    let mut grants = IndexMap::new();
    for (name, grant) in &raw.meta.grants {
        if let Some(cap) = catalogue.require(name, sink) {
            scope_fits(name, cap, grant, catalogue, sink);
            grants.insert(cap, scope(name, grant, sink));
        }
    }
    grants
}

fn scope_fits(name: &Sp<String>, cap: CapId, grant: &Grant, catalogue: &Catalogue, sink: &mut Sink) {
    let takes = catalogue.get(cap).scope.map(crate::model::capability::ScopeKind::key);
    for (key, list) in [("paths", &grant.paths), ("commands", &grant.commands), ("domains", &grant.domains)] {
        let Some(list) = list else { continue };
        let span = list.first().and_then(|s| s.span).or(name.span);
        if takes != Some(key) {
            let help = takes.map_or_else(
                || format!("`{}` takes no scope", name.value),
                |k| format!("`{}` is scoped by `{k}`", name.value),
            );
            sink.push(
                Diagnostic::new(Code::ScopeKind, format!("`{}` cannot be scoped by `{key}`", name.value))
                    .at_opt(span, "")
                    .help(help),
            );
        } else if list.is_empty() {
            sink.push(
                Diagnostic::new(Code::ScopeEmpty, format!("the scope of `{}` is empty", name.value))
                    .at_opt(name.span, "grants nothing")
                    .help("leave the grant out, or name what it covers"),
            );
        } else {
            for entry in list {
                scope_entry(key, entry, sink);
            }
        }
    }
}

/// One command or domain; paths are judged as globs.
fn scope_entry(key: &str, entry: &Sp<String>, sink: &mut Sink) {
    let text = entry.trim();
    if key != "paths" && text.is_empty() {
        sink.push(
            Diagnostic::new(Code::ScopeEmpty, format!("an empty entry in `{key}`"))
                .at_opt(entry.span, "would be read as everything")
                .help("remove it"),
        );
    } else if key == "domains"
        && let Err(instead) = address::domain(entry)
    {
        let help = instead.map_or_else(
            || "write the name alone, like `docs.example.org`, or `*.example.org` for all names below one".to_owned(),
            |spelt| format!("write it as addresses have it: `{spelt}`"),
        );
        sink.push(
            Diagnostic::new(Code::InvalidValue, format!("`{text}` is not a domain")).at_opt(entry.span, "").help(help),
        );
    }
}

fn scope(name: &Sp<String>, grant: &Grant, sink: &mut Sink) -> GrantScope {
    let texts = |list: &Option<Vec<Sp<String>>>| list.as_ref().map(|l| l.iter().map(|s| s.value.clone()).collect());
    for glob in grant.paths.iter().flatten() {
        super::rules::check_glob(glob, sink);
    }
    GrantScope {
        span: name.span,
        paths: texts(&grant.paths),
        commands: texts(&grant.commands),
        domains: texts(&grant.domains),
    }
}

fn deny(raw: &Raw<RoleFile>, role: &mut Role, catalogue: &Catalogue, sink: &mut Sink) {
    for (pattern, at_least) in &raw.meta.deny {
        let Some(caps) = catalogue.require_pattern(pattern, sink) else { continue };
        for cap in caps.iter().filter(|c| role.grants.contains_key(c)) {
            sink.push(
                Diagnostic::new(
                    Code::DenyMeetsGrant,
                    format!("role `{}` both grants and denies `{}`", role.id, catalogue.name(cap)),
                )
                .at_opt(pattern.span, "denied here")
                .also(role.grants.get(&cap).and_then(|g| g.span), "granted here")
                .help("a denial is for what the role must never have; remove one of the two"),
            );
        }
        role.deny.push(Deny { pattern: pattern.value.clone(), span: pattern.span, caps, at_least: at_least.value });
    }
}

fn waive(raw: &Raw<RoleFile>, role: &mut Role, loaded: &Loaded, catalogue: &Catalogue, sink: &mut Sink) {
    let denied = role.deny.iter().fold(CapSet::EMPTY, |all, d| all.union(d.caps));
    for (host, waivers) in &raw.meta.waive {
        if !loaded.adapters.contains_key(&host.value) {
            sink.push(
                Diagnostic::new(Code::UnknownHost, format!("unknown host `{}`", host.value))
                    .at_opt(host.span, "no adapter has this id")
                    .suggest(&host.value, loaded.adapters.keys().map(String::as_str)),
            );
            continue;
        }
        let mut resolved = Vec::new();
        for (pattern, reason) in waivers {
            let Some(caps) = catalogue.require_pattern(pattern, sink) else { continue };
            if reason.trim().is_empty() {
                sink.push(
                    Diagnostic::new(
                        Code::WaiverReason,
                        format!("the waiver of `{}` on `{}` gives no reason", pattern.value, host.value),
                    )
                    .at_opt(reason.span.or(pattern.span), "must say why")
                    .help("write what makes up for the denial there, or leave the host out"),
                );
            }
            if caps.and(denied).is_empty() {
                sink.push(
                    Diagnostic::new(
                        Code::WaiverUnneeded,
                        format!("role `{}` waives `{}`, which it does not deny", role.id, pattern.value),
                    )
                    .at_opt(pattern.span, "nothing to waive")
                    .help("remove the waiver"),
                );
                continue;
            }
            resolved.push(Waiver {
                pattern: pattern.value.clone(),
                span: pattern.span,
                caps,
                reason: reason.value.clone(),
            });
        }
        role.waive.insert(host.value.clone(), resolved);
    }
}
