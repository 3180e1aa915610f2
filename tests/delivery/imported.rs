//! Cards that a host does not read by itself and an import line brings.

use rolecast::model::adapter::{Adapter, Carrier, CarrierKind, CarrierOwn, Load, Read, Repeat};
use rolecast::plan::delivery::{Delivery, Finding, Own, Part, UserFile};

use crate::fixtures::{adapter, assert_exactly_once, file, importing, input, link, paths, planned, rules};

/// A host that reads STUB.md and has its card elsewhere.
fn importer() -> Adapter {
    let mut out = adapter("claude-code");
    out.id = "importer".into();
    out.reads.retain(|r| r.file == "CLAUDE.md");
    out.reads[0].file = "STUB.md".into();
    out.carriers = vec![
        carrier("STUB.md", &[CarrierKind::Import, CarrierKind::Shared], CarrierOwn::Block),
        carrier("own/card.md", &[CarrierKind::Card], CarrierOwn::Whole),
    ];
    out
}

/// A host that reads STUB.md too and has a card of its own.
fn reader() -> Adapter {
    let mut out = adapter("cursor");
    out.id = "reader".into();
    out.reads.push(Read { file: "STUB.md".into(), ..out.reads[2].clone() });
    out
}

fn carrier(file: &str, kinds: &[CarrierKind], own: CarrierOwn) -> Carrier {
    Carrier { file: file.into(), kinds: kinds.to_vec(), own, template: None, front_matter: None, output: None }
}

fn plan(adapters: &[&Adapter], user: &[UserFile]) -> Delivery {
    planned(&input(adapters, &rules(), user))
}

fn parts<'a>(plan: &'a Delivery, path: &str) -> &'a [Part] {
    plan.files.iter().find(|f| f.path == path).map_or(&[], |f| &f.parts)
}

fn line(line: &str, target: &str) -> Part {
    Part::Import { line: line.into(), target: target.into() }
}

fn is_without_card(plan: &Delivery, host: &str) -> bool {
    plan.findings.iter().any(|f| matches!(f, Finding::NoCardCarrier { host: h, .. } if h == host))
}

#[test]
fn a_card_is_imported_by_a_path_from_the_file_with_the_line() {
    let host = importer();
    let found = plan(&[&host], &[]);
    assert_eq!(parts(&found, "STUB.md"), [line("@own/card.md", "own/card.md"), Part::Shared]);
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
    assert_eq!(found.findings, []);
}

#[test]
fn a_host_that_follows_no_lines_is_not_given_the_imported_card() {
    let (host, other, rules) = (importer(), reader(), rules());
    let input = input(&[&host, &other], &rules, &[]);
    assert_exactly_once(&input, &planned(&input));
}

#[test]
fn a_host_that_follows_the_line_would_have_another_card_so_there_is_none() {
    let (host, mut other) = (importer(), reader());
    other.import = host.import.clone();
    let found = plan(&[&host, &other], &[]);
    assert!(is_without_card(&found, "importer"), "{found:#?}");
    assert!(!found.findings.iter().any(|f| matches!(f, Finding::ForeignCard { .. })), "{found:#?}");
}

#[test]
fn lines_that_hosts_write_differently_are_not_followed() {
    let (host, mut other) = (importer(), reader());
    other.import = host.import.clone();
    other.import.as_mut().unwrap().write = "include {path}".into();
    assert!(!is_without_card(&plan(&[&host, &other], &[]), "importer"));
}

#[test]
fn a_host_that_follows_no_level_has_no_imported_card() {
    let mut host = importer();
    host.import.as_mut().unwrap().depth = 0;
    let found = plan(&[&host], &[]);
    assert!(is_without_card(&found, "importer"));
    assert_eq!(paths(&found)[0], "STUB.md");
    assert_eq!(parts(&found, "STUB.md"), [Part::Shared], "no line that leads nowhere");
}

#[test]
fn a_card_that_the_host_reads_later_in_the_session_is_not_imported() {
    let mut host = importer();
    host.reads.push(Read { file: "own/**/*.md".into(), load: Load::Touched, ..host.reads[0].clone() });
    assert!(is_without_card(&plan(&[&host], &[]), "importer"));
}

#[test]
fn a_card_that_the_host_reads_by_itself_has_no_line() {
    let mut host = importer();
    host.reads.push(Read { file: "own/*.md".into(), ..host.reads[0].clone() });
    let found = plan(&[&host], &[]);
    assert_eq!(parts(&found, "STUB.md"), [Part::Shared]);
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
    assert_eq!(found.findings, []);
}

#[test]
fn a_line_of_the_user_serves_as_ours() {
    let mut host = importer();
    host.import.as_mut().unwrap().same_file = Repeat::Again;
    let user = [importing("STUB.md", "own/card.md")];
    let found = plan(&[&host], &user);
    assert_eq!(parts(&found, "STUB.md"), [Part::Shared], "{found:#?}");
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
}

#[test]
fn a_file_of_the_user_in_the_cards_place_is_left_alone() {
    let host = importer();
    let found = plan(&[&host], &[file("own/card.md")]);
    assert!(is_without_card(&found, "importer") && !paths(&found).contains(&"own/card.md"), "{found:#?}");
}

/// Found at random: one host names, by a setting, the file in which another's line includes the shared text.
#[test]
fn a_setting_may_lead_to_the_line_of_another_host() {
    let mut writer = importer();
    writer.reads.clear();
    writer.carriers = vec![
        carrier("HOME.md", &[CarrierKind::Shared], CarrierOwn::Block),
        carrier("d/LINE.md", &[CarrierKind::Import], CarrierOwn::Block),
    ];
    let mut switched = importer();
    switched.id = "switched".into();
    switched.reads[0].file = "d/LINE.md".into();
    switched.reads[0].needs = Some("settings:/files".into());
    switched.carriers.clear();
    let rules = rules();
    let found = planned(&input(&[&writer, &switched], &rules, &[]));
    assert_eq!(parts(&found, "d/LINE.md"), [line("@../HOME.md", "HOME.md")], "{found:#?}");
    assert_eq!(found.hosts[1].switches[0].file, "d/LINE.md");
    assert_eq!(found.files[0].own, Own::Block);
}

/// Found at random: the setting names a link of the user to the card's file.
#[test]
fn a_setting_may_lead_to_the_card_by_a_link_of_the_user() {
    let mut host = importer();
    host.import = None;
    host.reads[0].needs = Some("settings:/files".into());
    host.carriers = vec![carrier("own/card.md", &[CarrierKind::Card], CarrierOwn::Block)];
    let found = plan(&[&host], &[link("STUB.md", "own/card.md")]);
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
    assert_eq!(found.hosts[0].switches[0].file, "STUB.md");
}

/// Found at random: the card stands in the home, which a line of another host includes.
#[test]
fn a_line_of_another_host_serves_as_ours() {
    let mut host = importer();
    host.reads.push(Read { file: "LINE.md".into(), ..host.reads[0].clone() });
    host.carriers = vec![carrier("HOME.md", &[CarrierKind::Shared, CarrierKind::Card], CarrierOwn::Block)];
    let mut writer = importer();
    writer.id = "writer".into();
    writer.reads.clear();
    writer.carriers = vec![carrier("LINE.md", &[CarrierKind::Import], CarrierOwn::Block)];
    let rules = rules();
    let mut set = input(&[&host, &writer], &rules, &[]);
    set.hosts[1].wants_card = false;
    let found = planned(&set);
    assert_eq!(parts(&found, "LINE.md"), [line("@HOME.md", "HOME.md")], "{found:#?}");
    assert_eq!(parts(&found, "HOME.md"), [Part::Shared, Part::Card { host: "importer".into() }]);
}

/// Found at random: with one copy of the shared text the first host would be given the second one's card.
#[test]
fn a_second_copy_of_the_shared_text_saves_a_card() {
    let mut first = importer();
    first.carriers.truncate(1);
    first.carriers[0].kinds = vec![CarrierKind::Import];
    let mut second = importer();
    second.id = "second".into();
    second.import = None;
    second.reads[0].file = "OTHER.md".into();
    second.carriers = vec![
        carrier("STUB.md", &[CarrierKind::Shared], CarrierOwn::Block),
        carrier("OTHER.md", &[CarrierKind::Shared, CarrierKind::Card], CarrierOwn::Block),
    ];
    let rules = rules();
    let mut set = input(&[&first, &second], &rules, &[]);
    set.hosts[0].wants_card = false;
    let found = planned(&set);
    assert_eq!(parts(&found, "STUB.md"), [Part::Shared], "{found:#?}");
    assert_eq!(parts(&found, "OTHER.md"), [Part::Shared, Part::Card { host: "second".into() }]);
}

/// Found at random: a host that has no way to the carrier leaves it to one that has.
#[test]
fn a_card_that_cannot_arrive_is_in_nobodys_way() {
    let (host, mut other) = (importer(), importer());
    other.id = "other".into();
    other.import = None;
    let found = plan(&[&host, &other], &[]);
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
    assert!(is_without_card(&found, "other") && !is_without_card(&found, "importer"));
}

/// Found at random: with the setting, the card would come by the link of the user and once more.
#[test]
fn a_file_that_a_link_brings_already_is_not_named_by_a_setting() {
    let mut host = importer();
    host.import = None;
    host.reads.push(Read {
        file: "own/card.md".into(),
        needs: Some("settings:/files".into()),
        ..host.reads[0].clone()
    });
    host.carriers = vec![carrier("own/card.md", &[CarrierKind::Card], CarrierOwn::Block)];
    let found = plan(&[&host], &[link("STUB.md", "own/card.md")]);
    assert_eq!(parts(&found, "own/card.md"), [Part::Card { host: "importer".into() }]);
    assert_eq!(found.hosts[0].switches, []);
}
