//! Runs `tests/spec/*.md`, the README and some pages of `docs/`: Markdown files that are the tests of the program.
//!
//! - A heading is a test with an empty folder of its own. It starts with the files that stand under the
//!   headings above it.
//! - A fenced block with `file=PATH` in its info string is a file: ` ```yaml file=roles/x.md `. With the
//!   word `escaped`, `\xNN`, `\r`, `\0` and `\\` in it are bytes; with the word `link`, it is a symbolic
//!   link and the text its target.
//! - A ` ```console ` block holds commands (`$ rolecast check`), each followed by exactly what it prints
//!   on stdout and stderr, and `exit N` when N is not 0. `$ rm PATH` and `$ git …` prepare.
//! - Blocks take effect in their order, so a file may change between two commands.
//!
//! `UPDATE_SPECS=1 cargo test --test spec` writes what the program really prints into the files; read the
//! diff before it is committed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use rolecast::diag::Code;

/// Codes without a spec, with the reason; to be empty.
const NOT_YET: &[(&str, &str)] = &[];

#[test]
fn the_program_prints_what_the_specs_say() {
    let update = std::env::var_os("UPDATE_SPECS").is_some();
    let mut failures = String::new();
    for path in spec_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let specs = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for spec in &specs {
            run(&text, spec, &mut edits);
        }
        let mut new = text.clone();
        for (range, content) in edits.into_iter().rev() {
            new.replace_range(range, &content);
        }
        if new != text && update {
            std::fs::write(&path, &new).unwrap();
        } else if new != text {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let diff = similar::TextDiff::from_lines(&text, &new);
            write!(failures, "{}", diff.unified_diff().context_radius(8).header(&name, "what is printed")).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}\nif the program is right: UPDATE_SPECS=1 cargo test --test spec");
}

#[test]
fn every_code_has_a_spec() {
    let all: String = spec_files().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for code in Code::ALL {
        let specified =
            [format!("[{}]: ", code.id()), format!("title={}::", code.id())].iter().any(|s| all.contains(s.as_str()));
        let excused = NOT_YET.iter().any(|(id, _)| *id == code.id());
        assert!(specified || excused, "no spec shows `{}`", code.id());
        assert!(!(specified && excused), "`{}` has a spec: take it off NOT_YET", code.id());
    }
    for (id, reason) in NOT_YET {
        assert!(Code::ALL.iter().any(|code| code.id() == *id) && !reason.is_empty(), "NOT_YET: `{id}`");
    }
}

#[test]
fn every_spec_file_can_be_read_and_runs_something() {
    for path in spec_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let specs = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(specs.iter().any(|spec| spec.commands > 0), "{} runs nothing", path.display());
    }
}

fn spec_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    // What these pages show is what the program prints.
    let pages = [
        "README.md",
        "docs/browser.md",
        "docs/commands.md",
        "docs/eval.md",
        "docs/gateway.md",
        "docs/primitives.md",
        "docs/servers.md",
    ];
    for page in pages {
        files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    }
    files.sort();
    files
}

/// One heading.
#[derive(Debug, Clone, Default)]
struct Spec {
    level: usize,
    commands: usize,
    steps: Vec<Step>,
}

/// One block.
#[derive(Debug, Clone)]
enum Step {
    File {
        path: String,
        bytes: Vec<u8>,
        link: bool,
    },
    /// The text between the fences of a console block.
    Console(Range<usize>),
}

fn parse(text: &str) -> Result<Vec<Spec>, String> {
    let mut specs: Vec<Spec> = Vec::new();
    let mut open: Option<(usize, String, usize)> = None;
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let fence = line.len() - line.trim_start_matches('`').len();
        match &open {
            Some((width, info, from)) if fence >= *width && line[fence..].trim().is_empty() => {
                let step = step(info, text, *from..start).map_err(|error| format!("line {}: {error}", number + 1))?;
                let spec = specs.last_mut().ok_or("a block before the first heading")?;
                spec.commands += usize::from(matches!(step, Some(Step::Console(_))));
                spec.steps.extend(step);
                open = None;
            }
            Some(_) => {}
            None if fence >= 3 => open = Some((fence, line[fence..].trim().to_owned(), at)),
            None if line.starts_with('#') => {
                let level = line.len() - line.trim_start_matches('#').len();
                let parent = specs.iter().rev().find(|spec| spec.level < level);
                let inherited =
                    parent.map(|p| p.steps.iter().filter(|s| matches!(s, Step::File { .. })).cloned().collect());
                specs.push(Spec { level, commands: 0, steps: inherited.unwrap_or_default() });
            }
            None => {}
        }
    }
    match open {
        Some((_, info, _)) => Err(format!("the block `{info}` is not closed")),
        None => Ok(specs),
    }
}

fn step(info: &str, text: &str, content: Range<usize>) -> Result<Option<Step>, String> {
    let words: Vec<&str> = info.split_whitespace().collect();
    if words.first() == Some(&"console") {
        return Ok(Some(Step::Console(content)));
    }
    let Some(path) = words.iter().find_map(|word| word.strip_prefix("file=")) else { return Ok(None) };
    let link = words.contains(&"link");
    let bytes = match words.contains(&"escaped") {
        true => unescape(&text[content])?,
        false if link => text[content].trim_end().as_bytes().to_vec(),
        false => text[content].as_bytes().to_vec(),
    };
    Ok(Some(Step::File { path: path.to_owned(), bytes, link }))
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'\\') => bytes.push(b'\\'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'0') => bytes.push(0),
            Some(b'x') => {
                let digits: Vec<u8> = rest.by_ref().take(2).collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).map_err(|_| format!("`\\x{digits}` is no byte"))?);
            }
            other => return Err(format!("unknown escape {other:?}")),
        }
    }
    Ok(bytes)
}

/// Runs a spec in a folder of its own; `edits` gets each console block as it should read.
fn run(text: &str, spec: &Spec, edits: &mut Vec<(Range<usize>, String)>) {
    if spec.commands == 0 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("repository");
    std::fs::create_dir(&root).unwrap();
    for step in &spec.steps {
        match step {
            Step::File { path, bytes, link } => put(&root.join(path), bytes, *link),
            Step::Console(range) => {
                let commands = text[range.clone()].lines().filter_map(|line| line.strip_prefix("$ "));
                edits.push((range.clone(), commands.map(|line| transcript(line, &root)).collect()));
            }
        }
    }
}

fn put(path: &Path, bytes: &[u8], link: bool) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !link {
        return std::fs::write(path, bytes).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(String::from_utf8(bytes.to_vec()).unwrap(), path).unwrap();
    #[cfg(not(unix))]
    panic!("{}: specs with links need a Unix system", path.display());
}

/// A command line with what it prints.
fn transcript(line: &str, root: &Path) -> String {
    let words = words(line);
    let (program, arguments) = words.split_first().unwrap();
    let program = match program.as_str() {
        "rolecast" => env!("CARGO_BIN_EXE_rolecast"),
        "git" => "git",
        "rm" => {
            std::fs::remove_file(root.join(&arguments[0])).unwrap();
            return format!("$ {line}\n");
        }
        other => panic!("specs cannot run `{other}`"),
    };
    let (output, status) = execute(program, arguments, root);
    let output = output.replace(&*root.to_string_lossy(), "[ROOT]");
    let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    let exit = match status.code() {
        Some(0) => String::new(),
        Some(code) => format!("exit {code}\n"),
        None => "killed\n".to_owned(),
    };
    format!("$ {line}\n{output}{newline}{exit}")
}

/// Runs a program with nothing of the user's environment, stdout and stderr in one pipe.
fn execute(program: &str, arguments: &[String], root: &Path) -> (String, ExitStatus) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let home = root.parent().unwrap().join("home");
    let environment = BTreeMap::from([
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("HOME", home.to_string_lossy().into_owned()),
        ("NO_COLOR", "1".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_AUTHOR_NAME", "a".to_owned()),
        ("GIT_AUTHOR_EMAIL", "a@example.org".to_owned()),
        ("GIT_COMMITTER_NAME", "a".to_owned()),
        ("GIT_COMMITTER_EMAIL", "a@example.org".to_owned()),
    ]);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).env_clear().envs(environment).stdin(std::process::Stdio::null());
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    // The command holds writing ends of the pipe; without this the read below never ends.
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output).unwrap();
    (String::from_utf8(output).unwrap(), child.wait().unwrap())
}

/// Splits at blanks; single or double quotes hold a word together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn blocks_are_read_with_their_escapes_and_inherited_files() {
    let text = "# A\n```yaml file=a.yaml\nx: 1\n```\n## B\n````markdown file=b.md\n```x\n```\n````\n```text file=c escaped\n\\xFF\\r\\\\\n```\n```console\n$ rolecast check\n```\n# C\n```console\n```\n";
    let specs = parse(text).unwrap();
    assert_eq!(specs.iter().map(|spec| spec.steps.len()).collect::<Vec<_>>(), [1, 4, 1]);
    let files: Vec<(&str, &[u8])> = specs[1]
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::File { path, bytes, .. } => Some((path.as_str(), bytes.as_slice())),
            Step::Console(_) => None,
        })
        .collect();
    assert_eq!(files, [("a.yaml", &b"x: 1\n"[..]), ("b.md", b"```x\n```\n"), ("c", b"\xff\r\\\n")]);
    assert!(matches!(&specs[1].steps[3], Step::Console(range) if text[range.clone()] == *"$ rolecast check\n"));
    assert!(parse("# A\n```yaml file=a\n").is_err());
    assert_eq!(words("rolecast explain 'a b' \"\" c"), ["rolecast", "explain", "a b", "", "c"]);
}

#[test]
fn the_runner_records_output_and_exit_code_of_a_real_process() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("repository");
    put(&root.join("a/b.txt"), b"x", false);
    assert_eq!(transcript("git init -q .", &root), "$ git init -q .\n");
    assert_eq!(transcript("git status --porcelain", &root), "$ git status --porcelain\n?? a/\n");
    assert_eq!(transcript("git diff --quiet --no-index a/b.txt /dev/null", &root).lines().last(), Some("exit 1"));
    assert_eq!(transcript("rm a/b.txt", &root), "$ rm a/b.txt\n");
    assert!(!root.join("a/b.txt").exists());
}
