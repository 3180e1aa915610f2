//! What a person should know about the plan.

use crate::model::adapter::{Agent, CarrierKind};

use super::arrive::{Taken, is_active};
use super::borrowed;
use super::cost::{Baseline, users};
use super::layout::Layout;
use super::report::Arrived;
use super::scoped::{self, ScopedChoice};
use super::types::{Finding, HostDelivery, Input, Kind, ScopedRoute, Text};
use super::world::{FileId, HostId, World};

/// All findings, host by host in the order of the input.
pub fn of(
    input: &Input,
    world: &World,
    layout: &Layout,
    scoped: &ScopedChoice,
    arrived: &[Arrived],
    delivered: &[HostDelivery],
) -> Vec<Finding> {
    let mut out = Vec::new();
    for (position, delivered) in delivered.iter().enumerate() {
        let Some(id) = world.hosts.iter().position(|h| h.position == position) else { continue };
        let look = Look { input, world, layout, scoped, arrived: &arrived[id], id, delivered };
        if world.hosts[id].is_deaf() {
            look.untold(&mut out);
        } else {
            look.shared(&mut out);
            look.card(&mut out);
            look.users(&mut out);
            look.rules(&mut out);
        }
        out.extend(borrowed::of(input, position));
    }
    out
}

struct Look<'a> {
    input: &'a Input<'a>,
    world: &'a World<'a>,
    layout: &'a Layout,
    scoped: &'a ScopedChoice,
    arrived: &'a Arrived,
    id: HostId,
    delivered: &'a HostDelivery,
}

impl Look<'_> {
    fn host(&self) -> String {
        self.delivered.host.clone()
    }

    fn untold(&self, out: &mut Vec<Finding>) {
        if self.input.rules.iter().any(|r| r.main) {
            out.push(Finding::MainUntold { host: self.host() });
        }
    }

    fn inherits(&self) -> bool {
        self.world.hosts[self.id].roles_inherit()
    }

    /// Files through which the texts standing in `files` come.
    fn via(&self, taken: &Taken, files: &[FileId]) -> Vec<String> {
        let mut out = Vec::new();
        for f in 0..self.world.paths.len() {
            if taken.times[f] > 0 && self.world.resolve(f).is_some_and(|r| files.contains(&r)) {
                out.push(self.world.path(f).to_owned());
            }
        }
        out
    }

    fn repeated(&self, files: &[FileId], text: &Text, out: &mut Vec<Finding>) {
        let agents = [(Agent::Main, &self.arrived.main), (Agent::Roles, &self.arrived.roles)];
        for (agent, taken) in agents {
            let times = files.iter().map(|f| taken.of(self.world, *f)).sum();
            if times > 1 && (agent == Agent::Main || self.inherits()) {
                let via = self.via(taken, files);
                out.push(Finding::Repeated { host: self.host(), agent, text: text.clone(), times, via });
            }
        }
    }

    fn shared(&self, out: &mut Vec<Finding>) {
        if !self.world.has_shared {
            return;
        }
        if self.arrived.main.shared(self.world, self.layout) == 0 {
            out.push(Finding::Never { host: self.host(), agent: Agent::Main, text: Text::Shared });
        } else if self.arrived.sure.shared(self.world, self.layout) == 0 {
            self.perhaps(&self.layout.homes, Text::Shared, out);
        }
        self.repeated(&self.layout.homes, &Text::Shared, out);
        if self.arrived.roles.shared(self.world, self.layout) > 0 {
            let rules: Vec<usize> = self.rules_where(|k, main, roles| k != Kind::Paths && main && !roles);
            if !rules.is_empty() {
                out.push(Finding::MainOnlyReachesRoles { host: self.host(), rules });
            }
        }
    }

    fn rules_where(&self, is: impl Fn(Kind, bool, bool) -> bool) -> Vec<usize> {
        let rules = self.input.rules.iter().enumerate();
        rules.filter(|(_, r)| is(r.activation, r.main, r.roles)).map(|(i, _)| i).collect()
    }

    fn card(&self, out: &mut Vec<Finding>) {
        let h = &self.world.hosts[self.id];
        for (other, o) in self.world.hosts.iter().enumerate().filter(|(o, _)| *o != self.id) {
            let count = |t: &Taken| t.card(self.world, self.layout, other);
            if count(&self.arrived.main) + count(&self.arrived.roles) > 0 {
                out.push(Finding::ForeignCard { host: self.host(), card: o.adapter.id.clone() });
            }
        }
        if !h.wants_card {
            return;
        }
        let text = Text::Card { host: self.host() };
        let files: Vec<FileId> = self.layout.choices[self.id].card.into_iter().collect();
        if self.arrived.main.card(self.world, self.layout, self.id) == 0 {
            let carriers = h.adapter.carriers.iter().filter(|c| c.kinds.contains(&CarrierKind::Card));
            out.push(Finding::NoCardCarrier { host: self.host(), taken: carriers.map(|c| c.file.clone()).collect() });
        } else if self.arrived.sure.card(self.world, self.layout, self.id) == 0 {
            self.perhaps(&files, text.clone(), out);
        }
        self.repeated(&files, &text, out);
    }

    /// What an arrival hangs on: the reads on its way, and files of the user that include or link.
    fn perhaps(&self, files: &[FileId], text: Text, out: &mut Vec<Finding>) {
        let (mut without, mut with, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        let leads = |f: FileId| files.iter().any(|t| self.world.resolve(f) == Some(*t) || self.leads(f, *t));
        for read in &self.world.hosts[self.id].reads {
            let active = read.is_for(Agent::Main) && is_active(self.world, self.layout, self.id, read);
            if active && leads(read.file) {
                without.extend(read.read.unless.iter().cloned());
                conditions.extend(read.read.condition.iter().cloned());
            }
        }
        for (f, user) in self.world.user.iter().enumerate() {
            let Some(user) = user.as_ref().filter(|_| self.arrived.main.times[f] > 0) else { continue };
            if user.link.is_some() && leads(f) || user.imports.iter().any(|i| leads(*i)) {
                with.push(self.world.path(f).to_owned());
            }
        }
        conditions.sort();
        conditions.dedup();
        out.push(Finding::Perhaps { host: self.host(), text, without, with, conditions });
    }

    /// Whether import lines lead from one file to another.
    fn leads(&self, from: FileId, to: FileId) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while let Some(text) = seen.get(next).copied() {
            next += 1;
            let Some(text) = self.world.resolve(text) else { continue };
            if text == to {
                return true;
            }
            if self.world.hosts[self.id].import().is_none() {
                continue;
            }
            let users = self.world.user[text].iter().flat_map(|u| u.imports.iter().copied());
            for f in users.chain(self.layout.imports(self.world, text, self.id)) {
                if !seen.contains(&f) {
                    seen.push(f);
                }
            }
        }
        false
    }

    fn users(&self, out: &mut Vec<Finding>) {
        let before = Baseline::of(self.world, self.id);
        for file in users(self.world) {
            let path = self.world.path(file).to_owned();
            let (was, is) = (before.taken[0].of(self.world, file), self.arrived.main.of(self.world, file));
            let roles = self.inherits() && before.taken[1].of(self.world, file) > 0;
            let no_roles = roles && self.arrived.roles.of(self.world, file) == 0;
            if (was > 0 && is == 0) || no_roles {
                let read = self.world.hosts[self.id].read_of(file);
                let because = read.iter().flat_map(|r| &r.unless).filter(|u| self.layout.exists(self.world, **u));
                let because = because.map(|u| self.world.path(*u).to_owned()).collect();
                out.push(Finding::UserUnread { host: self.host(), file: path, because });
            } else if was == 0 && is > 0 {
                out.push(Finding::UserGained { host: self.host(), file: path });
            } else if is > was.max(1) {
                let bytes = self.world.user[file].as_ref().map_or(0, |u| u.bytes);
                self.repeated(&[file], &Text::User { file: path, bytes }, out);
            }
        }
    }

    fn rules(&self, out: &mut Vec<Finding>) {
        let native = &self.scoped.hosts[self.world.hosts[self.id].position];
        let main = || self.rules_where(|k, main, _| k == Kind::Paths && main);
        if native.main > 1 || (self.inherits() && native.roles > 1) {
            let agent = if native.main > 1 { Agent::Main } else { Agent::Roles };
            let times = native.main.max(native.roles);
            let via = self
                .scoped
                .carriers
                .iter()
                .filter(|c| scoped::readers(&self.input.hosts, **c).contains(&self.world.hosts[self.id].position));
            let via = via.map(|c| self.input.hosts[c.host].adapter.carriers[c.carrier].file.clone()).collect();
            out.push(Finding::Repeated { host: self.host(), agent, text: Text::Rules { rules: main() }, times, via });
        }
        if let Some(carrier) = native.always.map(|at| self.scoped.carriers[at]) {
            let carrier = self.input.hosts[carrier.host].adapter.carriers[carrier.carrier].file.clone();
            out.push(Finding::ScopedAlways { host: self.host(), carrier });
        }
        let lost =
            self.delivered.scoped.iter().filter(|s| self.input.rules[s.rule].main && s.main == ScopedRoute::None);
        let lost: Vec<usize> = lost.map(|s| s.rule).collect();
        if !lost.is_empty() {
            out.push(Finding::Never { host: self.host(), agent: Agent::Main, text: Text::Rules { rules: lost } });
        }
        let for_main_only = self.delivered.scoped.iter().filter(|s| {
            let rule = &self.input.rules[s.rule];
            rule.main && !rule.roles && self.delivered.arrivals[s.rule].roles.max > 0
        });
        let for_main_only: Vec<usize> = for_main_only.map(|s| s.rule).collect();
        if !for_main_only.is_empty() {
            out.push(Finding::MainOnlyReachesRoles { host: self.host(), rules: for_main_only });
        }
    }
}
