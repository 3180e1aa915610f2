//! Whether a call may be made. Pure but for looks at the paths that the call names.

use std::path::Path;

use crate::model::guard::words::{FOREIGN, WHOLE};
use crate::model::guard::{Compiled, Host, Role, Scope, Spawn, Tool};
use crate::text::{address, glob};

use super::lines;
use super::patch::{self, Does};
use super::path::{Place, place};
use super::payload::{Agent, Args, Call};
use super::{Refusal, command, forbidden};

const SHELL: [&str; 2] = ["shell.run", "runtime.run"];
const EDIT: &str = "repo.edit";
const CREATE: &str = "repo.create";
const DELETE: &str = "repo.delete";
const FETCH: &str = "web.fetch";
const POLICY: &str = "policy.edit";

/// Decides a call of which `named` is said to be the host; `Err` tells why not.
///
/// # Errors
/// The call is refused.
pub fn decide(compiled: &Compiled, named: &str, root: &Path, call: &Call) -> Result<(), Refusal> {
    // Who is known by what only it sends is that host, in whose file the hook may stand.
    let signed = compiled.signs.iter().find(|(field, _)| call.fields.contains(field)).map(|(_, host)| host.as_str());
    let named = signed.unwrap_or(named);
    let mut fitting = fitting(compiled, named, call);
    let own = compiled.hosts.get(named);
    if signed.is_some() {
        fitting.retain(|(host, _)| own.is_some_and(|own| std::ptr::eq(*host, own)));
    }
    let answer = fitting.first().map(|(host, _)| *host).or(own).map(|h| h.answer).unwrap_or_default();
    let refusal = |reason: String| Refusal { answer, reason };
    if fitting.is_empty() {
        let limited = compiled.roles && (own.is_none() || own.is_some_and(|host| !roles(host, call).is_empty()));
        return match limited && call.agent != Agent::Main {
            true => Err(refusal(format!(
                "this call of `{}` has a form that the policy's guard cannot decide; use another tool, or return the task to the parent",
                call.tool
            ))),
            false => Ok(()),
        };
    }
    let cwd = call.cwd.as_deref().map_or(root, Path::new);
    for (host, tool) in fitting {
        let look = Look { compiled, host, root, cwd, call, tool };
        look.everybody().map_err(refusal)?;
        if compiled.roles {
            for (name, role) in roles(host, call) {
                look.role(role).map_err(|why| refusal(format!("role `{name}` {why}")))?;
            }
        }
    }
    Ok(())
}

/// The tools that a call may be one of: those of the host that is named, and those of another one that runs
/// this host's hooks and puts its own arguments under its name for the tool. Where both fit, both must pass.
fn fitting<'a>(compiled: &'a Compiled, named: &str, call: &Call) -> Vec<(&'a Host, &'a Tool)> {
    let mut all = Vec::new();
    for (id, host) in &compiled.hosts {
        let own = host.tools.get(&call.tool).filter(|_| id == named || host.borrowed.is_empty());
        let lent = host.borrowed.get(&call.tool).filter(|_| id != named).into_iter().flatten();
        let lent = lent.filter_map(|name| host.tools.get(name));
        let known = own.into_iter().map(|tool| (id == named, tool)).chain(lent.map(|tool| (true, tool)));
        let known = known.filter(|(_, tool)| fits(tool, &call.args));
        all.extend(known.map(|(expected, tool)| (id == named, expected, host, tool)));
    }
    // A host that nobody expects here counts only where no other is meant: its roles read by other tools.
    if all.iter().any(|(_, expected, ..)| *expected) {
        all.retain(|(_, expected, ..)| *expected);
    }
    // Hosts that start agents under one name of the tool differ in the name of the argument with the role.
    let names = |tool: &Tool| tool.spawn.as_ref().is_some_and(|s| call.args.text(&s.role).is_some());
    if all.iter().any(|(.., tool)| names(tool)) {
        all.retain(|(.., tool)| names(tool));
    }
    all.sort_by_key(|(own, ..)| !own);
    all.dedup_by(|a, b| std::ptr::eq(a.3, b.3));
    all.into_iter().map(|(_, _, host, tool)| (host, tool)).collect()
}

/// Whether a call has what the tool is called with.
fn fits(tool: &Tool, args: &Args) -> bool {
    let looked_at = [&tool.path, &tool.command, &tool.url, &tool.read];
    let prompt = tool.spawn.as_ref().map(|s| &s.prompt);
    let mut names = looked_at.into_iter().flatten().chain(prompt).peekable();
    match &tool.patch {
        Some(name) if args.patch(name).is_some() => true,
        None if names.peek().is_none() => true,
        _ => names.any(|name| args.text(name).is_some()),
    }
}

/// The roles that the calling agent may be.
fn roles<'a>(host: &'a Host, call: &Call) -> Vec<(&'a str, &'a Role)> {
    let is = |name: &str| match &call.agent {
        Agent::Main => false,
        Agent::Named(agent) => agent == name,
        Agent::Id(id) => id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
    };
    host.roles.iter().filter(|(name, _)| is(name)).map(|(name, role)| (name.as_str(), role)).collect()
}

struct Look<'a> {
    compiled: &'a Compiled,
    host: &'a Host,
    root: &'a Path,
    cwd: &'a Path,
    call: &'a Call,
    tool: &'a Tool,
}

impl<'a> Look<'a> {
    fn text(&self, name: &Option<String>) -> Option<&'a str> {
        self.call.args.text(name.as_deref()?)
    }

    /// What holds for the main agent too.
    fn everybody(&self) -> Result<(), String> {
        if let Some(spawn) = &self.tool.spawn {
            self.history(spawn)?;
            self.packet(spawn)?;
        }
        self.forbidden()?;
        self.first_read()
    }

    fn forbidden(&self) -> Result<(), String> {
        let Some(line) = self.text(&self.tool.command) else { return Ok(()) };
        match forbidden::forbidden(line, &self.compiled.forbidden) {
            Some(words) => Err(format!(
                "nobody may run `{}` here: the policy forbids it; leave it to a person, and say why the task needs it",
                words.join(" ")
            )),
            None => Ok(()),
        }
    }

    fn history(&self, spawn: &Spawn) -> Result<(), String> {
        let target = self.call.args.text(&spawn.role).unwrap_or_default();
        let copied = spawn.copies.iter().any(|c| c == target);
        let missing = spawn.fresh.iter().find(|(name, value)| self.call.args.text(name) != Some(value.as_str()));
        let reasoned = self.host.roles.get(target).is_some_and(|r| r.history);
        if !self.compiled.history || reasoned || (!copied && missing.is_none()) {
            return Ok(());
        }
        let instead = match missing {
            Some((name, value)) => format!("set `{name}` to `{value}`"),
            None => "start one of the repository's roles".to_owned(),
        };
        Err(format!(
            "this would hand {WHOLE} to the agent, and the policy gives no reason for that; {instead}, and put what it needs into the packet"
        ))
    }

    fn packet(&self, spawn: &Spawn) -> Result<(), String> {
        let (Some(target), Some(prompt)) = (self.compiled.packet, self.call.args.text(&spawn.prompt)) else {
            return Ok(());
        };
        let bytes = prompt.len() as u64;
        let reason = prompt.lines().filter_map(|l| l.trim_start().strip_prefix("over-target:"));
        if bytes <= target || reason.into_iter().any(|why| why.chars().any(char::is_alphanumeric)) {
            return Ok(());
        }
        Err(format!(
            "the packet has {bytes} bytes, over its target of {target}: shorten it, or add a line `over-target: why it cannot be shorter`"
        ))
    }

    fn first_read(&self) -> Result<(), String> {
        let (Some(most), Some(path)) = (self.compiled.read, self.text(&self.tool.read)) else { return Ok(()) };
        if self.tool.range.is_empty() || self.tool.range.iter().any(|name| self.call.args.has(name)) {
            return Ok(());
        }
        let Some(found) = lines::over(&self.cwd.join(path), most) else { return Ok(()) };
        let names: Vec<String> = self.tool.range.iter().map(|n| format!("`{n}`")).collect();
        Err(format!(
            "`{path}` has {found} lines, and a first read takes at most {most}: search for the place that matters, or read lines 1 to {most} with {}",
            names.join(" and ")
        ))
    }

    /// What holds for a role.
    fn role(&self, role: &Role) -> Result<(), String> {
        let granted: Vec<&str> =
            self.tool.covers.iter().map(String::as_str).filter(|c| role.grants.contains_key(*c)).collect();
        if granted.is_empty() && !(self.tool.covers.is_empty() && self.tool.path.is_some()) {
            return Err(format!("is not granted what `{}` does; return that part to the parent", self.call.tool));
        }
        if let Some(path) = self.text(&self.tool.path) {
            self.write(role, path)?;
        }
        if let Some(text) = self.tool.patch.as_deref().and_then(|name| self.call.args.patch(name)) {
            self.patch(role, text)?;
        }
        if let Some(line) = self.text(&self.tool.command) {
            self.command(role, &granted, line)?;
        }
        if let Some(url) = self.text(&self.tool.url) {
            fetch(role, url)?;
        }
        match &self.tool.spawn {
            Some(spawn) => self.target(spawn),
            None => Ok(()),
        }
    }

    fn write(&self, role: &Role, path: &str) -> Result<(), String> {
        let covers = |name: &str| self.tool.covers.iter().any(|c| c == name);
        let place = self.place(path)?;
        let needed = match (covers(EDIT) || covers(CREATE) || self.tool.covers.is_empty(), place.exists) {
            (false, _) => DELETE,
            (true, true) => EDIT,
            (true, false) => CREATE,
        };
        within(self.compiled, role, needed, path, &place)
    }

    fn patch(&self, role: &Role, text: &str) -> Result<(), String> {
        let files = patch::files(text);
        if files.is_empty() {
            return Err("may only send patches that name their files".to_owned());
        }
        let mut before: Option<(&str, Place)> = None;
        for (does, path) in files {
            let place = self.place(path)?;
            let needed = if place.exists { EDIT } else { CREATE };
            match does {
                Does::Add | Does::Update => within(self.compiled, role, needed, path, &place)?,
                Does::Delete => within(self.compiled, role, DELETE, path, &place)?,
                Does::MoveTo => {
                    within(self.compiled, role, needed, path, &place)?;
                    // What is moved is gone from where it was.
                    if let Some((path, place)) = &before {
                        within(self.compiled, role, DELETE, path, place)?;
                    }
                }
            }
            before = Some((path, place));
        }
        Ok(())
    }

    fn place(&self, path: &str) -> Result<Place, String> {
        place(self.root, self.cwd, path).map_err(|why| format!("may not write `{path}`: it {why}"))
    }

    /// Only where the line is nothing but a command: a host whose shell also reads cannot be held to prefixes.
    fn command(&self, role: &Role, granted: &[&str], line: &str) -> Result<(), String> {
        if granted.iter().any(|c| !SHELL.contains(c)) {
            return Ok(());
        }
        let scoped = role.grants.get(SHELL[0]).and_then(|s| s.commands.as_ref());
        let Some(prefixes) = scoped else { return Ok(()) };
        let list = || prefixes.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
        match command::allowed(line, prefixes) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("may only run commands that start with {}", list())),
            None => Err(format!(
                "may only run commands that start with {}, and what this line runs cannot be told: leave out redirections, variables, globs and escapes",
                list()
            )),
        }
    }

    /// The agents that are built into a host have every tool.
    fn target(&self, spawn: &Spawn) -> Result<(), String> {
        let target = self.call.args.text(&spawn.role).unwrap_or_default();
        if self.host.roles.contains_key(target) {
            return Ok(());
        }
        let names: Vec<String> = self.host.roles.keys().map(|n| format!("`{n}`")).collect();
        Err(format!("{FOREIGN}: {}", names.join(", ")))
    }
}

/// Whether an address is one that a role may fetch.
fn fetch(role: &Role, url: &str) -> Result<(), String> {
    let Some(domains) = role.grants.get(FETCH).and_then(|s| s.domains.as_ref()) else { return Ok(()) };
    let list = || domains.iter().map(|d| format!("`{d}`")).collect::<Vec<_>>().join(", ");
    match address::host(url) {
        Ok(host) if domains.iter().any(|domain| address::matches(domain, &host)) => Ok(()),
        Ok(host) => Err(format!("may not fetch from `{host}`: only from {}; return that part to the parent", list())),
        Err(why) => Err(format!("may not fetch this address: {why}; it may fetch from {}", list())),
    }
}

/// Whether a path is inside of what a role may do there.
fn within(compiled: &Compiled, role: &Role, needed: &str, path: &str, place: &Place) -> Result<(), String> {
    let both = [place.said.as_str(), place.real.as_str()];
    let lower = both.map(str::to_lowercase);
    if lower.iter().any(|p| p.split('/').any(|part| part == ".git")) {
        return Err(format!("may not write `{path}`: it is git's own"));
    }
    // Two spellings are one file where the disk does not tell letters apart.
    let hit = |glob: &String| lower.iter().any(|p| matches(&glob.to_lowercase(), p));
    if compiled.excluded.iter().any(hit) {
        return match role.grants.contains_key(POLICY) {
            true => Ok(()),
            false => Err(format!(
                "may not write `{path}`: it is part of the policy, or an agent program takes it as instructions or configuration"
            )),
        };
    }
    let Some(Scope { paths, .. }) = role.grants.get(needed) else {
        let what = match needed {
            DELETE => "delete files",
            CREATE => "create files",
            _ => "change files",
        };
        return Err(format!("may not {what}: `{path}`; return that part to the parent"));
    };
    let Some(globs) = paths else { return Ok(()) };
    if both.iter().all(|p| globs.iter().any(|glob| matches(glob, p))) {
        return Ok(());
    }
    let list: Vec<String> = globs.iter().map(|g| format!("`{g}`")).collect();
    Err(format!("may not write `{path}`: only {}; return that part to the parent", list.join(", ")))
}

/// Most globs are whole folders.
fn matches(glob: &str, path: &str) -> bool {
    match glob.strip_suffix("/**").filter(|folder| !folder.contains(['*', '?'])) {
        Some(folder) => path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        None => glob::matches(glob, path),
    }
}
