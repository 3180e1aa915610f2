//! Embeds the shipped policy, roles, compositions, adapters, templates and evidence as one sorted table. Adapters and evidence are
//! embedded as JSON, which is read some ten times faster than YAML: `check` runs in every commit.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDERS: [&str; 5] = ["adapters", "compositions", "roles", "shared-agent-rules", "templates"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
            let path = entry?.into_path();
            if path.is_file() && shipped(&path) {
                let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                files.push((name, path));
            }
        }
    }
    files.sort();
    let mut table = String::from(
        "/// Path below the source root and text of every shipped file, sorted by path.\npub(crate) static FILES: &[(&str, &str)] = &[\n",
    );
    for (name, path) in &files {
        if name.starts_with("adapters/") || name.starts_with("shared-agent-rules/evidence/") {
            let _ = writeln!(table, "    ({name:?}, {:?}),", json(path)?);
        } else {
            let _ = writeln!(table, "    ({name:?}, include_str!({path:?})),");
        }
    }
    table.push_str("];\n");
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("embedded.rs"), table)
}

fn json(file: &Path) -> io::Result<String> {
    let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", file.display()));
    let value: serde_json::Value =
        serde_saphyr::from_str(&fs::read_to_string(file)?).map_err(|e| invalid(e.to_string()))?;
    serde_json::to_string(&value).map_err(|e| invalid(e.to_string()))
}

/// Sources only: the lock and journal of this repository are not part of the program.
fn shipped(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("md" | "yaml" | "toml" | "js" | "json" | "mdc" | "jinja"))
}
