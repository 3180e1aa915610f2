//! Reports that are written as they are made: laid out as one value would be, and readers that go away.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::Repo;
use crate::{POLICY, logs};

#[test]
fn the_report_is_laid_out_as_one_value_would_be() {
    let repo = Repo::with(POLICY);
    for args in [
        &["measure", &logs(""), "--format", "json"][..],
        &["measure", &logs(""), "--format", "json", "--expect", "all"],
    ] {
        let run = repo.run(args);
        let value: Value = serde_json::from_str(&run.out).unwrap();
        assert!(value["sessions"].as_array().is_some_and(|s| s.len() > 5));
        assert_eq!(run.out, format!("{value:#}\n"));
    }
}

#[test]
fn a_reader_that_goes_away_does_not_change_how_it_ends() {
    let repo = Repo::with(POLICY);
    for (args, code) in [(&["--format", "json"][..], 0), (&["-v"], 0), (&["--format", "json", "--expect", "all"], 1)] {
        let mut measure = Command::new(env!("CARGO_BIN_EXE_rolecast"))
            .args(["measure", &logs("")])
            .args(args)
            .current_dir(repo.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(measure.stdout.take());
        let ended = measure.wait_with_output().unwrap();
        assert_eq!(
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()),
            (Some(code), ""),
            "{args:?}"
        );
    }
}
