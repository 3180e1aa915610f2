//! The command that starts a role as a process of its own, made when it is started.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::diag::{Code, Diagnostic, Sink};

use super::engine::Engine;
use super::texts::{Texts, template_failed, template_path};
use super::{Inputs, bodies, commands, fields};

/// Where and for what a process is started.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Scene<'a> {
    /// The repository, absolute.
    pub root: &'a str,
    /// The private folder of this run, absolute.
    pub dir: &'a str,
    /// The prompt of a run without a person.
    pub packet: Option<&'a str>,
}

/// What a process is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Command {
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides those of the user.
    #[serde(default)]
    pub env: IndexMap<String, String>,
    /// Files of the private folder, by name.
    #[serde(default)]
    pub files: IndexMap<String, String>,
}

/// What the template sees.
#[derive(Serialize)]
struct Context<'a> {
    role: fields::Fields<'a>,
    commands: serde_json::Value,
    #[serde(flatten)]
    scene: Scene<'a>,
}

/// Makes the command of `role` on `host` in `form`; reports why there is none.
pub fn launch(
    inputs: &Inputs<'_>,
    host: &str,
    role: &str,
    form: &str,
    scene: Scene<'_>,
    sink: &mut Sink,
) -> Option<Command> {
    let adapter = inputs.adapters.get(host)?;
    let launch = adapter.forms.get(form)?.launch.as_ref()?;
    let on_host = inputs.plan.hosts.iter().find(|h| h.host == host)?.roles.iter().find(|r| r.role == role)?;
    let plan = on_host.forms.iter().find(|f| f.form == form)?;
    let delivery = inputs.plan.delivery.hosts.iter().find(|d| d.host == host)?;
    let (index, role) = inputs.policy.roles.iter().enumerate().find(|(_, r)| r.id == role)?;
    let texts = Texts::new(inputs, sink);
    let own = bodies::own(inputs, &texts, sink);
    let body = bodies::whole(own.get(index)?, &bodies::carried(inputs, &texts, delivery, adapter));
    let name = format!("{host}/{}", launch.template);
    let text = inputs.templates.get(&name).map_or("", String::as_str);
    let (engine, problems) = Engine::new([(name.as_str(), text)]);
    for (_, problem) in &problems {
        sink.push(template_failed(inputs.sources, host, &launch.template, problem));
    }
    if !problems.is_empty() {
        return None;
    }
    let context = Context {
        role: fields::role(inputs, adapter, role, &on_host.name, plan, &body),
        commands: commands::of_launch(inputs.policy, adapter),
        scene,
    };
    let made = match engine.render(&name, &context) {
        Ok(text) => serde_json::from_str(&text),
        Err(problem) => {
            sink.push(template_failed(inputs.sources, host, &launch.template, &problem));
            return None;
        }
    };
    made.inspect_err(|error| {
        let path = template_path(inputs.sources, host, &launch.template);
        sink.push(
            Diagnostic::new(Code::RenderFailed, format!("template `{name}` makes no command: {error}"))
                .path(path)
                .help("let it print one JSON object with `args`, and `env` or `files` where needed; `| json` quotes a value"),
        );
    })
    .ok()
}
