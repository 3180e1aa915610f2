//! The chosen layout in words and numbers.

use std::sync::Arc;

use crate::model::adapter::{Adapter, Agent, Carrier, CarrierOwn, Inherit};

use super::arrive::{Taken, Ways, is_active};
use super::findings;
use super::layout::Layout;
use super::path::relative;
use super::scoped::{self, ScopedChoice};
use super::types::{
    Body, Delivery, HostDelivery, How, Input, Kind, Own, Part, PlannedFile, Range, Reach, Route, Scoped, ScopedRoute,
    Switch,
};
use super::world::{FileId, HostId, World};

/// What arrives at one host.
pub struct Arrived {
    /// Main agent, in all ways that work.
    pub main: Taken,
    /// Main agent, in the ways that hang on nothing.
    pub sure: Taken,
    /// Sub-agents; nothing when they are given no instruction files.
    pub roles: Taken,
}

/// Puts the plan together.
pub fn delivery(input: &Input, world: &World, layout: &Layout, scoped: &ScopedChoice) -> Delivery {
    let arrived: Vec<Arrived> = (0..world.hosts.len()).map(|h| arrived(world, layout, h)).collect();
    let mut files = texts(input, world, layout, &arrived);
    let first_rule = files.len();
    let path_rules: Vec<usize> = (0..input.rules.len()).filter(|r| input.rules[*r].activation == Kind::Paths).collect();
    let native_rules: Vec<usize> = path_rules.iter().copied().filter(|r| input.rules[*r].main).collect();
    rule_files(input, scoped, &native_rules, &mut files);
    let mut hosts: Vec<(usize, HostDelivery)> = (0..world.hosts.len())
        .map(|h| {
            let native = Natives { scoped, first: first_rule, rules: &native_rules };
            (world.hosts[h].position, host(input, world, layout, h, &arrived[h], &native, &path_rules))
        })
        .collect();
    hosts.sort_by_key(|(position, _)| *position);
    let hosts: Vec<HostDelivery> = hosts.into_iter().map(|(_, h)| h).collect();
    let pointed = pointed(input, &hosts);
    let findings = findings::of(input, world, layout, scoped, &arrived, &hosts);
    Delivery { files, hosts, pointed, findings }
}

fn arrived(world: &World, layout: &Layout, host: HostId) -> Arrived {
    let count = |agent, ways| Taken::count(world, layout, host, agent, ways);
    let nothing = Taken { times: vec![0; world.paths.len()] };
    Arrived {
        main: count(Agent::Main, Ways::All),
        sure: count(Agent::Main, Ways::Sure),
        roles: if world.hosts[host].roles_may_inherit() { count(Agent::Roles, Ways::All) } else { nothing },
    }
}

/// The files with the shared text, cards and import lines, by path.
fn texts(input: &Input, world: &World, layout: &Layout, arrived: &[Arrived]) -> Vec<PlannedFile> {
    let mut ids: Vec<FileId> = (0..world.paths.len()).filter(|f| layout.writes(*f)).collect();
    ids.sort_by_key(|f| world.path(*f));
    let file = |id: FileId| PlannedFile {
        path: world.path(id).to_owned(),
        own: own(world, layout, id),
        parts: parts(world, layout, id),
        hosts: input
            .hosts
            .iter()
            .filter(|h| {
                let host = world.hosts.iter().position(|w| w.adapter.id == h.adapter.id);
                host.is_some_and(|w| arrived[w].main.of(world, id) + arrived[w].roles.of(world, id) > 0)
            })
            .map(|h| h.adapter.id.clone())
            .collect(),
    };
    ids.into_iter().map(file).collect()
}

/// The carrier decides: that of the host whose text is only there, else that of the first host that has the file among its carriers.
fn own(world: &World, layout: &Layout, file: FileId) -> Own {
    let writer =
        layout.choices.iter().position(|c| c.card == Some(file) || c.import.as_ref().is_some_and(|i| i.0 == file));
    let order = writer.into_iter().chain(0..world.hosts.len());
    let slot = order.filter_map(|h| world.hosts[h].slots.iter().find(|s| s.file == file).map(|s| (h, s))).next();
    let Some((host, slot)) = slot else { return Own::Block };
    let adapter = world.hosts[host].adapter;
    let carrier = &adapter.carriers[slot.carrier];
    match (&carrier.output, carrier.own) {
        (Some(output), _) => Own::Entry { host: adapter.id.clone(), output: output.clone() },
        (None, CarrierOwn::Whole) => whole(adapter, carrier),
        (None, CarrierOwn::Block) => Own::Block,
    }
}

fn parts(world: &World, layout: &Layout, file: FileId) -> Vec<Part> {
    let mut out = Vec::new();
    for (host, choice) in layout.choices.iter().enumerate() {
        let (Some((at, targets)), Some(import)) = (&choice.import, world.hosts[host].import()) else { continue };
        for target in targets.iter().filter(|_| *at == file) {
            let target = world.path(*target);
            let line = import.write.replace("{path}", &relative(world.path(file), target));
            let part = Part::Import { line, target: target.to_owned() };
            if !out.contains(&part) {
                out.push(part);
            }
        }
    }
    if layout.homes.contains(&file) {
        out.push(Part::Shared);
    }
    for (host, choice) in layout.choices.iter().enumerate() {
        if choice.card == Some(file) {
            out.push(Part::Card { host: world.hosts[host].adapter.id.clone() });
        }
    }
    out
}

fn whole(adapter: &Adapter, carrier: &Carrier) -> Own {
    Own::Whole { host: Arc::from(adapter.id.as_str()), template: carrier.template.as_deref().map(Arc::from) }
}

fn rule_files(input: &Input, scoped: &ScopedChoice, rules: &[usize], out: &mut Vec<PlannedFile>) {
    out.reserve(rules.len() * scoped.carriers.len());
    for at in &scoped.carriers {
        let adapter = input.hosts[at.host].adapter;
        let carrier = &adapter.carriers[at.carrier];
        let readers = scoped::readers(&input.hosts, *at).into_iter();
        let hosts: Arc<[String]> = readers.map(|h| input.hosts[h].adapter.id.clone()).collect();
        let own = if carrier.own == CarrierOwn::Whole { whole(adapter, carrier) } else { Own::Block };
        let (head, tail) = carrier.file.split_once("{rule}").unwrap_or((&carrier.file, ""));
        out.extend(rules.iter().map(|rule| PlannedFile {
            path: [head, &input.rules[*rule].id, tail].concat(),
            own: own.clone(),
            parts: vec![Part::Rule { rule: *rule }],
            hosts: Arc::clone(&hosts),
        }));
    }
}

/// Where the files of scoped rules stand in the list of files.
struct Natives<'a> {
    scoped: &'a ScopedChoice,
    first: usize,
    rules: &'a [usize],
}

fn host(
    input: &Input,
    world: &World,
    layout: &Layout,
    id: HostId,
    arrived: &Arrived,
    natives: &Natives,
    path_rules: &[usize],
) -> HostDelivery {
    let h = &world.hosts[id];
    let inherit = h.adapter.subagents.inherit;
    let shared = Counts { main: arrived.main.shared(world, layout), roles: arrived.roles.shared(world, layout) };
    let card = Counts { main: arrived.main.card(world, layout, id), roles: arrived.roles.card(world, layout, id) };
    let in_body = |roles: u32| h.has_roles && (inherit != Inherit::Instructions || roles == 0);
    let mut body = Body {
        shared: world.has_shared && in_body(shared.roles),
        card: h.wants_card && in_body(card.roles),
        path_lines: false,
    };
    let line_in_card = card.main > 0;
    let card_reaches_roles = card.roles > 0 && !body.card;
    let scoped = scoped_rules(input, natives, h.position, line_in_card, card_reaches_roles, path_rules);
    body.path_lines = scoped.iter().any(|s| s.roles == ScopedRoute::BodyLine && input.rules[s.rule].main);
    let mut out = HostDelivery {
        host: h.adapter.id.clone(),
        shared: layout.homes.iter().find_map(|f| route(world, layout, id, *f, arrived)),
        card: layout.choices[id].card.and_then(|f| route(world, layout, id, f, arrived)),
        switches: switches(world, layout, id),
        body,
        arrivals: Vec::new(),
        card_arrivals: if h.wants_card { card.reach(h.has_roles, body.card) } else { Reach::default() },
        scoped,
    };
    out.arrivals = arrivals(input, h.has_roles, &shared, &card, &natives.scoped.hosts[h.position], &out);
    out
}

/// Arrivals through files.
struct Counts {
    main: u32,
    roles: u32,
}

impl Counts {
    /// With what the bodies carry. A text that is in the body and perhaps in files as well arrives once at least.
    fn reach(&self, has_roles: bool, in_body: bool) -> Reach {
        let roles = match (has_roles, in_body) {
            (false, _) => Range::default(),
            (true, false) => Range::exactly(self.roles),
            (true, true) => Range { min: 1, max: 1 + self.roles },
        };
        Reach { main: Range::exactly(self.main), roles }
    }
}

fn scoped_rules(
    input: &Input,
    natives: &Natives,
    position: usize,
    line_in_card: bool,
    card_reaches_roles: bool,
    path_rules: &[usize],
) -> Vec<Scoped> {
    let native = &natives.scoped.hosts[position];
    let host = &input.hosts[position];
    let inherits = host.adapter.subagents.inherit == Inherit::Instructions;
    let mut at = 0;
    let mut out = Vec::with_capacity(path_rules.len());
    for rule in path_rules {
        let info = &input.rules[*rule];
        // The files of scoped rules follow the order of the rules, one run for each carrier.
        let file = native.by.filter(|_| info.main).map(|by| natives.first + by * natives.rules.len() + at);
        at += usize::from(info.main);
        let main = match (info.main, file.filter(|_| native.main > 0)) {
            (false, _) => ScopedRoute::None,
            (true, Some(file)) => ScopedRoute::Native { file },
            (true, None) if line_in_card => ScopedRoute::CardLine,
            (true, None) => ScopedRoute::None,
        };
        let roles = match file.filter(|_| native.roles > 0 && inherits) {
            _ if !info.roles || !host.has_roles => ScopedRoute::None,
            Some(file) => ScopedRoute::Native { file },
            None if main == ScopedRoute::CardLine && card_reaches_roles => ScopedRoute::CardLine,
            None => ScopedRoute::BodyLine,
        };
        out.push(Scoped { rule: *rule, main, roles });
    }
    out
}

fn arrivals(
    input: &Input,
    has_roles: bool,
    shared: &Counts,
    card: &Counts,
    native: &super::scoped::Native,
    host: &HostDelivery,
) -> Vec<Reach> {
    let mut scoped = host.scoped.iter();
    input
        .rules
        .iter()
        .map(|info| {
            let (in_files, in_body) = if info.activation == Kind::Paths {
                let Some(route) = scoped.next() else { return Reach::default() };
                let line = match route.main {
                    ScopedRoute::CardLine => Counts { main: card.main, roles: card.roles },
                    _ => Counts { main: native.main, roles: native.roles },
                };
                (line, route.roles == ScopedRoute::BodyLine)
            } else {
                (Counts { main: shared.main, roles: shared.roles }, host.body.shared && info.roles)
            };
            match (info.main, info.roles) {
                // A rule for the main agent only still stands in the files that sub-agents are given.
                (true, _) => in_files.reach(has_roles, in_body),
                (false, roles) => Counts { main: 0, roles: 0 }.reach(has_roles && roles, true),
            }
        })
        .collect()
}

fn switches(world: &World, layout: &Layout, host: HostId) -> Vec<Switch> {
    let mut out: Vec<Switch> = layout.choices[host]
        .switches
        .iter()
        .filter_map(|file| {
            let needs = world.hosts[host].read_of(*file)?.read.needs.as_deref()?;
            let (output, pointer) = needs.split_once(':').unwrap_or((needs, ""));
            Some(Switch { output: output.to_owned(), pointer: pointer.to_owned(), file: world.path(*file).to_owned() })
        })
        .collect();
    out.sort_by(|a, b| a.file.cmp(&b.file));
    out
}

/// The way by which a host comes to the text in `file`: its own read before a link, a link before an import.
fn route(world: &World, layout: &Layout, host: HostId, file: FileId, arrived: &Arrived) -> Option<Route> {
    let h = &world.hosts[host];
    let taken = &arrived.main;
    if taken.of(world, file) == 0 {
        return None;
    }
    let read = |f: FileId| {
        h.read_of(f).filter(|r| r.is_for(Agent::Main) && taken.times[f] > 0 && is_active(world, layout, host, r))
    };
    let route = |how, condition: Option<&String>| Route {
        file: world.path(file).to_owned(),
        how,
        conditions: condition.into_iter().cloned().collect(),
    };
    if let Some(r) = read(file) {
        let switched = r.read.needs.as_deref().map(|needs| needs.split_once(':').unwrap_or((needs, "")));
        let how = switched.map_or(How::Direct, |(output, pointer)| How::Switched {
            output: output.to_owned(),
            pointer: pointer.to_owned(),
        });
        return Some(route(how, r.read.condition.as_ref()));
    }
    let links = world.links.iter().filter(|(_, target)| *target == file);
    if let Some((link, r)) = links.filter_map(|(f, _)| read(*f).map(|r| (*f, r))).next() {
        let how = How::Linked { from: world.path(link).to_owned() };
        return Some(route(how, r.read.condition.as_ref()));
    }
    let by = |f: &FileId| {
        let Some(text) = world.resolve(*f).filter(|_| taken.times[*f] > 0) else { return false };
        let users = world.user[text].iter().flat_map(|u| u.imports.iter().copied());
        users.chain(layout.imports(world, text, host)).any(|t| world.resolve(t) == Some(file))
    };
    let ours_first = (0..world.paths.len()).filter(|f| arrived.sure.times[*f] > 0).chain(0..world.paths.len());
    let by = ours_first.into_iter().find(by)?;
    let condition = h.read_of(by).and_then(|r| r.read.condition.as_ref());
    Some(route(How::Imported { by: world.path(by).to_owned() }, condition))
}

/// Rules that a line points to.
fn pointed(input: &Input, hosts: &[HostDelivery]) -> Vec<usize> {
    let mut needed: Vec<bool> = input.rules.iter().map(|r| r.activation == Kind::OnDemand).collect();
    for s in hosts.iter().flat_map(|h| &h.scoped) {
        let line = |route| matches!(route, ScopedRoute::CardLine | ScopedRoute::BodyLine);
        needed[s.rule] |= line(s.main) || line(s.roles);
    }
    needed.iter().enumerate().filter(|(_, n)| **n).map(|(r, _)| r).collect()
}
