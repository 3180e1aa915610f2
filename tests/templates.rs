//! The shipped templates ask only for what the engine gives, and write what their host parses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, context};
use rolecast::diag::SourceId;
use rolecast::model::adapter::{Adapter, Sense};

/// What a template sees of a server.
const SERVER: [&str; 16] = [
    "name",
    "transport",
    "command",
    "args",
    "url",
    "env",
    "env_names",
    "headers",
    "header_names",
    "bearer",
    "call",
    "list",
    "tools",
    "approvals",
    "rules",
    "risk",
];
const HOSTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn adapter(host: &str) -> Adapter {
    let text = fs::read_to_string(root().join(format!("adapters/{host}.yaml"))).unwrap();
    rolecast::yaml::parse(&text, SourceId(0), 0).unwrap()
}

fn template(host: &str, name: &str) -> String {
    let path = root().join("templates").join(host).join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn named_templates(host: &str) -> BTreeSet<String> {
    let adapter = adapter(host);
    let outputs = adapter.outputs.values().filter_map(|o| o.template.clone());
    let started = adapter.forms.values().filter_map(|f| f.launch.as_ref()).map(|l| l.template.clone());
    let outputs = outputs.chain(started);
    outputs.chain(adapter.carriers.iter().filter_map(|c| c.template.clone())).collect()
}

/// Quoting filters good enough to read the results back; the engine has its own.
fn environment() -> Environment<'static> {
    fn json(value: Value) -> Result<String, Error> {
        serde_json::to_string(&value).map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))
    }
    fn line(value: String) -> Result<String, Error> {
        match value.contains(['\n', '\r']) {
            true => Err(Error::new(ErrorKind::InvalidOperation, "more than one line")),
            false => Ok(value),
        }
    }
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_syntax(
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build().unwrap(),
    );
    for filter in ["json", "yaml", "toml"] {
        env.add_filter(filter, json);
    }
    env.add_filter("line", line);
    env
}

fn render(text: &str, context: Value) -> Result<String, Error> {
    environment().render_str(text, context)
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn role_file(host: &str, list: &[&str], removed: &[&str], inform: &[&str]) -> String {
    let name = adapter(host).outputs["role"].template.clone().unwrap();
    let role = context! {
        id => "docs_writer", name => "docs_writer", description => "Writes: \"docs\" # and more", source => "roles/docs_writer.md", notice => "rendered by rolecast from roles/docs_writer.md; edit that and run rolecast render",
        model => BTreeMap::from([("model", "small")]), permissions => [["*", "deny"]], list => owned(list), removed => owned(removed), inform => owned(inform), gateway => None::<bool>,
        body => "You write.\n\n---\n\nStop early.\n",
    };
    render(&template(host, &name), context! { role }).unwrap()
}

/// What the template of a command sees besides, with the names that it gives itself.
const STARTED: [&str; 14] = [
    "root",
    "dir",
    "packet",
    "role.grants",
    "role.paths",
    "role.paths.all",
    "role.paths.open",
    "role.paths.shut",
    "access",
    "access.text",
    "settings",
    "settings.allow",
    "settings.deny",
    "namespace",
];

#[test]
fn templates_ask_only_for_what_the_engine_gives() {
    let role =
        ["id", "name", "description", "source", "notice", "model", "list", "removed", "inform", "body", "permissions"]
            .map(|k| format!("role.{k}"));
    let gateway = ["", ".name", ".command", ".args", ".env", ".call", ".tools", ".others"];
    let gateway = gateway.map(|k| format!("role.gateway{k}"));
    let rule = ["id", "notice", "title", "paths", "body"].map(|k| format!("rule.{k}"));
    let allowed: BTreeSet<String> = role
        .into_iter()
        .chain(rule)
        .chain(gateway)
        .chain(["card".into(), "roles".into(), "budgets".into()])
        .chain(SERVER.map(|k| format!("server.{k}")))
        .chain(
            [
                "guard",
                "commands",
                "c.words",
                "c.command",
                "c.because",
                "c",
                "guard.tools",
                "guard.context",
                "guard.command",
                "guard.powershell",
                "guard.host",
                "guard.roles",
                "guard.missing",
                "guard.refused",
                "guard.notice",
                "servers",
                "approvals.allow",
                "approvals.ask",
                "tool.seen",
                "tool.word",
                "loop.last",
                "tool",
                "word",
                "last",
                "server",
            ]
            .map(str::to_owned),
        )
        .collect();
    let env = environment();
    for host in HOSTS {
        for name in named_templates(host) {
            let text = template(host, &name);
            let compiled = env.template_from_str(&text).unwrap_or_else(|e| panic!("{host}/{name}: {e}"));
            for asked in compiled.undeclared_variables(true) {
                let started = name == "run.json" && STARTED.iter().any(|k| *k == asked);
                assert!(started || allowed.contains(&asked), "{host}/{name}: {asked}");
            }
        }
    }
}

#[test]
fn every_template_file_is_named_by_its_adapter() {
    for host in HOSTS {
        let files = fs::read_dir(root().join("templates").join(host)).unwrap();
        let files: BTreeSet<_> = files.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(files, named_templates(host), "{host}");
    }
}

#[test]
fn an_empty_list_is_written_and_never_left_out() {
    for host in HOSTS {
        let adapter = adapter(host);
        if adapter.forms["subagent"].list.as_ref().unwrap().sense == Sense::Allow {
            let text = role_file(host, &[], &[], &[]);
            let json = adapter.outputs["role"].file.ends_with(".json");
            let empty = if json { "\n  \"allowedTools\": []\n" } else { "\ntools: []\n" };
            assert!(text.contains(empty), "{host}:\n{text}");
        }
    }
    let rules = role_file("opencode", &[], &[], &[]);
    assert!(rules.contains("\npermission:\n  \"*\": deny\n---\n"), "{rules}");
    let cursor = role_file("cursor", &[], &[], &[]);
    assert!(cursor.contains("\ntools: \n"), "{cursor}");
}

#[test]
fn removed_words_become_the_switches_their_host_knows() {
    let kept = role_file("cursor", &[], &[], &["read", "grep"]);
    assert!(!kept.contains("readonly") && kept.contains("\ntools: read, grep\n"), "{kept}");
    let removed = role_file("cursor", &[], &["readonly"], &["read"]);
    assert!(removed.contains("\nreadonly: true\n"), "{removed}");

    let kept: toml_edit::DocumentMut = role_file("codex", &[], &[], &[]).parse().unwrap();
    assert!(kept.get("features").is_none());
    let removed: toml_edit::DocumentMut = role_file("codex", &[], &["shell"], &[]).parse().unwrap();
    for key in ["shell_tool", "unified_exec"] {
        assert_eq!(removed["features"][key].as_bool(), Some(false));
    }
}

#[test]
fn every_word_a_deny_list_can_remove_changes_the_role_file() {
    for host in HOSTS {
        let adapter = adapter(host);
        let list = adapter.forms["subagent"].list.as_ref().unwrap();
        for word in list.selectors.keys().filter(|_| list.sense == Sense::Deny) {
            assert_ne!(role_file(host, &[], &[word], &[]), role_file(host, &[], &[], &[]), "{host}: {word}");
        }
    }
}

#[test]
fn a_role_file_starts_with_its_source_and_ends_with_its_body() {
    for host in HOSTS {
        let text = role_file(host, &["a"], &[], &["a"]);
        let comment = "# rendered by rolecast from roles/docs_writer.md; edit that and run rolecast render\n";
        let file = adapter(host).outputs["role"].file.clone();
        if file.ends_with(".json") {
            // No comments there: a key that nobody reads says it.
            let role: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(role["_source"].as_str().unwrap().starts_with("rendered by rolecast from roles/docs_writer.md"));
            continue;
        }
        let markdown = file.ends_with(".md");
        assert!(text.starts_with(&format!("{}{comment}", if markdown { "---\n" } else { "" })), "{host}:\n{text}");
        assert!(!markdown || text.ends_with("---\nYou write.\n\n---\n\nStop early.\n"), "{host}:\n{text}");
    }
}

#[test]
fn a_role_file_carries_no_key_that_widens_its_list() {
    for host in HOSTS {
        let text = role_file(host, &["a"], &[], &[]);
        for key in ["memory", "mcpServers", "mcp-servers", "mcp_servers", "skills", "permissionMode"] {
            assert!(!text.lines().any(|l| l.starts_with(key)), "{host}: {key}");
        }
    }
}

#[test]
fn a_description_of_two_lines_is_refused_where_the_host_reads_lines() {
    let role = context! {
        name => "a", description => "one\ntwo", source => "roles/a.md", notice => "x", model => BTreeMap::<&str, &str>::new(),
        removed => Vec::<&str>::new(), inform => Vec::<&str>::new(), body => "x\n",
    };
    assert!(render(&template("cursor", "role.md"), context! { role }).is_err());
}

#[test]
fn scoped_rules_carry_their_globs_as_the_host_reads_them() {
    let rule = context! { id => "web", notice => "x", title => "Web: rules", paths => ["web/**", "*.css"], body => "Be brief.\n" };
    let of = |host: &str, name: &str| render(&template(host, name), context! { rule => rule.clone() }).unwrap();
    assert!(of("claude-code", "scoped.md").contains("\npaths: [\"web/**\",\"*.css\"]\n"));
    assert!(of("copilot", "scoped.md").contains("\napplyTo: \"web/**,*.css\"\n"));
    // Cursor breaks on an inline list and on a quoted `alwaysApply`.
    assert!(of("cursor", "scoped.mdc").contains("\nglobs:\n  - web/**\n  - *.css\nalwaysApply: false\n"));
}

#[test]
fn the_host_card_of_codex_is_an_entry_and_absent_without_a_card() {
    let config =
        |card: &str| render(&template("codex", "config.json"), context! { card, servers => Vec::<u8>::new() }).unwrap();
    let with: serde_json::Value = serde_json::from_str(&config("Say \"yes\".\n")).unwrap();
    assert_eq!(with["developer_instructions"], "Say \"yes\".\n");
    let without: serde_json::Value = serde_json::from_str(&config("")).unwrap();
    assert_eq!(without, serde_json::json!({}));
}
