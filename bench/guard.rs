//! What one question to the guard costs, as a whole process, beside a program that does nothing and beside the
//! shortest hook in Node.
//!
//! `cargo bench --bench guard`. Figures are medians of CPU time (user and system) and peak memory of one process each,
//! as the operating system accounts them, and the time until it has ended.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

const ROLECAST: &str = env!("CARGO_BIN_EXE_rolecast");
const RUNS: usize = 101;
const NODE: &str = "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>{JSON.parse(s);process.exit(0)})";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--measure", input, program, rest @ ..] => measure(Path::new(input), program, rest),
        _ => run(),
    }
}

/// Runs one program alone, so that the usage of "all children" is its own.
fn measure(input: &Path, program: &str, args: &[&str]) {
    let question = std::fs::read(input).unwrap();
    let start = Instant::now();
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(&question);
    let status = child.wait().unwrap();
    let wall = start.elapsed().as_micros();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
    let cpu = micros(usage.user_time()) + micros(usage.system_time());
    println!("{cpu} {wall} {} {}", usage.max_rss(), status.code().unwrap_or(-1));
}

fn run() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let dir = root.join("shared-agent-rules");
    std::fs::create_dir_all(&dir).unwrap();
    let policy = "version: 1\nhosts: { claude-code: {}, codex: {}, copilot: {}, qwen-code: {} }\nextends: [builtin]\n";
    std::fs::write(dir.join("policy.yaml"), policy).unwrap();
    assert!(Command::new(ROLECAST).args(["render", "-q", "--root"]).arg(&root).status().unwrap().success());
    let question = root.join("question.json");
    let call = "{\"agent_type\":\"docs_writer\",\"cwd\":\"ROOT\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"ROOT/docs/new.md\",\"content\":\"x\"}}";
    std::fs::write(&question, call.replace("ROOT", root.to_str().unwrap())).unwrap();
    let root = root.to_str().unwrap();
    let cases: [(&str, &str, Vec<&str>); 3] = [
        ("true", "true", vec![]),
        ("rolecast guard", ROLECAST, vec!["guard", "--host", "claude-code", "--root", root]),
        ("Node, one line", "node", vec!["-e", NODE]),
    ];
    let mut all: Vec<Vec<[u64; 3]>> = vec![Vec::new(); cases.len()];
    // In turn, so that a busy moment of the machine is everybody's.
    for _ in 0..RUNS {
        for (case, (_, program, args)) in cases.iter().enumerate() {
            let me = std::env::current_exe().unwrap();
            let out = Command::new(me).arg("--measure").arg(&question).arg(program).args(args).output().unwrap();
            let numbers: Vec<i64> =
                String::from_utf8(out.stdout).unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
            assert_eq!(numbers[3], 0, "{program} did not let the call pass");
            all[case].push([0, 1, 2].map(|at| u64::try_from(numbers[at]).unwrap()));
        }
    }
    println!("| program | CPU ms | time ms | MiB |");
    println!("|---|---|---|---|");
    for ((name, _, _), runs) in cases.iter().zip(&all) {
        let [cpu, wall, memory] = [0, 1, 2].map(|at| median(runs.iter().map(|r| r[at]).collect()));
        #[expect(clippy::cast_precision_loss, reason = "small figures for people")]
        let per = |n: u64, unit: f64| n as f64 / unit;
        println!("| {name} | {:.1} | {:.1} | {:.1} |", per(cpu, 1e3), per(wall, 1e3), per(memory, 1024.0));
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
