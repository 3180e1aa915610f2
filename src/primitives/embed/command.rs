//! A program that makes vectors: one line of JSON in (`{"texts": ["…", …]}`), one line out (`{"vectors": [[…], …]}`), as
//! long as its input is open.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::normal;
use crate::primitives::wanted::Wanted;
use crate::process::Group;

/// How long one batch may take; the first has the start of the program in it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether an answer is still wanted.
const LOOK: Duration = Duration::from_millis(50);
/// Texts of one batch.
const BATCH: usize = 32;
/// Longest answer, in bytes.
const LONGEST: u64 = 16 << 20;
/// Most numbers of a vector.
const MOST: usize = 8192;

/// A program that makes vectors.
pub struct Program {
    name: String,
    words: Vec<String>,
    env: Vec<(String, String)>,
    folder: PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: Sender<String>,
    answers: Receiver<Result<String, String>>,
    /// When it was asked what it has not answered yet; nothing else is asked before it does.
    owed: Option<Instant>,
    group: Option<Group>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Before the child is waited for: then its number may be another's.
        drop(self.group.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    /// `env` is all of its environment; `folder` where it is started.
    pub fn new(name: &str, words: Vec<String>, env: Vec<(String, String)>, folder: PathBuf) -> Self {
        Self { name: name.to_owned(), words, env, folder, running: None }
    }

    /// The name of its model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process group, when it runs.
    pub fn group(&self) -> Option<i32> {
        self.running.as_ref()?.group.as_ref()?.id()
    }

    /// One vector for each text. When they are not wanted any more the program goes on: a model that takes long to start
    /// would never be there if everybody who does not wait for it ended it.
    ///
    /// # Errors
    /// It cannot be started, does not answer, or answers something else.
    pub fn embed(&mut self, texts: &[&str], wanted: &Wanted) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let made = self.batch(batch, wanted).map_err(|why| {
                // Whatever state it is in, the next text starts it anew.
                if why.is_some() {
                    self.running = None;
                }
                format!("the embedder `{}` {}", self.name, why.as_deref().unwrap_or("is not waited for any more"))
            })?;
            if let Some(other) = made.iter().find(|v| vectors.first().is_some_and(|first| first.len() != v.len())) {
                return Err(format!(
                    "the embedder `{}` makes vectors of different lengths ({})",
                    self.name,
                    other.len()
                ));
            }
            vectors.extend(made);
        }
        Ok(vectors)
    }

    /// Vectors of some texts; an error without words is that they are not wanted any more.
    fn batch(&mut self, texts: &[&str], wanted: &Wanted) -> Result<Vec<Vec<f32>>, Option<String>> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(start(&self.words, &self.env, &self.folder)?),
        };
        running.settle(wanted)?;
        let line = format!("{}\n", json!({ "texts": texts }));
        if running.input.send(line).is_err() {
            return Err(Some(ended(running)));
        }
        let now = Instant::now();
        running.owed = Some(now);
        let answer = running.next(now, wanted)?;
        let vectors = vectors(&answer)?;
        match vectors.len() == texts.len() {
            true => Ok(vectors),
            false => Err(Some(format!("answers {} vectors for {} texts", vectors.len(), texts.len()))),
        }
    }
}

impl Running {
    /// Waits for what is still to come from before.
    fn settle(&mut self, wanted: &Wanted) -> Result<(), Option<String>> {
        if let Some(asked) = self.owed {
            self.next(asked, wanted)?;
        }
        Ok(())
    }

    /// The next answer, to what was asked then.
    fn next(&mut self, asked: Instant, wanted: &Wanted) -> Result<String, Option<String>> {
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(answer) => {
                    self.owed = None;
                    return answer.map_err(Some);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Some(ended(self))),
                Err(RecvTimeoutError::Timeout) if asked.elapsed() > PATIENCE => {
                    return Err(Some(format!("does not answer within {} s", PATIENCE.as_secs())));
                }
                Err(RecvTimeoutError::Timeout) if !wanted.holds() => return Err(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn start(words: &[String], env: &[(String, String)], folder: &std::path::Path) -> Result<Running, String> {
    let (program, arguments) = words.split_first().ok_or("names no program")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().envs(env.iter().map(|(k, v)| (k, v)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| format!("cannot be started: `{program}`: {}", error.kind()))?;
    let group = Group::of(Some(child.id()));
    let (Some(mut stdin), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no standard streams".to_owned());
    };
    let (input, lines) = mpsc::channel::<String>();
    // Whoever does not read must not keep us waiting for longer than whoever does not answer.
    std::thread::spawn(move || {
        for line in lines {
            if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    let (sender, answers) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            let said = match reader.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(read) if read as u64 == LONGEST && line.last() != Some(&b'\n') => {
                    Err("answers more than 16 MiB".to_owned())
                }
                Ok(_) => String::from_utf8(line).map_err(|_| "answers what is no text".to_owned()),
            };
            let over = said.is_err();
            if sender.send(said).is_err() || over {
                return;
            }
        }
    });
    Ok(Running { child, input, answers, owed: None, group: Some(group) })
}

fn ended(running: &mut Running) -> String {
    match running.child.try_wait() {
        Ok(Some(status)) => match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => "was ended by a signal".to_owned(),
        },
        _ => "closed its output".to_owned(),
    }
}

fn vectors(answer: &str) -> Result<Vec<Vec<f32>>, String> {
    let wrong = "answers something else than `{\"vectors\": [[…], …]}`";
    let value: Value = serde_json::from_str(answer).map_err(|_| wrong.to_owned())?;
    if let Some(error) = value.get("error").and_then(Value::as_str) {
        return Err(format!("says: {}", error.chars().take(300).collect::<String>()));
    }
    let all = value.get("vectors").and_then(Value::as_array).ok_or(wrong)?;
    all.iter().map(|vector| one(vector).ok_or_else(|| wrong.to_owned())).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "vectors are kept as 32-bit numbers")]
fn one(value: &Value) -> Option<Vec<f32>> {
    let numbers = value.as_array().filter(|all| !all.is_empty() && all.len() <= MOST)?;
    let mut vector: Vec<f32> = numbers.iter().map(|n| n.as_f64().map(|n| n as f32)).collect::<Option<_>>()?;
    normal(&mut vector);
    vector.iter().all(|n| n.is_finite()).then_some(vector)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        Program::new("m", words, vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())], std::env::temp_dir())
    }

    #[test]
    fn a_program_is_asked_line_by_line_and_its_vectors_have_length_one() {
        let mut program = shell("while read -r line; do echo '{\"vectors\":[[3,4]]}'; done");
        assert_eq!(program.embed(&["a\nb"], &Wanted::default()).unwrap(), [vec![0.6, 0.8]]);
        assert_eq!(program.embed(&["c"], &Wanted::default()).unwrap().len(), 1);
        assert!(program.embed(&["a", "b"], &Wanted::default()).unwrap_err().contains("answers 1 vectors for 2 texts"));
    }

    #[test]
    fn an_answer_that_nobody_waits_for_ends_no_program_and_is_no_answer_to_the_next_text() {
        let mut program = shell(
            "read -r one; sleep 1; echo '{\"vectors\":[[1,0]]}'; while read -r line; do echo '{\"vectors\":[[0,1]]}'; done",
        );
        let gone = Wanted::default();
        drop(gone.while_held());
        let began = Instant::now();
        assert!(program.embed(&["a"], &gone).unwrap_err().contains("not waited for any more"));
        assert!(began.elapsed() < Duration::from_millis(900) && program.group().is_some());
        assert_eq!(program.embed(&["b"], &Wanted::default()).unwrap(), [vec![0.0, 1.0]]);
    }

    #[test]
    fn what_a_program_gets_wrong_is_said_and_the_next_text_starts_it_anew() {
        for (script, why) in [
            ("exit 3", "ended with exit code 3"),
            ("read -r x; echo nonsense", "something else"),
            ("read -r x; echo '{\"vectors\":[[\"a\"]]}'", "something else"),
            ("read -r x; echo '{\"error\":\"no model\"}'", "says: no model"),
        ] {
            let mut program = shell(script);
            for _ in 0..2 {
                let said = program.embed(&["a"], &Wanted::default()).unwrap_err();
                assert!(said.starts_with("the embedder `m`"), "{said}");
                // A program that ends at once may be gone before it is written to, or after.
                assert!(said.contains(why) || said.contains("closed its output"), "{script}: {said}");
            }
        }
        let mut none = Program::new("m", vec!["/no/such".to_owned()], Vec::new(), std::env::temp_dir());
        assert!(none.embed(&["a"], &Wanted::default()).unwrap_err().contains("cannot be started"));
    }
}
