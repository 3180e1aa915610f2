//! Which file carries which text to each host of the selected set, so that every text reaches each
//! host's main agent exactly once and each role's sub-agent exactly once.
//!
//! Three kinds of text: the **shared** one (always-on rules and the trigger lines of on-demand rules, equal for
//! all hosts), a **card** for each host (its notes and the lines that point to path rules), and one
//! text for each **scoped** rule. Hosts read each other's files, so the layout is chosen for the whole set: [`search`] weighs
//! every layout by what [`arrive`] counts. Nothing here knows a host by name.

mod arrive;
mod borrowed;
mod cost;
mod findings;
mod layout;
mod options;
mod path;
mod report;
mod scoped;
mod search;
mod types;
mod world;

pub use types::{
    Body, Delivery, Finding, HostDelivery, HostInput, How, Input, Kind, Own, Part, PlannedFile, Range, Reach, Route,
    RuleInfo, Scoped, ScopedRoute, Switch, Text, UserFile,
};

/// Plans the delivery. The result does not depend on the order of the hosts, but lists them in it.
pub fn plan(input: &Input) -> Delivery {
    let scoped = scoped::choose(input);
    let world = world::World::new(input, &scoped);
    let layout = search::best(&world);
    report::delivery(input, &world, &layout, &scoped)
}
