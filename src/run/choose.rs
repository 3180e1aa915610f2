//! Which host starts a role, and in which form.

use crate::compile::Compiled;
use crate::model::adapter::{Adapter, Form, Output, Program};
use crate::plan::RoleOnHost;
use crate::plan::role::RolePlan;
use crate::resolve::policy::Role;
use crate::text::suggest::nearest;

/// What is started.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// The role.
    pub role: &'a Role,
    /// The host.
    pub adapter: &'a Adapter,
    /// Its program.
    pub program: &'a Program,
    /// The role there.
    pub on_host: &'a RoleOnHost,
    /// The form.
    pub form: &'a Form,
    /// What is planned for it.
    pub plan: &'a RolePlan,
}

/// Why nothing is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One line.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl<'a> Choice<'a> {
    /// The outputs that make the form.
    pub fn outputs(&self) -> impl Iterator<Item = &'a Output> {
        let other = self.form.same_as.as_ref().filter(|_| self.form.outputs.is_empty());
        let form = other.and_then(|o| self.adapter.forms.get(o)).unwrap_or(self.form);
        form.outputs.iter().filter_map(|id| self.adapter.outputs.get(id))
    }
}

/// Chooses: the host that was named, else the only one that can start the role.
///
/// # Errors
/// An unknown role or host, a host that cannot start a role, or several that can.
pub fn choose<'a>(compiled: &'a Compiled, role: &str, host: Option<&str>) -> Result<Choice<'a>, Refusal> {
    let (Some(policy), Some(plan)) = (&compiled.policy, &compiled.plan) else {
        return refuse("the policy was not compiled", "run `rolecast check`");
    };
    let Some(found) = policy.roles.iter().find(|r| r.id == role) else {
        return unknown("role", role, policy.roles.iter().map(|r| r.id.as_str()).collect());
    };
    if let Some(host) = host
        && !policy.hosts.iter().any(|h| h == host)
    {
        return unknown("host", host, policy.hosts.iter().map(String::as_str).collect());
    }
    let named = |id: &str| host.is_none_or(|h| h == id);
    let adapters = plan.hosts.iter().filter(|h| named(&h.host));
    let choices = adapters.filter_map(|planned| {
        let adapter = compiled.loaded.adapters.get(&planned.host)?;
        let on_host = planned.roles.iter().find(|r| r.role == role)?;
        of(adapter, on_host, found)
    });
    let choices: Vec<Choice<'a>> = choices.collect();
    match (choices.as_slice(), host) {
        ([choice], _) => Ok(*choice),
        ([], Some(host)) => {
            let title = compiled.loaded.adapters.get(host).map_or(host, |a| a.title.as_str());
            refuse(
                format!("{title} has no form of a role that can be started"),
                "its roles are started from a session of it",
            )
        }
        ([], None) => refuse("no selected host has a form of a role that can be started", "see `rolecast hosts`"),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|c| c.adapter.id.as_str()).collect();
            refuse(
                format!("several hosts can start `{role}`: {}", names.join(", ")),
                format!("name one: `rolecast run {role} --host {}`", names.first().copied().unwrap_or_default()),
            )
        }
    }
}

/// The first form of the adapter that can be started.
fn of<'a>(adapter: &'a Adapter, on_host: &'a RoleOnHost, role: &'a Role) -> Option<Choice<'a>> {
    let program = adapter.program.as_ref()?;
    let (name, form) = adapter.forms.iter().find(|(_, f)| f.launch.is_some())?;
    let plan = on_host.forms.iter().find(|f| f.form == *name)?;
    Some(Choice { role, adapter, program, on_host, form, plan })
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { message: message.into(), help: help.into() })
}

fn unknown<T>(what: &str, name: &str, all: Vec<&str>) -> Result<T, Refusal> {
    let help = match nearest(name, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has: {}", all.join(", ")),
    };
    refuse(format!("the policy has no {what} `{name}`"), help)
}
