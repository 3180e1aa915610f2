//! A log that is cut anywhere gives what came before.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rolecast::measure::event::{Damage, Kind};
use rolecast::measure::format::{Seen, read};

use crate::logs;

const ALL: &[&str] = &[
    "rollout/rollout-2-docs.jsonl",
    "rollout/rollout-3-all.jsonl",
    "rollout/rollout-4-review.jsonl",
    "old-rollout/rollout-2.jsonl",
    "transcript/11111111-aaaa.jsonl",
    "side-chains/33333333-cccc.jsonl",
    "chat/session-1.jsonl",
    "old-chat/session-old.json",
    "export/ses_main.json",
    "chain/chats/chain-1.jsonl",
    "events/ev-1/events.jsonl",
    "gateway/2026-11-01T100000000Z-77.jsonl",
];

fn kinds(path: &Path) -> Vec<String> {
    let mut all = Vec::new();
    read(path, 0, &mut Seen::default(), &mut |event| all.push(event.kind), &mut |_| {}).unwrap();
    // What is open at the end is known only then.
    let settled = |kind: &&Kind| !matches!(kind, Kind::Damaged(Damage::Unfinished) | Kind::Review(_));
    all.iter().filter(settled).map(|kind| format!("{kind:?}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_was_read_before_the_cut_stays_what_it_was(which in 0..ALL.len(), share in 0.0f64..1.0) {
        let name = ALL[which];
        let whole = fs::read(logs(name)).unwrap();
        let cut = (whole.len() as f64 * share) as usize;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(Path::new(name).file_name().unwrap());
        fs::write(&path, &whole).unwrap();
        let full = kinds(&path);
        fs::write(&path, &whole[..cut]).unwrap();
        let part = kinds(&path);
        prop_assert!(full.starts_with(&part), "{name} at {cut}: {part:#?}\nof\n{full:#?}");
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), json in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(if json { "a.json" } else { "a.jsonl" });
        fs::write(&path, &bytes).unwrap();
        kinds(&path);
    }
}
