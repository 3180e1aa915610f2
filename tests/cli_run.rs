//! `run` on the real program, with a script in the place of the host's.

#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use support::Repo;

const TWO: &str = "version: 1\nhosts: { codex: {}, cursor: {} }\nextends: [builtin]\n";
const GEMINI: &str = "version: 1\nhosts: { gemini-cli: {} }\nextends: [builtin]\n";

/// A rendered repository beside folders for programs and temporary files.
struct Place {
    repo: Repo,
    bin: tempfile::TempDir,
    temp: tempfile::TempDir,
}

impl Place {
    fn new(policy: &str) -> Self {
        let repo = Repo::with(policy);
        assert_eq!(repo.run(&["render", "-q"]).code, 0);
        let dir = || tempfile::tempdir().unwrap();
        Self { repo, bin: dir(), temp: dir() }
    }

    /// A program called `name` that notes what it is given and ends with 7.
    fn program(self, name: &str, more: &str) -> Self {
        let path = self.bin.path().join(name);
        let seen = self.bin.path().display();
        let script = format!(
            "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done > {seen}/args\nenv > {seen}/env\npwd > {seen}/pwd\ncat > {seen}/stdin\n{more}\nexit 7\n"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        let path = format!("{}:/usr/bin:/bin", self.bin.path().display());
        command.arg("run").args(args).current_dir(self.repo.path()).env_clear();
        command.env("PATH", path).env("TMPDIR", self.temp.path()).env("MINE", "kept").stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn seen(&self, what: &str) -> String {
        fs::read_to_string(self.bin.path().join(what)).unwrap()
    }

    fn left_behind(&self) -> usize {
        fs::read_dir(self.temp.path()).unwrap().count()
    }
}

fn code(out: &Output) -> Option<i32> {
    out.status.code()
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

#[test]
fn the_host_gets_packet_flags_and_environment_and_its_exit_code_is_ours() {
    let place = Place::new(TWO).program("codex", "");
    let packet = place.bin.path().join("packet.md");
    fs::write(&packet, "Write `docs/a.md`.\nIt's \"this\".\n").unwrap();
    let out = place.run(&["docs_writer", "--packet", packet.to_str().unwrap(), "--", "--json", "-m", "some model"]);
    assert_eq!(code(&out), Some(7), "{}", said(&out));
    let args = place.seen("args");
    assert!(args.starts_with("exec\n") && args.contains("default_permissions=\"rolecast\"\n"), "{args}");
    assert!(args.ends_with("Write `docs/a.md`.\nIt's \"this\".\n\n--json\n-m\nsome model\n"), "{args}");
    assert!(place.seen("env").contains("MINE=kept\n"));
    assert_eq!(place.seen("stdin"), "", "a run without a person reads nothing");
    let root = place.repo.path().canonicalize().unwrap();
    assert_eq!(Path::new(place.seen("pwd").trim()), root);
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(told.contains("enforced by path, ran, if run") && told.contains("told not to"), "{told}");
    assert!(out.stdout.is_empty() && place.left_behind() == 0);
}

#[test]
fn a_packet_may_come_on_standard_input_and_an_empty_one_starts_nothing() {
    let place = Place::new(TWO).program("codex", "");
    let packet = place.bin.path().join("in");
    fs::write(&packet, "x".repeat(20_000)).unwrap();
    let input = fs::File::open(&packet).unwrap();
    let out = place.command(&["explorer", "--packet", "-", "-q"]).stdin(input).output().unwrap();
    assert_eq!((code(&out), out.stderr.as_slice()), (Some(7), &b""[..]), "{}", said(&out));
    let input = fs::File::open(&packet).unwrap();
    let out = place.command(&["explorer", "--packet", "-"]).stdin(input).output().unwrap();
    assert!(said(&out).contains("the packet has 20000 bytes; `delegation-packet.target` is 16 KiB"), "{}", said(&out));
    fs::remove_file(place.bin.path().join("args")).unwrap();
    assert_eq!(code(&place.run(&["explorer", "--packet", "-"])), Some(2));
    assert!(!place.bin.path().join("args").exists());
}

#[test]
fn without_a_packet_a_person_talks_to_it_and_files_are_private_and_gone_afterwards() {
    let place = Place::new(GEMINI).program("gemini", "ls -ld $(dirname $GEMINI_SYSTEM_MD); cat $2");
    let input = place.bin.path().join("in");
    fs::write(&input, "typed").unwrap();
    let out = place.command(&["docs_writer"]).stdin(fs::File::open(&input).unwrap()).output().unwrap();
    let text = said(&out);
    assert_eq!(code(&out), Some(7), "{text}");
    assert!(text.contains("drwx------") && text.contains("priority = 990"), "{text}");
    assert!(place.seen("args").starts_with("--policy\n") && !place.seen("args").contains("-p\n"));
    assert_eq!((place.seen("stdin").as_str(), place.left_behind()), ("typed", 0));
}

#[test]
fn a_dry_run_prints_a_command_that_a_shell_can_read_and_starts_nothing() {
    let place = Place::new(TWO).program("codex", "");
    let out = place.run(&["docs_writer", "--host", "codex", "--dry-run", "--", "a b"]);
    assert_eq!(code(&out), Some(0), "{}", said(&out));
    assert!(!place.bin.path().join("args").exists() && place.left_behind() == 0);
    let line = String::from_utf8(out.stdout).unwrap();
    let path = format!("{}:/usr/bin:/bin", place.bin.path().display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("PATH", path).stdin(Stdio::null()).status().unwrap();
    let args = place.seen("args");
    assert!(
        args.contains("\ndeveloper_instructions=\"\"\"\nYou write documentation") && args.ends_with("\na b\n"),
        "{args}"
    );
}

#[test]
fn files_that_drifted_start_nothing_and_those_of_other_roles_do_not_matter() {
    let place = Place::new(GEMINI).program("gemini", "");
    fs::write(place.repo.path().join(".gemini/agents/explorer.md"), "mine\n").unwrap();
    assert_eq!(code(&place.run(&["docs_writer"])), Some(7));
    fs::remove_file(place.bin.path().join("args")).unwrap();
    let agents = place.repo.path().join("GEMINI.md");
    fs::remove_file(&agents).unwrap();
    let out = place.run(&["docs_writer"]);
    assert_eq!(code(&out), Some(1), "{}", said(&out));
    assert!(said(&out).contains("`GEMINI.md`") && said(&out).contains("run `rolecast render`"), "{}", said(&out));
    assert!(!place.bin.path().join("args").exists());
}

#[test]
fn what_does_not_exist_is_told_with_what_does() {
    let place = Place::new(TWO);
    for (args, exit, words) in [
        (&["docs_write"][..], 2, &["no role `docs_write`", "did you mean `docs_writer`?"][..]),
        (&["explorer", "--host", "codx"], 2, &["no host `codx`", "did you mean `codex`?"]),
        (&["explorer", "--host", "cursor"], 2, &["Cursor has no form of a role that can be started"]),
        (&["explorer"], 4, &["`codex`, the program of Codex, is not on the path", "npm install -g @openai/codex"]),
        (&["explorer", "--packet", "no-such-file"], 4, &["cannot read the packet `no-such-file`"]),
        (&["explorer", "--format", "json"], 2, &["no other format"]),
    ] {
        let out = place.run(args);
        assert_eq!(code(&out), Some(exit), "{args:?}: {}", said(&out));
        words.iter().for_each(|w| assert!(said(&out).contains(w), "{args:?}: {}", said(&out)));
    }
    let several = Place::new("version: 1\nhosts: { codex: {}, copilot: {} }\nextends: [builtin]\n");
    let out = several.run(&["explorer"]);
    assert_eq!(code(&out), Some(2));
    assert!(said(&out).contains("several hosts can start `explorer`: codex, copilot"), "{}", said(&out));
}

#[test]
fn an_interrupt_reaches_the_host_and_leaves_no_file_behind() {
    use nix::sys::signal::{Signal, kill};
    let place = Place::new(GEMINI).program(
        "gemini",
        "trap 'touch $(dirname $0)/told; exit 9' TERM INT; touch $(dirname $0)/ready; while :; do sleep 0.1; done",
    );
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut child = place.command(&["docs_writer"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while !place.bin.path().join("ready").exists() {
            assert!(started.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(place.left_behind(), 1);
        kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(9), "{signal}");
        assert!(place.bin.path().join("told").exists());
        assert_eq!(place.left_behind(), 0);
        fs::remove_file(place.bin.path().join("ready")).unwrap();
    }
}
