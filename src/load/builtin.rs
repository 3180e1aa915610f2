//! What the program carries: the shipped policy, its roles, the adapters and their templates.

use super::{DEFAULT_DIR, EVIDENCE_DIR, Layer, Loaded, LoadedScenario, Raw, SCENARIOS_DIR, sections};
use crate::diag::{Code, Diagnostic, Sink, SourceId, SourceMap, intake};
use crate::model::adapter::Adapter;
use crate::model::evidence::EvidenceFile;
use crate::yaml;

#[allow(clippy::all, reason = "generated")]
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// Name of the shipped policy in `extends`.
pub const NAME: &str = "builtin";
/// Folder of the shipped policies that nobody has who does not name them: each declares a server.
const COMPOSITIONS: &str = "compositions";

/// Shipped files below a folder, as (name relative to it, text).
pub fn files(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefix = format!("{folder}/");
    embedded::FILES.iter().filter_map(move |(path, text)| path.strip_prefix(prefix.as_str()).map(|name| (name, *text)))
}

/// Reads the shipped adapters and templates.
pub fn adapters(loaded: &mut Loaded, sink: &mut Sink) {
    for (name, text) in files("adapters") {
        match serde_json::from_str::<Adapter>(text) {
            Ok(adapter) => {
                loaded.adapters.insert(adapter.id.clone(), adapter);
            }
            Err(error) => sink.push(
                Diagnostic::new(Code::AdapterInvalid, format!("the shipped adapter `{name}` is damaged: {error}"))
                    .path(format!("<builtin>/adapters/{name}")),
            ),
        }
    }
    for (name, text) in files("templates") {
        loaded.templates.insert(name.to_owned(), text.to_owned());
    }
}

/// What was seen of a host before the program was shipped, and its path; `None` = nothing.
pub fn evidence(host: &str, sink: &mut Sink) -> Option<(String, EvidenceFile)> {
    let wanted = format!("{EVIDENCE_DIR}/{host}.yaml");
    let (_, text) = files(DEFAULT_DIR).find(|(name, _)| *name == wanted)?;
    let path = format!("<builtin>/{DEFAULT_DIR}/{wanted}");
    match serde_json::from_str::<EvidenceFile>(text) {
        Ok(file) => Some((path, file)),
        Err(error) => {
            sink.push(
                Diagnostic::new(
                    Code::EvidenceInvalid,
                    format!("the shipped evidence for `{host}` is damaged: {error}"),
                )
                .path(path),
            );
            None
        }
    }
}

/// Reads the shipped scenarios into the sources of `loaded`.
pub fn scenarios(loaded: &mut Loaded, sink: &mut Sink) -> Vec<LoadedScenario> {
    let mut all = Vec::new();
    for (name, text) in files(&format!("{DEFAULT_DIR}/{SCENARIOS_DIR}")) {
        let Some(id) = name.strip_suffix(".yaml") else { continue };
        let source = loaded.sources.add(format!("<builtin>/{DEFAULT_DIR}/{SCENARIOS_DIR}/{name}"), text);
        match yaml::parse(text, source, 0) {
            Ok(scenario) => all.push(LoadedScenario { name: id.to_owned(), shipped: true, scenario }),
            Err(d) => sink.push(*d),
        }
    }
    all
}

/// Reads one adapter of a repository.
pub(super) fn add_adapter(loaded: &mut Loaded, source: SourceId, name: &str, sink: &mut Sink) {
    match yaml::parse::<Adapter>(&loaded.sources.get(source).text, source, 0) {
        Ok(adapter) => {
            let id = name.trim_end_matches(".yaml");
            if adapter.id == id {
                loaded.adapters.insert(id.to_owned(), adapter);
            } else {
                sink.push(
                    Diagnostic::new(
                        Code::AdapterInvalid,
                        format!("adapter `{}` stands in a file named `{name}`", adapter.id),
                    )
                    .at_opt(sections::key_span(&loaded.sources, source, "id"), "not the file's name")
                    .help(format!("write `id: {id}`, or rename the file")),
                );
            }
        }
        Err(d) => sink.push(*d),
    }
}

/// Reads the shipped policy as a layer.
pub fn layer(loaded: &mut Loaded, sink: &mut Sink) {
    let mut layer = Layer { name: NAME.to_owned(), ..Layer::default() };
    for (name, text) in files("shared-agent-rules") {
        // Evidence is asked for by host.
        if name.contains('/') {
            continue;
        }
        let path = format!("<builtin>/shared-agent-rules/{name}");
        if name.ends_with(".yaml") {
            let source = loaded.sources.add(path, text);
            layer.main_source.get_or_insert(source);
            sections::add(&mut layer.policy, source, &loaded.sources, sink);
        } else if let Some(id) = name.strip_suffix(".md") {
            let source = loaded.sources.add(path, text);
            layer.rules.extend(markdown(&loaded.sources, source, id, sink));
        }
    }
    for (name, text) in files("roles") {
        if let Some(id) = name.strip_suffix(".md") {
            let source = loaded.sources.add(format!("<builtin>/roles/{name}"), text);
            layer.roles.extend(markdown(&loaded.sources, source, id, sink));
        }
    }
    // The layout and the hosts of the repository this program was built from say nothing about others.
    layer.policy.layout = None;
    layer.policy.hosts = None;
    loaded.layers.push(layer);
}

/// The shipped policy that `extends` names as `builtin/NAME`; `None` = not a name of that form.
pub(super) fn composition(name: &str) -> Option<&str> {
    name.strip_prefix(NAME)?.strip_prefix('/')
}

/// Names of the shipped policies beside the one that everybody extends, as `extends` has them.
pub(super) fn compositions() -> impl Iterator<Item = String> {
    let mut names: Vec<&str> = files(COMPOSITIONS).filter_map(|(name, _)| Some(name.split_once('/')?.0)).collect();
    names.dedup();
    names.into_iter().map(|name| format!("{NAME}/{name}"))
}

/// Reads a shipped policy beside the one that everybody extends; whether there is one of this name.
pub(super) fn add_composition(loaded: &mut Loaded, name: &str, sink: &mut Sink) -> bool {
    let mut layer = Layer { name: format!("{NAME}/{name}"), ..Layer::default() };
    let prefix = format!("{COMPOSITIONS}/{name}");
    for (file, text) in files(&prefix).filter(|(file, _)| file.ends_with(".yaml")) {
        let source = loaded.sources.add(format!("<builtin>/{prefix}/{file}"), text);
        layer.main_source.get_or_insert(source);
        sections::add(&mut layer.policy, source, &loaded.sources, sink);
    }
    let found = layer.main_source.is_some();
    if found {
        loaded.layers.push(layer);
    }
    found
}

/// Reads a Markdown source with front matter.
pub(super) fn markdown<T: serde::de::DeserializeOwned>(
    sources: &SourceMap,
    source: SourceId,
    id: &str,
    sink: &mut Sink,
) -> Option<Raw<T>> {
    let parts = intake::front_matter(source, sources, sink)?;
    match yaml::parse::<T>(parts.yaml, source, offset(parts.yaml_start)) {
        Ok(meta) => Some(Raw {
            id: id.to_owned(),
            source,
            meta,
            body: parts.body.replace("\r\n", "\n"),
            body_at: offset(parts.body_start),
        }),
        Err(d) => {
            sink.push(*d);
            None
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
