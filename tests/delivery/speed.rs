//! How long planning takes, for people: `cargo test --release --test delivery speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use rolecast::model::adapter::Adapter;
use rolecast::plan::delivery::{Input, Kind, RuleInfo, UserFile, plan};

use crate::fixtures::{file, importing, input, rule, rules, shipped};

fn least(input: &Input) -> Duration {
    let time = |_| {
        let start = Instant::now();
        let made = plan(input);
        let took = start.elapsed();
        assert!(!made.files.is_empty());
        took
    };
    (0..30).map(time).min().unwrap()
}

#[test]
#[ignore = "prints times"]
fn planning_for_five_hosts() {
    let adapters = shipped();
    let hosts: Vec<&Adapter> = adapters.iter().collect();
    let many: Vec<RuleInfo> = (0..5000).map(|i| rule(&format!("rule-{i}"), Kind::Paths, true, true)).collect();
    let users: [(&str, Vec<UserFile>); 3] = [
        ("nothing of the user", vec![]),
        ("files of the user", vec![file("AGENTS.md"), file("CLAUDE.md"), file("GEMINI.md")]),
        ("an import line of the user", vec![file("AGENTS.md"), importing("CLAUDE.md", "AGENTS.md")]),
    ];
    println!("5,000 scoped rules: {:?}", least(&input(&hosts, &many, &[])));
    for (name, user) in &users {
        println!("{name}: {:?}", least(&input(&hosts, &rules(), user)));
    }
}
