//! What `check` costs, beside a program that only reads the same files.
//!
//! `cargo bench` makes projects in a temporary folder, renders each once, and runs `check` and the floor in
//! turn. Figures are CPU time (user and system) and peak memory of the whole process as the operating system
//! accounts them; the ratio is of the medians of one run, because machines are noisy and figures alone lie.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

const ROLECAST: &str = env!("CARGO_BIN_EXE_rolecast");
const RUNS: usize = 15;
const HOSTS: [&str; 5] = ["claude-code", "codex", "copilot", "cursor", "gemini-cli"];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--floor", dir] => floor(Path::new(dir)),
        ["--measure", program, rest @ ..] => measure(program, rest),
        _ => run(),
    }
}

/// Reads every file below `dir`, as `check` must.
fn floor(dir: &Path) {
    let mut total = 0;
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                total += black_box(fs::read(entry.path()).unwrap()).len();
            }
        }
    }
    black_box(total);
}

/// Runs one program alone, so that the usage of "all children" is its own.
fn measure(program: &str, args: &[&str]) {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
    println!(
        "{} {} {}",
        micros(usage.user_time()) + micros(usage.system_time()),
        usage.max_rss(),
        status.code().unwrap_or(-1)
    );
}

/// CPU in microseconds and peak memory in KiB.
fn once(program: &Path, args: &[&str]) -> (i64, i64) {
    let me = std::env::current_exe().unwrap();
    let out = Command::new(me).arg("--measure").arg(program).args(args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let numbers: Vec<i64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
    assert_eq!(numbers[2], 0, "{} {args:?} did not end clean", program.display());
    (numbers[0], numbers[1])
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values[values.len() / 2]
}

struct Case {
    name: String,
    always: usize,
    on_demand: usize,
    scoped: usize,
    roles: usize,
    servers: usize,
}

fn run() {
    let temp = tempfile::tempdir().unwrap();
    let case = |name: &str, always, on_demand, scoped, roles, servers| Case {
        name: name.to_owned(),
        always,
        on_demand,
        scoped,
        roles,
        servers,
    };
    let mut cases =
        vec![case("small", 3, 1, 1, 3, 2), case("large", 5, 45, 150, 50, 20), case("monorepo", 3, 2, 100, 3, 2)];
    for scoped in [50, 500, 5000] {
        cases.push(case(&format!("curve {scoped}"), 5, 45, scoped, 5, 2));
    }
    println!("| case | rules | roles | servers | files | check CPU ms | floor CPU ms | ratio | check MiB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for case in &cases {
        let root = temp.path().join(case.name.replace(' ', "-"));
        let files = make(&root, case);
        let dir = root.to_str().unwrap();
        let (mut checks, mut floors, mut memory) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (cpu, rss) = once(Path::new(ROLECAST), &["check", "--root", dir]);
            checks.push(cpu);
            memory.push(rss);
            floors.push(once(&std::env::current_exe().unwrap(), &["--floor", dir]).0);
        }
        let (check, floor) = (median(checks), median(floors));
        #[expect(clippy::cast_precision_loss, reason = "small figures for people")]
        let ms = |n: i64| n as f64 / 1000.0;
        println!(
            "| {} | {} | {} | {} | {files} | {:.1} | {:.1} | {:.1} | {:.1} |",
            case.name,
            case.always + case.on_demand + case.scoped,
            case.roles,
            case.servers,
            ms(check),
            ms(floor),
            ms(check) / ms(floor),
            ms(median(memory)) / 1.024,
        );
    }
}

/// Writes the project, renders it, and counts its files.
fn make(root: &Path, case: &Case) -> usize {
    let dir = root.join("shared-agent-rules");
    fs::create_dir_all(dir.join("roles")).unwrap();
    fs::write(dir.join("policy.yaml"), policy(case)).unwrap();
    let text = "One sentence of a rule that says what to do and why it is worth doing.\n".repeat(28);
    for i in 0..case.always {
        // Always-on text is bounded by a budget of its own; these stay below it.
        let text = "Short and to the point.\n".repeat(40);
        fs::write(dir.join(format!("always-{i}.md")), format!("---\ntitle: Always {i}\n---\n{text}")).unwrap();
    }
    for i in 0..case.on_demand {
        let head = format!("---\ntitle: Demand {i}\nactivation: {{ on-demand: Before work of kind {i} }}\n---\n");
        fs::write(dir.join(format!("demand-{i}.md")), format!("{head}{text}")).unwrap();
    }
    for i in 0..case.scoped {
        let head = format!("---\ntitle: Package {i}\nactivation: {{ paths: [\"packages/p{i}/**\"] }}\n---\n");
        fs::write(dir.join(format!("package-{i}.md")), format!("{head}{text}")).unwrap();
    }
    for i in 0..case.roles {
        let mut role = format!(
            "---\ndescription: Does work of kind {i} and reports.\ngrants:\n  repo.read: {{}}\n  repo.search: {{}}\n"
        );
        let _ = write!(role, "  repo.edit: {{ paths: [\"packages/p{i}/**\"] }}\n  browser.inspect: {{}}\n---\n{text}");
        fs::write(dir.join(format!("roles/worker{i}.md")), role).unwrap();
    }
    let status = Command::new(ROLECAST).args(["render", "-q", "--root"]).arg(root).status().unwrap();
    assert!(status.success(), "{} does not render", case.name);
    count(root)
}

fn policy(case: &Case) -> String {
    let mut text = String::from("version: 1\nhosts:\n");
    for host in HOSTS {
        let _ = writeln!(text, "  {host}: {{}}");
    }
    text.push_str("budgets:\n  tool-result: { target: 12KiB, limit: 32KiB }\n");
    text.push_str("servers:\n");
    for i in 0..case.servers {
        let _ = writeln!(text, "  server{i}:\n    command: server{i}\n    tools:");
        for (tool, cap) in [
            ("look", "browser.inspect"),
            ("click", "browser.interact"),
            ("shoot", "browser.capture"),
            ("find", "docs.search"),
        ] {
            let _ = writeln!(text, "      {tool}: {{ confers: [{cap}] }}");
        }
    }
    text
}

fn count(dir: &Path) -> usize {
    let mut open: Vec<PathBuf> = vec![dir.to_owned()];
    let mut files = 0;
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() { open.push(entry.path()) } else { files += 1 }
        }
    }
    files
}
