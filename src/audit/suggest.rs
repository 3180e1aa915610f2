//! Entries of the policy that would agree with what a server says.

use std::fmt::Write as _;

use super::checks::Subject;
use super::contract::Tool;
use super::effect::{self, Effect};
use super::schema::{Reach, mixed, reach};
use super::words;
use crate::model::scalar::Risk;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The tool.
    pub tool: String,
    /// What it confers, in the catalogue's order; capabilities of the policy's own last.
    pub confers: Vec<String>,
    /// Why more than its name says.
    pub because: Vec<String>,
}

impl Entry {
    /// The entry alone, to be pasted where its comment says; `known` tells whether the policy has a capability.
    pub fn line(&self, server: &str, known: &dyn Fn(&str) -> bool) -> String {
        let own: Vec<&str> = self.confers.iter().map(String::as_str).filter(|cap| !known(cap)).collect();
        let own = if own.is_empty() {
            String::new()
        } else {
            format!("; `{}` is to be added under capabilities", own.join("`, `"))
        };
        format!("{}: {{ confers: [{}] }} # under servers.{server}.tools{own}", key(&self.tool), self.confers.join(", "))
    }
}

/// The entries of one server, as the lines below `capabilities:` and `servers:`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// Capabilities that the policy does not have yet.
    pub capabilities: String,
    /// The server with its tools.
    pub tools: String,
}

/// Entries for all tools of a server.
pub fn all(subject: &Subject<'_>) -> Suggestion {
    let entries: Vec<Entry> = subject.contract.tools.iter().map(|tool| entry(subject, tool)).collect();
    let known = &subject.policy.catalogue;
    let mut own: Vec<&String> =
        entries.iter().flat_map(|e| &e.confers).filter(|cap| known.find(cap).is_none()).collect();
    own.sort();
    own.dedup();
    let mut capabilities = String::new();
    for cap in own {
        let risk = if cap.ends_with(".change") { Risk::Dangerous } else { Risk::Restricted };
        let what = if risk == Risk::Dangerous { "change something through" } else { "read what is behind" };
        let _ = writeln!(
            capabilities,
            "  {cap}: {{ risk: {}, title: \"{what} the server {}\" }}",
            risk.word(),
            subject.name()
        );
    }
    let mut out = format!("  {}:\n    tools:\n", subject.name());
    for entry in entries {
        let because = if entry.because.is_empty() { String::new() } else { format!(" # {}", entry.because.join("; ")) };
        let legacy = subject.raw.tools.get(entry.tool.as_str()).and_then(|raw| raw.legacy.as_ref());
        let legacy = legacy.map_or_else(String::new, |legacy| {
            let names: Vec<String> = legacy.superseded_by.iter().map(|name| key(name)).collect();
            format!(", legacy: {{ superseded-by: [{}] }}", names.join(", "))
        });
        let _ =
            writeln!(out, "      {}: {{ confers: [{}]{legacy} }}{because}", key(&entry.tool), entry.confers.join(", "));
    }
    Suggestion { capabilities, tools: out }
}

/// A name as a key of YAML.
fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
    let word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&name.to_lowercase().as_str());
    if plain && word { name.to_owned() } else { format!("{:?}", name) }
}

/// The entry of one tool: what the policy says or else the names suggest, and what hints and schema add to it.
pub fn entry(subject: &Subject<'_>, tool: &Tool) -> Entry {
    let catalogue = &subject.policy.catalogue;
    let family = Family::of(subject.name(), tool);
    let mut caps: Vec<String> = match subject.class(&tool.name) {
        Some(class) => class.confers.iter().map(|cap| catalogue.name(cap).to_owned()).collect(),
        None => family.guess(tool, subject.name()),
    };
    let mut because = Vec::new();
    let reaches = reach(tool);
    for reach in &reaches {
        let (more, why): (Vec<String>, String) = match reach {
            Reach::File { param } => {
                (vec!["repo.edit".into(), "repo.create".into()], format!("`{param}` writes a file"))
            }
            Reach::Switch { param } => (family.change(tool, subject.name()), format!("`{param}` changes something")),
            Reach::Code { param, sql: true } => (vec!["db.write".into()], format!("`{param}` takes statements")),
            Reach::Code { param, sql: false } => (family.code(), format!("`{param}` takes code")),
        };
        add(&mut caps, more, &why, &mut because);
    }
    let mixed = mixed(tool);
    let says_change = tool.hint("readOnlyHint") == Some(false);
    if (says_change || mixed.is_some()) && strongest(&caps, subject) < Effect::Changes {
        let why = match &mixed {
            Some(mixed) => format!("`{}` mixes", mixed.param),
            None => "`readOnlyHint: false`".to_owned(),
        };
        let more = family.change(tool, subject.name());
        add(&mut caps, more, &why, &mut because);
    }
    caps.sort_by_key(|cap| (catalogue.find(cap).map_or(u8::MAX, |id| id.0), cap.clone()));
    caps.dedup();
    Entry { tool: tool.name.clone(), confers: caps, because }
}

fn add(caps: &mut Vec<String>, more: Vec<String>, why: &str, because: &mut Vec<String>) {
    let new: Vec<String> = more.into_iter().filter(|cap| !caps.contains(cap)).collect();
    if !new.is_empty() {
        because.push(why.to_owned());
        caps.extend(new);
    }
}

fn strongest(caps: &[String], subject: &Subject<'_>) -> Effect {
    let catalogue = &subject.policy.catalogue;
    let of = |cap: &String| {
        // One that is only suggested is not in the catalogue yet.
        let risk = catalogue.find(cap).map_or(Risk::Restricted, |id| catalogue.get(id).risk);
        effect::of(cap, risk)
    };
    caps.iter().map(of).max().unwrap_or(Effect::Looks)
}

/// What a tool is about, as far as names tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Browser,
    Git,
    Files,
    Database,
    Memory,
    Docs,
    Ticket,
    Web,
    Shell,
    Other,
}

impl Family {
    fn of(server: &str, tool: &Tool) -> Self {
        let own = |list: &[&str]| words::any(&tool.name, list);
        let all = |list: &[&str]| own(list) || words::any(server, list);
        if all(&["browser", "playwright", "puppeteer", "chrome", "devtools"]) {
            Self::Browser
        } else if all(&["git"]) {
            Self::Git
        } else if own(&["process", "shell", "command", "terminal", "exec", "bash"]) {
            Self::Shell
        } else if all(&["ticket", "tickets", "issue", "issues", "jira"]) {
            Self::Ticket
        } else if all(&["sql", "sqlite", "postgres", "mysql", "database", "db"]) {
            Self::Database
        } else if all(&["memory", "memories", "entities", "observations"]) {
            Self::Memory
        } else if own(&["file", "files", "directory", "folder"]) || all(&["filesystem"]) {
            Self::Files
        } else if all(&["docs", "documentation", "library", "knowledge", "wiki"]) {
            Self::Docs
        } else if own(&["fetch", "url", "web"]) {
            Self::Web
        } else {
            Self::Other
        }
    }

    /// What the names suggest; what looks, where nothing says otherwise.
    fn guess(self, tool: &Tool, server: &str) -> Vec<String> {
        let has = |list: &[&str]| words::any(&tool.name, list);
        let changes = words::changes(&tool.name) == Some(true);
        let destroys = has(words::DESTROYS);
        let lists = has(&["list", "search", "find", "tree", "query"]);
        let caps: &[&str] = match self {
            Self::Browser if has(&["evaluate", "script", "code", "eval"]) => {
                &["browser.inspect", "browser.interact", "browser.script"]
            }
            Self::Browser if has(words::MEDIA) || has(&["trace", "tracing", "recording", "capture"]) => {
                &["browser.capture"]
            }
            Self::Browser
                if tool.says_read_only()
                    || has(&["snapshot", "console", "network", "navigate", "list", "get", "wait"]) =>
            {
                &["browser.inspect"]
            }
            Self::Browser => &["browser.interact"],
            Self::Git if tool.says_read_only() || !(changes || has(&["branch", "stash", "tag"])) => &["repo.diff"],
            Self::Git => &["repo.edit", "repo.create", "repo.delete"],
            Self::Files if has(&["move", "rename"]) => &["repo.edit", "repo.create", "repo.delete"],
            Self::Files if destroys => &["repo.delete"],
            Self::Files if has(&["edit", "replace", "patch", "update"]) => &["repo.edit"],
            Self::Files if has(&["create", "new"]) && !has(&["write"]) => &["repo.create"],
            Self::Files if changes => &["repo.edit", "repo.create"],
            Self::Files if lists || has(&["info", "directories"]) => &["repo.search"],
            Self::Files => &["repo.read"],
            Self::Database if changes => &["db.read", "db.write"],
            Self::Database => &["db.read"],
            Self::Memory if changes => &["memory.write"],
            Self::Memory if lists => &["memory.search"],
            Self::Memory if has(&["graph", "status", "taxonomy"]) => &["memory.taxonomy"],
            Self::Memory => &["memory.read"],
            Self::Docs if changes => &["docs.write"],
            Self::Docs if has(&["list", "tree", "taxonomy", "status"]) => &["docs.taxonomy"],
            Self::Docs => &["docs.search"],
            Self::Ticket if changes => &["ticket.write"],
            Self::Ticket => &["ticket.read"],
            Self::Web if lists => &["web.search"],
            Self::Web => &["web.fetch"],
            Self::Shell => &["shell.run"],
            Self::Other => return vec![own(server, !tool.says_read_only() && changes)],
        };
        caps.iter().map(|cap| (*cap).to_owned()).collect()
    }

    /// What a change by a tool of the family is.
    fn change(self, tool: &Tool, server: &str) -> Vec<String> {
        let caps: &[&str] = match self {
            Self::Browser => &["browser.interact"],
            Self::Git => &["repo.edit", "repo.create", "repo.delete"],
            Self::Files if words::any(&tool.name, words::DESTROYS) => &["repo.edit", "repo.create", "repo.delete"],
            Self::Files => &["repo.edit", "repo.create"],
            Self::Database => &["db.write"],
            Self::Memory => &["memory.write"],
            Self::Docs => &["docs.write"],
            Self::Ticket => &["ticket.write"],
            Self::Shell => &["shell.run"],
            // A tool that changes code in the repository, as linters do.
            Self::Other if words::any(&tool.name, &["lint", "format", "code"]) => &["repo.edit"],
            Self::Web | Self::Other => return vec![own(server, true)],
        };
        caps.iter().map(|cap| (*cap).to_owned()).collect()
    }

    /// What code run by a tool of the family can do.
    fn code(self) -> Vec<String> {
        let caps: &[&str] = match self {
            Self::Browser => &["browser.inspect", "browser.interact", "browser.script"],
            Self::Database => &["db.write"],
            _ => &["shell.run"],
        };
        caps.iter().map(|cap| (*cap).to_owned()).collect()
    }
}

/// A capability of the policy's own, named for the server.
fn own(server: &str, change: bool) -> String {
    let family: String =
        words::words(server).join("-").chars().filter(|c| c.is_ascii_lowercase() || *c == '-').collect();
    let family =
        if family.trim_matches('-').is_empty() { "server".to_owned() } else { family.trim_matches('-').to_owned() };
    format!("{family}.{}", if change { "change" } else { "read" })
}
