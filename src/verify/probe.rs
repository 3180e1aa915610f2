//! The script of one run: the main agent starts a role, and the role tries what it may not.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::model::adapter::{Adapter, Driver, ToolCall};

use super::model::{Call, Input, Look, Rule, Script, Step};
use super::place::{self, Place};

/// Tells the main agent's conversation.
pub const MAIN: &str = "rolecast_try_main";
/// Tells the role's.
pub const ROLE: &str = "rolecast_try_role";
/// Tells that of an agent which the role starts.
pub const SPAWNED: &str = "rolecast_try_spawn";
/// Folder of the files that are tried.
pub const FOLDER: &str = "rolecast-probe";
/// What `{old}` files hold.
pub const UNTOUCHED: &str = "untouched\n";

/// By what one sees that a call did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A file exists, relative to the root.
    Made(String),
    /// A file holds something else than this, or is gone.
    Changed(String, String),
    /// Somebody asked for a path of the server.
    Asked(String),
    /// Another agent asked the model something.
    Spawned,
    /// One does not see it.
    Unseen,
}

/// One try in a role's script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    /// Index in the driver's attempts.
    pub attempt: usize,
    /// Where it writes, for calls that do.
    pub place: Place,
    /// Which result of the conversation answers it.
    pub result: usize,
    /// By what one sees it.
    pub effect: Effect,
}

/// The script of a run and what to look for afterwards.
#[derive(Debug, Clone)]
pub struct Probe {
    /// For the server.
    pub script: Script,
    /// What the role tries.
    pub tries: Vec<Try>,
    /// Which result lists nested tools.
    pub listing: Option<usize>,
    /// Files to put there first, relative to the root.
    pub files: Vec<String>,
    /// Links to put there, with where they lead.
    pub links: Vec<(String, String)>,
    /// The rule by which the role's conversation is told.
    pub role: &'static str,
}

/// The role of a run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// As the host spells it.
    pub name: String,
    /// Its file, relative to the root.
    pub file: String,
    /// What that holds.
    pub text: String,
    /// Whether it is the main agent; else the main agent starts it.
    pub main: bool,
    /// Paths of its scoped grants, by capability.
    pub scopes: IndexMap<String, Vec<String>>,
}

/// Builds the run for a role.
pub fn probe(adapter: &Adapter, driver: &Driver, subject: &Subject, root: &str, url: &str) -> Probe {
    let mut role = Conversation { driver, values: base(root, url), steps: Vec::new() };
    role.values.insert("{own}".into(), subject.file.clone());
    role.values.insert("{name}".into(), subject.name.clone());
    let listing = driver.nested.as_ref().map(|nested| {
        role.push(Call { name: nested.tool.clone(), input: Input::Text(nested.list.clone()) });
        0
    });
    let mut tries = Vec::new();
    let mut files = Vec::new();
    let mut links = Vec::new();
    for (attempt, tried) in driver.attempts.iter().enumerate() {
        let kind = kind(&tried.call);
        role.values.insert("{probe}".into(), format!("{url}/probe/{attempt}"));
        let scope = tried.tries.iter().find_map(|c| subject.scopes.get(c)).filter(|_| kind.writes());
        for spot in place::spots(scope.map(Vec::as_slice), &format!("{attempt}")) {
            role.values.insert("{new}".into(), spot.given.clone());
            role.values.insert("{old}".into(), spot.given.clone());
            for before in &tried.before {
                role.call(before);
            }
            if kind == Kind::Change {
                files.push(spot.real.clone());
            }
            links.extend(spot.link.filter(|l| !links.contains(l)));
            let effect = kind.effect(attempt, spot.real, subject);
            tries.push(Try { attempt, place: spot.place, result: role.steps.len(), effect });
            role.call(&tried.call);
        }
    }
    if let Some(finish) = &driver.finish {
        role.call(finish);
    }
    role.steps.push(says("Done."));
    let rule = |text: &str, steps| Rule {
        name: text.to_owned(),
        look: Look::User,
        text: text.to_owned(),
        needs_tools: true,
        steps,
    };
    let mut further = Conversation { driver, values: base(root, url), steps: Vec::new() };
    if let Some(finish) = &driver.finish {
        further.call(finish);
    }
    further.steps.push(says("Done."));
    // A child that was given its parent's history is no role of its own: the parent's rule stands first.
    let rules = if subject.main {
        vec![rule(MAIN, role.steps), rule(SPAWNED, further.steps)]
    } else {
        let parent = parent(adapter, driver, &subject.name, root, url);
        vec![rule(MAIN, parent), rule(SPAWNED, further.steps), rule(ROLE, role.steps)]
    };
    let role = if subject.main { MAIN } else { ROLE };
    Probe { script: Script { rules, otherwise: "ok".to_owned() }, tries, listing, files, links, role }
}

fn parent(adapter: &Adapter, driver: &Driver, name: &str, root: &str, url: &str) -> Vec<Step> {
    let call = &adapter.subagents.call;
    let mut values = base(root, url);
    values.insert("{task}".into(), ROLE.to_owned());
    let mut args: IndexMap<String, Value> = driver.spawn.clone();
    args.extend(call.extra.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))));
    args.insert(call.role.clone(), Value::String(name.to_owned()));
    args.insert(call.prompt.clone(), Value::String(ROLE.to_owned()));
    let mut main = Conversation { driver, values, steps: Vec::new() };
    if let Some(flood) = &driver.flood {
        main.call(flood);
    }
    main.call(&ToolCall { tool: call.tool.clone(), args, input: None });
    for wait in &driver.wait {
        main.call(wait);
    }
    main.steps.push(says("Done."));
    main.steps
}

fn base(root: &str, url: &str) -> IndexMap<String, String> {
    [("{root}", root), ("{url}", url), ("{spawn}", SPAWNED)]
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), calls: Vec::new() }
}

/// What a call does, told by what it mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Make,
    Change,
    ChangeOwn,
    Ask,
    Spawn,
    Unseen,
}

fn kind(call: &ToolCall) -> Kind {
    let said = format!("{:?} {:?}", call.args, call.input);
    let kinds = [
        ("{new}", Kind::Make),
        ("{old}", Kind::Change),
        ("{own}", Kind::ChangeOwn),
        ("{probe}", Kind::Ask),
        ("{spawn}", Kind::Spawn),
    ];
    kinds.into_iter().find(|(name, _)| said.contains(name)).map_or(Kind::Unseen, |(_, kind)| kind)
}

impl Kind {
    const fn writes(self) -> bool {
        matches!(self, Self::Make | Self::Change)
    }

    fn effect(self, attempt: usize, file: String, subject: &Subject) -> Effect {
        match self {
            Self::Make => Effect::Made(file),
            Self::Change => Effect::Changed(file, UNTOUCHED.to_owned()),
            Self::ChangeOwn => Effect::Changed(subject.file.clone(), subject.text.clone()),
            Self::Ask => Effect::Asked(format!("/probe/{attempt}")),
            Self::Spawn => Effect::Spawned,
            Self::Unseen => Effect::Unseen,
        }
    }
}

struct Conversation<'a> {
    driver: &'a Driver,
    values: IndexMap<String, String>,
    steps: Vec<Step>,
}

impl Conversation<'_> {
    fn push(&mut self, call: Call) {
        self.steps.push(Step { text: None, calls: vec![call] });
    }

    /// Adds a call; one of a nested tool goes through the tool that holds it.
    fn call(&mut self, call: &ToolCall) {
        let input = match &call.input {
            Some(text) => Input::Text(fill(text, &self.values)),
            None => {
                let args: Map<String, Value> =
                    call.args.iter().map(|(k, v)| (k.clone(), filled(v, &self.values))).collect();
                Input::Arguments(args)
            }
        };
        let name = call.tool.clone();
        let nested = self.driver.nested.as_ref().filter(|n| n.tool != name && !name.contains('.'));
        let call = match nested {
            Some(nested) => {
                let args = match input {
                    Input::Text(text) => Value::String(text),
                    Input::Arguments(map) => Value::Object(map),
                };
                let script = nested.call.replace("{tool}", &name).replace("{args}", &args.to_string());
                Call { name: nested.tool.clone(), input: Input::Text(script) }
            }
            None => Call { name, input },
        };
        self.push(call);
    }
}

/// Puts values in the places of their names.
pub fn fill(text: &str, values: &IndexMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

fn filled(value: &Value, values: &IndexMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, values)),
        other => other.clone(),
    }
}
