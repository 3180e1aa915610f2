//! The rules of the house that a compiler does not keep: who may use whom, which crate stands where, how
//! large a file may be, and that no host is named in code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files over this are split; the aim is far below.
const MAX_LINES: usize = 700;

/// Module → modules it may use. What is not listed may be used by nobody but `cli`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("diag", &["text"]),
    ("system", &["text"]),
    ("yaml", &["diag", "text"]),
    ("model", &["text", "yaml"]),
    ("schema", &["model"]),
    ("load", &["diag", "model", "system", "text", "yaml"]),
    ("resolve", &["diag", "load", "model", "text", "yaml"]),
    ("plan", &["diag", "model", "resolve", "text"]),
    ("render", &["diag", "model", "plan", "resolve", "text"]),
    ("edit", &["text"]),
    ("sync", &["diag", "edit", "render", "system", "text"]),
    ("lint", &["diag", "model", "system", "text"]),
    ("compile", &["diag", "load", "plan", "render", "resolve", "system"]),
    ("guard", &["model", "sync", "text"]),
    ("process", &[]),
    ("mcp", &["model", "process", "resolve", "text", "yaml"]),
    ("primitives", &["process", "resolve", "text"]),
    ("audit", &["compile", "diag", "load", "mcp", "model", "plan", "process", "resolve", "sync", "text", "yaml"]),
    (
        "gateway",
        &[
            "audit",
            "diag",
            "load",
            "mcp",
            "model",
            "primitives",
            "process",
            "resolve",
            "sync",
            "system",
            "text",
            "yaml",
        ],
    ),
    (
        "verify",
        &[
            "audit", "compile", "diag", "edit", "model", "plan", "process", "render", "resolve", "sync", "system",
            "text", "yaml",
        ],
    ),
    ("measure", &["guard", "model", "plan", "resolve", "text", "yaml"]),
    (
        "eval",
        &["compile", "diag", "load", "measure", "model", "plan", "resolve", "sync", "system", "text", "verify", "yaml"],
    ),
    ("packet", &["diag", "model", "resolve", "text", "yaml"]),
    ("run", &["compile", "diag", "model", "plan", "render", "resolve", "text"]),
];

/// Crate → the only places that may name it.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("serde_saphyr", &["yaml.rs", "yaml/"]),
    ("minijinja", &["render/engine.rs"]),
    ("annotate_snippets", &["diag/render/human.rs"]),
    ("pulldown_cmark", &["text/markdown.rs"]),
    ("jsonc_parser", &["edit/", "lint/foreign/hooks.rs", "text/json.rs"]),
    ("clap", &["cli/"]),
    ("tempfile", &["cli/measure/output.rs", "run/", "verify/"]),
    ("parquet::", &["measure/export/parquet.rs", "measure/export/mod.rs"]),
    ("signal_hook", &["run/"]),
    ("tokio::", &["audit/", "gateway/", "mcp/", "process/", "verify/"]),
    ("axum::", &["verify/model/"]),
    ("reqwest::", &["mcp/fetch.rs", "mcp/http.rs"]),
    ("rusqlite::", &["primitives/store/"]),
    ("rmcp::", &["gateway/front.rs", "gateway/heard.rs", "gateway/start.rs"]),
    ("jsonschema::", &["gateway/compose/plan.rs"]),
    ("base64::", &["gateway/bound/hidden.rs"]),
    ("rustls::", &["mcp/http.rs", "mcp/tls.rs"]),
    ("ruzstd::", &["measure/format.rs"]),
    ("sse_stream::", &["mcp/http.rs"]),
    ("async fn", &["audit/", "eval/", "gateway/", "mcp/", "process/", "verify/"]),
    (
        "SystemTime",
        &["cli/measure/mod.rs", "cli/today.rs", "gateway/folder.rs", "gateway/record.rs", "measure/find.rs"],
    ),
    ("std::env::", &["cli/env.rs", "system/", "verify/platform.rs"]),
    (
        "std::fs::",
        &[
            "cli/env.rs",
            "cli/measure/output.rs",
            "eval/",
            "gateway/folder.rs",
            "gateway/record.rs",
            "guard/",
            "measure/",
            "primitives/store/file.rs",
            "run/",
            "system/",
            "verify/",
        ],
    ),
    ("println!", &["cli/ui.rs"]),
    ("eprintln!", &["cli/ui.rs"]),
];

struct Source {
    /// Below `src/`, with `/`.
    name: String,
    /// Without the tests at its end.
    code: String,
    lines: usize,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            let code = text.split("#[cfg(test)]").next().unwrap_or("").to_owned();
            Source { name, code, lines: text.lines().count() }
        })
        .filter(|s| !s.name.ends_with("tests.rs"))
        .collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn module(name: &str) -> &str {
    name.split(['/', '.']).next().unwrap_or(name)
}

#[test]
fn modules_use_only_what_lies_before_them() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for source in sources() {
        let own = module(&source.name);
        if matches!(own, "cli" | "lib" | "main") {
            continue;
        }
        let Some(allowed) = allowed.get(own) else {
            wrong.push(format!("`{own}` is not in the table"));
            continue;
        };
        for line in source.code.lines().filter(|l| !l.trim_start().starts_with("//")) {
            for rest in line.split("crate::").skip(1) {
                let used: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = MAY_USE.iter().any(|(m, _)| *m == used) || used == "cli";
                if known && used != own && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{}: `{own}` uses `{used}`", source.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_crate_stands_in_its_place() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (name, places) in ONLY_IN {
            let used = source.code.lines().any(|l| !l.trim_start().starts_with("//") && l.contains(name));
            if used && !places.iter().any(|p| source.name.starts_with(p)) {
                wrong.push(format!("{} names `{name}`", source.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_have_one_job() {
    let large: Vec<String> = sources()
        .into_iter()
        .filter(|s| s.lines > MAX_LINES)
        .map(|s| format!("{}: {} lines", s.name, s.lines))
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn no_host_is_named_in_code() {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("adapters")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let value = |key: &str| {
            text.lines().find_map(|l| l.strip_prefix(key)).map(|v| v.trim().trim_matches('"').to_lowercase())
        };
        names.extend(value("id:"));
        names.extend(value("title:"));
    }
    assert!(names.len() >= 10, "{names:?}");
    let mut wrong = Vec::new();
    for source in sources() {
        for (number, line) in source.code.lines().enumerate() {
            let lower = line.to_lowercase();
            // `cursor` is also a word of parsers, and `copilot` of none.
            let named = names.iter().filter(|n| *n != "cursor").find(|n| lower.contains(n.as_str()));
            if let Some(name) = named {
                wrong.push(format!("{}:{}: `{name}`: {}", source.name, number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
