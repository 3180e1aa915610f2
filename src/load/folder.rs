//! A policy folder of a repository.

use std::io;

use super::{Layer, Loaded, LoadedEvidence, LoadedScenario, Raw, builtin, sections, unread};
use crate::diag::{Code, Diagnostic, Sink, SourceId, Span, intake};
use crate::model::evidence::EvidenceFile;
use crate::model::policy::Layout;
use crate::model::scenario::Scenario;
use crate::system::{Kind, System};
use crate::yaml::{self, MAX_SOURCE_BYTES, Sp};

/// Name of the policy folder.
pub const DEFAULT_DIR: &str = "shared-agent-rules";
/// Name of the lock inside it.
pub const LOCK_NAME: &str = "rolecast.lock";
/// Name of the folder inside it with what was seen of hosts.
pub const EVIDENCE_DIR: &str = "evidence";
/// Name of the folder inside it with scenarios.
pub const SCENARIOS_DIR: &str = "scenarios";
/// Folder, below that of the policy, with what servers said of their tools when they were pinned.
pub const PINS_DIR: &str = "pins";
/// Most files read from one folder; a folder with more is a mistake, not a policy.
const MAX_FILES: usize = 20_000;

struct Reader<'a> {
    system: &'a dyn System,
    sink: &'a mut Sink,
}

/// Reads the policy in `dir` and everything it extends.
pub(super) fn load(system: &dyn System, dir: &str, loaded: &mut Loaded, sink: &mut Sink) {
    let mut reader = Reader { system, sink };
    let mut stack = Vec::new();
    reader.layer(dir, None, loaded, &mut stack);
}

impl Reader<'_> {
    fn layer(&mut self, dir: &str, from: Option<Span>, loaded: &mut Loaded, stack: &mut Vec<String>) {
        if stack.iter().any(|d| d == dir) {
            self.sink.push(
                Diagnostic::new(Code::ExtendsLoop, format!("`{dir}` extends itself"))
                    .at_opt(from, "here the circle closes")
                    .help("remove this entry of `extends`"),
            );
            return;
        }
        stack.push(dir.to_owned());
        let mut layer = Layer { name: dir.to_owned(), ..Layer::default() };
        let names = self.names(dir, from);
        for name in names.iter().filter(|n| n.ends_with(".yaml")) {
            if let Some(source) = self.read(&format!("{dir}/{name}"), loaded) {
                layer.main_source.get_or_insert(source);
                sections::add(&mut layer.policy, source, &loaded.sources, self.sink);
            }
        }
        self.extended(&layer, loaded, stack);
        for name in names.iter().filter(|n| n.ends_with(".md")) {
            layer.rules.extend(self.markdown(&format!("{dir}/{name}"), name, loaded));
        }
        let layout = layer.policy.layout.clone().unwrap_or_default();
        let named = [&layout.roles, &layout.adapters, &layout.templates].into_iter().flatten();
        let folders = named.map(|f| f.trim_end_matches('/').trim_start_matches("./").to_owned());
        loaded.folders.extend(std::iter::once(dir.to_owned()).chain(folders));
        self.roles(dir, &layout, &mut layer, loaded);
        self.evidence(dir, loaded);
        self.scenarios(dir, loaded);
        self.adapters(dir, &layout, loaded);
        self.unread(dir, &layer, &layout);
        if stack.len() == 1 && layout.roles.is_none() {
            unread::stray_roles(self.system, dir, self.sink);
        }
        loaded.layers.push(layer);
        stack.pop();
    }

    fn extended(&mut self, layer: &Layer, loaded: &mut Loaded, stack: &mut Vec<String>) {
        for name in layer.policy.extends.iter().flatten() {
            if name.value == builtin::NAME {
                builtin::layer(loaded, self.sink);
            } else if let Some(shipped) = builtin::composition(name) {
                if !builtin::add_composition(loaded, shipped, self.sink) {
                    self.sink.push(
                        Diagnostic::new(Code::SourceUnreadable, format!("no shipped policy is named `{}`", name.value))
                            .at_opt(name.span, "named here")
                            .suggest(name, builtin::compositions().collect::<Vec<_>>().iter().map(String::as_str)),
                    );
                }
            } else if let Some(folder) = clean(name, self.sink) {
                self.layer(&folder, name.span, loaded, stack);
            }
        }
    }

    fn roles(&mut self, dir: &str, layout: &Layout, layer: &mut Layer, loaded: &mut Loaded) {
        let Some((folder, named)) = self.place(dir, layout.roles.as_ref(), "roles") else { return };
        for name in self.optional(&folder, named).iter().filter(|n| n.ends_with(".md")) {
            layer.roles.extend(self.markdown(&format!("{folder}/{name}"), name, loaded));
        }
    }

    fn evidence(&mut self, dir: &str, loaded: &mut Loaded) {
        let folder = format!("{dir}/{EVIDENCE_DIR}");
        for name in self.optional(&folder, None).iter().filter(|n| n.ends_with(".yaml")) {
            let Some(source) = self.read(&format!("{folder}/{name}"), loaded) else { continue };
            match yaml::parse::<EvidenceFile>(&loaded.sources.get(source).text, source, 0) {
                Ok(file) => {
                    let name = name.trim_end_matches(".yaml").to_owned();
                    loaded.evidence.push(LoadedEvidence { name, source, file });
                }
                Err(d) => self.sink.push(*d),
            }
        }
    }

    fn scenarios(&mut self, dir: &str, loaded: &mut Loaded) {
        let folder = format!("{dir}/{SCENARIOS_DIR}");
        for name in self.optional(&folder, None).iter().filter(|n| n.ends_with(".yaml")) {
            let Some(source) = self.read(&format!("{folder}/{name}"), loaded) else { continue };
            match yaml::parse::<Scenario>(&loaded.sources.get(source).text, source, 0) {
                Ok(scenario) => {
                    let name = name.trim_end_matches(".yaml").to_owned();
                    loaded.scenarios.push(LoadedScenario { name, shipped: false, scenario });
                }
                Err(d) => self.sink.push(*d),
            }
        }
    }

    fn adapters(&mut self, dir: &str, layout: &Layout, loaded: &mut Loaded) {
        if let Some((folder, named)) = self.place(dir, layout.adapters.as_ref(), "adapters") {
            for name in self.optional(&folder, named).iter().filter(|n| n.ends_with(".yaml")) {
                if let Some(source) = self.read(&format!("{folder}/{name}"), loaded) {
                    builtin::add_adapter(loaded, source, name, self.sink);
                }
            }
        }
        if let Some((folder, named)) = self.place(dir, layout.templates.as_ref(), "templates") {
            for host in self.optional(&folder, named) {
                let below = format!("{folder}/{host}");
                if !matches!(self.system.kind(&below), Ok(Some(Kind::Dir))) {
                    continue;
                }
                for name in self.optional(&below, None) {
                    if let Some(source) = self.read(&format!("{below}/{name}"), loaded) {
                        let text = loaded.sources.get(source).text.clone();
                        loaded.templates.insert(format!("{host}/{name}"), text);
                    }
                }
            }
        }
    }

    /// What stands in the folders of a layer and nobody reads.
    fn unread(&mut self, dir: &str, layer: &Layer, layout: &Layout) {
        let folder = |named: &Option<Sp<String>>, default: &str| match named {
            Some(named) => named.trim_end_matches('/').trim_start_matches("./").to_owned(),
            None => format!("{dir}/{default}"),
        };
        let (roles, adapters) = (folder(&layout.roles, "roles"), folder(&layout.adapters, "adapters"));
        let templates = folder(&layout.templates, "templates");
        let [evidence, scenarios, pins] = [EVIDENCE_DIR, SCENARIOS_DIR, PINS_DIR].map(|name| format!("{dir}/{name}"));
        let mut folders = vec![roles.clone(), adapters.clone(), templates, evidence.clone(), scenarios.clone(), pins];
        let extended = layer.policy.extends.iter().flatten();
        folders.extend(extended.map(|e| e.trim_end_matches('/').trim_start_matches("./").to_owned()));
        unread::report(self.system, dir, &[".yaml", ".md"], &folders, self.sink);
        for (below, ending) in [(roles, ".md"), (adapters, ".yaml"), (evidence, ".yaml"), (scenarios, ".yaml")] {
            if matches!(self.system.kind(&below), Ok(Some(Kind::Dir))) {
                unread::report(self.system, &below, &[ending], &folders, self.sink);
            }
        }
    }

    /// The folder of one kind of source: where `layout` says, else inside the policy folder.
    fn place(&mut self, dir: &str, named: Option<&Sp<String>>, default: &str) -> Option<(String, Option<Span>)> {
        match named {
            Some(named) => clean(named, self.sink).map(|folder| (folder, named.span)),
            None => Some((format!("{dir}/{default}"), None)),
        }
    }

    /// Names in a folder that need not exist, unless the policy names it.
    fn optional(&mut self, dir: &str, named: Option<Span>) -> Vec<String> {
        match self.system.kind(dir) {
            Ok(None) if named.is_none() => Vec::new(),
            _ => self.names(dir, named),
        }
    }

    fn names(&mut self, dir: &str, from: Option<Span>) -> Vec<String> {
        match self.system.list(dir) {
            Ok(entries) if entries.len() > MAX_FILES => {
                self.sink.push(
                    Diagnostic::new(
                        Code::SourceUnreadable,
                        format!("`{dir}` has {} entries, more than {MAX_FILES}", entries.len()),
                    )
                    .path(dir),
                );
                Vec::new()
            }
            Ok(entries) => {
                // A folder with the ending of a file is reported as not read.
                let file = |name: &str| name.ends_with(".md") || name.ends_with(".yaml");
                entries
                    .into_iter()
                    .filter(|(name, kind)| !(name.starts_with('.') || matches!(kind, Kind::Dir) && file(name)))
                    .map(|(name, _)| name)
                    .collect()
            }
            Err(error) => {
                let why = unreadable(dir, &error);
                self.sink.push(match from {
                    Some(from) => Diagnostic { path: None, ..why }
                        .at(from, "named here")
                        .help("folders are named from the root of the repository, like `policies/base`"),
                    None => why,
                });
                Vec::new()
            }
        }
    }

    fn markdown<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        name: &str,
        loaded: &mut Loaded,
    ) -> Option<Raw<T>> {
        let source = self.read(path, loaded)?;
        builtin::markdown(&loaded.sources, source, name.trim_end_matches(".md"), self.sink)
    }

    /// Reads one source; what is no acceptable text is reported.
    fn read(&mut self, path: &str, loaded: &mut Loaded) -> Option<SourceId> {
        loaded.source_paths.push(path.to_owned());
        match self.system.read(path, MAX_SOURCE_BYTES as u64) {
            Ok(bytes) => intake::admit(path, &bytes, MAX_SOURCE_BYTES, &mut loaded.sources, self.sink),
            Err(error) => {
                let size = match self.system.kind(path) {
                    Ok(Some(Kind::File(size))) => usize::try_from(size).unwrap_or(usize::MAX),
                    _ => 0,
                };
                self.sink.push(if size > MAX_SOURCE_BYTES {
                    intake::too_large(path, size, MAX_SOURCE_BYTES)
                } else {
                    unreadable(path, &error)
                });
                None
            }
        }
    }
}

fn unreadable(path: &str, error: &io::Error) -> Diagnostic {
    let why = match error.kind() {
        // What is not the system's own word says the path and the reason itself.
        _ if error.get_ref().is_some() => error.to_string(),
        io::ErrorKind::NotFound => format!("`{path}` does not exist"),
        io::ErrorKind::NotADirectory => format!("`{path}` is not a folder"),
        io::ErrorKind::IsADirectory => format!("`{path}` is a folder, not a file"),
        io::ErrorKind::PermissionDenied => format!("`{path}` may not be read: permission denied"),
        _ => format!("cannot read `{path}`: {}", words(error)),
    };
    Diagnostic::new(Code::SourceUnreadable, why).path(path)
}

/// An error of the system without the number that only programs need.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A folder named in a policy, if it stays below the root.
fn clean(name: &Sp<String>, sink: &mut Sink) -> Option<String> {
    let path = name.value.trim_end_matches('/').trim_start_matches("./");
    let bad = path.is_empty()
        || path.starts_with('/')
        || path.contains('\\')
        || path.contains(':')
        || path.chars().any(char::is_control)
        || path.split('/').any(|part| part.is_empty() || part == ".." || part == ".");
    if bad {
        sink.push(
            Diagnostic::new(Code::PathOutside, format!("`{}` is not a folder below the root", name.value))
                .at_opt(name.span, "must be relative, without `..`")
                .help("name a folder like `policies/base`"),
        );
        return None;
    }
    Some(path.to_owned())
}
