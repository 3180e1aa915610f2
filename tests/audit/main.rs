//! `rolecast audit` on an invented estate and on real servers; each makes a page of the documentation.

mod estate;
#[cfg(unix)]
mod interrupt;
mod real_servers;

use std::path::Path;
use std::process::Command;

/// The root of the source tree.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program: exit code, standard output, standard error.
pub fn run(repository: &Path, args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .args(args)
        .current_dir(repository)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

/// Writes the policy of a repository.
pub fn write_policy(repository: &Path, text: &str) {
    std::fs::create_dir_all(repository.join("shared-agent-rules")).unwrap();
    std::fs::write(repository.join("shared-agent-rules/policy.yaml"), text).unwrap();
}

/// Holds a page of the documentation against what it should say; `UPDATE=1` writes it.
pub fn hold_page(name: &str, page: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(&on_disk, page);
    let diff = diff.unified_diff().header(name, "found now").to_string();
    assert!(diff.is_empty(), "run `UPDATE=1 cargo test --test audit` and read what changed:\n{diff}");
}
