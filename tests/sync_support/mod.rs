//! Artifacts and trees for the tests of `sync`.
#![allow(dead_code, reason = "each test binary uses a part")]

use rolecast::render::artifact::{Artifact, Content, Entry, EntryKind, EntryPolicy};
use rolecast::sync::{Applied, ApplyError, Cause, Comparison, LockState, Options, compare, render};
use rolecast::system::{System, Writer};
use serde_json::Value;

pub const POLICY: &str = "shared-agent-rules";

pub fn artifact(path: &str, content: Content) -> Artifact {
    Artifact {
        path: path.into(),
        content,
        sources: vec![format!("{POLICY}/core.md")],
        hosts: vec!["one".into()],
        reader: None,
    }
}

pub fn whole(path: &str, text: &str) -> Artifact {
    artifact(path, Content::Whole(text.into()))
}

pub fn block(path: &str, text: &str) -> Artifact {
    artifact(path, Content::Block(text.into()))
}

pub fn entries(path: &str, entries: Vec<Entry>) -> Artifact {
    artifact(path, Content::Entries(entries))
}

fn keys(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

pub fn value(path: &str, value: Value) -> Entry {
    Entry { path: keys(path), kind: EntryKind::Value, value, policy: EntryPolicy::Exact }
}

pub fn at_most(path: &str, value: Value) -> Entry {
    Entry { path: keys(path), kind: EntryKind::Value, value, policy: EntryPolicy::AtMost }
}

pub fn element(path: &str, value: Value) -> Entry {
    Entry { path: keys(path), kind: EntryKind::Element, value, policy: EntryPolicy::Exact }
}

pub fn options() -> Options<'static> {
    Options::new(POLICY)
}

pub fn forced() -> Options<'static> {
    Options { force: true, ..options() }
}

pub fn check(artifacts: &[Artifact], system: &dyn System) -> Comparison {
    let state = LockState::load(system, &options()).unwrap();
    compare(artifacts, &state, system, &options())
}

pub fn write(artifacts: &[Artifact], system: &dyn Writer) -> Applied {
    let (comparison, result) = render(artifacts, system, &options());
    result.unwrap_or_else(|error| panic!("{error}: {:#?}", comparison.changes))
}

pub fn refused(artifacts: &[Artifact], system: &dyn Writer) -> Comparison {
    let (comparison, result) = render(artifacts, system, &options());
    assert!(matches!(result, Err(ApplyError::Conflicts(_) | ApplyError::Problems(_))), "{result:?}");
    comparison
}

/// `path: cause` lines of the outputs, in order.
pub fn causes(comparison: &Comparison) -> Vec<String> {
    let line = |path: &str, cause: &Cause| match cause.pointer() {
        Some(pointer) => format!("{path}: {} {}", cause.id(), pointer.join(".")),
        None => format!("{path}: {}", cause.id()),
    };
    comparison.changes.iter().flat_map(|change| change.causes.iter().map(|cause| line(&change.path, cause))).collect()
}

pub fn assert_clean(artifacts: &[Artifact], system: &dyn System) {
    let comparison = check(artifacts, system);
    assert!(comparison.is_clean(), "{:?} {:?}", causes(&comparison), comparison.problems);
}
