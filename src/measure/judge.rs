//! What a call means under the policy: which tool it is, what one uses that for, and whether a role may.

mod arguments;
mod known;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::Value;

use super::event::ToolName;
use super::format::Format;
use crate::guard::{command, patch};
use crate::model::adapter::{Adapter, HookTool};
use crate::model::composed::CountBudgetName;
use crate::plan::names;
use crate::resolve::counted::counted;
use crate::resolve::gateway;
use crate::resolve::{CapSet, Policy, Role};
use crate::text::glob;

use arguments::{argument, relative, short};
pub use known::Given;

/// The policy, with the names that hosts give its tools and roles.
pub struct Judge<'p> {
    /// The policy.
    pub policy: &'p Policy,
    hosts: BTreeMap<Format, Host<'p>>,
    unknown: Host<'p>,
    /// Tools of the gateway → the server and tool behind.
    behind: BTreeMap<String, (String, String)>,
    /// Servers that stand behind the host's own browser in the order of the policy.
    specialists: Vec<String>,
    work: CapSet,
    shell: CapSet,
    writes: CapSet,
    said: Option<u64>,
}

#[derive(Default)]
struct Host<'p> {
    adapter: Option<&'p Adapter>,
    /// A server's tool as the host spells it.
    tools: BTreeMap<String, (String, String)>,
    /// How the names of a server's tools begin, longest first.
    prefixes: Vec<(String, String)>,
    /// How those of any server begin.
    mcp: Option<String>,
    hook: BTreeMap<&'p str, &'p HookTool>,
    roles: BTreeMap<String, &'p Role>,
}

/// A tool, as far as it is known.
#[derive(Debug, Clone)]
pub struct Tool<'p> {
    /// `server/tool`, or the host's own name.
    pub label: String,
    /// The MCP server; behind the gateway, that one.
    pub server: Option<String>,
    /// How much is known of it.
    pub class: Class,
    /// What one uses it for.
    pub caps: CapSet,
    /// What having it makes possible.
    confers: CapSet,
    /// It starts an agent.
    pub starts: bool,
    /// The argument with the task of the agent that it starts.
    pub prompt: Option<&'p str>,
    /// The budget that counts what it gives.
    pub budget: Option<CountBudgetName>,
    hook: Option<&'p HookTool>,
}

/// How much is known of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The adapter or the policy says what it does.
    Known,
    /// The adapter says that it does nothing that is granted or denied.
    Inert,
    /// Nothing.
    Unclassified,
}

impl<'p> Judge<'p> {
    /// For a policy and all adapters.
    pub fn new(policy: &'p Policy, adapters: &'p IndexMap<String, Adapter>) -> Self {
        let mut hosts = BTreeMap::new();
        for adapter in adapters.values() {
            if let Some(sessions) = &adapter.sessions {
                hosts.entry(sessions.format).or_insert_with(|| Host::new(policy, adapter));
            }
        }
        let set = |names: &[&str]| {
            names.iter().filter_map(|n| policy.catalogue.matching(n)).fold(CapSet::EMPTY, CapSet::union)
        };
        let mut behind: BTreeMap<String, (String, String)> =
            gateway::names(&policy.servers, &policy.tools, &|server| policy.through(server, &[]))
                .into_iter()
                .map(|(name, server, tool)| (name, (server.name.clone(), tool.to_owned())))
                .collect();
        behind.extend(policy.tools.values().map(|t| (t.name.clone(), (t.server.clone(), t.tool.clone()))));
        let order = &policy.settings.browser_order;
        let own = order.iter().position(|name| name == "host");
        let specialists = own.map(|own| order.iter().skip(own + 1).cloned().collect()).unwrap_or_default();
        Self {
            policy,
            hosts,
            unknown: Host::default(),
            behind,
            specialists,
            work: set(&["repo.*", "shell.run", "runtime.run", "browser.*", "image.view"]),
            shell: set(&["shell.run", "runtime.run"]),
            writes: set(&["repo.edit", "repo.create", "repo.delete"]),
            said: None,
        }
    }

    /// With the size of the context, in tokens, for logs that do not have it.
    pub fn with_window(self, said: Option<u64>) -> Self {
        Self { said, ..self }
    }

    /// What the user says of it.
    pub const fn said(&self) -> Option<u64> {
        self.said
    }

    fn host(&self, format: Format) -> &Host<'p> {
        self.hosts.get(&format).unwrap_or(&self.unknown)
    }

    /// What the host that writes such logs is called.
    pub fn title(&self, format: Format) -> &str {
        self.host(format).adapter.map_or("the gateway", |a| a.title.as_str())
    }

    /// The host that writes such logs.
    pub fn host_id(&self, format: Format) -> &str {
        self.host(format).adapter.map_or("gateway", |a| a.id.as_str())
    }

    /// Whether a result says that the host or a rule refused the call.
    pub fn refused(&self, format: Format, text: &str) -> bool {
        let said = self.host(format).adapter.and_then(|a| a.verify.as_ref()).map(|v| v.refusals.as_slice());
        said.unwrap_or_default().iter().any(|refusal| text.contains(refusal.as_str()))
    }

    /// The role that the host knows under a name.
    pub fn role(&self, format: Format, name: &str) -> Option<&'p Role> {
        let known = self.host(format).roles.get(name).copied();
        known.or_else(|| self.policy.roles.iter().find(|r| r.id == name))
    }

    /// The tool of a name. Names are compared with those that the host gives to known tools and servers, longest
    /// first; they are never taken apart at a separator, which may be part of either half.
    pub fn tool(&self, format: Format, name: &ToolName) -> Tool<'p> {
        let host = self.host(format);
        if let Some((server, tool)) = &name.server {
            return self.of_server(server, tool);
        }
        if format == Format::Gateway {
            return self.of_server(gateway::NAME, &name.name);
        }
        if let Some(native) = host.native(self.policy, &name.name) {
            return native;
        }
        if let Some((server, tool)) = host.tools.get(&name.name) {
            return self.of_server(server, tool);
        }
        let of = |(prefix, server): &(String, String)| {
            Some((server.clone(), name.name.strip_prefix(prefix.as_str())?.to_owned()))
        };
        if let Some((server, tool)) = host.prefixes.iter().find_map(of) {
            return self.of_server(&server, &tool);
        }
        let foreign = host.mcp.as_ref().is_some_and(|p| name.name.starts_with(p.as_str()));
        Tool {
            label: name.name.clone(),
            // Which server it is cannot be told.
            server: foreign.then(|| "?".to_owned()),
            class: Class::Unclassified,
            caps: CapSet::EMPTY,
            confers: CapSet::EMPTY,
            starts: false,
            prompt: None,
            budget: None,
            hook: None,
        }
    }

    fn of_server(&self, server: &str, tool: &str) -> Tool<'p> {
        // A role's own gateway, or that of one risk, shows a part of the same tools.
        let server = if gateway::is(server) { gateway::NAME } else { server };
        let declared = self.policy.offered().find(|s| s.name == server);
        let found = declared.and_then(|s| s.tools.get(tool).or_else(|| folded(s, tool)));
        let behind = (server == gateway::NAME).then(|| self.behind.get(tool)).flatten();
        Tool {
            label: format!("{server}/{tool}"),
            server: Some(behind.map_or_else(|| server.to_owned(), |(server, _)| server.clone())),
            class: if found.is_some() { Class::Known } else { Class::Unclassified },
            caps: found.map_or(CapSet::EMPTY, |t| t.covers),
            confers: found.map_or(CapSet::EMPTY, |t| t.confers),
            starts: false,
            prompt: None,
            budget: found.and_then(|t| {
                let limited = t.bounds.limit_argument.is_some();
                counted(t.bounds.budget, limited, t.covers, &self.policy.catalogue)
            }),
            hook: None,
        }
    }

    /// Whether what a tool does is not seen through: it runs programs.
    pub fn runs(&self, tool: &Tool<'_>) -> bool {
        !tool.caps.and(self.shell).is_empty()
    }

    /// The name of a tool of the gateway, as the gateway has it; `None` = it is no tool of it.
    pub fn gateways<'n>(&self, format: Format, name: &'n ToolName, tool: &'n Tool<'_>) -> Option<&'n str> {
        match format {
            Format::Gateway => Some(&name.name),
            _ => tool.label.strip_prefix(gateway::NAME)?.strip_prefix('/'),
        }
    }

    /// Whether a call is work on the task: a file read, searched or changed, a command, a page.
    pub fn works(&self, tool: &Tool<'_>) -> bool {
        !tool.caps.and(self.work).is_empty()
    }

    /// Whether a tool has a capability that `matches` says yes to.
    pub fn has(&self, tool: &Tool<'_>, matches: impl Fn(&str) -> bool) -> bool {
        tool.caps.iter().any(|cap| matches(self.policy.catalogue.name(cap)))
    }

    /// Whether a tool is of a browser server that needs a recorded reason.
    pub fn specialist(&self, tool: &Tool<'_>) -> bool {
        self.policy.settings.record_reason && tool.server.as_ref().is_some_and(|s| self.specialists.contains(s))
    }

    /// Why a call is outside of what a role is granted; `None` = it is not, as far as the log tells.
    pub fn outside(
        &self,
        role: &Role,
        tool: &Tool<'_>,
        arguments: Option<&Value>,
        folder: Option<&str>,
    ) -> Option<String> {
        // A tool that covers nothing is judged by what it makes possible.
        let used = if tool.caps.is_empty() { tool.confers } else { tool.caps };
        let granted = used.and(role.granted());
        match tool.class {
            Class::Inert => return None,
            Class::Unclassified => return Some("nothing is known of the tool".to_owned()),
            Class::Known if granted.is_empty() => {
                let names: Vec<&str> = used.iter().take(4).map(|cap| self.policy.catalogue.name(cap)).collect();
                return Some(format!("not granted: {}", names.join(", ")));
            }
            Class::Known => {}
        }
        let (hook, arguments) = (tool.hook?, arguments?);
        self.command(role, granted, hook, arguments).or_else(|| self.paths(role, granted, hook, arguments, folder))
    }

    fn command(&self, role: &Role, granted: CapSet, hook: &HookTool, arguments: &Value) -> Option<String> {
        // A host whose shell also reads cannot be held to commands.
        if !granted.within(self.shell) {
            return None;
        }
        let prefixes = granted.iter().find_map(|cap| role.grants.get(&cap)?.commands.as_ref())?;
        let line = argument(arguments, hook.command.as_deref()?)?;
        (command::allowed(line, prefixes) == Some(false)).then(|| format!("`{}` is not granted", short(line)))
    }

    fn paths(
        &self,
        role: &Role,
        granted: CapSet,
        hook: &HookTool,
        arguments: &Value,
        folder: Option<&str>,
    ) -> Option<String> {
        let granted = granted.and(self.writes);
        let scopes: Vec<&Vec<String>> =
            granted.iter().filter_map(|cap| role.grants.get(&cap)?.paths.as_ref()).collect();
        // A grant without paths reaches all of them.
        if granted.is_empty() || scopes.len() < granted.len() as usize {
            return None;
        }
        let patched = hook.patch.as_ref().map(|key| argument(arguments, key).or_else(|| argument(arguments, "input")));
        let patched = patched.flatten().map(patch::files).unwrap_or_default();
        let one = hook.path.as_ref().and_then(|key| argument(arguments, key));
        let mut paths = patched.into_iter().map(|(_, path)| path).chain(one);
        let outside = paths.find(|path| {
            let within = relative(path, folder);
            !within.is_some_and(|p| scopes.iter().any(|globs| globs.iter().any(|g| glob::matches(g, &p))))
        })?;
        Some(format!("`{}` is not in the granted paths", short(outside)))
    }
}

impl<'p> Host<'p> {
    fn new(policy: &'p Policy, adapter: &'p Adapter) -> Self {
        let naming = &adapter.names.tool;
        let mut host = Self { adapter: Some(adapter), ..Self::default() };
        let mut prefixes = Vec::new();
        let own = adapter.mcp.iter().flat_map(|mcp| mcp.per_role.values());
        let of_roles = own.flat_map(|own| policy.roles.iter().filter_map(|role| own.entry(&role.id)));
        let gateways: Vec<String> =
            policy.given_on(&adapter.id).map(|s| s.name.clone()).chain(of_roles).filter(|n| gateway::is(n)).collect();
        for server in policy.offered() {
            let also = gateways.iter().filter(|_| server.name == gateway::NAME);
            for entry in std::iter::once(&server.name).chain(also) {
                for tool in server.tools.keys() {
                    if let Ok(name) = names::tool(naming, entry, tool) {
                        host.tools.insert(name, (server.name.clone(), tool.clone()));
                    }
                }
                if let Ok(prefix) = names::tool(naming, entry, "") {
                    prefixes.push((prefix, server.name.clone()));
                }
            }
        }
        prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        host.prefixes = prefixes;
        let before = naming.join.split("{server}").next().unwrap_or_default();
        host.mcp = (!before.is_empty()).then(|| before.to_owned());
        for (name, tool) in adapter.hook.iter().flat_map(|h| &h.tools) {
            host.hook.insert(tool.is.as_deref().unwrap_or(name), tool);
        }
        for role in &policy.roles {
            if let Ok(name) = names::role(&adapter.names.role, &role.id) {
                host.roles.insert(name, role);
            }
        }
        host
    }

    fn native(&self, policy: &Policy, name: &str) -> Option<Tool<'p>> {
        let adapter = self.adapter?;
        let hook = self.hook.get(name).copied();
        let starts = adapter.subagents.call.tool == name;
        let tool = |class, caps, confers, budget| Tool {
            label: name.to_owned(),
            server: None,
            class,
            caps,
            confers,
            starts,
            prompt: starts.then_some(adapter.subagents.call.prompt.as_str()),
            budget,
            hook,
        };
        if adapter.inert.iter().any(|i| i == name) {
            return Some(tool(Class::Inert, CapSet::EMPTY, CapSet::EMPTY, None));
        }
        let known = adapter.tools.get(name)?;
        let set = |names: &[String]| names.iter().filter_map(|cap| policy.catalogue.find(cap)).collect::<CapSet>();
        let mut covers = set(&known.covers);
        // Where no role can be granted it, the main agent still starts agents with it.
        if starts {
            covers = covers.union(set(&["agent.spawn".to_owned()]));
        }
        let budget = counted(known.budget, false, covers, &policy.catalogue);
        Some(tool(Class::Known, covers, covers.union(set(&known.confers)), budget))
    }
}

/// Some hosts put other characters for those that a model's API does not take.
fn folded<'s>(
    server: &'s crate::resolve::policy::Server,
    tool: &str,
) -> Option<&'s crate::resolve::policy::ServerTool> {
    let fold =
        |name: &str| -> String { name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect() };
    let wanted = fold(tool);
    let mut alike = server.tools.iter().filter(|(name, _)| fold(name) == wanted);
    let found = alike.next()?;
    alike.next().is_none().then_some(found.1)
}
