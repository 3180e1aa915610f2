//! The shipped hosts in repositories at random.

use proptest::prelude::*;

use rolecast::model::adapter::Adapter;
use rolecast::plan::delivery::{UserFile, plan};

use crate::fixtures::{assert_counts, assert_reported, cases, file, importing, input, link, rules, shipped};

/// Where people have text.
const POOL: [&str; 8] = [
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    "CLAUDE.local.md",
    ".github/copilot-instructions.md",
    "AGENTS.override.md",
    "docs/more.md",
];

fn users() -> impl Strategy<Value = Vec<UserFile>> {
    let one = prop::option::weighted(0.3, (0..4_u8, 0..POOL.len()));
    prop::collection::vec(one, POOL.len()).prop_map(|files| {
        let plain = |at: usize| files[at].is_some_and(|(kind, _)| kind != 0);
        let some = files.iter().enumerate().filter_map(|(at, f)| f.map(|(kind, other)| (at, kind, other)));
        some.map(|(at, kind, other)| match kind {
            // A link leads to a file that is there, and is none itself.
            0 if plain(other) => link(POOL[at], POOL[other]),
            1 if other != at => importing(POOL[at], POOL[other]),
            _ => file(POOL[at]),
        })
        .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_are_right_and_what_is_not_exact_is_reported(mask in 1..32_usize, user in users()) {
        let (adapters, rules) = (shipped(), rules());
        let hosts: Vec<&Adapter> =
            adapters.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, a)| a).collect();
        let input = input(&hosts, &rules, &user);
        let plan = plan(&input);
        if let Err(error) = assert_counts(&input, &plan).and_then(|()| assert_reported(&input, &plan)) {
            return Err(TestCaseError::fail(format!("{error}\n{plan:#?}")));
        }
    }
}
