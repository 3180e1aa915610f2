//! A person who interrupts: nothing that was started stays.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::write_policy;

#[test]
fn an_interrupt_ends_every_server_with_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("id");
    let script = format!("sleep 300 & echo $! > {}; wait", file.display());
    write_policy(
        directory.path(),
        &format!(
            "version: 1\nhosts: {{ claude-code: {{}} }}\nservers:\n  slow: {{ command: sh, args: [-c, {script:?}] }}\n"
        ),
    );
    let mut audit = Command::new(env!("CARGO_BIN_EXE_rolecast"))
        .arg("audit")
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = || std::fs::read_to_string(&file).ok()?.trim().parse::<i32>().ok();
    assert!(within(20, || id().is_some()), "the server did not start");
    let own = nix::unistd::Pid::from_raw(i32::try_from(audit.id()).unwrap());
    nix::sys::signal::kill(own, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(audit.wait().unwrap().code(), Some(4));
    let child = id().unwrap();
    let gone = || std::fs::read_to_string(format!("/proc/{child}/stat")).map_or(true, |stat| stat.contains(") Z "));
    assert!(within(5, gone), "a child of the server is still there");
}

fn within(seconds: u64, done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    done()
}
