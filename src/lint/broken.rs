//! Files of the user that a host takes for roles and cannot read. What takes their place may do more than they say.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::diag::{Code, Diagnostic, SourceMap, Span};
use crate::model::adapter::{Adapter, Output};
use crate::system::{Kind, System, parent};
use crate::text::json::offences;

/// Largest file looked into.
const MAX_BYTES: u64 = 1 << 20;

/// Role files beside ours that a selected host reads as JSON and could not; `ours` are paths of whole files of ours.
pub fn roles(
    system: &dyn System,
    adapters: &IndexMap<String, Adapter>,
    selected: &[String],
    ours: &BTreeSet<String>,
    sources: &mut SourceMap,
) -> Vec<Diagnostic> {
    let hosts = selected.iter().filter_map(|id| adapters.get(id));
    let outputs = hosts.flat_map(|adapter| adapter.outputs.values().map(move |output| (adapter, output)));
    let mut found = Vec::new();
    for (adapter, output) in outputs.filter(|(_, output)| output.each.is_some() && output.json.is_some()) {
        for path in beside(system, output).into_iter().filter(|path| !ours.contains(path)) {
            found.extend(judge(system, adapter, output, path, sources));
        }
    }
    found
}

/// The files that have the name of a role's.
fn beside(system: &dyn System, output: &Output) -> Vec<String> {
    let folder = parent(&output.file);
    let Some((before, after)) = output.file.split_once("{name}") else { return Vec::new() };
    let names = system.list(folder).unwrap_or_default().into_iter();
    let files = names.filter(|(_, kind)| matches!(kind, Kind::File(_) | Kind::Link));
    files
        .map(|(name, _)| format!("{folder}/{name}"))
        .filter(|path| path.len() > before.len() + after.len() && path.starts_with(before) && path.ends_with(after))
        .collect()
}

fn judge(
    system: &dyn System,
    adapter: &Adapter,
    output: &Output,
    path: String,
    sources: &mut SourceMap,
) -> Option<Diagnostic> {
    let reader = output.json.as_ref()?;
    let message = format!("{} cannot read this role", adapter.title);
    let told = |d: Diagnostic| {
        d.note(format!("{} {}", adapter.title, reader.otherwise))
            .help("take out what is underlined, or delete the file")
    };
    let Some(text) = system.read(&path, MAX_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Some(told(Diagnostic::new(Code::RoleUnread, message).path(path)));
    };
    let mut wrong = offences(&text, reader.refused()).into_iter();
    let first = wrong.next()?;
    let source = sources.add(path, text);
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = |at: std::ops::Range<usize>| Span { source, start: offset(at.start), end: offset(at.end) };
    let d = Diagnostic::new(Code::RoleUnread, message).at(span(first.range), first.what);
    Some(told(wrong.fold(d, |d, o| d.also(Some(span(o.range)), o.what))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sink;
    use crate::load;
    use crate::system::memory::Memory;

    fn found(name: &str, bytes: &[u8]) -> Vec<String> {
        let system = Memory::new().with(&format!(".tsuka/roles/{name}.json"), bytes);
        let adapters = load::load(&system, None, &mut Sink::new()).adapters;
        let ours = BTreeSet::from([".tsuka/roles/ours.json".to_owned()]);
        let mut sources = SourceMap::default();
        let all = roles(&system, &adapters, &["tsuka".into(), "codex".into()], &ours, &mut sources);
        all.iter().map(|d| d.primary.as_ref().map_or("", |l| sources.slice(l.span)).to_owned()).collect()
    }

    #[test]
    fn a_role_that_its_host_cannot_read_is_shown_where_it_is_broken() {
        assert_eq!(found("mine", b"{ \"name\": \"mine\", // why\n \"allowedTools\": [] }"), ["// why"]);
        assert_eq!(found("mine", b"{ \"name\": \"mine\", }"), [","]);
        assert_eq!(found("mine", b"\xff"), [""]);
    }

    #[test]
    fn what_it_can_read_and_what_is_ours_is_left() {
        assert_eq!(found("mine", b"{ \"name\": \"mine\" }"), [""; 0]);
        assert_eq!(found("ours", b"{,}"), [""; 0]);
    }
}
