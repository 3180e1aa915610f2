//! Evidence for the selected hosts: what of it can be about this policy.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::capabilities::Catalogue;
use super::policy::{HostEvidence, Role, Rule};
use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::load::{Loaded, LoadedEvidence, builtin};
use crate::model::adapter::{Adapter, Family};
use crate::model::evidence::{EvidenceFile, Seen};
use crate::yaml::Sp;

/// What evidence may name.
pub(super) struct Names<'a> {
    pub catalogue: &'a Catalogue,
    pub roles: &'a [Role],
    pub rules: &'a [Rule],
    pub budgets: Vec<&'static str>,
}

/// Judges what was read, and gathers what counts of each selected host: the repository's own first, then what it
/// inherits, then what the program was shipped with.
pub(super) fn resolve(
    loaded: &Loaded,
    hosts: &[String],
    names: &Names<'_>,
    sink: &mut Sink,
) -> IndexMap<String, Vec<HostEvidence>> {
    for found in &loaded.evidence {
        judge(loaded, found, hosts, names, sink);
    }
    hosts.iter().map(|host| (host.clone(), of(loaded, host, sink))).collect()
}

/// All evidence of one host, that which counts first in front.
pub fn of(loaded: &Loaded, host: &str, sink: &mut Sink) -> Vec<HostEvidence> {
    let own = loaded.evidence.iter().rev().filter(|e| e.file.host.value == host);
    let own = own.map(|e| HostEvidence {
        path: loaded.sources.get(e.source).path.clone(),
        shipped: false,
        seen: e.file.clone(),
    });
    let shipped = builtin::evidence(host, sink).map(|(path, seen)| HostEvidence { path, shipped: true, seen });
    own.chain(shipped).collect()
}

fn judge(loaded: &Loaded, found: &LoadedEvidence, hosts: &[String], names: &Names<'_>, sink: &mut Sink) {
    let host = &found.file.host;
    let Some(adapter) = loaded.adapters.get(&host.value) else {
        let known = loaded.adapters.keys().map(String::as_str);
        sink.push(
            Diagnostic::new(Code::UnknownHost, format!("evidence for the unknown host `{}`", host.value))
                .at_opt(host.span, "no adapter has this id")
                .suggest(&host.value, known),
        );
        return;
    };
    if host.value != found.name {
        sink.push(
            Diagnostic::new(
                Code::EvidenceInvalid,
                format!("evidence for `{}` stands in a file named `{}.yaml`", host.value, found.name),
            )
            .at_opt(host.span, "not the file's name")
            .help("put the file back as `rolecast verify --accept` wrote it, or remove it"),
        );
    }
    twice(&found.file, sink);
    // Nothing is known of the plan for a host that is not selected.
    if hosts.contains(&host.value) {
        Judge { adapter, names, sink }.file(&found.file);
    }
}

fn twice(file: &EvidenceFile, sink: &mut Sink) {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let roles = file.roles.iter().map(|r| (r.role.value.as_str(), r.form.value.as_str(), r.role.span));
    let rules = file.rules.iter().map(|r| ("rules", r.to.value.as_str(), r.to.span));
    let budgets = file.budgets.iter().map(|b| ("budgets", b.family.value.as_str(), b.family.span));
    let evals = file.evals.iter().map(|e| ("evals", e.scenario.value.as_str(), e.scenario.span));
    for (what, which, span) in roles.chain(rules).chain(budgets).chain(evals) {
        if !seen.insert((what, which)) {
            sink.push(
                Diagnostic::new(Code::EvidenceInvalid, format!("two records of `{what}`, `{which}`"))
                    .at_opt(span, "second time")
                    .help("keep one of them, or run `rolecast verify --accept`"),
            );
        }
    }
}

struct Judge<'a, 's> {
    adapter: &'a Adapter,
    names: &'a Names<'a>,
    sink: &'s mut Sink,
}

impl Judge<'_, '_> {
    fn file(&mut self, file: &EvidenceFile) {
        for seen in &file.roles {
            if self.names.roles.iter().any(|r| r.id == seen.role.value) {
                self.form(&seen.form);
            } else {
                let roles: Vec<&str> = self.names.roles.iter().map(|r| r.id.as_str()).collect();
                self.nothing("role", &seen.role.value, seen.role.span, &roles);
            }
            self.about(&seen.lines, "capability", |names, name| names.catalogue.find(name).is_some());
        }
        for seen in &file.rules {
            if !matches!(seen.to.value.as_str(), "main" | "roles") {
                self.nothing("kind of agent", &seen.to.value, seen.to.span, &["main", "roles"]);
            }
            self.about(&seen.lines, "rule", |names, name| names.rules.iter().any(|r| r.id == name));
        }
        for seen in &file.budgets {
            let families = [Family::Shell, Family::Mcp, Family::All].map(Family::word);
            if !families.contains(&seen.family.value.as_str()) {
                self.nothing("family of tools", &seen.family.value, seen.family.span, &families);
            }
            self.about(&seen.lines, "budget", |names, name| names.budgets.contains(&name));
        }
    }

    fn form(&mut self, form: &Sp<String>) {
        if !self.adapter.forms.contains_key(&form.value) {
            let forms: Vec<&str> = self.adapter.forms.keys().map(String::as_str).collect();
            self.nothing("form", &form.value, form.span, &forms);
        }
    }

    fn about(&mut self, lines: &[Seen], what: &str, known: fn(&Names<'_>, &str) -> bool) {
        for name in lines.iter().flat_map(|l| &l.about).filter(|n| !known(self.names, &n.value)) {
            self.nothing(what, &name.value, name.span, &[]);
        }
    }

    fn nothing(&mut self, what: &str, name: &str, span: Option<Span>, known: &[&str]) {
        let d = Diagnostic::new(
            Code::EvidenceNamesNothing,
            format!("evidence of {} for the {what} `{name}`, which is not there", self.adapter.title),
        )
        .at_opt(span, "counts for nothing");
        let near = crate::text::suggest::nearest(name, known.iter().copied());
        self.sink.push(match near {
            Some(near) => d.help(format!("did you mean `{near}`? `rolecast verify --accept` writes the file anew")),
            None => d.help("`rolecast verify --accept` writes the file anew, without it"),
        });
    }
}
