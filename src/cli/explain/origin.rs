//! `explain PATH[:LINE]`: the sources of a rendered file, and the place where a line of it is written.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::plan::delivery::Part;
use crate::render::artifact::{Artifact, Content};
use crate::system::System;
use crate::text::block;
use crate::text::eol::to_lf;

use super::super::exit::Failure;
use super::layout::Table;
use super::view::{View, ticked};

/// A rendered file, or a line of it.
pub struct Subject<'a> {
    artifact: &'a Artifact,
    line: Option<usize>,
}

/// Where a line is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    line: usize,
    how: &'static str,
}

/// What a line turned out to be.
enum Found {
    /// Ours, with this text.
    Ours(String),
    /// In the file, but not ours.
    Users(String),
    /// A line that frames our text.
    Marker,
    /// Beyond the end; so many lines there are.
    Beyond(usize),
}

/// What a subject of the command line names, if the policy renders it.
pub fn parse<'a>(view: &View<'a>, subject: &str) -> Option<Subject<'a>> {
    let path = subject.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    if let Some(artifact) = view.artifact(path) {
        return Some(Subject { artifact, line: None });
    }
    let (path, line) = path.rsplit_once(':')?;
    let line: usize = line.parse().ok()?;
    Some(Subject { artifact: view.artifact(path)?, line: Some(line) })
}

/// The page, for people and for programs.
///
/// # Errors
/// A line that the file does not have.
pub fn pages(view: &View<'_>, system: &dyn System, subject: &Subject<'_>) -> Result<(String, Value), Failure> {
    let artifact = subject.artifact;
    let mut out = match subject.line {
        Some(line) => format!("{}:{line}\n", artifact.path),
        None => format!("{}\n", artifact.path),
    };
    let mut data = json!({ "path": artifact.path, "hosts": artifact.hosts, "sources": artifact.sources });
    let Some(number) = subject.line else {
        out.push_str(&whole(view, artifact));
        data["templates"] = Value::from(templates(view, artifact).into_iter().map(|t| t.0).collect::<Vec<_>>());
        return Ok((out, data));
    };
    let found = line(artifact, system, number);
    let frame = match &found {
        Found::Marker => true,
        Found::Ours(text) => text.trim().is_empty(),
        _ => false,
    };
    let (text, ours, places) = match found {
        Found::Beyond(count) => {
            let help = match count {
                0 => "it is not there yet; run `rolecast render`".to_owned(),
                count => format!("it has {count} lines"),
            };
            return Err(Failure::usage(format!("`{}` has no line {number}", artifact.path)).help(help));
        }
        Found::Marker => ("a marker around the text that rolecast owns".to_owned(), true, Vec::new()),
        Found::Users(text) => (text, false, Vec::new()),
        Found::Ours(text) => {
            let mut places = budgets(view, artifact, &text);
            if places.is_empty() {
                places = search(view, artifact, &text);
            }
            (text, true, places)
        }
    };
    let shown = if text.trim().is_empty() { "(a blank line)" } else { text.trim_end() };
    let _ = writeln!(out, "  {shown}");
    if !ours {
        out.push_str("not rendered: this line is your own\n");
    } else if frame {
        out.push_str("rendered, and written in no source\n");
    } else if let Some(target) = included(view, artifact, &text) {
        let _ = writeln!(out, "written in no source: it includes the rendered `{target}`");
    } else if places.is_empty() {
        out.push_str("no line of a source says this by itself; the file is made of\n");
        out.push_str(&whole(view, artifact));
    } else {
        out.push_str("written in\n");
        let mut table = Table::default();
        for place in &places {
            table.row([format!("{}:{}", place.path, place.line), place.how.to_owned()]);
        }
        out.push_str(&table.print(2, &[]));
    }
    data["line"] = Value::from(number);
    data["text"] = Value::from(text);
    data["ours"] = Value::from(ours);
    let places = places.iter().map(|p| json!({ "path": p.path, "line": p.line, "how": p.how }));
    data["places"] = Value::from(places.collect::<Vec<_>>());
    Ok((out, data))
}

fn whole(view: &View<'_>, artifact: &Artifact) -> String {
    let mut table = Table::default();
    let own = match &artifact.content {
        Content::Whole(_) => "the whole file".to_owned(),
        Content::Block(_) => "the block between the rolecast markers; the rest is your own".to_owned(),
        Content::Entries(entries) => format!("the entries {}", ticked(entries.iter().map(|e| e.path.join("/")))),
    };
    table.row(["rendered".to_owned(), own]);
    table.row(["for".to_owned(), artifact.hosts.join(", ")]);
    for source in &artifact.sources {
        table.row(["from".to_owned(), source.clone()]);
    }
    for (path, _) in templates(view, artifact) {
        table.row(["template".to_owned(), path]);
    }
    table.print(2, &[])
}

/// One line of the file as it stands on disk, or as it would be rendered.
fn line(artifact: &Artifact, system: &dyn System, number: usize) -> Found {
    const MOST: u64 = 16 << 20;
    let disk = system.read(&artifact.path, MOST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let disk = disk.map(|text| to_lf(&text).into_owned());
    match &artifact.content {
        Content::Whole(text) => nth(text, number, Found::Ours),
        Content::Block(body) => {
            let text = disk.filter(|t| matches!(block::find(t), Ok(Some(_)))).or_else(|| block::put("", body).ok());
            let text = text.unwrap_or_default();
            let Ok(Some(place)) = block::find(&text) else { return nth(&text, number, Found::Users) };
            let line_of = |at: usize| text[..at].matches('\n').count() + 1;
            let (first, end) = (line_of(place.inner.start), line_of(place.inner.end));
            if number + 1 == first || number == end {
                return Found::Marker;
            }
            nth(&text, number, if (first..end).contains(&number) { Found::Ours } else { Found::Users })
        }
        Content::Entries(entries) => {
            let text = disk.unwrap_or_default();
            let ours = |line: &str| {
                entries.iter().any(|e| {
                    let key = e.path.last().is_some_and(|key| line.contains(key.as_str()));
                    key || e
                        .value
                        .as_str()
                        .is_some_and(|v| v.lines().any(|l| l.trim() == line.trim() || line.contains(v)))
                })
            };
            nth(&text, number, |line| if ours(&line) { Found::Ours(line) } else { Found::Users(line) })
        }
    }
}

fn nth(text: &str, number: usize, found: impl Fn(String) -> Found) -> Found {
    let line = number.checked_sub(1).and_then(|at| text.lines().nth(at));
    line.map_or_else(|| Found::Beyond(text.lines().count()), |line| found(line.to_owned()))
}

/// Templates of the hosts of a file; only those that are used for such files can match a line.
fn templates<'a>(view: &View<'a>, artifact: &Artifact) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    for host in &artifact.hosts {
        let Some(adapter) = view.loaded.adapters.get(host) else { continue };
        let outputs = adapter.outputs.values().map(|o| (&o.file, &o.template));
        let carriers = adapter.carriers.iter().map(|c| (&c.file, &c.template));
        let fitting: Vec<_> = outputs.chain(carriers).filter(|(file, _)| fits(file, &artifact.path)).collect();
        // A file that is named as it is comes from no family of files.
        let exact = fitting.iter().any(|(file, _)| **file == artifact.path);
        for name in fitting.iter().filter(|(file, _)| !exact || **file == artifact.path).filter_map(|(_, t)| t.as_ref())
        {
            let key = format!("{host}/{name}");
            let Some(text) = view.loaded.templates.get(&key) else { continue };
            let own = view.sources().iter().find(|s| s.path.ends_with(&format!("templates/{key}")));
            let path = own.map_or_else(|| format!("<builtin>/templates/{key}"), |s| s.path.clone());
            if !found.iter().any(|(p, _)| *p == path) {
                found.push((path, text.as_str()));
            }
        }
    }
    found
}

/// Whether a path is one of those that a pattern with `{…}` stands for.
fn fits(pattern: &str, path: &str) -> bool {
    match (pattern.find('{'), pattern.rfind('}')) {
        (Some(open), Some(close)) => path.starts_with(&pattern[..open]) && path.ends_with(&pattern[close + 1..]),
        _ => pattern == path,
    }
}

/// The rendered file that a line of ours includes.
fn included<'a>(view: &View<'a>, artifact: &Artifact, text: &str) -> Option<&'a str> {
    let file = view.plan.delivery.files.iter().find(|f| f.path == artifact.path)?;
    file.parts.iter().find_map(|part| match part {
        Part::Import { line, target } if line.trim() == text.trim() => Some(target.as_str()),
        _ => None,
    })
}

/// The budgets that a setting on this line carries.
fn budgets(view: &View<'_>, artifact: &Artifact, text: &str) -> Vec<Place> {
    let Content::Entries(_) = artifact.content else { return Vec::new() };
    let mut found = Vec::new();
    for host in view.hosts.iter().filter(|h| artifact.hosts.contains(&h.plan.host)) {
        for knob in &host.plan.knobs {
            let here = host.adapter.outputs.get(&knob.output).is_some_and(|o| o.file == artifact.path);
            if !here || !knob.path.last().is_some_and(|key| text.contains(key.as_str())) {
                continue;
            }
            let name = knob.budget.split('.').next().unwrap_or_default();
            let key = format!("{name}:");
            // The policy read last has the say.
            let yaml = view.sources().iter().filter(|s| s.path.ends_with(".yaml") && !s.path.contains("adapters/"));
            let lines = yaml.flat_map(|s| {
                places(&s.path, &s.text, "its budget, in the unit of the host", |l| l.trim_start().starts_with(&key))
            });
            found.extend(lines.last().filter(|place| !found.contains(place)));
        }
    }
    found
}

/// Every place that says `text`: the same line, else a front-matter value in it, else a line of a template.
fn search(view: &View<'_>, artifact: &Artifact, text: &str) -> Vec<Place> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let rules = view.policy.rules.iter().map(|r| view.sources().get(r.source).path.as_str());
    let mut paths: Vec<&str> = artifact.sources.iter().map(String::as_str).collect();
    paths.extend(rules.filter(|p| !artifact.sources.iter().any(|s| s == p)));
    let sources: Vec<(&str, &str)> = paths
        .iter()
        .filter_map(|p| view.sources().iter().find(|s| s.path == *p))
        .map(|s| (s.path.as_str(), s.text.as_str()))
        .collect();
    let templates = templates(view, artifact);
    let all = |how: &'static str, says: fn(&str, &str) -> bool| -> Vec<Place> {
        sources.iter().flat_map(|(path, source)| places(path, source, how, |line| says(line, text))).collect()
    };
    let exact = all("the same line", |line, text| line.trim() == text);
    if !exact.is_empty() {
        return exact;
    }
    let from_template = all("as a template", templated);
    if !from_template.is_empty() {
        return from_template;
    }
    let mut found: Vec<Place> = sources
        .iter()
        .flat_map(|(path, source)| {
            let head = source.get(..front_matter(source)).unwrap_or("");
            places(path, head, "its front matter", |line| value_in(line, text))
        })
        .collect();
    for (path, template) in &templates {
        found
            .extend(places(path, template, "the host's template", |line| line.trim() == text || templated(line, text)));
        let lists = ["role.list", "role.removed", "role.inform", "role.permissions"];
        if template.lines().any(|l| templated(l, text) && lists.iter().any(|name| l.contains(name))) {
            found.extend(sources.first().into_iter().flat_map(|(path, source)| {
                places(path, source, "planned from its grants and denials", |line| line.trim_end() == "grants:")
            }));
        }
    }
    found
}

fn places(path: &str, source: &str, how: &'static str, says: impl Fn(&str) -> bool) -> Vec<Place> {
    let lines = source.lines().enumerate().filter(|(_, line)| says(line));
    lines.map(|(at, _)| Place { path: path.to_owned(), line: at + 1, how }).collect()
}

/// Where the front matter of a source ends, in bytes.
fn front_matter(source: &str) -> usize {
    source.strip_prefix("---").and_then(|rest| rest.find("\n---").map(|at| at + 3)).unwrap_or(0)
}

/// Whether a line of a template may have become `text`: its literal parts stand there in order.
fn templated(line: &str, text: &str) -> bool {
    let mut rest = text;
    let mut literal = 0;
    let mut first = true;
    let parts = literals(line.trim());
    if parts.len() < 2 {
        return false;
    }
    for part in &parts {
        let Some(at) = rest.find(part.as_str()) else { return false };
        if first && at > 0 {
            return false;
        }
        literal += part.trim().len();
        rest = &rest[at + part.len()..];
        first = false;
    }
    literal > 2 && (rest.is_empty() || parts.last().is_some_and(String::is_empty))
}

/// The parts of a line between `{{ … }}`, `{% … %}` and `{# … #}`.
fn literals(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = line;
    while let Some((at, close)) =
        [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].iter().filter_map(|(o, c)| Some((rest.find(o)?, *c))).min()
    {
        if let Some(last) = parts.last_mut() {
            last.push_str(&rest[..at]);
        }
        let Some(end) = rest[at..].find(close) else { break };
        rest = &rest[at + end + 2..];
        parts.push(String::new());
    }
    if let Some(last) = parts.last_mut() {
        last.push_str(rest);
    }
    parts
}

/// Whether `text` has the value of a front-matter line in it.
fn value_in(line: &str, text: &str) -> bool {
    let line = line.trim();
    let value = line.strip_prefix("- ").or_else(|| line.split_once(": ").map(|(_, v)| v)).unwrap_or("");
    let value = value.trim_start_matches("{ on-demand: ").trim_end_matches(" }").trim_matches(['"', '\'']);
    value.len() > 3 && text.contains(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_templated_line_is_known_by_its_literal_parts_in_order() {
        assert!(templated("at most {{ budgets.search.limit }} results", "at most 100 results"));
        assert!(templated("name: {{ role.name | yaml }}", "name: docs_writer"));
        assert!(!templated("at most {{ budgets.search.limit }} results", "at most 100 lines"));
        assert!(!templated("at most {{ budgets.search.limit }} results", "we take at most 100 results"));
        assert!(!templated("{{ role.body -}}", "anything"));
        assert!(!templated("at most 100 results", "at most 100 results"));
    }

    #[test]
    fn a_value_of_front_matter_is_found_in_what_was_made_of_it() {
        assert!(value_in("title: Browser routing", "## Browser routing"));
        assert!(value_in("  - \"a fact is missing\"", "- a fact is missing"));
        assert!(value_in(
            "activation: { on-demand: \"before any browser work\" }",
            "- before any browser work: read `.rolecast/rules/browser-routing.md`"
        ));
        assert!(!value_in("model: fast", "model: haiku"));
    }
}
