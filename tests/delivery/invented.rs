//! Hosts that nobody has built: reads, conditions and carriers at random.

use proptest::prelude::*;

use rolecast::model::adapter::{Adapter, Agent, Carrier, CarrierKind, CarrierOwn, Import, Inherit, Load, Read, Repeat};
use rolecast::plan::delivery::{HostInput, Input, Kind, Own, RuleInfo, UserFile, plan};

use crate::fixtures::{adapter, assert_counts, assert_reported, cases, rules};
use crate::simulator::{Got, Repository, shared};

/// Files that hosts may read; few, so that hosts meet.
const POOL: [&str; 5] = ["A.md", "B.md", "d/A.md", "d/C.md", "e/B.md"];

/// What hosts name in their reads: those files, and globs that take some of them.
const READS: [&str; 8] = ["A.md", "B.md", "d/A.md", "d/C.md", "e/B.md", "*/**/A.md", "d/*.md", "**/B.md"];

#[derive(Debug, Clone)]
struct Host {
    reads: Vec<(usize, Option<usize>, bool, bool, u8)>,
    carriers: Vec<(usize, u8)>,
    import: Option<(bool, u32, bool)>,
    same_bytes: bool,
    inherit: u8,
    wants_card: bool,
    has_roles: bool,
    rules: Vec<(bool, u8, u8)>,
    rule_carriers: Vec<bool>,
}

fn host() -> impl Strategy<Value = Host> {
    let read = (
        0..READS.len(),
        prop::option::weighted(0.3, 0..POOL.len()),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.15),
        0..5_u8,
    );
    (
        prop::collection::vec(read, 0..4),
        prop::collection::vec((0..POOL.len(), 1..8_u8), 0..3),
        prop::option::weighted(0.6, (any::<bool>(), 1..3_u32, any::<bool>())),
        any::<bool>(),
        0..3_u8,
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::collection::vec((any::<bool>(), 0..4_u8, 0..2_u8), 0..3),
        prop::collection::vec(any::<bool>(), 2),
    )
        .prop_map(|(reads, carriers, import, same_bytes, inherit, wants_card, has_roles, rules, rule_carriers)| {
            Host { reads, carriers, import, same_bytes, inherit, wants_card, has_roles, rules, rule_carriers }
        })
}

fn build(id: usize, base: &Adapter, host: &Host) -> Adapter {
    let mut out = base.clone();
    out.id = format!("h{id}");
    let plain = |file: String, load: Load| Read {
        file,
        load,
        unless: vec![],
        needs: None,
        condition: None,
        agents: vec![Agent::Main, Agent::Roles],
        scope_key: None,
        key: None,
    };
    out.reads = Vec::new();
    for (file, unless, needs, condition, agents) in &host.reads {
        out.reads.push(Read {
            unless: unless.iter().filter(|u| POOL[**u] != READS[*file]).map(|u| POOL[*u].to_owned()).collect(),
            needs: needs.then(|| "settings:/files".to_owned()),
            condition: condition.then(|| "trusted".to_owned()),
            agents: match agents {
                0 => vec![Agent::Main],
                1 => vec![Agent::Roles],
                _ => vec![Agent::Main, Agent::Roles],
            },
            ..plain(READS[*file].to_owned(), Load::Start)
        });
    }
    for (second, load, key) in &host.rules {
        let load = [Load::Start, Load::StartOrMatch, Load::StartOrListed, Load::Listed][usize::from(*load)];
        let folder = if *second { "r2/**/*.md" } else { "r1/*.md" };
        out.reads.push(Read { scope_key: Some(format!("key{key}")), ..plain(folder.to_owned(), load) });
    }
    out.import = host.import.map(|(at, depth, once)| Import {
        write: if at { "@{path}" } else { "include {path}" }.to_owned(),
        depth,
        same_file: if once { Repeat::Once } else { Repeat::Again },
    });
    out.same_bytes = if host.same_bytes { Repeat::Once } else { Repeat::Again };
    out.subagents.inherit = [Inherit::Instructions, Inherit::Nothing, Inherit::Unknown][usize::from(host.inherit)];
    out.carriers = host
        .carriers
        .iter()
        .enumerate()
        .filter(|(i, (file, _))| host.carriers[..*i].iter().all(|(f, _)| f != file))
        .map(|(_, (file, kinds))| {
            let all = [CarrierKind::Shared, CarrierKind::Card, CarrierKind::Import];
            let kinds = all.iter().enumerate().filter(|(i, _)| kinds & (1 << i) != 0).map(|(_, k)| *k).collect();
            carrier(POOL[*file], kinds, CarrierOwn::Block)
        })
        .collect();
    for (folder, used) in ["r1", "r2"].iter().zip(&host.rule_carriers) {
        if *used {
            out.carriers.push(carrier(&format!("{folder}/{{rule}}.md"), vec![CarrierKind::Paths], CarrierOwn::Whole));
        }
    }
    out
}

fn carrier(file: &str, kinds: Vec<CarrierKind>, own: CarrierOwn) -> Carrier {
    Carrier { file: file.to_owned(), kinds, own, template: None, front_matter: None, output: None }
}

fn users() -> impl Strategy<Value = Vec<UserFile>> {
    let one = prop::option::weighted(0.35, (prop::option::weighted(0.3, 0..POOL.len()), prop::bool::weighted(0.3)));
    prop::collection::vec(one, POOL.len()).prop_map(|files| {
        let mut out: Vec<UserFile> = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let Some((other, linked)) = file else { continue };
            let other = other.filter(|o| *o != at).map(|o| POOL[o].to_owned());
            // Rings of links are no files: a link leads to something that is none.
            let linked =
                *linked && other.as_ref().is_some_and(|o| out.iter().all(|f| f.link_to.is_none() || f.path != *o));
            let linked = linked && out.iter().all(|f| f.link_to.as_deref() != Some(POOL[at]));
            out.push(UserFile {
                path: POOL[at].to_owned(),
                imports: other.iter().filter(|_| !linked).cloned().collect(),
                link_to: other.filter(|_| linked),
                bytes: 10,
            });
        }
        out
    })
}

fn inputs<'a>(adapters: &'a [Adapter], hosts: &[Host], rules: &'a [RuleInfo], user: &'a [UserFile]) -> Input<'a> {
    let hosts = adapters.iter().zip(hosts);
    let hosts =
        hosts.map(|(a, h)| HostInput { adapter: a, wants_card: h.wants_card, has_roles: h.has_roles }).collect();
    Input { hosts, rules, roles: &[], user }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_claimed_is_what_arrives(hosts in prop::collection::vec(host(), 1..4), user in users()) {
        let base = adapter("codex");
        let adapters: Vec<Adapter> = hosts.iter().enumerate().map(|(i, h)| build(i, &base, h)).collect();
        let rules = rules();
        let input = inputs(&adapters, &hosts, &rules, &user);
        let plan = plan(&input);
        if let Err(error) = assert_counts(&input, &plan).and_then(|()| assert_reported(&input, &plan)) {
            return Err(TestCaseError::fail(format!("{error}\n{plan:#?}")));
        }
    }
}

/// The first five numbers by which layouts are judged, counted in the text.
fn price(input: &Input, before: &Repository, after: &Repository) -> (u32, u32, u32, u32, u32) {
    let (mut lost, mut never, mut extra, mut foreign, mut cardless) = (0, 0, 0, 0, 0);
    // Of a host that takes nothing no layout is better than another.
    for host in input.hosts.iter().filter(|h| !(h.adapter.reads.is_empty() && h.adapter.carriers.is_empty())) {
        let main = (before.main(host.adapter), after.main(host.adapter), true);
        let roles = (before.inherited(host.adapter), after.inherited(host.adapter), false);
        let inherit = host.has_roles && host.adapter.subagents.inherit == Inherit::Instructions;
        let may_inherit = host.has_roles && host.adapter.subagents.inherit != Inherit::Nothing;
        for got in [Some(&main.1), may_inherit.then_some(&roles.1)].into_iter().flatten() {
            let others = input.hosts.iter().filter(|o| o.adapter.id != host.adapter.id);
            let cards = others.map(|o| got.get(&format!("[card {}]", o.adapter.id)).copied().unwrap_or(0));
            foreign += cards.sum::<u32>();
        }
        for (was, is, main) in [Some(main), inherit.then_some(roles)].into_iter().flatten() {
            let times = |marker: &str| is.get(marker).copied().unwrap_or(0);
            let card = times(&format!("[card {}]", host.adapter.id));
            cardless += u32::from(main && host.wants_card && card == 0);
            never += u32::from(main && times("[shared]") == 0);
            extra += times("[shared]").saturating_sub(1) + card.saturating_sub(1);
            for user in input.user.iter().filter(|u| u.link_to.is_none()) {
                let marker = format!("[user {}]", user.path);
                let was = was.get(&marker).copied().unwrap_or(0);
                lost += u32::from(was > 0 && times(&marker) == 0);
                extra += times(&marker).saturating_sub(was.max(1));
            }
        }
    }
    (lost, never, extra, foreign, cardless)
}

/// What can be written for one host: file of the card, file with lines and what they include, files a setting names.
type Move = (Option<&'static str>, Option<(&'static str, Vec<&'static str>)>, Vec<&'static str>);

fn moves(adapter: &Adapter, wants_card: bool, linked: &[&str]) -> Vec<Move> {
    let usable = |kind: CarrierKind| {
        POOL.iter().copied().filter(move |p| {
            !linked.contains(p) && adapter.carriers.iter().any(|c| c.file == *p && c.kinds.contains(&kind))
        })
    };
    let mut lines = vec![None];
    if adapter.import.is_some() {
        for at in usable(CarrierKind::Import) {
            let others: Vec<&str> = POOL.iter().copied().filter(|p| *p != at).collect();
            lines.extend(subsets(&others).into_iter().filter(|s| !s.is_empty() && s.len() < 3).map(|s| Some((at, s))));
        }
    }
    let needs: Vec<&str> =
        POOL.iter().copied().filter(|p| adapter.reads.iter().any(|r| r.needs.is_some() && takes(r, p))).collect();
    let cards: Vec<Option<&str>> =
        if wants_card { usable(CarrierKind::Card).map(Some).chain([None]).collect() } else { vec![None] };
    let mut out = Vec::new();
    for card in &cards {
        for line in &lines {
            out.extend(subsets(&needs).into_iter().map(|switched| (*card, line.clone(), switched)));
        }
    }
    out
}

/// Lines of a host serve that host: they include the shared text, text of the user that it reads today where another file could
/// hide something from it, and its own card where it does not read that by itself. (They could also include another host's card,
/// or save a text for another host, or lead through a file that the main agent should not get; the planner does not try that.)
fn is_in_order(tried: &Move, adapter: &Adapter, homes: &[&str], before: &Repository) -> bool {
    let (card, import, _) = tried;
    let card = card.filter(|c| !adapter.reads.iter().any(|r| takes(r, c)));
    let targets = import.iter().flat_map(|(_, targets)| targets);
    let reads = |got: Got, t: &str| got.contains_key(&format!("[user {t}]"));
    let unless = |t: &str| adapter.reads.iter().any(|r| !r.unless.is_empty() && takes(r, t));
    let may_hide = adapter.reads.iter().any(|r| !r.unless.is_empty());
    let at_risk =
        |t: &str| (may_hide && reads(before.main(adapter), t)) || (unless(t) && reads(before.inherited(adapter), t));
    targets.into_iter().all(|t| homes.contains(t) || card == Some(*t) || at_risk(t))
}

fn takes(read: &Read, path: &str) -> bool {
    globset::GlobBuilder::new(&read.file).literal_separator(true).build().unwrap().compile_matcher().is_match(path)
}

fn subsets<'a>(of: &[&'a str]) -> Vec<Vec<&'a str>> {
    (0..1_usize << of.len())
        .map(|mask| of.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, f)| *f).collect())
        .collect()
}

fn written(input: &Input, before: &Repository, homes: &[&str], moves: &[&Move]) -> Repository {
    let mut out = before.clone();
    for path in POOL {
        let mut lines: Vec<String> = Vec::new();
        let mut cards = String::new();
        for (host, (card, import, switched)) in input.hosts.iter().zip(moves) {
            out.switches.extend(switched.iter().map(|f| (host.adapter.id.clone(), (*f).to_owned())));
            if let (Some((at, targets)), Some(import)) = (import, &host.adapter.import)
                && *at == path
            {
                let up = "../".repeat(path.matches('/').count());
                for target in targets {
                    let line = format!("{}\n", import.write.replace("{path}", &format!("{up}{target}")));
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
            }
            if *card == Some(path) {
                cards.push_str(&format!("[card {}]\n", host.adapter.id));
            }
        }
        let text = if homes.contains(&path) { shared(input) } else { String::new() };
        if !(lines.is_empty() && text.is_empty() && cards.is_empty()) {
            out.write(path, &Own::Block, &format!("{}{text}{cards}", lines.concat()));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(80), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_layout_is_better(hosts in prop::collection::vec(host(), 1..3), user in users()) {
        let base = adapter("codex");
        let adapters: Vec<Adapter> = hosts.iter().enumerate().map(|(i, h)| build(i, &base, h)).collect();
        let rules = vec![RuleInfo { id: "core".into(), activation: Kind::Always, main: true, roles: true }];
        let input = inputs(&adapters, &hosts, &rules, &user);
        let before = Repository::of_user(&input);
        let found = price(&input, &before, &Repository::rendered(&input, &plan(&input)));
        let linked: Vec<&str> = user.iter().filter(|u| u.link_to.is_some()).map(|u| u.path.as_str()).collect();
        let homes: Vec<&str> = POOL.iter().copied().filter(|p| {
            !linked.contains(p)
                && adapters.iter().any(|a| a.carriers.iter().any(|c| c.file == *p && c.kinds.contains(&CarrierKind::Shared)))
        }).collect();
        let all: Vec<Vec<Move>> = input.hosts.iter().map(|h| moves(h.adapter, h.wants_card, &linked)).collect();
        prop_assume!(all.iter().map(Vec::len).product::<usize>() < 3000);
        for homes in subsets(&homes).into_iter().filter(|s| s.len() < 3 && (!s.is_empty() || homes.is_empty())) {
            let mut at = vec![0; all.len()];
            loop {
                let chosen: Vec<&Move> = at.iter().zip(&all).map(|(i, m)| &m[*i]).collect();
                let tried = chosen.iter().zip(&input.hosts).all(|(m, h)| is_in_order(m, h.adapter, &homes, &before));
                let price = || price(&input, &before, &written(&input, &before, &homes, &chosen));
                let price = if tried { price() } else { found };
                prop_assert!(found <= price, "{found:?} was found, {price:?} is possible with {homes:?} {chosen:?}\n{:#?}", plan(&input));
                let Some(next) = (0..at.len()).rev().find(|i| at[*i] + 1 < all[*i].len()) else { break };
                at[next] += 1;
                at[next + 1..].fill(0);
            }
        }
    }
}
