//! What changed, read from git. Nothing that git would run of the repository's own (pagers, external diffs, text
//! conversions, monitors) is run, nothing is fetched, no lock is taken.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::{inside, paths};
use crate::gateway::compose::OwnTool;
use crate::process::Group;
use crate::system::git::git;

/// Most bytes read of an answer.
const MAX: u64 = 4 << 20;
/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers one call.
///
/// # Errors
/// Words for the model.
pub(super) async fn run(tool: OwnTool, arguments: &Map<String, Value>, root: &Path) -> Result<String, String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let flag = |name: &str| arguments.get(name).and_then(Value::as_bool).unwrap_or(false);
    let number = |name: &str, default: u64| arguments.get(name).and_then(Value::as_u64).unwrap_or(default);
    let mut words: Vec<String> = Vec::new();
    let mut say = |all: &[&str]| words.extend(all.iter().map(|word| (*word).to_owned()));
    match tool {
        OwnTool::Diff => {
            say(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative"]);
            say(&[if flag("stat") { "--stat=100" } else { "--patch" }]);
            say(&[&format!("--unified={}", number("context", 3))]);
            if flag("staged") {
                say(&["--cached"]);
            }
            if text("to").is_some() && (text("from").is_none() || flag("staged")) {
                return Err("`to` needs `from`, and goes without `staged`".to_owned());
            }
            for name in ["from", "to"] {
                if let Some(revision) = text(name) {
                    say(&[&commit(revision, root).await?]);
                }
            }
            say(&["--"]);
            say(&below(arguments)?);
        }
        OwnTool::Log => {
            say(&["log", "--no-color", "--no-decorate", "--date=iso-strict", "--pretty=format:%h %ad %an: %s"]);
            say(&["--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-patch"]);
            say(&[&format!("--max-count={}", number("max_count", 20)), &format!("--skip={}", number("skip", 0))]);
            say(&[&commit(text("from").unwrap_or("HEAD"), root).await?, "--"]);
            say(&below(arguments)?);
        }
        _ => {
            let commit = commit(text("commit").unwrap_or("HEAD"), root).await?;
            match text("path") {
                Some(path) => say(&["cat-file", "blob", &format!("{commit}:./{}", inside(path)?)]),
                None => {
                    say(&["show", "--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "--relative"]);
                    say(&[
                        if flag("stat") { "--stat=100" } else { "--patch" },
                        "--date=iso-strict",
                        &commit,
                        "--",
                        ".",
                    ]);
                }
            }
        }
    }
    let answer = ask(&words, root).await?;
    Ok(if answer.is_empty() { "(nothing)".to_owned() } else { answer })
}

/// The paths to look at; the root where none is named, which may be below that of git.
fn below(arguments: &Map<String, Value>) -> Result<Vec<&str>, String> {
    paths(arguments)?;
    let named = arguments.get("paths").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let named: Vec<&str> = named.collect();
    Ok(if named.is_empty() { vec!["."] } else { named })
}

/// The full name of a commit. What is no plain name of one is refused before git sees it.
async fn commit(named: &str, root: &Path) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~^@{}+".contains(c);
    let good = !named.starts_with('-') && !named.contains("..") && named.chars().all(plain);
    let unknown = || format!("`{}` is no commit, branch or tag", named.escape_debug());
    if !good {
        return Err(unknown());
    }
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{named}^{{commit}}")];
    let found = ask(&words.map(str::to_owned), root).await.map_err(|_| unknown())?;
    let found = found.trim();
    let hash = found.len() >= 40 && found.bytes().all(|b| b.is_ascii_hexdigit());
    if hash { Ok(found.to_owned()) } else { Err(unknown()) }
}

/// Runs git; what it says.
///
/// # Errors
/// What it complains of.
pub(super) async fn ask(words: &[String], root: &Path) -> Result<String, String> {
    let mut command = git(root);
    command.env("GIT_PAGER", "cat").env_remove("GIT_CONFIG_PARAMETERS").env_remove("GIT_CONFIG_COUNT");
    // A repository may name programs to run in its own configuration.
    for setting in ["core.hooksPath=/dev/null", "log.showSignature=false", "color.ui=false"] {
        command.args(["-c", setting]);
    }
    command.arg("--no-pager").args(words);
    let mut command = Command::from(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("git cannot be started: {}", error.kind()))?;
    let _group = Group::of(child.id());
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("git has no output".to_owned());
    };
    let reading = async {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut stdout = stdout.take(MAX);
        let mut stderr = stderr.take(4096);
        let (read, _) = tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
        read.map_err(|error| format!("git's output cannot be read: {}", error.kind()))?;
        Ok::<_, String>((out, err))
    };
    let (out, err) = tokio::time::timeout(PATIENCE, reading).await.map_err(|_| "git takes too long".to_owned())??;
    let cut = out.len() as u64 >= MAX;
    if cut {
        // It waits for a reader that does not come.
        let _ = child.start_kill();
    }
    let status = child.wait().await.map_err(|error| format!("git got lost: {}", error.kind()))?;
    if status.success() || cut {
        let mut text = String::from_utf8_lossy(&out).into_owned();
        if cut {
            text.push_str("\n[more than 4 MiB: ask for less]");
        }
        return Ok(text);
    }
    let said = String::from_utf8_lossy(&err);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed without a word");
    Err(format!("git: {}", line.chars().take(300).collect::<String>()))
}
