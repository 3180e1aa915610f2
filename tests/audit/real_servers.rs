//! `rolecast audit` on real MCP servers, installed at exact versions below `tests/servers`; what it finds is a page of
//! the documentation. Where they are not installed the test says so loudly; under `CI` that is a failure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{hold_page, root, run, write_policy};

/// Name in the policy, package, program below the folder, arguments.
const SERVERS: &[(&str, &str, &str, &[&str])] = &[
    ("playwright", "@playwright/mcp", "node_modules/.bin/playwright-mcp", &["--headless"]),
    ("devtools", "chrome-devtools-mcp", "node_modules/.bin/chrome-devtools-mcp", &["--headless", "--isolated"]),
    ("filesystem", "@modelcontextprotocol/server-filesystem", "node_modules/.bin/mcp-server-filesystem", &["."]),
    ("memory", "@modelcontextprotocol/server-memory", "node_modules/.bin/mcp-server-memory", &[]),
    ("everything", "@modelcontextprotocol/server-everything", "node_modules/.bin/mcp-server-everything", &[]),
    (
        "thinking",
        "@modelcontextprotocol/server-sequential-thinking",
        "node_modules/.bin/mcp-server-sequential-thinking",
        &[],
    ),
    ("library-docs", "@upstash/context7-mcp", "node_modules/.bin/context7-mcp", &[]),
    ("git", "mcp-server-git", "venv/bin/mcp-server-git", &[]),
    ("sqlite", "mcp-server-sqlite", "venv-sqlite/bin/mcp-server-sqlite", &["--db-path", "test.db"]),
    ("web", "mcp-server-fetch", "venv/bin/mcp-server-fetch", &[]),
    ("time", "mcp-server-time", "venv/bin/mcp-server-time", &["--local-timezone", "UTC"]),
];

/// The folder with the servers, when all of them are there.
fn installed() -> Option<PathBuf> {
    let folder = std::env::var_os("ROLECAST_SERVERS").map_or_else(|| root().join("tests/servers"), PathBuf::from);
    let missing: Vec<&str> =
        SERVERS.iter().filter(|(_, _, program, _)| !folder.join(program).exists()).map(|(name, ..)| *name).collect();
    if missing.is_empty() {
        return Some(folder);
    }
    let say = format!(
        "*** NOT RUN: not installed below {}: {}; see tests/servers/install",
        folder.display(),
        missing.join(", ")
    );
    let wanted = std::env::var_os("CI").is_some() || std::env::var_os("ROLECAST_SERVERS").is_some();
    assert!(!wanted, "{say}");
    eprintln!("{say}");
    None
}

/// The exact version of each package, from the files that pin them.
fn versions() -> BTreeMap<String, String> {
    let read = |name: &str| std::fs::read_to_string(root().join("tests/servers").join(name)).unwrap();
    let npm: Value = serde_json::from_str(&read("package.json")).unwrap();
    let npm = npm["dependencies"].as_object().unwrap().iter();
    let mut all: BTreeMap<String, String> =
        npm.map(|(name, v)| (name.clone(), v.as_str().unwrap().to_owned())).collect();
    for file in ["requirements.txt", "requirements-sqlite.txt"] {
        let text = read(file);
        all.extend(text.lines().filter_map(|line| line.split_once("==")).map(|(n, v)| (n.to_owned(), v.to_owned())));
    }
    all
}

/// A repository that declares them all; `rest` stands behind, with the tools of each in `tools`.
fn policy(folder: &Path, suggestion: &str) -> String {
    let mut text =
        String::from("version: 1\nhosts: { claude-code: {}, codex: {}, gemini-cli: {} }\nextends: [builtin]\n");
    let (capabilities, servers) = suggestion.split_once("servers:\n").unwrap_or(("", ""));
    text.push_str(capabilities);
    text.push_str("servers:\n");
    for (name, _, program, args) in SERVERS {
        let args = serde_json::to_string(args).unwrap();
        let _ =
            writeln!(text, "  {name}:\n    command: {:?}\n    args: {args}", folder.join(program).to_str().unwrap());
        let own = servers.split_once(&format!("  {name}:\n")).map_or("", |(_, rest)| rest);
        for line in own.lines().take_while(|line| line.starts_with("    ")) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

#[test]
fn the_page_of_real_servers_says_what_is_found_now() {
    let Some(folder) = installed() else { return };
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path();
    write_policy(repository, &policy(&folder, ""));
    let (code, suggestion, said) = run(repository, &["audit", "--suggest"]);
    assert_eq!(code, 0, "{said}");
    write_policy(repository, &policy(&folder, &suggestion));
    let (code, report, said) = run(repository, &["audit", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(code, 0, "an error is left with the entries that are suggested: {report:#}");
    let human = pinned(repository);
    hold_page("real-servers.md", &page(&report, &human));
}

/// What was accepted is what the servers offer a second time, and the gate agrees without starting any. The page
/// of the first time.
fn pinned(repository: &Path) -> String {
    let (code, out, said) = run(repository, &["render", "--quiet"]);
    assert_eq!(code, 0, "{out}{said}");
    let (code, human, said) = run(repository, &["audit", "--accept"]);
    assert_eq!(code, 0, "{human}{said}");
    let (code, out, said) = run(repository, &["audit", "--verbose"]);
    assert!(code == 0 && !out.contains("contract-"), "{out}{said}");
    let (code, out, said) = run(repository, &["check"]);
    assert_eq!(code, 0, "{out}{said}");
    human
}

fn page(report: &Value, human: &str) -> String {
    let versions = versions();
    let mut page = String::from(
        "# Real servers, audited\n\n<!-- Generated by `UPDATE=1 cargo test --test audit`; do not edit. -->\n\n\
         What `rolecast audit` finds in servers that people use, at exact versions, when the policy classifies their tools as\n\
         `rolecast audit --suggest` proposes; no error is left then. Bytes are those of names, descriptions and schemas, as they\n\
         stand before the model in every session that has the server; tokens are estimated at four bytes. `four hints` counts\n\
         the tools that state all of them. The other columns count tools by what was found.\n\n\
         | server | version | tools | bytes | ~tokens | four hints | hint or schema contradicts | looks and changes | no limit | no range | media | text gives orders |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, package, ..) in SERVERS {
        let server = report["servers"].as_array().unwrap().iter().find(|s| s["server"] == *name).unwrap();
        let tools = server["tools"].as_array().map_or(0, Vec::len);
        let findings = server["findings"].as_array().unwrap();
        let with = |codes: &[&str]| {
            let mut tools: Vec<&str> = findings
                .iter()
                .filter(|f| codes.contains(&f["code"].as_str().unwrap()))
                .map(|f| f["tool"].as_str().unwrap_or("-"))
                .collect();
            tools.sort_unstable();
            tools.dedup();
            tools.len()
        };
        let cost = |key: &str| server["costs"][0][key].as_u64().unwrap();
        let _ = writeln!(
            page,
            "| `{package}` | {} | {tools} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            versions[*package],
            cost("bytes") + cost("instructions"),
            cost("tokens"),
            tools - with(&["hints-missing"]),
            with(&["hint-contradicts", "schema-contradicts"]),
            with(&["mega-tool"]),
            with(&["list-unbounded"]),
            with(&["text-unbounded"]),
            with(&["media-inline"]),
            with(&["description-orders", "description-hides"]),
        );
    }
    let _ = write!(page, "\n## Word for word\n\n```text\n$ rolecast audit\n{human}```\n");
    page
}
