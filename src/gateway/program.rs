//! A program as a tool: started for one call without a shell, parameters in as JSON, an answer out as JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::upstream::Lost;
use super::warden::Warden;
use crate::mcp;
use crate::process::Group;
use crate::resolve::composed::Program;
use crate::resolve::programs::placeholders;
use crate::text::redact;

/// Longest answer, in bytes.
const ANSWER: usize = 8 << 20;
/// Most bytes of its last words.
const WORDS: usize = 600;

/// Where programs are started, and with what.
pub struct Programs {
    /// The root.
    pub root: PathBuf,
    /// The user's environment.
    pub variables: BTreeMap<String, String>,
    /// Ends what is left when this process is killed.
    pub warden: Arc<Warden>,
}

impl Programs {
    /// Starts a program with `parameters`; its answer as a server would give it.
    ///
    /// # Errors
    /// It cannot be started, does not end in time, fails, answers no JSON, or is not wanted any more.
    pub async fn call(
        &self,
        program: &Program,
        parameters: &Map<String, Value>,
        stop: impl Future<Output = ()>,
    ) -> Result<Value, Lost> {
        let (ended, secrets) = self.run(program, parameters, stop).await?;
        ended.answer(&secrets, program.seconds).map_err(Lost::Failed)
    }

    /// Starts it, and waits until it and all that it started are gone.
    async fn run(
        &self,
        program: &Program,
        parameters: &Map<String, Value>,
        stop: impl Future<Output = ()>,
    ) -> Result<(Ended, Vec<String>), Lost> {
        let (mut child, secrets) = self.start(program, parameters).map_err(Lost::Failed)?;
        let group = Group::of(child.id());
        if let Some(id) = group.id() {
            self.warden.watch(id);
        }
        let input = Value::Object(parameters.clone()).to_string();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let running = async {
            let writing = async {
                if let Some(mut stdin) = stdin {
                    // A program need not read what it does not need.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
            };
            let ((), answer, last) = tokio::join!(writing, bounded(stdout), tail(stderr));
            Ended { answer, last, status: child.wait().await.ok(), in_time: true }
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(Duration::from_secs(program.seconds), running) => Some(ended),
            () = stop => None,
        };
        let id = group.id();
        // All that it started goes with it, also what it left behind.
        drop(group);
        if let Some(id) = id {
            self.warden.leave(id);
        }
        Ok((ended.ok_or(Lost::Stopped)?.unwrap_or_default(), secrets))
    }

    fn start(&self, program: &Program, parameters: &Map<String, Value>) -> Result<(Child, Vec<String>), String> {
        let variable = |name: &str| self.variables.get(name).cloned();
        let mut env = mcp::base(&variable);
        let (own, secrets) = mcp::references(&program.env, &variable).map_err(|problem| problem.to_string())?;
        for (key, value) in own {
            env.retain(|(name, _)| *name != key);
            env.push((key, value));
        }
        let words = words(program, parameters)?;
        let (first, rest) = words.split_first().ok_or("it names no program")?;
        let mut command = Command::new(located(first, &self.root));
        command.args(rest).current_dir(&self.root).env_clear().envs(env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child =
            command.spawn().map_err(|error| format!("the program `{first}` cannot be started: {}", error.kind()))?;
        Ok((child, secrets))
    }
}

/// How a program ended.
#[derive(Default)]
struct Ended {
    /// What it answered; none when that was too much.
    answer: Option<Vec<u8>>,
    last: String,
    status: Option<ExitStatus>,
    in_time: bool,
}

impl Ended {
    fn answer(self, secrets: &[String], seconds: u64) -> Result<Value, String> {
        if !self.in_time {
            return Err(format!("the program does not end within {seconds} s"));
        }
        let last = match redact::body(self.last.trim(), secrets) {
            none if none.is_empty() => String::new(),
            last => format!("; it said last: {last}"),
        };
        let status = self.status.ok_or("the program got lost")?;
        let answer = self.answer.ok_or_else(|| format!("the program answers more than {ANSWER} bytes"))?;
        if !status.success() {
            let how = match status.code() {
                Some(code) => format!("ended with exit code {code}"),
                None => "was ended by a signal".to_owned(),
            };
            return Err(format!("the program {how}{last}"));
        }
        let value: Value = serde_json::from_slice(&answer)
            .map_err(|_| format!("the program answers what is no JSON document{last}"))?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Ok(json!({ "content": [{ "type": "text", "text": text }] }))
    }
}

/// A relative path with a folder in it is meant from the root, wherever we were started.
fn located(program: &str, root: &Path) -> PathBuf {
    let path = Path::new(program);
    if path.is_relative() && path.components().count() > 1 { root.join(path) } else { path.to_owned() }
}

/// The words that a program is started with. Each word of the policy stays one word, whatever a value has in it; one
/// whose parameter is left out goes.
///
/// # Errors
/// A value that would be taken for an option, or cannot be a word.
fn words(program: &Program, parameters: &Map<String, Value>) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut only_values = false;
    for (at, declared) in program.command.iter().enumerate() {
        let names: Vec<&str> = if at == 0 { Vec::new() } else { placeholders(declared).collect() };
        let mut word = declared.value.clone();
        if names.iter().any(|name| parameters.get(*name).is_none_or(Value::is_null)) {
            continue;
        }
        if !names.is_empty() {
            word = filled(declared, parameters);
        }
        if word.contains('\0') {
            return Err("a value with a NUL character cannot be given to a program".to_owned());
        }
        let from_value = declared.starts_with('{') && !names.is_empty();
        if from_value && !only_values && word.starts_with('-') {
            return Err(format!("`{}` must not start with `-`: the program would take it for an option", names[0]));
        }
        only_values |= names.is_empty() && word == "--";
        words.push(word);
    }
    Ok(words)
}

/// A word with its placeholders filled in one pass: a value is never searched for placeholders.
fn filled(word: &str, parameters: &Map<String, Value>) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let value = from[1..].split_once('}').and_then(|(name, after)| Some((parameters.get(name)?, after)));
        match value {
            Some((value, after)) => {
                out.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                rest = after;
            }
            None => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// All of a stream; none when it is too much.
async fn bounded(stream: Option<impl AsyncRead + Unpin>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What cannot be read is not there; the exit code tells.
        let _ = stream.take(ANSWER as u64 + 1).read_to_end(&mut bytes).await;
    }
    (bytes.len() <= ANSWER).then_some(bytes)
}

/// The last words of a stream.
async fn tail(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut kept = Vec::new();
    let Some(mut stream) = stream else { return String::new() };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(WORDS);
        kept.drain(..over);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::yaml::Sp;

    fn program(words: &[&str], seconds: u64) -> Program {
        let command = words.iter().map(|word| Sp::bare((*word).to_owned())).collect();
        Program { command, env: indexmap::IndexMap::default(), seconds }
    }

    fn call(program: &Program, parameters: &Value) -> Result<String, String> {
        let variables = [("PATH", "/usr/bin:/bin"), ("SECRET", "s")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let programs =
            Programs { root: std::env::temp_dir(), variables: variables.into(), warden: Arc::new(Warden::default()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let calling = programs.call(program, parameters.as_object().unwrap(), std::future::pending());
        let answer = runtime.block_on(calling).map_err(|lost| format!("{lost:?}"))?;
        Ok(answer["content"][0]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn parameters_come_in_as_json_and_as_single_words() {
        let echo = program(&["sh", "-c", "cat"], 10);
        assert_eq!(call(&echo, &json!({ "a": [1, "x"], "b": "é" })).unwrap(), r#"{"a":[1,"x"],"b":"é"}"#);
        let words = program(
            &["sh", "-c", r#"printf '"%s|%s|%s"' "$#" "$1" "$2""#, "x", "--depth={d}", "--left={out}", "{t}"],
            10,
        );
        let hostile = "a b; $(id) {d}";
        assert_eq!(call(&words, &json!({ "d": 2, "t": hostile })).unwrap(), format!("2|--depth=2|{hostile}"));
    }

    #[test]
    fn a_value_is_no_option() {
        let given =
            |words: &[&str], value: &str| self::words(&program(words, 1), json!({ "t": value }).as_object().unwrap());
        assert!(given(&["x", "{t}"], "--output=/etc/x").unwrap_err().contains("option"));
        assert_eq!(given(&["x", "--", "{t}"], "-a").unwrap(), ["x", "--", "-a"]);
        assert_eq!(given(&["x", "--name={t}"], "-a").unwrap(), ["x", "--name=-a"]);
        assert!(given(&["x", "{t}"], "a\0b").is_err());
        assert_eq!(given(&["x", "{ t }", "{}"], "a").unwrap(), ["x", "{ t }", "{}"]);
    }

    #[test]
    fn what_a_program_gets_wrong_is_said() {
        for (script, why) in [
            ("echo no json", "no JSON"),
            ("echo last words >&2; exit 3", "exit code 3; it said last: last words"),
            ("sleep 30", "within 1 s"),
            ("head -c 9000000 /dev/zero", "more than"),
            ("kill -9 $$", "signal"),
        ] {
            let said = call(&program(&["sh", "-c", script], 1), &json!({})).unwrap_err();
            assert!(said.contains(why), "{script}: {said}");
        }
        assert!(call(&program(&["/no/such"], 1), &json!({})).unwrap_err().contains("cannot be started"));
        let env = call(&program(&["sh", "-c", r#"printf '"%s"' "${SECRET:-none}""#], 9), &json!({})).unwrap();
        assert_eq!(env, "none", "only declared variables are handed on");
    }
}
