//! Several YAML files are one document: each section may stand in only one of them.

use crate::diag::{Code, Diagnostic, Sink, SourceId, SourceMap, Span};
use crate::model::policy::PolicyFile;
use crate::yaml;

macro_rules! merge_sections {
    ($into:ident, $from:ident, $clash:ident, [$($field:ident = $key:literal),+ $(,)?]) => {
        $(if let Some(value) = $from.$field {
            if $into.$field.is_some() { $clash($key); } else { $into.$field = Some(value); }
        })+
    };
}

/// Parses a source and adds its sections to `policy`.
pub(super) fn add(policy: &mut PolicyFile, source: SourceId, sources: &SourceMap, sink: &mut Sink) {
    let text = &sources.get(source).text;
    if text.trim().is_empty() {
        return;
    }
    let file = match yaml::parse::<PolicyFile>(text, source, 0) {
        Ok(file) => file,
        Err(d) => return sink.push(*d),
    };
    let mut clash = |key: &str| {
        let first = (0..source.0)
            .rev()
            .map(SourceId)
            .find_map(|other| same_folder(sources, other, source).then(|| key_span(sources, other, key)).flatten());
        sink.push(
            Diagnostic::new(Code::DuplicateSection, format!("section `{key}` stands in two files"))
                .at_opt(key_span(sources, source, key), "second time")
                .also(first, "first time")
                .help("keep the section in one of the files"),
        );
    };
    merge_sections!(
        policy,
        file,
        clash,
        [
            version = "version",
            hosts = "hosts",
            extends = "extends",
            without = "without",
            layout = "layout",
            budgets = "budgets",
            context = "context",
            browser = "browser",
            discovery = "discovery",
            delegation = "delegation",
            guard = "guard",
            commands = "commands",
            record = "record",
            servers = "servers",
            primitives = "primitives",
            tools = "tools",
            runtime = "runtime",
            capabilities = "capabilities",
            acceptance = "acceptance",
        ]
    );
}

fn same_folder(sources: &SourceMap, a: SourceId, b: SourceId) -> bool {
    let folder = |id| sources.get(id).path.rsplit_once('/').map(|(folder, _)| folder);
    folder(a) == folder(b)
}

/// Where a top-level key stands.
pub(super) fn key_span(sources: &SourceMap, source: SourceId, key: &str) -> Option<Span> {
    let text = &sources.get(source).text;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let body = line.strip_prefix('\u{feff}').unwrap_or(line);
        if body.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')) {
            let start = at + line.len() - body.len();
            return Some(Span {
                source,
                start: u32::try_from(start).ok()?,
                end: u32::try_from(start + key.len()).ok()?,
            });
        }
        at += line.len();
    }
    None
}
