//! The script of one run: the main agent starts a role, and the role tries what it may not.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::model::adapter::{Adapter, Driver, ToolCall};
use crate::model::guard::words::{MISSING, REFUSED};

use super::model::{Call, Input, Look, Rule, Script, Step, Wait};
use super::place::{self, Place};
use super::tryout::Record;

/// Tells the main agent's conversation.
pub const MAIN: &str = "rolecast_try_main";
/// Tells the role's.
pub const ROLE: &str = "rolecast_try_role";
/// Tells that of an agent which the role starts.
pub const SPAWNED: &str = "rolecast_try_spawn";
/// Tells that of an agent which a packet over its target starts.
pub const PACKET: &str = "rolecast_try_packet";
/// Folder of the files that are tried.
pub const FOLDER: &str = "rolecast-probe";
/// The file that is read where what is read does not matter but its length.
pub const LONG: &str = "rolecast-probe/long.txt";
/// What `{old}` files hold.
pub const UNTOUCHED: &str = "untouched\n";

/// By what one sees that a call did something.
#[derive(Debug, Clone)]
pub enum Effect {
    /// A file exists, relative to the root.
    Made(String),
    /// A file holds something else than this, or is gone.
    Changed(String, String),
    /// Somebody asked for a path of the server.
    Asked(String),
    /// Another agent asked the model something.
    Spawned,
    /// A tool of the server for trials was called.
    Called(Record, &'static str),
    /// It was answered, and not with a refusal.
    Passed,
    /// One does not see it.
    Unseen,
}

/// One try in a role's script.
#[derive(Debug, Clone)]
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
    /// How many results the main agent and the role have after they read the touched files.
    pub touched: (usize, usize),
    /// Files to put there first, relative to the root.
    pub files: Vec<String>,
    /// Links to put there, with where they lead.
    pub links: Vec<(String, String)>,
    /// Which results of the main agent answer the tries of budgets: over, and within.
    pub budgets: Vec<(usize, Option<usize>)>,
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
    /// Domains of its grant to fetch addresses.
    pub domains: Vec<String>,
    /// Files that only the grant of the policy gives, with their texts.
    pub kept: Vec<(String, String)>,
    /// Files that are read first.
    pub touched: Vec<String>,
    /// What is over the budgets; none = they are not tried.
    pub over: Option<Over>,
}

/// What is over the budgets that a hook can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// A file that is too long for a first read, relative to the root.
    pub long: String,
    /// Bytes of a packet.
    pub packet: usize,
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
    let role_touched = role.touch(&subject.touched);
    let mut tries = Vec::new();
    let mut files = if driver.touch.is_some() { subject.touched.clone() } else { Vec::new() };
    let mut links = Vec::new();
    for (attempt, tried) in driver.attempts.iter().enumerate() {
        let kind = kind(&tried.call);
        role.values.insert("{probe}".into(), format!("{url}/probe/{attempt}"));
        let mut add = |role: &mut Conversation<'_>, place, effect| {
            for before in &tried.before {
                role.call(before);
            }
            tries.push(Try { attempt, place, result: role.steps.len(), effect });
            role.call(&tried.call);
        };
        if kind == Kind::ChangeKept {
            for (file, text) in &subject.kept {
                let Some(line) = telling(text) else { continue };
                role.values.insert("{kept}".into(), file.clone());
                role.values.insert("{line}".into(), line.to_owned());
                add(&mut role, Place::Kept, Effect::Changed(file.clone(), text.clone()));
            }
            continue;
        }
        let scope = tried.tries.iter().find_map(|c| subject.scopes.get(c)).filter(|_| kind.writes());
        let relative = (!absolute(&tried.call)).then_some(root);
        for spot in place::spots(scope.map(Vec::as_slice), &format!("{attempt}"), relative) {
            role.values.insert("{new}".into(), spot.given.clone());
            role.values.insert("{old}".into(), spot.given.clone());
            if kind == Kind::Change {
                files.push(spot.real.clone());
            }
            links.extend(spot.link.filter(|l| !links.contains(l)));
            add(&mut role, spot.place, kind.effect(attempt, spot.real, subject));
        }
        // Nobody answers there: whoever asks ends at the stand-in for a proxy.
        if let (Kind::Ask, Some(domain)) = (kind, subject.domains.first()) {
            role.values.insert("{probe}".into(), format!("https://{}/", domain.replacen('*', "rolecast", 1)));
            add(&mut role, Place::Inside, Effect::Passed);
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
    let mut touched = (role_touched, role_touched);
    let mut budgets = Vec::new();
    let rules = if subject.main {
        vec![rule(MAIN, role.steps), rule(SPAWNED, further.steps)]
    } else {
        let parent = parent(adapter, driver, subject, root, url);
        touched.0 = parent.touched;
        budgets = parent.budgets;
        let packet = rule(PACKET, further.steps.clone());
        vec![rule(MAIN, parent.steps), rule(SPAWNED, further.steps), packet, rule(ROLE, role.steps)]
    };
    let role = if subject.main { MAIN } else { ROLE };
    let script = Script { rules, otherwise: "ok".to_owned() };
    Probe { script, tries, listing, touched, files, links, budgets, role }
}

/// A script in which the main agent's shell is to run `lines`, one call each.
pub fn shell(driver: &Driver, call: &ToolCall, lines: &[String]) -> Script {
    let mut main = Conversation { driver, values: IndexMap::new(), steps: Vec::new() };
    for line in lines {
        main.values.insert("{command}".into(), line.clone());
        main.call(call);
    }
    main.steps.push(says("Done."));
    let (name, text) = (MAIN.to_owned(), MAIN.to_owned());
    let rule = Rule { name, look: Look::User, text, needs_tools: true, steps: main.steps };
    Script { rules: vec![rule], otherwise: "ok".to_owned() }
}

/// The steps of a conversation that makes these calls one after the other and then says something.
pub fn conversation(driver: &Driver, values: IndexMap<String, String>, calls: &[ToolCall], last: &str) -> Vec<Step> {
    let mut talk = Conversation { driver, values, steps: Vec::new() };
    calls.iter().for_each(|call| talk.call(call));
    talk.steps.push(says(last));
    talk.steps
}

/// The call that starts the agent `name` with `prompt` as its task.
pub fn start(adapter: &Adapter, driver: &Driver, name: &str, prompt: &str) -> ToolCall {
    let call = &adapter.subagents.call;
    let mut args: IndexMap<String, Value> = driver.spawn.clone();
    args.extend(call.extra.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))));
    args.insert(call.role.clone(), Value::String(name.to_owned()));
    args.insert(call.prompt.clone(), Value::String(prompt.to_owned()));
    ToolCall { tool: call.tool.clone(), args, input: None }
}

/// The rule `name` for a conversation told by its name, which makes `calls` one after another, in the folder `root` with
/// the file `LONG`; a shell does nothing.
pub fn calling(driver: &Driver, name: &str, root: &str, calls: &[ToolCall]) -> Rule {
    let values = [("{spawn}", SPAWNED), ("{task}", ROLE), ("{root}", root), ("{long}", LONG), ("{command}", "true")];
    let values = values.map(|(k, v)| (k.to_owned(), v.to_owned())).into_iter().collect();
    let mut own = Conversation { driver, values, steps: Vec::new() };
    calls.iter().for_each(|call| own.call(call));
    own.steps.push(says("Done."));
    let (name, text) = (name.to_owned(), name.to_owned());
    Rule { name, look: Look::User, text, needs_tools: true, steps: own.steps }
}

/// The main agent's conversation.
struct Parent {
    steps: Vec<Step>,
    touched: usize,
    budgets: Vec<(usize, Option<usize>)>,
}

fn parent(adapter: &Adapter, driver: &Driver, subject: &Subject, root: &str, url: &str) -> Parent {
    let mut values = base(root, url);
    values.insert("{task}".into(), ROLE.to_owned());
    let mut main = Conversation { driver, values, steps: Vec::new() };
    if let Some(flood) = &driver.flood {
        main.call(flood);
    }
    let budgets = subject.over.as_ref().map(|over| main.budgets(over, &subject.name)).unwrap_or_default();
    let touched = main.touch(&subject.touched);
    main.call(&start(adapter, driver, &subject.name, ROLE));
    for wait in &driver.wait {
        main.call(wait);
    }
    main.steps.push(says("Done."));
    Parent { steps: main.steps, touched, budgets }
}

fn base(root: &str, url: &str) -> IndexMap<String, String> {
    [("{root}", root), ("{url}", url), ("{spawn}", SPAWNED)]
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), ..Step::default() }
}

/// What a call does, told by what it mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Make,
    Change,
    ChangeOwn,
    ChangeKept,
    Ask,
    Spawn,
    Unseen,
}

fn said(call: &ToolCall) -> String {
    format!("{:?} {:?}", call.args, call.input)
}

/// Whether a call itself makes its path absolute.
fn absolute(call: &ToolCall) -> bool {
    said(call).contains("{root}/")
}

/// The longest line that stands in a text once: by it a part of the file can be told.
fn telling(text: &str) -> Option<&str> {
    let once = |line: &&str| !line.trim().is_empty() && text.matches(*line).count() == 1;
    text.lines().filter(once).max_by_key(|l| l.len())
}

fn kind(call: &ToolCall) -> Kind {
    let said = said(call);
    let kinds = [
        ("{new}", Kind::Make),
        ("{old}", Kind::Change),
        ("{own}", Kind::ChangeOwn),
        ("{kept}", Kind::ChangeKept),
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
            // Each of those files has an effect of its own.
            Self::ChangeKept | Self::Unseen => Effect::Unseen,
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
        self.steps.push(Step { calls: vec![call], ..Step::default() });
    }

    /// Adds a call.
    fn call(&mut self, call: &ToolCall) {
        let step = Step { calls: vec![self.made(call)], wait: self.waiting(call), ..Step::default() };
        self.steps.push(step);
    }

    /// How one waits with `call`, if that is what it does.
    fn waiting(&self, call: &ToolCall) -> Option<Wait> {
        let waited = self.driver.waited.as_ref()?;
        self.driver.wait.iter().find(|wait| wait.tool == call.tool)?;
        let refusals = self.driver.refusals.iter().map(String::as_str).chain([REFUSED, MISSING]);
        Some(Wait {
            refused: refusals.map(str::to_owned).collect(),
            ended: waited.ended.clone(),
            number: self.steps.iter().filter(|step| step.wait.is_some()).count() + 1,
            instead: self.made(&waited.instead),
        })
    }

    /// Reads files, and says how many results there are then.
    fn touch(&mut self, files: &[String]) -> usize {
        if let Some(touch) = &self.driver.touch {
            for file in files {
                self.values.insert("{old}".into(), file.clone());
                self.call(touch);
            }
        }
        self.steps.len()
    }

    /// Tries budgets, and says which results answer.
    fn budgets(&mut self, over: &Over, name: &str) -> Vec<(usize, Option<usize>)> {
        let filler = "word ".repeat(over.packet / 5 + 1);
        for (key, value) in [
            ("{long}", over.long.clone()),
            ("{name}", name.to_owned()),
            ("{packet}", format!("{PACKET}\n{filler}")),
            ("{reasoned}", format!("{PACKET}\nover-target: it is a try\n{filler}")),
        ] {
            self.values.insert(key.to_owned(), value);
        }
        let mut results = Vec::new();
        for tried in &self.driver.budgets {
            let at = self.steps.len();
            self.call(&tried.over);
            results.push((at, (!tried.within.is_empty()).then_some(at + 1)));
            for call in &tried.within {
                self.call(call);
            }
        }
        results
    }

    /// A call; one of a nested tool goes through the tool that holds it.
    fn made(&self, call: &ToolCall) -> Call {
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
        match nested {
            Some(nested) => {
                let args = match input {
                    Input::Text(text) => Value::String(text),
                    Input::Arguments(map) => Value::Object(map),
                };
                let script = nested.call.replace("{tool}", &name).replace("{args}", &args.to_string());
                Call { name: nested.tool.clone(), input: Input::Text(script) }
            }
            None => Call { name, input },
        }
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
