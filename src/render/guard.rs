//! The compiled file of the guard, and what templates of hooks see.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::model::adapter::{Adapter, Hook, HookTool};
use crate::model::guard::words::{MISSING, REFUSED};
use crate::model::guard::{self, Answer, Compiled, Host, Scope, Spawn, Threshold};
use crate::model::policy::ContextChoice;
use crate::plan::narrow;
use crate::resolve::policy::Policy;

use super::Inputs;

/// What is wanted of the guard, whatever the host.
struct Wanted {
    roles: bool,
    commands: bool,
    domains: bool,
    history: bool,
    packet: Option<u64>,
    read: Option<u64>,
    context: IndexMap<Threshold, u8>,
    forbidden: Vec<Vec<String>>,
}

impl Wanted {
    fn of(inputs: &Inputs<'_>) -> Self {
        let policy = inputs.policy;
        let on = policy.settings.guard;
        let scopes = || policy.roles.iter().flat_map(|r| r.grants.values());
        let figure = |name: &str| policy.settings.budgets.get(name).and_then(|b| b.figure("target"));
        Self {
            roles: on.roles && !policy.roles.is_empty(),
            commands: on.roles && scopes().any(|s| s.commands.is_some()),
            domains: on.roles && scopes().any(|s| s.domains.is_some()),
            history: on.history && policy.settings.delegation_context != Some(ContextChoice::Full),
            packet: figure("delegation-packet").filter(|_| on.packets),
            read: figure("file-read").filter(|_| on.reads),
            context: if on.context { thresholds(policy) } else { IndexMap::new() },
            forbidden: policy.settings.forbidden.iter().filter(|_| on.commands).map(|f| f.words.clone()).collect(),
        }
    }

    /// Whether anything is to be decided of a tool of which the hook is told.
    fn wants(&self, hook: &Hook, tool: &guard::Tool) -> bool {
        let roles = self.roles && !hook.nameless;
        let writes = tool.path.is_some() || tool.patch.is_some();
        let copies = tool.spawn.as_ref().is_some_and(|s| !s.fresh.is_empty() || !s.copies.is_empty());
        roles && (writes || tool.spawn.is_some())
            || (roles && self.commands || !self.forbidden.is_empty()) && tool.command.is_some()
            || roles && self.domains && tool.url.is_some()
            || self.read.is_some() && tool.read.is_some() && !tool.range.is_empty()
            || tool.spawn.is_some() && (self.packet.is_some() || self.history && copies)
    }
}

/// Lowest first.
fn thresholds(policy: &Policy) -> IndexMap<Threshold, u8> {
    let known = [
        ("close-discovery", Threshold::CloseDiscovery),
        ("stop-delegating", Threshold::StopDelegating),
        ("hand-off", Threshold::HandOff),
    ];
    let own = &policy.settings.context;
    let mut all: IndexMap<Threshold, u8> =
        known.into_iter().filter_map(|(name, threshold)| Some((threshold, own.get(name)?.0))).collect();
    all.sort_by(|_, a, _, b| a.cmp(b));
    all
}

/// The compiled file; `None` when nothing is to be guarded on any host.
pub(super) fn compiled(inputs: &Inputs<'_>) -> Option<Compiled> {
    let wanted = Wanted::of(inputs);
    let policy = inputs.policy;
    let selected: Vec<&Adapter> = policy.hosts.iter().filter_map(|id| inputs.adapters.get(id)).collect();
    let hosts: IndexMap<String, Host> =
        selected.iter().filter_map(|adapter| Some((adapter.id.clone(), host(inputs, &wanted, adapter)?))).collect();
    (!hosts.is_empty()).then(|| Compiled {
        version: guard::VERSION,
        lock: format!("{}/{}", policy.dir, guard::LOCK_NAME),
        roles: wanted.roles,
        history: wanted.history,
        packet: wanted.packet,
        read: wanted.read,
        context: wanted.context.clone(),
        forbidden: wanted.forbidden.clone(),
        excluded: narrow::excluded(policy, &selected),
        signs: inputs.adapters.values().filter_map(|a| Some((a.hook.as_ref()?.sign.clone()?, a.id.clone()))).collect(),
        hosts,
    })
}

fn host(inputs: &Inputs<'_>, wanted: &Wanted, adapter: &Adapter) -> Option<Host> {
    let hook = adapter.hook.as_ref()?;
    let tools = tools(wanted, adapter, hook);
    let plan = inputs.plan.hosts.iter().find(|h| h.host == adapter.id)?;
    let catalogue = &inputs.policy.catalogue;
    let roles = plan.roles.iter().filter(|_| !hook.nameless).filter_map(|on_host| {
        let role = inputs.policy.roles.iter().find(|r| r.id == on_host.role)?;
        let scope = |s: &crate::resolve::policy::GrantScope| Scope {
            paths: s.paths.clone(),
            commands: s.commands.clone(),
            domains: s.domains.clone(),
        };
        let grants = role.grants.iter().map(|(cap, s)| (catalogue.name(*cap).to_owned(), scope(s))).collect();
        Some((on_host.name.clone(), guard::Role { grants, history: role.context == ContextChoice::Full }))
    });
    let usage = hook.context.as_ref().filter(|_| !wanted.context.is_empty()).map(|c| c.usage.clone());
    (!tools.is_empty() || usage.is_some()).then(|| Host {
        answer: hook.answer,
        borrowed: borrowed(hook, &tools),
        roles: roles.collect(),
        tools,
        usage,
    })
}

fn borrowed(hook: &Hook, tools: &IndexMap<String, guard::Tool>) -> IndexMap<String, Vec<String>> {
    let kept = |own: &[String]| own.iter().filter(|name| tools.contains_key(*name)).cloned().collect::<Vec<_>>();
    hook.borrowed.iter().map(|(name, own)| (name.clone(), kept(own))).filter(|(_, own)| !own.is_empty()).collect()
}

/// The tools of which something is to be decided, as the hook spells them.
fn tools(wanted: &Wanted, adapter: &Adapter, hook: &Hook) -> IndexMap<String, guard::Tool> {
    let all = hook.tools.iter().map(|(name, tool)| (name.clone(), self::tool(adapter, hook, name, tool)));
    all.filter(|(_, tool)| wanted.wants(hook, tool)).collect()
}

fn tool(adapter: &Adapter, hook: &Hook, name: &str, tool: &HookTool) -> guard::Tool {
    let own = tool.is.as_deref().unwrap_or(name);
    let call = &adapter.subagents.call;
    let spawn = (call.tool == own).then(|| Spawn {
        role: call.role.clone(),
        prompt: tool.prompt.clone().unwrap_or_else(|| call.prompt.clone()),
        fresh: call.extra.clone(),
        copies: hook.copies.clone(),
    });
    guard::Tool {
        covers: adapter.tools.get(own).map(|t| t.covers.clone()).unwrap_or_default(),
        path: tool.path.clone(),
        patch: tool.patch.clone(),
        command: tool.command.clone(),
        url: tool.url.clone(),
        read: tool.read.clone(),
        range: tool.range.clone(),
        spawn,
    }
}

/// `guard` of templates: the tools to be asked about, the commands that ask, and the one that tells of the context;
/// none when there is nothing of all that.
pub(super) fn see(inputs: &Inputs<'_>, adapter: &Adapter) -> Value {
    let Some(hook) = &adapter.hook else { return Value::Null };
    let wanted = Wanted::of(inputs);
    let tools: Vec<String> = tools(&wanted, adapter, hook).into_keys().collect();
    let context = hook.context.as_ref().filter(|_| !wanted.context.is_empty()).map(|_| context(adapter, hook));
    if tools.is_empty() && context.is_none() {
        return Value::Null;
    }
    json!({
        "tools": tools,
        "command": command(adapter, hook),
        "powershell": powershell(adapter, hook),
        "context": context,
    })
}

fn missing() -> String {
    format!(
        "{REFUSED}{MISSING}, so this call cannot be held against the policy: install it, or take its hook out of the settings of this program"
    )
}

fn root(hook: &Hook) -> String {
    hook.root.as_ref().map(|name| format!(" --root \"${name}\"")).unwrap_or_default()
}

/// Never holds anything up, whatever goes wrong. In braces for the same reason as [`command`].
fn context(adapter: &Adapter, hook: &Hook) -> String {
    format!(
        "{{ command -v rolecast >/dev/null && rolecast guard --context --host {}{} 2>/dev/null || exit 0; }}",
        adapter.id,
        root(hook)
    )
}

/// Ends with a refusal whatever goes wrong, also when there is no such program. In braces, because a host that writes
/// the question behind the command as a here-document would else hand it to the last part alone.
fn command(adapter: &Adapter, hook: &Hook) -> String {
    let root = root(hook);
    let missing = match hook.answer {
        Answer::Stderr => format!("echo '{}' >&2; exit 2", missing()),
        Answer::Decision => format!("echo '{}'; exit 0", guard::decision(&missing())),
    };
    let pass = hook.pass.as_ref().map(|text| format!(" echo '{text}';")).unwrap_or_default();
    format!(
        "{{ command -v rolecast >/dev/null || {{ {missing}; }}; rolecast guard --host {}{root} || exit 2;{pass} }}",
        adapter.id
    )
}

fn powershell(adapter: &Adapter, hook: &Hook) -> String {
    let missing = match hook.answer {
        Answer::Stderr => format!("[Console]::Error.WriteLine('{}'); exit 2", missing()),
        Answer::Decision => format!("'{}'; exit 0", guard::decision(&missing())),
    };
    format!(
        "if (-not (Get-Command rolecast -ErrorAction SilentlyContinue)) {{ {missing} }}; rolecast guard --host {}; if ($LASTEXITCODE -ne 0) {{ exit 2 }}",
        adapter.id
    )
}
