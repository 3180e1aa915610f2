//! Every set of hosts, every order, every way from one set to the next.

use rolecast::compile::compile;
use rolecast::diag::Sink;
use rolecast::sync::{self, LockState, Options, compare};
use rolecast::system::memory::{Memory, Node};

use crate::support::{HOSTS, POLICY, Project, assert_same, smallest};

const DIR: &str = "shared-agent-rules";

/// The hosts of a set written as bits.
fn chosen(set: usize) -> Vec<&'static str> {
    HOSTS.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, host)| *host).collect()
}

/// Every rotation of a list, forwards and backwards: each host is first and last, and before and after each other.
fn orders<'a>(hosts: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut all = Vec::new();
    for at in 0..hosts.len() {
        let mut order = hosts.to_vec();
        order.rotate_left(at);
        all.push(order.clone());
        order.reverse();
        all.push(order);
    }
    all
}

/// Every set of hosts as bits, without the empty one.
fn sets() -> std::ops::Range<usize> {
    1..1 << HOSTS.len()
}

/// Rules of every activation and audience, and a role with a path scope.
fn sources(system: &Memory) {
    for (name, text) in [
        (
            "web.md",
            "---\ntitle: Web\nactivation: { paths: [\"web/**\", \"*.css\"] }\naudience: [main, roles]\n---\nWeb text.\n",
        ),
        ("sub.md", "---\ntitle: Sub\nactivation: always\naudience: [roles]\n---\nFor roles.\n"),
        ("late.md", "---\ntitle: Late\nactivation: { on-demand: \"Late at night\" }\naudience: [main]\n---\nSleep.\n"),
        (
            "roles/scoped.md",
            "---\ndescription: d\ngrants:\n  repo.read: {}\n  repo.edit: { paths: [\"docs/**\"] }\n---\nb\n",
        ),
    ] {
        system.put(&format!("{DIR}/{name}"), Node::File(text.as_bytes().to_vec()));
    }
}

fn select(system: &Memory, hosts: &[&str]) {
    system.put(POLICY, Node::File(smallest(hosts).into_bytes()));
}

fn render(system: &Memory) {
    let mut sink = Sink::new();
    let made = compile(system, Some(DIR), &[], &mut sink);
    let said: Vec<&str> = sink.iter().map(|d| d.message.as_str()).collect();
    let rendered = made.rendered.unwrap_or_else(|| panic!("{said:?}"));
    let (comparison, result) = sync::render(&rendered.artifacts, system, &Options::new(DIR));
    result.unwrap_or_else(|e| panic!("{e}: {:?}", comparison.conflicts().collect::<Vec<_>>()));
}

#[track_caller]
fn assert_clean(system: &Memory, why: &str) {
    let made = compile(system, Some(DIR), &[], &mut Sink::new());
    let options = Options { strict_eol: true, ..Options::new(DIR) };
    let state = LockState::load(system, &options).unwrap();
    let comparison = compare(&made.rendered.unwrap().artifacts, &state, system, &options);
    let causes: Vec<_> = comparison.changes.iter().map(|c| (&c.path, &c.causes)).collect();
    assert!(comparison.is_clean(), "{why}: {causes:?} {:?}", comparison.problems);
}

/// Equal bytes; in a shared JSON file elements that came later stand later, so that only the values count.
fn alike(path: &str, a: Option<&Node>, b: Option<&Node>) -> bool {
    match (a, b) {
        (Some(Node::File(a)), Some(Node::File(b))) if path.ends_with("settings.json") => values(a) == values(b),
        _ => a == b,
    }
}

fn values(bytes: &[u8]) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    value.sort_all_objects();
    if let Some(list) = value.pointer_mut("/context/fileName").and_then(|v| v.as_array_mut()) {
        list.sort_by_key(ToString::to_string);
    }
    value
}

#[test]
fn every_set_of_hosts_is_clean_after_one_render() {
    for set in sets() {
        let project = Project::of(&chosen(set));
        project.render();
        let rendered = project.tree();
        project.run(&["check", "--strict-eol"]).exits(0).silent_on(&["error"]);
        if set == sets().end - 1 {
            project.render().says(&["everything says what the policy says"]);
            assert_same(&project.tree(), &rendered, "a second render changed something");
        }
    }
}

#[test]
fn the_order_in_which_hosts_are_written_changes_no_byte() {
    let mut first = None;
    for order in orders(&HOSTS) {
        let system = Memory::new();
        sources(&system);
        select(&system, &order);
        render(&system);
        system.put(POLICY, Node::File(Vec::new()));
        let tree = system.snapshot();
        assert!(first.get_or_insert_with(|| tree.clone()) == &tree, "{order:?}");
    }
}

#[test]
fn adding_and_removing_a_host_leads_where_a_fresh_render_leads() {
    // The way between sets of middling size is the same as between small and between large ones.
    let tried = |set: usize| set.count_ones() <= 2 || set.count_ones() as usize + 1 >= HOSTS.len();
    let near = |set: usize| tried(set) || (0..HOSTS.len()).any(|bit| tried(set ^ (1 << bit)));
    let fresh: Vec<_> = (0..sets().end)
        .map(|set| {
            let system = Memory::new();
            if set != 0 && near(set) {
                sources(&system);
                select(&system, &chosen(set));
                render(&system);
                assert_clean(&system, &format!("{:?}", chosen(set)));
            }
            system.snapshot()
        })
        .collect();
    for from in sets().filter(|set| tried(*set)) {
        for to in (0..HOSTS.len()).map(|bit| from ^ (1 << bit)).filter(|to| *to != 0) {
            let why = format!("{:?} to {:?}", chosen(from), chosen(to));
            let system = Memory::new();
            for (path, node) in &fresh[from] {
                system.put(path, node.clone());
            }
            select(&system, &chosen(to));
            render(&system);
            assert_clean(&system, &why);
            let (now, then) = (system.snapshot(), &fresh[to]);
            let differing: Vec<_> =
                now.keys().chain(then.keys()).filter(|path| !alike(path, now.get(*path), then.get(*path))).collect();
            assert!(differing.is_empty(), "{why}: {differing:?}");
        }
    }
}

#[test]
fn from_all_hosts_to_each_alone_and_back_the_binary_leaves_no_trace() {
    let project = Project::rendered();
    let all = project.tree();
    for host in HOSTS {
        let fresh = Project::of(&[host]);
        fresh.render();
        project.select(&[host]);
        project.run(&["check"]).exits(1).says(&["orphaned"]);
        project.render();
        assert_same(&project.tree(), &fresh.tree(), host);
        project.select(&HOSTS);
        project.render();
        assert_same(&project.tree(), &all, host);
    }
    project.clean();
}
