//! The artifacts: files of the delivery, of roles, and entries in files of the user.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::adapter::{Adapter, CarrierOwn, Each, Output, OutputOwn};
use crate::plan::HostPlan;
use crate::plan::delivery::{HostDelivery, Own, Part, PlannedFile};
use crate::resolve::Rule;
use crate::resolve::policy::RuleActivation;
use crate::text::json::offences;

use super::artifact::{Artifact, Content, Entry, EntryKind, EntryPolicy, Reader};
use super::engine::Engine;
use super::fields::{self, notice};
use super::matter::{self, Unread};
use super::texts::{PATHS_INDEX, RULES_DIR, Texts, paths_index, template_failed, template_path};
use super::{Inputs, bodies, commands, entries, guard, servers};

struct Maker<'a, 's> {
    inputs: &'a Inputs<'a>,
    texts: &'a Texts,
    engine: Engine<'a>,
    bodies: Vec<String>,
    sink: &'s mut Sink,
    artifacts: Vec<Artifact>,
}

/// Makes every artifact.
pub(super) fn artifacts(inputs: &Inputs<'_>, texts: &Texts, sink: &mut Sink) -> Vec<Artifact> {
    let selected = |name: &str| {
        inputs.policy.hosts.iter().any(|h| name.strip_prefix(h.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    let templates = inputs.templates.iter().filter(|(name, _)| selected(name));
    let (engine, problems) = Engine::new(templates.map(|(name, text)| (name.as_str(), text.as_str())));
    for (name, problem) in &problems {
        let (host, name) = name.split_once('/').unwrap_or(("", name));
        sink.push(template_failed(inputs.sources, host, name, problem));
    }
    let bodies = bodies::own(inputs, texts, sink);
    let mut maker = Maker { inputs, texts, engine, bodies, sink, artifacts: Vec::new() };
    maker.delivered();
    maker.pointed();
    for (plan, delivery) in inputs.plan.hosts.iter().zip(&inputs.plan.delivery.hosts) {
        if let Some(adapter) = inputs.adapters.get(&plan.host) {
            maker.outputs(plan, delivery, adapter);
        }
    }
    maker.guard();
    maker.twins();
    maker.joined_entries();
    maker.artifacts
}

impl Maker<'_, '_> {
    fn push(&mut self, path: String, content: Content, sources: Vec<String>, hosts: Vec<String>) {
        self.artifacts.push(Artifact { path, content, sources, hosts, reader: None });
    }

    /// The artifact of an output, for the host that reads it.
    fn push_output(
        &mut self,
        path: String,
        content: Content,
        sources: Vec<String>,
        adapter: &Adapter,
        output: &Output,
    ) {
        let reader = output
            .json
            .as_ref()
            .map(|json| Reader { refused: json.refused(), otherwise: format!("{} {}", adapter.title, json.otherwise) });
        if let (Content::Whole(text), Some(reader), Some(template)) = (&content, &reader, &output.template)
            && let Some(first) = offences(text, reader.refused).first()
        {
            let line = text[..first.range.start].matches('\n').count() + 1;
            self.not_usable(adapter, template, &format!("line {line} of what it makes has {}", first.what));
        }
        self.push(path, content, sources, vec![adapter.id.clone()]);
        if let Some(last) = self.artifacts.last_mut() {
            last.reader = reader;
        }
    }

    /// Sources of the shared text and of cards.
    fn rule_sources(&self) -> Vec<String> {
        self.inputs.policy.rules.iter().map(|r| self.inputs.source_path(r.source)).collect()
    }

    /// The policy's own YAML: what settings are made of.
    fn policy_sources(&self) -> Vec<String> {
        self.inputs
            .sources
            .iter()
            .map(|s| s.path.clone())
            .filter(|p| p.ends_with(".yaml") && !p.contains("/adapters/") && !p.contains("/evidence/"))
            .collect()
    }

    fn host(&self, id: &str) -> Option<(&HostDelivery, &Adapter)> {
        let delivery = self.inputs.plan.delivery.hosts.iter().find(|h| h.host == id)?;
        Some((delivery, self.inputs.adapters.get(id)?))
    }

    fn delivered(&mut self) {
        let files: &[PlannedFile] = &self.inputs.plan.delivery.files;
        for file in files {
            match &file.own {
                Own::Block => {
                    let text = self.joined(file);
                    if !text.is_empty() {
                        let sources = self.rule_sources();
                        self.push(file.path.clone(), Content::Block(text), sources, file.hosts.to_vec());
                    }
                }
                Own::Whole { host, template } => self.whole(file, host, template.as_deref()),
                // The entries of that output carry it.
                Own::Entry { .. } => {}
            }
        }
    }

    fn joined(&self, file: &PlannedFile) -> String {
        let mut parts: Vec<String> = file.parts.iter().map(|part| self.part(part)).collect();
        parts.retain(|p| !p.is_empty());
        parts.join("\n\n")
    }

    fn part(&self, part: &Part) -> String {
        match part {
            Part::Import { line, .. } => line.clone(),
            Part::Shared => self.texts.shared(self.inputs, false),
            Part::Card { host } => self
                .host(host)
                .map_or_else(String::new, |(delivery, adapter)| self.texts.card(self.inputs, delivery, adapter)),
            Part::Rule { rule } => self.texts.rules[*rule].clone(),
        }
    }

    fn whole(&mut self, file: &PlannedFile, host: &str, template: Option<&str>) {
        let rule = file
            .parts
            .iter()
            .find_map(|p| if let Part::Rule { rule } = p { self.inputs.policy.rules.get(*rule) } else { None });
        let text = self.joined(file);
        let Some(template) = template else {
            let sources = self.rule_sources();
            return self.push(file.path.clone(), Content::Whole(format!("{text}\n")), sources, file.hosts.to_vec());
        };
        let context = match rule {
            Some(rule) => json!({ "rule": rule_context(rule, &text, &self.inputs.source_path(rule.source)) }),
            None => json!({ "card": format!("{text}\n") }),
        };
        let sources = rule.map_or_else(|| self.rule_sources(), |r| vec![self.inputs.source_path(r.source)]);
        if let Some(text) = self.template(host, template, &context) {
            let carrier = self.inputs.adapters.get(host).and_then(|a| {
                a.carriers.iter().find(|c| c.own == CarrierOwn::Whole && c.template.as_deref() == Some(template))
            });
            if let Some(rules) = carrier.and_then(|c| c.front_matter.as_ref()) {
                let source = rule.map(|r| r.source);
                self.unread(host, &file.path, matter::judge(&text, rules, &context), &|_| {
                    source.map(|source| Span { source, start: 0, end: 0 })
                });
            }
            self.push(file.path.clone(), Content::Whole(text), sources, file.hosts.to_vec());
        }
    }

    /// Rules that a line points to, each in a file of its own.
    fn pointed(&mut self) {
        if let Some(index) = paths_index(self.inputs) {
            let (sources, hosts) = (self.rule_sources(), self.inputs.policy.hosts.clone());
            self.push(PATHS_INDEX.to_owned(), Content::Whole(index), sources, hosts);
        }
        for index in self.inputs.plan.delivery.pointed.clone() {
            let Some(rule) = self.inputs.policy.rules.get(index) else { continue };
            let text = format!("# {}\n\n{}\n", rule.title, self.texts.rules[index]);
            let source = self.inputs.source_path(rule.source);
            let hosts = self.inputs.policy.hosts.clone();
            self.push(format!("{RULES_DIR}/{}.md", rule.id), Content::Whole(text), vec![source], hosts);
        }
    }

    /// What the guard reads.
    fn guard(&mut self) {
        if let Some(compiled) = guard::compiled(self.inputs) {
            let mut sources = self.policy_sources();
            sources.extend(self.inputs.policy.roles.iter().map(|r| self.inputs.source_path(r.source)));
            let hosts = compiled.hosts.keys().cloned().collect();
            let text = serde_json::to_string_pretty(&compiled).unwrap_or_default();
            self.push(crate::model::guard::FILE.to_owned(), Content::Whole(format!("{text}\n")), sources, hosts);
        }
    }

    fn outputs(&mut self, plan: &HostPlan, delivery: &HostDelivery, adapter: &Adapter) {
        let carried = bodies::carried(self.inputs, self.texts, delivery, adapter);
        for (id, output) in &adapter.outputs {
            match (output.each, output.own) {
                (Some(Each::Role), _) => self.roles(plan, adapter, id, output, &carried),
                (None, OutputOwn::Entries) => self.entries(plan, delivery, adapter, id, output),
                (None, OutputOwn::Whole) => {
                    let card = self.texts.card(self.inputs, delivery, adapter);
                    let context = self.context(adapter, id, card);
                    if let Some(text) = output.template.as_ref().and_then(|t| self.template(&adapter.id, t, &context)) {
                        let sources = self.rule_sources();
                        self.push_output(output.file.clone(), Content::Whole(text), sources, adapter, output);
                    }
                }
            }
        }
    }

    /// What every template of one file sees.
    fn context(&self, adapter: &Adapter, id: &str, card: String) -> Value {
        json!({
            "card": card,
            "budgets": self.texts.budgets,
            "guard": guard::see(self.inputs, adapter),
            "commands": commands::of_output(self.inputs.policy, adapter, id),
        })
    }

    fn roles(&mut self, plan: &HostPlan, adapter: &Adapter, id: &str, output: &Output, carried: &str) {
        let Some(template) = &output.template else { return };
        let made_by = |form: &str| adapter.forms.get(form).is_some_and(|f| f.outputs.iter().any(|o| o == id));
        for on_host in &plan.roles {
            let Some((index, role)) = self.inputs.policy.roles.iter().enumerate().find(|(_, r)| r.id == on_host.role)
            else {
                continue;
            };
            let Some(form) = on_host.forms.iter().find(|f| made_by(&f.form)) else { continue };
            let body = bodies::whole(&self.bodies[index], carried);
            let fields = fields::role(self.inputs, adapter, role, &on_host.name, form, &body);
            let context = fields::Context { role: fields };
            if let Some(text) = self.template(&adapter.id, template, &context) {
                let path = output.file.replace("{name}", &on_host.name);
                if let Some(rules) = &output.front_matter {
                    let given = serde_json::to_value(&context).unwrap_or_default();
                    self.unread(&adapter.id, &path, matter::judge(&text, rules, &given), &|from| {
                        role.description_span.filter(|_| from == Some("role.description"))
                    });
                }
                let source = self.inputs.source_path(role.source);
                self.push_output(path, Content::Whole(text), vec![source], adapter, output);
            }
        }
    }

    fn entries(&mut self, plan: &HostPlan, delivery: &HostDelivery, adapter: &Adapter, id: &str, output: &Output) {
        let mut found: Vec<Entry> = Vec::new();
        if let Some(template) = &output.template {
            // The card is the output's only when the delivery gave it that carrier.
            let carries = self
                .inputs
                .plan
                .delivery
                .files
                .iter()
                .any(|f| matches!(&f.own, Own::Entry { host, output } if *host == adapter.id && output == id));
            let card = if carries { self.texts.card(self.inputs, delivery, adapter) } else { String::new() };
            let mut context = self.context(adapter, id, card);
            servers::see(&mut context, self.inputs.policy, plan, adapter);
            if let Some(text) = self.template(&adapter.id, template, &context) {
                match serde_json::from_str::<Value>(&text) {
                    Ok(document @ Value::Object(_)) => found = entries::leaves(&document, output),
                    Ok(_) => self.not_usable(adapter, template, "it is no JSON object"),
                    Err(error) => self.not_usable(
                        adapter,
                        template,
                        &format!("it is no JSON (line {}, column {})", error.line(), error.column()),
                    ),
                }
            }
        }
        found.extend(plan.knobs.iter().filter(|k| k.output == id).map(|k| Entry {
            path: k.path.clone(),
            kind: EntryKind::Value,
            value: k.value.clone(),
            policy: EntryPolicy::AtMost,
        }));
        found.extend(delivery.switches.iter().filter(|s| s.output == id).map(|s| {
            Entry {
                path: s
                    .pointer
                    .trim_start_matches('/')
                    .split('/')
                    .map(|key| key.replace("~1", "/").replace("~0", "~"))
                    .collect(),
                kind: EntryKind::Element,
                value: Value::from(s.file.clone()),
                policy: EntryPolicy::Exact,
            }
        }));
        // Two families of tools may have one setting.
        let mut entries: Vec<Entry> = Vec::with_capacity(found.len());
        for entry in found {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        let found = entries;
        if !found.is_empty() {
            let text = found.iter().any(|e| e.value.as_str().is_some_and(|v| v.contains('\n')));
            let sources = if text { self.rule_sources() } else { self.policy_sources() };
            // Where the host would ignore its own file of servers, another host's carries them.
            let moved = plan.servers.as_ref().filter(|s| s.output == id).map(|s| &s.file);
            let file = moved.unwrap_or(&output.file).clone();
            self.push_output(file, Content::Entries(found), sources, adapter, output);
        }
    }

    /// One value at each place of a file, also where two hosts want to have a say.
    fn joined_entries(&mut self) {
        for (path, place, hosts) in entries::join(&mut self.artifacts) {
            self.sink.push(
                Diagnostic::new(Code::RenderFailed, format!("`{place}` in `{path}` would have two different values"))
                    .note(format!("one for {}", hosts.join(", one for ")))
                    .path(path)
                    .help("leave one of the hosts out"),
            );
        }
    }

    fn not_usable(&mut self, adapter: &Adapter, template: &str, why: &str) {
        self.sink.push(
            Diagnostic::new(
                Code::RenderFailed,
                format!("template `{}/{template}` makes nothing that can be used: {why}", adapter.id),
            )
            .path(template_path(self.inputs.sources, &adapter.id, template))
            .help("let it print one JSON object; `| json` quotes a value"),
        );
    }

    /// Renders a template of a host; `None` = nothing to write.
    fn template<C: Serialize>(&mut self, host: &str, name: &str, context: &C) -> Option<String> {
        match self.engine.render(&format!("{host}/{name}"), context) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(text),
            Err(problem) => {
                self.sink.push(template_failed(self.inputs.sources, host, name, &problem));
                None
            }
        }
    }

    /// Reports what a host would not read as it is meant; `place` tells where the user wrote a value.
    fn unread(&mut self, host: &str, path: &str, wrong: Vec<Unread>, place: &dyn Fn(Option<&str>) -> Option<Span>) {
        let title = self.inputs.adapters.get(host).map_or(host, |a| a.title.as_str());
        for Unread { from, why } in wrong {
            let d = Diagnostic::new(Code::FrontMatterUnread, format!("{title} reads `{path}` line by line: {why}"));
            let span = place(from.as_deref());
            let d = if span.is_some() { d.at_opt(span, "not read as it is written") } else { d.path(path) };
            self.sink.push(d.help("write a value that is one plain line, or mend the template of this file"));
        }
    }

    /// One path, one content: whole files that two hosts want must be equal.
    fn twins(&mut self) {
        let mut seen: IndexMap<String, usize> = IndexMap::new();
        let mut kept: Vec<Artifact> = Vec::with_capacity(self.artifacts.len());
        for artifact in std::mem::take(&mut self.artifacts) {
            let first = seen.get(&artifact.path).copied().filter(|_| !matches!(artifact.content, Content::Entries(_)));
            let Some(first) = first else {
                seen.insert(artifact.path.clone(), kept.len());
                kept.push(artifact);
                continue;
            };
            if kept[first].content == artifact.content {
                kept[first].hosts.extend(artifact.hosts);
            } else {
                self.sink.push(
                    Diagnostic::new(Code::RenderFailed, format!("`{}` would have two different texts", artifact.path))
                        .note(format!(
                            "one for {}, one for {}",
                            kept[first].hosts.join(", "),
                            artifact.hosts.join(", ")
                        ))
                        .path(artifact.path)
                        .help("give the output another `file` in one of the adapters, or leave one of the hosts out"),
                );
            }
        }
        self.artifacts = kept;
    }
}

fn rule_context(rule: &Rule, text: &str, source: &str) -> Value {
    let paths = if let RuleActivation::Paths(paths) = &rule.activation { paths.as_slice() } else { &[] };
    json!({ "id": rule.id, "title": rule.title, "paths": paths, "body": format!("{text}\n"), "notice": notice(source) })
}
