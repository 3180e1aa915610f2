//! What stands in a folder of the policy and is not read. Silence would let a restriction go missing.

use super::folder::LOCK_NAME;
use crate::diag::{Code, Diagnostic, Severity, Sink};
use crate::system::{Kind, System};

/// Endings of files that people write rules, roles and settings in.
const SOURCE_LIKE: &[&str] = &["md", "markdown", "mdx", "mdc", "yaml", "yml", "json", "jsonc", "toml", "txt"];
/// What a render leaves behind when it is interrupted.
const JOURNAL_NAME: &str = "rolecast.journal";
/// Most files looked into when a folder may be a misplaced one.
const MAX_PEEK: usize = 50;
/// Most bytes of such a file.
const PEEK_BYTES: u64 = 256 << 10;

/// Reports every entry of `dir` that is neither a file with one of `endings` (none = no file is read here) nor one of `folders` (paths relative to the root, or above one of them).
pub(super) fn report(system: &dyn System, dir: &str, endings: &[&str], folders: &[String], sink: &mut Sink) {
    // A folder that cannot be listed has been reported by whoever wanted its files.
    for (name, kind) in system.list(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        if name.starts_with('.') || name == LOCK_NAME || name == JOURNAL_NAME {
            continue;
        }
        if matches!(kind, Kind::Dir) {
            let below = format!("{path}/");
            if !folders.iter().any(|f| *f == path || f.starts_with(&below)) {
                sink.push(folder(system, dir, &path, endings));
            }
        } else if !endings.iter().any(|ending| name.ends_with(ending)) {
            sink.push(file(dir, &name, endings));
        }
    }
}

fn folder(system: &dyn System, dir: &str, path: &str, endings: &[&str]) -> Diagnostic {
    let sources = system.list(path).unwrap_or_default().iter().any(|(name, kind)| {
        matches!(kind, Kind::Dir) || name.rsplit_once('.').is_some_and(|(_, end)| source_like(end))
    });
    let mut d = Diagnostic::new(Code::UnreadFile, format!("the folder `{path}` is not read")).path(path);
    if !sources {
        d.severity = Severity::Warning;
    }
    if matches!(path.strip_prefix(&format!("{dir}/")), Some("roles" | "adapters" | "templates")) {
        return d.help("`layout` names another folder for these: move the files there");
    }
    match endings {
        [] => d.help(format!("move it out of `{dir}`")),
        _ => d.help(format!("move its files into `{dir}` itself, or the folder out of it")),
    }
}

fn file(dir: &str, name: &str, endings: &[&str]) -> Diagnostic {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let mut d = Diagnostic::new(Code::UnreadFile, format!("`{name}` is not read")).path(format!("{dir}/{name}"));
    if !source_like(end) {
        d.severity = Severity::Warning;
    }
    let wanted = match end.to_lowercase().as_str() {
        "yml" | "yaml" => ".yaml",
        "md" | "markdown" | "mdx" | "mdc" | "txt" => ".md",
        _ => "",
    };
    if endings.contains(&wanted) {
        d.help(format!("rename it to `{stem}{wanted}`, or move it out of `{dir}`"))
    } else {
        d.help(format!("move it out of `{dir}`"))
    }
}

fn source_like(ending: &str) -> bool {
    SOURCE_LIKE.contains(&ending.to_lowercase().as_str())
}

/// Reports role files that stand in `roles/` beside the policy folder while nothing names that folder.
pub(super) fn stray_roles(system: &dyn System, dir: &str, sink: &mut Sink) {
    if !matches!(system.kind("roles"), Ok(Some(Kind::Dir))) {
        return;
    }
    let files = system.list("roles").unwrap_or_default();
    let stray = files
        .iter()
        .filter(|(name, kind)| name.ends_with(".md") && matches!(kind, Kind::File(_)))
        .take(MAX_PEEK)
        .find(|(name, _)| system.read(&format!("roles/{name}"), PEEK_BYTES).is_ok_and(|text| grants(&text)));
    if let Some((name, _)) = stray {
        let mut d = Diagnostic::new(Code::UnreadFile, format!("`roles/{name}` looks like a role, but is not read"))
            .path(format!("roles/{name}"))
            .help(format!(
                "add `layout: {{ roles: roles }}` to `{dir}/policy.yaml`, or move the roles to `{dir}/roles/`"
            ));
        d.severity = Severity::Warning;
        sink.push(d);
    }
}

/// Whether front matter has the key that only our roles have.
fn grants(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    lines.next().is_some_and(|first| first.trim_end() == "---")
        && lines.take_while(|line| line.trim_end() != "---").any(|line| line.starts_with("grants:"))
}
