//! A second opinion on arrivals: real text with markers in a map of files, walked as a host would walk it.
//! Shares nothing with the planner but the adapters' types.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rolecast::model::adapter::{Adapter, Agent, Inherit, Load, Read, Repeat};
use rolecast::plan::delivery::{Delivery, Input, Kind, Own, Part, ScopedRoute};

/// A repository with the rendered files in it.
#[derive(Default, Clone)]
pub struct Repository {
    pub texts: BTreeMap<String, String>,
    pub links: BTreeMap<String, String>,
    /// Host and file that a setting names.
    pub switches: BTreeSet<(String, String)>,
    /// Text of every role's body, by host.
    pub bodies: BTreeMap<String, String>,
}

/// What an agent gets: markers with the number of times each came.
pub type Got = BTreeMap<String, u32>;

impl Repository {
    /// The user's files only.
    pub fn of_user(input: &Input) -> Self {
        let mut out = Self::default();
        for user in input.user {
            match &user.link_to {
                Some(target) => drop(out.links.insert(user.path.clone(), target.clone())),
                None => {
                    let mut text = format!("[user {}]\n", user.path);
                    for import in &user.imports {
                        text.push_str(&format!("@{}\n", climb(&user.path, import)));
                        text.push_str(&format!("include {}\n", climb(&user.path, import)));
                    }
                    out.texts.insert(user.path.clone(), text);
                }
            }
        }
        out
    }

    /// Writes a plan.
    pub fn rendered(input: &Input, plan: &Delivery) -> Self {
        let mut out = Self::of_user(input);
        for file in &plan.files {
            let parts: Vec<String> = file.parts.iter().map(|p| part(input, plan, file, p)).collect();
            out.write(&file.path, &file.own, &parts.concat());
        }
        for host in &plan.hosts {
            for switch in &host.switches {
                out.switches.insert((host.host.clone(), switch.file.clone()));
            }
            out.bodies.insert(host.host.clone(), body(input, plan, &host.host));
        }
        out
    }

    /// Puts text of ours into a file.
    pub fn write(&mut self, path: &str, own: &Own, text: &str) {
        assert!(!self.links.contains_key(path), "{path} is a link");
        let old = self.texts.remove(path).unwrap_or_default();
        let new = match own {
            Own::Block => format!("{old}<!-- begin -->\n{text}<!-- end -->\n"),
            Own::Whole { host, template } => {
                assert!(old.is_empty(), "{path} is the user's");
                match text.strip_prefix("---\n") {
                    Some(_) => text.to_owned(),
                    None => format!("{host} {template:?}\n{text}"),
                }
            }
            Own::Entry { .. } => format!("{old}\n{text}"),
        };
        self.texts.insert(path.to_owned(), new);
    }

    fn open(&self, path: &str) -> Option<&str> {
        let mut at = path;
        for _ in 0..8 {
            match self.links.get(at) {
                Some(next) => at = next,
                None => return self.texts.get(at).map(String::as_str),
            }
        }
        None
    }

    /// What the main agent gets, scoped rules included as if a matching file were touched.
    pub fn main(&self, adapter: &Adapter) -> Got {
        count(&self.given(adapter, Agent::Main))
    }

    /// What a sub-agent gets from files.
    pub fn inherited(&self, adapter: &Adapter) -> Got {
        count(&self.given(adapter, Agent::Roles))
    }

    /// Least and most that a sub-agent gets of a marker.
    pub fn role(&self, adapter: &Adapter, marker: &str) -> (u32, u32) {
        let of = |got: &Got| got.get(marker).copied().unwrap_or(0);
        let body = of(&count(self.bodies.get(&adapter.id).map_or("", String::as_str)));
        let files = of(&self.inherited(adapter));
        match adapter.subagents.inherit {
            Inherit::Instructions => (body + files, body + files),
            Inherit::Nothing => (body, body),
            Inherit::Unknown => (body, body + files),
        }
    }

    fn given(&self, adapter: &Adapter, agent: Agent) -> String {
        let mut direct: Vec<(String, String)> = Vec::new();
        for path in self.texts.keys().chain(self.links.keys()) {
            let Some(text) = self.open(path) else { continue };
            let Some(read) = taking(adapter, path) else { continue };
            let off = read.unless.iter().any(|u| self.open(u).is_some())
                || (read.needs.is_some() && !self.switches.contains(&(adapter.id.clone(), path.clone())))
                || !read.agents.contains(&agent)
                || read.load == Load::Touched
                || (read.load == Load::CwdChain && read.file.contains('*'));
            let again = adapter.same_bytes == Repeat::Once && direct.iter().any(|(_, t)| t == text);
            if !off && !again {
                direct.push((path.clone(), text.to_owned()));
            }
        }
        let Some(import) = &adapter.import else { return direct.into_iter().map(|(_, t)| t).collect() };
        match import.same_file {
            Repeat::Again => direct.iter().map(|(path, _)| self.spread(path, import, &[])).collect(),
            Repeat::Once => {
                let mut least: BTreeMap<String, u32> = direct.iter().map(|(p, _)| (p.clone(), 0)).collect();
                loop {
                    let mut grown = least.clone();
                    for (path, depth) in least.iter().filter(|(_, d)| **d < import.depth) {
                        for target in self.targets(path, &import.write) {
                            let entry = grown.entry(target).or_insert(depth + 1);
                            *entry = (*entry).min(depth + 1);
                        }
                    }
                    if grown == least {
                        return least.keys().filter_map(|p| self.open(p)).collect::<Vec<_>>().concat();
                    }
                    least = grown;
                }
            }
        }
    }

    /// The text of a file with its imports in place.
    fn spread(&self, path: &str, import: &rolecast::model::adapter::Import, above: &[String]) -> String {
        let mut out = self.open(path).unwrap_or_default().to_owned();
        if above.len() < import.depth as usize {
            let mut above = above.to_vec();
            above.push(path.to_owned());
            for target in self.targets(path, &import.write) {
                if !above.contains(&target) {
                    out.push_str(&self.spread(&target, import, &above));
                }
            }
        }
        out
    }

    fn targets(&self, path: &str, write: &str) -> Vec<String> {
        // A link's lines are those of its target, and we say nothing about what `..` means behind a link.
        let mut home = path;
        while let Some(next) = self.links.get(home) {
            home = next;
        }
        let (head, tail) = write.split_once("{path}").unwrap();
        let lines = self.open(path).unwrap_or_default().lines();
        lines
            .filter_map(|l| l.strip_prefix(head)?.strip_suffix(tail))
            .map(|relative| descend(home, relative))
            .filter(|p| self.open(p).is_some())
            .collect()
    }
}

/// The read that decides about a file: the one that names it, else the first whose glob matches.
fn taking<'a>(adapter: &'a Adapter, path: &str) -> Option<&'a Read> {
    let starts = |r: &&Read| r.load != Load::Touched && !(r.load == Load::CwdChain && r.file.contains('*'));
    let reads = || adapter.reads.iter().filter(starts);
    reads().find(|r| r.file == path).or_else(|| reads().find(|r| glob(&r.file, path)))
}

/// Compiled once for each pattern: the walks ask thousands of times.
fn glob(pattern: &str, path: &str) -> bool {
    thread_local! {
        static COMPILED: RefCell<BTreeMap<String, globset::GlobMatcher>> = const { RefCell::new(BTreeMap::new()) };
    }
    COMPILED.with_borrow_mut(|compiled| {
        let compile = || globset::GlobBuilder::new(pattern).literal_separator(true).build().unwrap().compile_matcher();
        compiled.entry(pattern.to_owned()).or_insert_with(compile).is_match(path)
    })
}

pub fn count(text: &str) -> Got {
    let mut out = Got::new();
    for line in text.lines().filter(|l| l.starts_with('[')) {
        *out.entry(line.to_owned()).or_default() += 1;
    }
    out
}

fn part(input: &Input, plan: &Delivery, file: &rolecast::plan::delivery::PlannedFile, part: &Part) -> String {
    match part {
        Part::Import { line, .. } => format!("{line}\n"),
        Part::Shared => shared(input),
        Part::Card { host } => {
            let delivered = plan.hosts.iter().find(|h| h.host == *host).unwrap();
            let lines = delivered.scoped.iter().filter(|s| s.main == ScopedRoute::CardLine);
            let lines: Vec<String> = lines.map(|s| format!("[rule {}]\n", input.rules[s.rule].id)).collect();
            format!("[card {host}]\n{}", lines.concat())
        }
        Part::Rule { rule } => {
            let Own::Whole { host, .. } = &file.own else { panic!("{} is not whole", file.path) };
            let owner = input.hosts.iter().find(|h| h.adapter.id == **host).unwrap().adapter;
            let key = taking(owner, &file.path).unwrap().scope_key.as_deref().unwrap();
            format!("---\n{key}: x\n---\n[rule {}]\n", input.rules[*rule].id)
        }
    }
}

pub fn shared(input: &Input) -> String {
    let rules = input.rules.iter().filter(|r| r.main && r.activation != Kind::Paths);
    format!("[shared]\n{}", rules.map(|r| format!("[rule {}]\n", r.id)).collect::<String>())
}

fn body(input: &Input, plan: &Delivery, host: &str) -> String {
    let host = plan.hosts.iter().find(|h| h.host == host).unwrap();
    if !input.hosts.iter().find(|h| h.adapter.id == host.host).unwrap().has_roles {
        return String::new();
    }
    let mut out = String::new();
    if host.body.shared {
        out.push_str("[shared]\n");
    }
    if host.body.card {
        out.push_str(&format!("[card {}]\n", host.host));
    }
    for rule in input.rules.iter().filter(|r| r.roles && r.activation != Kind::Paths) {
        if host.body.shared || !rule.main {
            out.push_str(&format!("[rule {}]\n", rule.id));
        }
    }
    for scoped in host.scoped.iter().filter(|s| s.roles == ScopedRoute::BodyLine) {
        out.push_str(&format!("[rule {}]\n", input.rules[scoped.rule].id));
    }
    out
}

fn climb(from: &str, to: &str) -> String {
    format!("{}{to}", "../".repeat(from.matches('/').count()))
}

fn descend(from: &str, relative: &str) -> String {
    let mut at: Vec<&str> = from.split('/').collect();
    at.pop();
    for part in relative.split('/') {
        match part {
            ".." => drop(at.pop()),
            "." => {}
            part => at.push(part),
        }
    }
    at.join("/")
}
