//! Evidence as text and back, and what must not stand in it.

use proptest::prelude::*;

use super::*;
use crate::diag::SourceId;
use crate::model::evidence::{KeySeen, ScenarioSeen};
use crate::yaml;

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z._/*-]{0,12}", "[ -~]{0,30}", "\\PC{0,20}", Just("yes".to_owned()), Just("1.0".to_owned())]
}

fn seen() -> impl Strategy<Value = Seen> {
    let verdict = prop_oneof![Just(Verdict::Held), Just(Verdict::Broken), Just(Verdict::Untried)];
    let holds = prop_oneof![Just(None), Just(Some(Holds::Hidden)), Just(Some(Holds::Unreachable))];
    (verdict, prop::collection::vec(words(), 0..4), words(), prop::collection::vec(words(), 0..3), holds, words())
        .prop_map(|(verdict, about, claim, scope, holds, seen)| Seen {
            verdict: Sp::bare(verdict),
            about: about.into_iter().map(Sp::bare).collect(),
            claim,
            scope,
            holds,
            seen,
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_it_was(
        host in words(), role in words(), version in words(), lines in prop::collection::vec(seen(), 0..4),
        tools in prop::collection::vec(words(), 0..4), model in words(), key in words(),
    ) {
        let date = Day::new("2026-11-30").unwrap();
        let offered = Offered { verdict: Verdict::Broken, seen: version.clone(), unknown: tools.clone() };
        let role = RoleSeen {
            role: Sp::bare(role), form: Sp::bare("f".into()), version: version.clone(), date: date.clone(), tools, offered,
            lines: lines.clone(),
        };
        let rules = RulesSeen { to: Sp::bare("main".into()), version: version.clone(), date: date.clone(), lines: lines.clone() };
        let guard = GuardSeen { version: version.clone(), date: date.clone(), lines: lines.clone() };
        let budgets = BudgetsSeen { family: Sp::bare("all".into()), version, date: date.clone(), lines };
        let keys = vec![KeySeen { key: Sp::bare(key.clone()), held: 1 }];
        let eval = ScenarioSeen {
            scenario: Sp::bare(key),
            version: "1.0".to_owned(),
            model,
            date,
            runs: 2,
            passed: 1,
            told: "sha256:0".to_owned(),
            keys,
        };
        let file = EvidenceFile {
            host: Sp::bare(host),
            roles: vec![role],
            rules: vec![rules],
            budgets: vec![budgets],
            guard: Some(guard),
            evals: vec![eval],
        };
        let written = text(&file, "A host");
        let read = yaml::parse::<EvidenceFile>(&written, SourceId(0), 0);
        prop_assert_eq!(read.map_err(|d| format!("{}\n{written}", d.message)), Ok(file));
    }
}

#[test]
fn paths_of_this_machine_are_left_out_and_names_stay() {
    for (seen, kept) in [
        ("cannot open \"/tmp/rolecast-verify-x/root/a.txt\": no", "cannot open \"…\": no"),
        ("at C:\\Users\\me\\x.txt, line 3", "at …, line 3"),
        ("asked http://127.0.0.1:4242/probe/3 for it", "asked http:… for it"),
        ("read and/or write `docs/x.md` (see docs/**)", "read and/or write `docs/x.md` (see docs/**)"),
        ("file=/home/me/a.txt;", "file=…;"),
        ("two\nlines\u{202e} and a\ttab", "two lines and a tab"),
        ("`/` and /x", "`/` and /x"),
    ] {
        assert_eq!(plain(seen), kept);
    }
    assert_eq!(plain(&"x".repeat(1000)).chars().count(), MAX_SEEN + 1);
}
